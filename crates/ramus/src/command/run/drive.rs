//! Driving turns: a runtime for what waits, interrupts that stop the turn and not the program, a watcher that shows it, and
//! a title when it was the first.

use std::sync::Arc;

use anyhow::Context as _;
use ramus_agent::{End, Event};
use ramus_engine::run::{Inbox, Letters, Run, Task, TurnResult, inbox};
use ramus_engine::{Engine, Session};
use tokio::runtime::{Builder, Handle, Runtime};

use super::delegates;
use super::equipment::Equipped;
use super::watcher::Watcher;
use crate::counter;
use crate::invocation::Invocation;
use crate::signal;

/// A turn that can be run, and the engine that runs it.
pub(crate) struct Prepared {
    pub(crate) engine: Engine,
    pub(crate) turn: Run,
    /// Whether the session gets a title when it was the first.
    pub(crate) titles: bool,
}

/// Writes down who answers, and lets a turn start others.
pub(crate) fn prepare(
    invocation: &Invocation<'_>,
    session: &mut Session,
    equipped: Equipped,
    inbox: &Inbox,
) -> anyhow::Result<Prepared> {
    let Equipped { mut turn, agent, settings, chose_thinking } = equipped;
    invocation.engine.change_mode(session, &agent.name, &settings)?;
    if chose_thinking {
        invocation.engine.change_thinking(session, turn.thinking)?;
    }
    let engine = counter::engine(invocation, &turn.model.model)?;
    let titles = invocation.home.settings().value("titles").is_some_and(|(value, _)| value == "on");
    if agent.has_tool("task") {
        let task = Task::new(&engine, session, &turn, inbox, delegates::of(&settings));
        let mut task = task.with_depth(settings.child_depth());
        if let Some(apart) = delegates::apart(&invocation.home).filter(|_| turn.snapshots) {
            task = task.with_copies(apart);
        }
        turn.tools.push(Arc::new(task));
    }
    Ok(Prepared { engine, turn, titles })
}

/// Runs turns, one after the other.
pub(crate) struct Driver {
    runtime: Option<Runtime>,
}

impl Driver {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .context("cannot start what turns run on")?;
        Ok(Self { runtime: Some(runtime) })
    }

    /// Returns what turns run on.
    pub(crate) fn handle(&self) -> anyhow::Result<&Handle> {
        self.runtime.as_ref().map(Runtime::handle).context("what turns run on has stopped")
    }

    /// Runs one turn to its end and shows it; `also` is told what happens too.
    pub(crate) fn turn(
        &self,
        invocation: &mut Invocation<'_>,
        session: &mut Session,
        equipped: Equipped,
        (inbox, letters): (Inbox, Letters),
        also: &mut dyn FnMut(&Event),
    ) -> anyhow::Result<TurnResult> {
        let runtime = self.handle()?;
        let Prepared { engine, turn, titles } = prepare(invocation, session, equipped, &inbox)?;
        let model = turn.model.clone();
        let guard = signal::cancel_on_interrupt(inbox.clone())?;
        let mut watcher = Watcher::new(session.id(), invocation.screen);
        let result = engine.run(session, turn, runtime, (inbox, letters), &mut |event| {
            watcher.tell(event);
            also(event);
        });
        let is_finished = matches!(&result, Ok(TurnResult { end: End::Finished(_), .. }));
        if titles && is_finished {
            // The turn is complete; a title that cannot be stored is no reason to say otherwise.
            if let Ok(Some(title)) = engine.make_title(session, &model, runtime) {
                watcher.tell(&Event::TitleChanged(title));
            }
        }
        drop(guard);
        let told = watcher.finish();
        let result = result?;
        told?;
        invocation.finish(session)?;
        Ok(result)
    }

    /// Makes a place for what happens in a turn.
    pub(crate) fn inbox() -> (Inbox, Letters) {
        inbox()
    }
}

impl Drop for Driver {
    /// What still runs was told to stop; nobody waits for it.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
