//! What a turn is run with: the model from the command line, the path or the settings; keys and addresses from the
//! environment; tools that work in the session's directory; rules.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use ramus_engine::Session;
use ramus_engine::project;
use ramus_engine::run::system_prompt;
use ramus_engine::settings::resolve_model;
use ramus_model::permission::{Action, Layer, Permissions, Rule};
use ramus_model::request::Thinking;
use ramus_provider::{Facts, KNOWN, Models, Patience, Providers, Resolved, Scripted, Secret, Settings};
use ramus_tools::sandbox::{Policy, Sandbox, Status};
use ramus_tools::tool::artifact::Gallery;
use ramus_tools::tool::bash;
use ramus_tools::tool::deploy::Deploying;
use ramus_tools::tool::slides::Presenting;
use ramus_tools::{Tool, Workspace, shell};

use crate::failure::Refusal;
use crate::invocation::Invocation;

/// The hidden command that puts another one in bounds.
pub(crate) const SANDBOX: &str = "__sandbox";

/// What the model is told about itself.
const AGENT: &str = "You are a coding agent. You work for a person in their directory, with tools that read, search, edit and \
run. Look before you change something, change as little as needed, and check what you did. Say briefly what you did and what \
is left. When you are not allowed to do something, say what you would have done instead of looking for a way around it.";

/// A model that can be asked.
#[derive(Clone)]
pub(crate) struct Chosen {
    pub(crate) model: Resolved,
    pub(crate) facts: Facts,
}

pub(super) fn model(
    invocation: &Invocation<'_>,
    session: &Session,
    named: Option<&str>,
    script: Option<&Path>,
) -> anyhow::Result<Chosen> {
    let mut models = Models::known()?;
    let own = invocation.home.root().join("models.toml");
    if let Ok(text) = fs::read_to_string(&own) {
        models.lay_over(&text, &own.display().to_string())?;
    }
    let mut providers = Providers::new(settings(), models, Patience::default()).map_err(refused)?;
    let name = match script {
        Some(script) => {
            // As if the command had been started there.
            let script = &Path::new(&invocation.cwd).join(script);
            let text = fs::read_to_string(script).with_context(|| format!("cannot read {}", script.display()))?;
            providers.add(Arc::new(Scripted::new(&text, &script.display().to_string())?));
            "scripted/script".to_owned()
        }
        None => {
            let state = session.context(session.log().leaf())?.state;
            let chosen = resolve_model(named, &state, "default", invocation.home.settings());
            let missing = || {
                Refusal::usage("no model is chosen").hint(
                    "name one with --model PROVIDER/NAME, or once and for all: ramus config set default_model PROVIDER/NAME",
                )
            };
            chosen.ok_or_else(missing)?.value
        }
    };
    let model = providers.resolve(&name).map_err(refused)?;
    let facts = providers.models().facts(&model.model).cloned().unwrap_or_default();
    Ok(Chosen { model, facts })
}

fn refused(error: ramus_provider::ResolveError) -> Refusal {
    let hint = error.hint().to_owned();
    Refusal::usage(error.to_string()).hint(hint)
}

/// Reads keys and addresses from the environment.
fn settings() -> BTreeMap<String, Settings> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let known = KNOWN.iter().map(|known| {
        let key = known.key_variable.and_then(variable).map(Secret::new);
        (known.name.to_owned(), Settings { base_url: variable(known.url_variable), key, ..Settings::default() })
    });
    known.collect()
}

/// How much the model may think: what the path says last.
pub(super) fn thinking(session: &Session) -> anyhow::Result<Thinking> {
    let state = session.context(session.log().leaf())?.state;
    Ok(Thinking::named(&state.thinking_level).unwrap_or_default())
}

pub(super) fn system(session: &Session) -> String {
    let root = project::find(session.cwd()).map(|project| project.root);
    system_prompt(AGENT, session.cwd(), root.as_deref())
}

/// The tools, at work in the session's directory.
pub(crate) fn tools(invocation: &mut Invocation<'_>, session: &Session) -> anyhow::Result<Vec<Arc<dyn Tool>>> {
    let cwd = Path::new(session.cwd());
    let home = invocation.home.root().to_owned();
    let workspace = Workspace::open(cwd, std::slice::from_ref(&home))
        .with_context(|| format!("cannot work in {}", cwd.display()))?;
    let sandbox = match Sandbox::status() {
        Status::Enforced => {
            let program = std::env::current_exe().context("cannot find this program")?;
            let user = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
            let policy = Policy::usual(cwd, &user, &home);
            Some(Sandbox { helper: vec![program.into(), SANDBOX.into()], policy })
        }
        status => {
            invocation.screen.warn(&format!("commands run {}", status.describe()))?;
            None
        }
    };
    let environment = bash::without_secrets(std::env::vars_os());
    let settings = bash::Settings { environment, sandbox, spill: std::env::temp_dir(), ..bash::Settings::default() };
    let workspace = Arc::new(workspace);
    let mut tools: Vec<Arc<dyn Tool>> = ramus_tools::tools(&workspace, settings).into_iter().map(Arc::from).collect();
    let gallery = Gallery { workspace, session: session.id().to_string() };
    tools.push(Arc::new(Deploying { gallery: gallery.clone() }));
    tools.push(Arc::new(Presenting { gallery }));
    Ok(tools)
}

/// The rules: those that are built in, and what the command line says.
pub(super) fn permissions(given: &[String]) -> anyhow::Result<Permissions> {
    let mut rules = Vec::new();
    for text in given {
        let wrong = || {
            Refusal::usage(format!("{text:?} is no permission"))
                .hint("say NAME=allow, NAME=ask or NAME=deny, for example edit=allow")
        };
        let (name, action) = text.split_once('=').ok_or_else(wrong)?;
        let action = match action {
            "allow" => Action::Allow,
            "ask" => Action::Ask,
            "deny" => Action::Deny,
            _ => return Err(wrong().into()),
        };
        rules.push(Rule::new(if name == "all" { "*" } else { name }, "*", action));
    }
    Ok(Permissions::new().with(Layer::Agent, shell::defaults::rules()).with(Layer::Session, rules))
}
