//! What turns of a server are run with: the same as those of the command line.

use std::path::PathBuf;
use std::sync::Arc;

use ramus_engine::run::{Asker, Inbox};
use ramus_engine::settings::Settings;
use ramus_engine::{Engine, Retention, Session};
use ramus_interchange::place::Root;
use ramus_redact::Redactor;
use ramus_server::{ApiError, Equipped, Kind, Order, Workshop};
use ramus_store::JsonlStore;
use tokio::runtime::Handle;

use crate::agents;
use crate::cli::Global;
use crate::command::run::drive;
use crate::command::run::equipment::{Choices, Kept, equip};
use crate::command::run::person;
use crate::command::run::said::Said;
use crate::failure::Failure;
use crate::home::Home;
use crate::invocation::Invocation;
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
        self.invoke(|invocation| {
            let choices = Choices {
                agent: order.agent.as_deref(),
                model: order.model.as_deref(),
                provider: None,
                script: self.script.as_deref(),
                permission: &order.permission,
                max_tokens: order.max_tokens,
                thinking: order.thinking.as_deref(),
            };
            let mut kept = Kept::default();
            let equipped = equip(invocation, session, runtime, &choices, &mut kept, Said::default())?;
            let mut prepared = drive::prepare(invocation, session, equipped, inbox)?;
            prepared.turn.asker = asker.unwrap_or_else(person::nobody);
            Ok(Equipped { engine: prepared.engine, run: prepared.turn, titles: prepared.titles, kept: Box::new(kept) })
        })
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
