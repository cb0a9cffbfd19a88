//! The thread of a turn: gets it ready, runs it, tells what happens, and says how it ended.

use std::sync::Arc;

use ramus_agent::End as TurnEnd;
use ramus_engine::run::{Asker, Inbox, Letters, TurnResult};
use ramus_engine::{Picture, Session};

use super::runs::{End, Running};
use super::{Equipped, Order, Shown};
use crate::app::App;
use crate::error::{ApiError, Kind};

impl App {
    /// Runs a turn on a thread of its own.
    pub(crate) fn start(self: &Arc<Self>, run: &Arc<Running>, session: Session, order: Order, letters: Letters) {
        let (app, running) = (Arc::clone(self), Arc::clone(run));
        let spawned = std::thread::Builder::new().name("turn".into()).spawn(move || {
            let mut guard = Guard { app: Arc::clone(&app), run: running, end: None };
            guard.end = Some(app.turn(&guard.run, session, &order, letters));
        });
        if spawned.is_err() {
            self.give_up(run, ApiError::busy("no thread could be started for the turn"));
        }
    }

    /// Ends a turn that could not be started.
    pub(crate) fn give_up(&self, run: &Arc<Running>, error: ApiError) {
        self.runs.ended(run);
        run.finish(Err(error));
        self.hub.ended(run);
    }

    fn turn(&self, run: &Arc<Running>, mut session: Session, order: &Order, letters: Letters) -> End {
        let asker: Option<Arc<dyn Asker>> = order.ask.unwrap_or(true).then(|| Arc::new(run.desk.clone()) as _);
        let inbox: Inbox = run.inbox.clone();
        let Equipped { engine, run: mut turn, titles, kept } =
            self.workshop.equip(&mut session, order, asker, &inbox, &self.runtime)?;
        self.rewind(&mut session, order)?;
        turn.prompt.clone_from(&order.prompt);
        let picture = |one: &Shown| Picture { data: one.data.clone(), kind: one.kind.clone() };
        turn.pictures = order.pictures.iter().map(picture).collect();
        self.metrics.runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let model = turn.model.clone();
        let id = session.id().clone();
        // Whoever watches is told through the events of the engine.
        let result = engine.run(&mut session, turn, &self.runtime, (inbox, letters), &mut |_| {});
        let is_finished = matches!(&result, Ok(TurnResult { end: TurnEnd::Finished(_), .. }));
        if titles && is_finished {
            // The turn is complete; a title that cannot be stored is no reason to say otherwise.
            let _ = engine.make_title(&mut session, &model, &self.runtime);
        }
        drop(kept);
        let result = result?;
        engine.end_turn(&mut session)?;
        Ok(ramus_wire::turn::end(&id, &result))
    }

    /// Goes back to where something is said or answered again.
    fn rewind(&self, session: &mut Session, order: &Order) -> Result<(), ApiError> {
        if order.regenerate {
            self.engine.rewind_to_last_said(session)?;
        }
        if let Some(entry) = &order.edit {
            let said = session.resolve(entry)?;
            self.engine.rewind_before(session, said)?;
        }
        Ok(())
    }
}

/// However the thread ends, the turn is over then: another one can be started before anybody is told.
struct Guard {
    app: Arc<App>,
    run: Arc<Running>,
    end: Option<End>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.app.runs.ended(&self.run);
        let failed = || Err(ApiError::new(Kind::Broken, "the thread of the turn failed"));
        self.run.finish(self.end.take().unwrap_or_else(failed));
        self.app.hub.ended(&self.run);
    }
}
