//! The tables of a settings file: rules, agents, providers and MCP servers.
//!
//! A table is read completely or not at all: a rule that is passed over may be the one that denies.

use std::collections::BTreeMap;
use std::fmt;

use ramus_model::permission::{Action, Rule};
use ramus_model::request::Thinking;
use ramus_provider::wire::Api;

use super::read::Member;
use crate::error::EngineError;

/// The names of the tables.
pub(super) const TABLES: [&str; 4] = ["permission", "agents", "providers", "mcp"];

/// What a file says in tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Rules, in order.
    pub permission: Vec<Rule>,
    /// Agents by name.
    pub agents: BTreeMap<String, AgentSettings>,
    /// Providers by name.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// MCP servers by name.
    pub mcp: BTreeMap<String, ServerSettings>,
}

/// What is said about an agent. What is not said is left to whoever defined it before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSettings {
    /// What it is for.
    pub description: Option<String>,
    /// What it is told about itself.
    pub prompt: Option<String>,
    /// The model it asks, as `PROVIDER/NAME`.
    pub model: Option<String>,
    /// The tools it has, by name or wildcard; all when nothing is said.
    pub tools: Option<Vec<String>>,
    /// Its rules.
    pub permission: Vec<Rule>,
    /// How much it may think.
    pub thinking: Option<Thinking>,
    /// Whether what it would have to ask for is denied, whatever others allow.
    pub read_only: Option<bool>,
}

/// What is said about a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderSettings {
    /// How it speaks.
    pub kind: Option<Api>,
    /// Where it is.
    pub base_url: Option<String>,
    /// The variable that holds its key.
    pub key_env: Option<String>,
    /// Headers that are sent along.
    pub headers: BTreeMap<String, Given>,
}

/// What is said about an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerSettings {
    /// How it is reached.
    pub reach: Reach,
    /// Whether it is used.
    pub enabled: bool,
}

/// How an MCP server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It is a program that is started.
    Program {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables it gets beside those that hold no secrets.
        env: BTreeMap<String, Given>,
    },
    /// It is somewhere on the network.
    Address {
        /// Where.
        url: String,
        /// The variable that holds its key.
        key_env: Option<String>,
        /// Headers that are sent along.
        headers: BTreeMap<String, Given>,
    },
}

/// A value that may be secret: written down, or named by the variable that holds it.
#[derive(Clone, PartialEq, Eq)]
pub enum Given {
    /// It is this.
    Text(String),
    /// It is what this variable holds.
    Variable(String),
}

/// What is written down is not shown.
impl fmt::Debug for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl fmt::Display for Given {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(_) => out.write_str("(hidden)"),
            Self::Variable(name) => write!(out, "${name}"),
        }
    }
}

impl Tables {
    /// Reads one of the tables.
    pub(super) fn take(&mut self, member: Member<'_>) -> Result<(), EngineError> {
        match member.path {
            "permission" => self.permission = rules(member)?,
            "agents" => by_name(member, &mut self.agents, agent)?,
            "providers" => by_name(member, &mut self.providers, provider)?,
            _ => by_name(member, &mut self.mcp, server)?,
        }
        Ok(())
    }
}

