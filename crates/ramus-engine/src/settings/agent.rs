//! Agents: who answers, as what, with which tools and under which rules. Some are built in, settings change them and add more.
//!
//! An agent that is read-only stays so: what it would have to ask for is denied, whatever the rules of others allow.

use ramus_model::permission::{Action, Layer as RuleLayer, Permissions, Rule, covers};
use ramus_model::request::Thinking;
use ramus_tools::shell;

use super::tables::AgentSettings;
use super::{Layer, Settings, nearest};
use crate::error::EngineError;

/// The agent of sessions that name none.
pub const DEFAULT_AGENT: &str = "build";

/// The mode of paths on which none was chosen.
const NO_MODE: &str = "none";

/// An agent, as all layers together define it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is told about itself.
    pub prompt: String,
    /// The model it asks, as `PROVIDER/NAME`.
    pub model: Option<String>,
    /// How much it may think.
    pub thinking: Option<Thinking>,
    /// The last layer that had a say.
    pub source: Layer,
    tools: Option<Vec<String>>,
    rules: Vec<Rule>,
    read_only: bool,
}

impl Agent {
    /// Says whether it has a tool.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| covers(tool, name)))
    }

    /// Returns the tools it has; none when it has all.
    pub fn tools(&self) -> Option<&[String]> {
        self.tools.as_deref()
    }

    /// Says whether it changes nothing.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Puts the rules of all layers together. `session` are those of the session and of the call.
    pub fn permissions(&self, settings: &Settings, session: impl IntoIterator<Item = Rule>) -> Permissions {
        let own: Vec<Rule> = shell::defaults::rules().into_iter().chain(self.rules.iter().cloned()).collect();
        let permissions = Permissions::new()
            .with(RuleLayer::Agent, own.iter().cloned())
            .with(RuleLayer::User, settings.user().permission.iter().cloned())
            .with(RuleLayer::Project, settings.project().permission.iter().cloned())
            .with(RuleLayer::Session, session);
        if !self.read_only {
            return permissions;
        }
        let strict = |rule: Rule| if rule.action == Action::Ask { Rule { action: Action::Deny, ..rule } } else { rule };
        permissions.child_of(&Permissions::new().with(RuleLayer::Agent, own.into_iter().map(strict)))
    }

    /// Returns the rules it has when another agent gives it work; none when those of the other one are enough.
    pub fn own_permissions(&self, settings: &Settings) -> Option<Permissions> {
        (self.read_only || !self.rules.is_empty()).then(|| self.permissions(settings, []))
    }

    fn lay_over(&mut self, said: &AgentSettings, layer: Layer) {
        let AgentSettings { description, prompt, model, tools, permission, thinking, read_only } = said.clone();
        let text = |place: &mut String, said: Option<String>| *place = said.unwrap_or_else(|| std::mem::take(place));
        text(&mut self.description, description);
        text(&mut self.prompt, prompt);
        self.model = model.or_else(|| self.model.take());
        self.tools = tools.or_else(|| self.tools.take());
        self.thinking = thinking.or(self.thinking);
        self.rules.extend(permission);
        // A project may tie the hands of an agent, not untie them.
        self.read_only = match read_only {
            Some(read_only) if layer < Layer::Project => read_only,
            Some(read_only) => read_only || self.read_only,
            None => self.read_only,
        };
        self.source = layer;
    }
}

impl Settings {
    /// Finds an agent by its name.
    pub fn agent(&self, name: &str) -> Result<Agent, EngineError> {
        let known = self.agents();
        match known.iter().position(|agent| agent.name == name) {
            Some(at) => known.into_iter().nth(at).ok_or_else(|| unknown(name, &[])),
            None => Err(unknown(name, &known)),
        }
    }

    /// Returns all agents, by name.
    pub fn agents(&self) -> Vec<Agent> {
        let layers = [(&self.built_in, Layer::Default), (&self.user, Layer::User), (&self.project, Layer::Project)];
        let mut names: Vec<&String> = layers.iter().flat_map(|(tables, _)| tables.agents.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let agent = |name: &String| {
            let mut agent = Agent {
                name: name.clone(),
                description: String::new(),
                prompt: String::new(),
                model: None,
                thinking: None,
                source: Layer::Default,
                tools: None,
                rules: Vec::new(),
                read_only: false,
            };
            for (tables, layer) in layers {
                if let Some(said) = tables.agents.get(name) {
                    agent.lay_over(said, layer);
                }
            }
            // Whoever is told nothing about itself is told what everyone is.
            if agent.prompt.is_empty() {
                let build = self.built_in.agents.get(DEFAULT_AGENT);
                agent.prompt = build.and_then(|build| build.prompt.clone()).unwrap_or_default();
            }
            agent
        };
        names.into_iter().map(agent).collect()
    }

    /// Chooses the agent: named by the call, the mode of the path, or the setting.
    pub fn resolve_agent(&self, call: Option<&str>, mode: &str) -> Result<Agent, EngineError> {
        if let Some(name) = call.filter(|name| !name.is_empty()) {
            return self.agent(name);
        }
        if mode != NO_MODE {
            // Whatever the mode was, the default agent may be allowed more.
            return self.agent(mode).map_err(|_| EngineError::Setting {
                message: format!("the session is in the mode {mode:?}, and there is no such agent"),
                hint: Some(format!("choose one with --agent: {}", names(&self.agents()).join(", "))),
            });
        }
        self.agent(self.value("default_agent").map_or(DEFAULT_AGENT, |(name, _)| name))
    }
}

/// Says whether a path in this mode already is an agent's: what was never chosen is the default's.
pub fn is_mode_of(mode: &str, agent: &str, settings: &Settings) -> bool {
    let default = settings.value("default_agent").map_or(DEFAULT_AGENT, |(name, _)| name);
    mode == agent || (mode == NO_MODE && agent == default)
}

fn names(agents: &[Agent]) -> Vec<&str> {
    agents.iter().map(|agent| agent.name.as_str()).collect()
}

fn unknown(name: &str, known: &[Agent]) -> EngineError {
    let hint = nearest::hint(name, names(known), "the agents");
    EngineError::Setting { message: format!("there is no agent {name:?}"), hint: Some(hint) }
}
