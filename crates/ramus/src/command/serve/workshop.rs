//! What turns of a server are run with: the same as those of the command line.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_engine::run::{Asker, Inbox};
use ramus_engine::settings::Settings;
use ramus_engine::{Engine, Retention, Session};
use ramus_interchange::place::Root;
use ramus_model::request::ToolDefinition;
use ramus_redact::Redactor;
use ramus_server::{ApiError, Equipped, Kind, ModelQuery, Order, Workshop};
use ramus_store::JsonlStore;
use serde_json::{Map, Value};
use tokio::runtime::Handle;

use crate::agents;
use crate::cli::Global;
use crate::command::run::drive;
use crate::command::run::equipment::{Choices, Kept, Script, check, equip};
use crate::command::run::person;
use crate::command::run::said::Said;
use crate::counter;
use crate::failure::Failure;
use crate::home::Home;
use crate::invocation::Invocation;
use crate::models;
use crate::redaction;
use crate::screen::Screen;

/// A home and its engine, from which invocations are made.
pub(super) struct Bench {
    home: Home,
    engine: Engine,
    store: JsonlStore,
    cwd: String,
    script: Option<PathBuf>,
}

impl Bench {
    pub(super) fn new(invocation: &Invocation<'_>, script: Option<PathBuf>) -> Self {
        let (engine, store) = invocation.parts();
        Self { home: invocation.home.clone(), engine, store, cwd: invocation.cwd.clone(), script }
    }

    /// What an order chooses. A script stands in for a model, which is for whoever started the server to allow: only one that
    /// plays a script anyway plays those that it is sent.
    fn choices<'c>(&'c self, order: &'c Order) -> Result<Choices<'c>, ApiError> {
        let script = match (&self.script, &order.script) {
            (None, Some(_)) => {
                let denied = ApiError::denied("this server asks models and plays no scripts");
                return Err(denied.hint("leave out --script, or ask a server that was started with --script"));
            }
            (Some(_), Some(text)) => Some(Script::Text(text)),
            (path, None) => path.as_deref().map(Script::File),
        };
        Ok(Choices {
            agent: order.agent.as_deref(),
            model: order.model.as_deref(),
            provider: None,
            script,
            permission: &order.permission,
            max_tokens: order.max_tokens,
            thinking: order.thinking.as_deref(),
        })
    }

    /// Does something as a command would, on a screen that nobody sees.
    fn invoke<T>(&self, act: impl FnOnce(&mut Invocation<'_>) -> anyhow::Result<T>) -> Result<T, ApiError> {
        let (mut screen, _) = Screen::standard(&Global { quiet: true, ..Global::default() }).captured();
        let home = self.home.clone();
        let mut invocation =
            Invocation::within(home, self.engine.clone(), self.store.clone(), self.cwd.clone(), &mut screen);
        act(&mut invocation).map_err(|error| refused(&error))
    }
}

impl Workshop for Bench {
    fn equip(
        &self,
        session: &mut Session,
        order: &Order,
        asker: Option<Arc<dyn Asker>>,
        inbox: &Inbox,
        runtime: &Handle,
    ) -> Result<Equipped, ApiError> {
        let choices = self.choices(order)?;
        self.invoke(|invocation| {
            let mut kept = Kept::default();
            let equipped = equip(invocation, session, runtime, &choices, &mut kept, Said::default())?;
            let mut prepared = drive::prepare(invocation, session, equipped, inbox)?;
            prepared.turn.asker = asker.unwrap_or_else(person::nobody);
            Ok(Equipped { engine: prepared.engine, run: prepared.turn, titles: prepared.titles, kept: Box::new(kept) })
        })
    }

    fn check(&self, session: &Session, order: &Order) -> Result<(), ApiError> {
        let choices = self.choices(order)?;
        self.invoke(|invocation| check(invocation, session, &choices))
    }

    fn counting(&self, session: &Session) -> Result<Engine, ApiError> {
        self.invoke(|invocation| counter::engine_of(invocation, session))
    }

    fn redactor(&self) -> Redactor {
        redaction::redactor(self.home.settings())
    }

    fn retention(&self) -> Result<Retention, ApiError> {
        Ok(Retention::of(self.home.settings())?)
    }

    fn places(&self) -> Result<Vec<Root>, ApiError> {
        let environment = agents::environment(&self.cwd).map_err(|error| refused(&error))?;
        Ok(agents::stores(&environment, None))
    }

    fn tools(&self, session: &Session, order: &Order, runtime: &Handle) -> Result<Vec<ToolDefinition>, ApiError> {
        let choices = self.choices(order)?;
        self.invoke(|invocation| {
            let mut kept = Kept::default();
            let tools = equip(invocation, session, runtime, &choices, &mut kept, Said::default())?.turn.tools;
            Ok(tools.iter().map(|tool| tool.definition()).collect())
        })
    }

    fn models(&self, query: &ModelQuery, directory: &str) -> Result<Map<String, Value>, ApiError> {
        self.invoke(|invocation| models::list(invocation, query, directory))
    }

    fn settings(&self, directory: &str) -> Result<Settings, ApiError> {
        self.invoke(|invocation| invocation.settings_in(directory))
    }
}

/// The same kinds as on the command line.
fn refused(error: &anyhow::Error) -> ApiError {
    let Some(failure) = Failure::of(error) else { return ApiError::new(Kind::Broken, error.to_string()) };
    let (kind, message, hint) = failure.into_parts();
    let refused = ApiError::new(Kind::named(kind), message);
    match hint {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}
