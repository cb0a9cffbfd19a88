//! What a turn is run with: an agent with its model, tools and rules, from the command line, the path, the settings and the
//! environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use ramus_engine::Session;
use ramus_engine::project;
use ramus_engine::run::{Run as Turn, Summariser, system_prompt};
use ramus_engine::settings::{Agent, Settings, choose_model, is_mode_of};
use ramus_model::request::Thinking;
use ramus_provider::{Facts, Resolved, Scripted};
use ramus_tools::sandbox::{Policy, Sandbox, Status};
use ramus_tools::tool::artifact::Gallery;
use ramus_tools::tool::bash;
use ramus_tools::tool::deploy::Deploying;
use ramus_tools::tool::slides::Presenting;
use ramus_tools::{Tool, Workspace};
use tokio::runtime::Handle;

use super::person;
use super::said::Said;
use super::servers::{self, Servers};
use crate::failure::Refusal;
use crate::invocation::Invocation;
use crate::providers;
use crate::rule;

/// The hidden command that puts another one in bounds.
pub(crate) const SANDBOX: &str = "__sandbox";

/// What answers in the place of a model.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Script<'c> {
    /// What a file says.
    File(&'c Path),
    /// What somebody sent.
    Text(&'c str),
}

/// What the command line chose.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices<'c> {
    pub(crate) agent: Option<&'c str>,
    pub(crate) model: Option<&'c str>,
    pub(crate) provider: Option<&'c str>,
    pub(crate) script: Option<Script<'c>>,
    pub(crate) permission: &'c [String],
    pub(crate) max_tokens: Option<u64>,
    pub(crate) thinking: Option<&'c str>,
}

/// A turn that is ready to be run.
pub(crate) struct Equipped {
    pub(crate) turn: Turn,
    /// Who answers; the path is to say so.
    pub(crate) agent: Agent,
    pub(crate) settings: Settings,
    /// Whether the call said how much to think.
    pub(crate) chose_thinking: bool,
}

/// What one turn leaves for the next: a script goes on where it was, tools remember what they have seen, and servers stay
/// up. They end when this is dropped.
#[derive(Default)]
pub(crate) struct Kept {
    script: Option<Resolved>,
    tools: Option<Vec<Arc<dyn Tool>>>,
    /// With the agent they were started for.
    servers: Option<(String, Servers)>,
}

/// Gets everything ready. Nothing is written.
pub(crate) fn equip(
    invocation: &mut Invocation<'_>,
    session: &Session,
    runtime: &Handle,
    choices: &Choices<'_>,
    kept: &mut Kept,
    said: Said,
) -> anyhow::Result<Equipped> {
    let settings = invocation.settings_in(session.cwd())?;
    let state = session.context(session.log().leaf())?.state;
    let agent = settings.resolve_agent(choices.agent, &state.mode)?;
    let takes_over = !is_mode_of(&state.mode, &agent.name, &settings);
    let (model, facts) = match choices.script {
        Some(script) => {
            let script = kept.script.take().map_or_else(|| scripted(invocation, script), Ok)?;
            (kept.script.insert(script).clone(), Facts::default())
        }
        None => {
            let named = match (choices.model, choices.provider) {
                (Some(model), Some(provider)) if !model.contains('/') => Some(format!("{provider}/{model}")),
                (model, _) => model.map(str::to_owned),
            };
            let chosen = choose_model(named.as_deref(), &state, &agent, takes_over, &settings);
            asked(invocation, runtime, &settings, &chosen.ok_or_else(no_model)?.value)?
        }
    };
    if choices.script.is_none() {
        let summariser = summariser(invocation, runtime, &settings)?;
        invocation.engine = invocation.engine.clone().with_summariser(summariser);
    }
    let rules = session.rules()?.into_iter().chain(rule::read_all(choices.permission)?);
    let permissions = agent.permissions(&settings, rules);
    let tools = tools(invocation, session, runtime, &settings, &agent, kept)?;
    let root = project::find(session.cwd()).map(|project| project.root);
    let approvals = invocation.engine.approvals(session)?.into_iter().map(|granted| granted.approval).collect();
    let turn = Turn {
        name: None,
        prompt: said.text,
        pictures: said.pictures,
        attachments: said.attachments,
        facts,
        model,
        system: system_prompt(&agent.prompt, session.cwd(), root.as_deref()),
        tools,
        permissions,
        approvals,
        asker: person::asker(invocation.screen.wants_json()),
        max_tokens: choices.max_tokens,
        thinking: thinking(choices.thinking, session, &state.thinking_level, &agent, &settings)?,
        limits: ramus_agent::Limits::default(),
        triggers: settings.triggers(),
        prices: invocation.prices()?,
        snapshots: invocation.home.settings().value("snapshots").is_some_and(|(value, _)| value == "on"),
    };
    Ok(Equipped { turn, agent, settings, chose_thinking: choices.thinking.is_some() })
}

