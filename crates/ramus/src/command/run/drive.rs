//! Driving turns: a runtime for what waits, interrupts that stop the turn and not the program, a watcher that shows it.

use anyhow::Context as _;
use ramus_engine::Session;
use ramus_engine::run::{Inbox, Letters, Run as Turn, TurnResult, inbox};
use tokio::runtime::{Builder, Runtime};

use super::watcher::Watcher;
use crate::invocation::Invocation;
use crate::signal;

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

    /// Runs one turn to its end and shows it. `inbox` is where others may send what happens meanwhile.
    pub(crate) fn turn(
        &self,
        invocation: &mut Invocation<'_>,
        session: &mut Session,
        turn: Turn,
        (inbox, letters): (Inbox, Letters),
    ) -> anyhow::Result<TurnResult> {
        let runtime = self.runtime.as_ref().context("what turns run on has stopped")?;
        let guard = signal::cancel_on_interrupt(inbox.clone())?;
        let engine = invocation.engine.clone();
        let mut watcher = Watcher::new(session.id(), invocation.screen);
        let result = engine.run(session, turn, runtime.handle(), (inbox, letters), &mut |event| watcher.tell(event));
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