/// Reads a table of tables. Names become parts of names of tools and models, so they are tame.
fn by_name<T>(
    member: Member<'_>,
    into: &mut BTreeMap<String, T>,
    read: impl Fn(Member<'_>) -> Result<T, EngineError>,
) -> Result<(), EngineError> {
    member.members(|each| {
        let is_tame = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if each.path.is_empty() || each.path.len() > 32 || !each.path.chars().all(is_tame) {
            return Err(each.wrong(&format!("{:?} is no name: it has letters, digits, - and _", each.path)));
        }
        into.insert(each.path.to_owned(), read(each)?);
        Ok(())
    })
}

/// Reads rules: `bash = "ask"`, or actions by pattern.
fn rules(member: Member<'_>) -> Result<Vec<Rule>, EngineError> {
    let mut rules = Vec::new();
    member.members(|permission| {
        if !permission.is_table() {
            rules.push(Rule::new(permission.path, "*", action(permission)?));
            return Ok(());
        }
        permission.members(|pattern| {
            rules.push(Rule::new(permission.path, pattern.path, action(pattern)?));
            Ok(())
        })
    })?;
    Ok(rules)
}

fn action(member: Member<'_>) -> Result<Action, EngineError> {
    Ok(match member.text()?.as_str() {
        "allow" => Action::Allow,
        "ask" => Action::Ask,
        "deny" => Action::Deny,
        other => {
            return Err(member.wrong(&format!("{:?} is {other:?}, which is not allow, ask or deny", member.path)));
        }
    })
}

fn agent(member: Member<'_>) -> Result<AgentSettings, EngineError> {
    const KEYS: [&str; 7] = ["description", "prompt", "model", "tools", "permission", "thinking", "read_only"];
    let mut agent = AgentSettings::default();
    member.members(|key| {
        match key.path {
            "description" => agent.description = Some(key.text()?),
            "prompt" => agent.prompt = Some(key.text()?),
            "model" => agent.model = Some(model(key)?),
            "tools" => agent.tools = Some(key.texts()?),
            "permission" => agent.permission = rules(key)?,
            "thinking" => agent.thinking = Some(thinking(key)?),
            "read_only" => agent.read_only = Some(key.flag()?),
            _ => return Err(key.unknown("an agent", KEYS)),
        }
        Ok(())
    })?;
    Ok(agent)
}

fn model(member: Member<'_>) -> Result<String, EngineError> {
    let model = member.text()?;
    match model.split_once('/') {
        Some((provider, name)) if !provider.is_empty() && !name.is_empty() => Ok(model),
        _ => Err(member.wrong(&format!("a model is named PROVIDER/NAME, not {model:?}"))),
    }
}

fn thinking(member: Member<'_>) -> Result<Thinking, EngineError> {
    let level = member.text()?;
    Thinking::named(&level)
        .ok_or_else(|| member.wrong(&format!("thinking is off, minimal, low, medium, high or max, not {level:?}")))
}

fn provider(member: Member<'_>) -> Result<ProviderSettings, EngineError> {
    const KEYS: [&str; 4] = ["kind", "base_url", "key_env", "headers"];
    let mut provider = ProviderSettings::default();
    member.members(|key| {
        match key.path {
            "kind" => provider.kind = Some(kind(key)?),
            "base_url" => provider.base_url = Some(key.text()?),
            "key_env" => provider.key_env = Some(variable(key)?),
            "headers" => provider.headers = given(key)?,
            "key" | "api_key" => return Err(key.wrong(NO_KEYS)),
            _ => return Err(key.unknown("a provider", KEYS)),
        }
        Ok(())
    })?;
    Ok(provider)
}

const NO_KEYS: &str = "keys do not belong in this file: name the variable that holds it with key_env";

/// The wire formats by the names people know them by.
const KINDS: [(&str, Api); 4] = [
    ("openai", Api::Completions),
    ("openai-responses", Api::Responses),
    ("anthropic", Api::Anthropic),
    ("gemini", Api::Gemini),
];

fn kind(member: Member<'_>) -> Result<Api, EngineError> {
    let name = member.text()?;
    let found = KINDS.iter().find(|(known, api)| *known == name || api.name() == name);
    found.map(|(_, api)| *api).ok_or_else(|| {
        member
            .wrong(&format!("a kind is openai (chat completions), openai-responses, anthropic or gemini, not {name:?}"))
    })
}

/// Returns the name by which settings know a wire format.
pub fn kind_name(api: Api) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == api).map_or("openai", |(name, _)| name)
}

fn server(member: Member<'_>) -> Result<ServerSettings, EngineError> {
    const KEYS: [&str; 7] = ["command", "args", "env", "url", "headers", "key_env", "enabled"];
    let (mut command, mut args, mut env) = (None, None, None);
    let (mut url, mut headers, mut key_env, mut enabled) = (None, None, None, true);
    member.members(|key| {
        match key.path {
            "command" => command = Some(key.text()?),
            "args" => args = Some(key.texts()?),
            "env" => env = Some(given(key)?),
            "url" => url = Some(key.text()?),
            "headers" => headers = Some(given(key)?),
            "key_env" => key_env = Some(variable(key)?),
            "enabled" => enabled = key.flag()?,
            "key" | "api_key" => return Err(key.wrong(NO_KEYS)),
            _ => return Err(key.unknown("an MCP server", KEYS)),
        }
        Ok(())
    })?;
    let reach = match (command, url) {
        (Some(command), None) if headers.is_none() && key_env.is_none() && !command.is_empty() => {
            Reach::Program { command, args: args.unwrap_or_default(), env: env.unwrap_or_default() }
        }
        (None, Some(url)) if args.is_none() && env.is_none() => {
            Reach::Address { url, key_env, headers: headers.unwrap_or_default() }
        }
        _ => return Err(member.wrong("an MCP server has command, args and env, or url, key_env and headers")),
    };
    Ok(ServerSettings { reach, enabled })
}

fn variable(member: Member<'_>) -> Result<String, EngineError> {
    let name = member.text()?;
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with(|letter: char| letter.is_ascii_digit()) {
        return Err(member.wrong(&format!(
            "{} names an environment variable, which {:?} cannot be",
            member.path,
            short(&name)
        )));
    }
    Ok(name)
}

/// What stands where a name belongs may be a secret.
fn short(text: &str) -> String {
    let mut start: String = text.chars().take(4).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    start
}

/// Reads values that are texts, or `{ env = "NAME" }`.
fn given(member: Member<'_>) -> Result<BTreeMap<String, Given>, EngineError> {
    let mut all = BTreeMap::new();
    member.members(|each| {
        let value = if each.is_table() {
            let mut named = None;
            each.members(|key| match key.path {
                "env" => {
                    named = Some(variable(key)?);
                    Ok(())
                }
                _ => Err(key.unknown("a value", ["env"])),
            })?;
            Given::Variable(named.ok_or_else(|| each.wrong("a value is a text or { env = \"NAME\" }"))?)
        } else {
            Given::Text(each.text()?)
        };
        all.insert(each.path.to_owned(), value);
        Ok(())
    })?;
    Ok(all)
}