/// Finds out whether everything that a call chose is there. Nobody is asked, nothing is started, and nothing is written.
pub(crate) fn check(invocation: &mut Invocation<'_>, session: &Session, choices: &Choices<'_>) -> anyhow::Result<()> {
    let settings = invocation.settings_in(session.cwd())?;
    let state = session.context(session.log().leaf())?.state;
    let agent = settings.resolve_agent(choices.agent, &state.mode)?;
    let takes_over = !is_mode_of(&state.mode, &agent.name, &settings);
    match choices.script {
        Some(script) => drop(scripted(invocation, script)?),
        None => {
            let chosen = choose_model(choices.model, &state, &agent, takes_over, &settings).ok_or_else(no_model)?;
            let providers = providers::providers(&invocation.home, &settings)?;
            providers.resolve(&chosen.value).map_err(providers::refused)?;
        }
    }
    rule::read_all(choices.permission)?;
    thinking(choices.thinking, session, &state.thinking_level, &agent, &settings)?;
    match Workspace::open(Path::new(session.cwd()), &[invocation.home.root().to_owned()]) {
        Ok(_) => Ok(()),
        Err(error) => Err(Refusal::invalid(format!("cannot work in {}: {error}", session.cwd())).into()),
    }
}

fn no_model() -> Refusal {
    Refusal::usage("no model is chosen").hint(
        "name one with --model PROVIDER/NAME, or once and for all: ramus config set default_model PROVIDER/NAME; \
         `ramus models` shows what can be used",
    )
}

/// A script in the place of a model.
fn scripted(invocation: &Invocation<'_>, script: Script<'_>) -> anyhow::Result<Resolved> {
    let script = match script {
        Script::File(path) => {
            let name = Path::new(&invocation.cwd).join(path).display().to_string();
            read_script(&script_text(&invocation.cwd, path)?, &name)?
        }
        Script::Text(text) => read_script(text, "the script")?,
    };
    let mut providers = providers::providers(&invocation.home, invocation.home.settings())?;
    providers.add(Arc::new(script));
    Ok(providers.resolve("scripted/script").map_err(providers::refused)?)
}

/// Reads what a script says. One that makes no sense is wrong input; no disk or network failed.
fn read_script(text: &str, name: &str) -> Result<Scripted, Refusal> {
    Scripted::new(text, name).map_err(|error| Refusal::invalid(error.to_string()))
}

/// Reads a script, as if the command had been started in `cwd`.
pub(crate) fn script_text(cwd: &str, path: &Path) -> anyhow::Result<String> {
    let path = Path::new(cwd).join(path);
    fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
}

/// A model that can be asked, and what is known about it. A server on this machine is asked what it can do.
fn asked(
    invocation: &Invocation<'_>,
    runtime: &Handle,
    settings: &Settings,
    name: &str,
) -> anyhow::Result<(Resolved, Facts)> {
    let providers = providers::providers(&invocation.home, settings)?;
    let model = providers.resolve(name).map_err(providers::refused)?;
    if let Some(facts) = providers.models().facts(&model.model) {
        let facts = facts.clone();
        return Ok((model, facts));
    }
    let said = providers::all(settings)?.remove(&model.model.provider).unwrap_or_default();
    let found = match providers::local(&model.model.provider, said) {
        Some(asked) => runtime.block_on(asked),
        None => Vec::new(),
    };
    let facts = found.into_iter().find(|local| local.model == model.model).map(|local| local.facts);
    Ok((model, facts.unwrap_or_default()))
}

/// Who writes summaries. A model that cannot be asked for them is told about, and the one that answers writes them.
fn summariser(invocation: &mut Invocation<'_>, runtime: &Handle, settings: &Settings) -> anyhow::Result<Summariser> {
    let agent = settings.agent("compaction")?;
    let mut model = None;
    if let Some(name) = &agent.model {
        match asked(invocation, runtime, settings, name) {
            Ok((resolved, _)) => model = Some(resolved),
            Err(error) => {
                invocation.screen.warn(&format!("summaries are written by the model that answers: {error}"))?;
            }
        }
    }
    Ok(Summariser { model, prompt: agent.prompt })
}

/// How much the model may think: the call, the path, the agent, the settings.
fn thinking(
    call: Option<&str>,
    session: &Session,
    level: &str,
    agent: &Agent,
    settings: &Settings,
) -> anyhow::Result<Thinking> {
    if let Some(name) = call {
        return Ok(Thinking::named(name).ok_or_else(|| {
            Refusal::usage(format!("{name:?} is no level of thinking"))
                .hint("the levels are off, minimal, low, medium, high and max")
        })?);
    }
    let path = session.has_thinking_level().then(|| Thinking::named(level).unwrap_or_default());
    let setting = || settings.value("default_thinking").and_then(|(name, _)| Thinking::named(name));
    Ok(path.or(agent.thinking).or_else(setting).unwrap_or_default())
}

/// The tools of an agent: those that work in the session's directory, and those of servers.
pub(crate) fn tools(
    invocation: &mut Invocation<'_>,
    session: &Session,
    runtime: &Handle,
    settings: &Settings,
    agent: &Agent,
    kept: &mut Kept,
) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let mut tools = kept.tools.take().map_or_else(|| own_tools(invocation, session), Ok)?;
    kept.tools = Some(tools.clone());
    if kept.servers.as_ref().is_none_or(|(name, _)| *name != agent.name) {
        // Those of another agent end first: they may be the same.
        kept.servers = None;
        kept.servers = Some((agent.name.clone(), servers::start(invocation, session, runtime, settings, agent)?));
    }
    tools.extend(kept.servers.iter().flat_map(|(_, servers)| servers.tools()));
    tools.retain(|tool| agent.has_tool(&tool.definition().name));
    Ok(tools)
}

/// The tools, at work in the session's directory.
fn own_tools(invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    match Sandbox::status() {
        Status::Enforced => {}
        status => invocation.screen.warn(&format!("commands run {}", status.describe()))?,
    }
    tools_in(Path::new(session.cwd()), invocation.home.root(), session.id().as_str())
}

/// The tools of a session, at work in a directory.
pub(crate) fn tools_in(cwd: &Path, home: &Path, session: &str) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let workspace =
        Workspace::open(cwd, &[home.to_owned()]).with_context(|| format!("cannot work in {}", cwd.display()))?;
    let sandbox = match Sandbox::status() {
        Status::Enforced => {
            let program = std::env::current_exe().context("cannot find this program")?;
            let user = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
            let policy = Policy::usual(cwd, &user, home);
            Some(Sandbox { helper: vec![program.into(), SANDBOX.into()], policy })
        }
        _ => None,
    };
    let environment = bash::without_secrets(std::env::vars_os());
    let settings = bash::Settings { environment, sandbox, spill: std::env::temp_dir(), ..bash::Settings::default() };
    let workspace = Arc::new(workspace);
    let mut tools: Vec<Arc<dyn Tool>> = ramus_tools::tools(&workspace, settings).into_iter().map(Arc::from).collect();
    let gallery = Gallery { workspace, session: session.to_owned() };
    tools.push(Arc::new(Deploying { gallery: gallery.clone() }));
    tools.push(Arc::new(Presenting { gallery }));
    Ok(tools)
}
