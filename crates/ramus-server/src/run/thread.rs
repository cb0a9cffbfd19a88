//! The thread of a turn: gets it ready, runs it, tells what happens, and says how it ended.

use std::sync::Arc;

use ramus_agent::End as TurnEnd;
use ramus_engine::run::{Asker, Inbox, Letters};
use ramus_engine::{Attachment, Picture, Session};
use ramus_model::{Record, Role, Seq};

use super::runs::{End, Running};
use super::{Attached, Equipped, Order, Shown};
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
        // Another turn may have ended since it was opened.
        self.engine.read_on(&mut session)?;
        let asker: Option<Arc<dyn Asker>> = order.ask.unwrap_or(true).then(|| Arc::new(run.desk.clone()) as _);
        let inbox: Inbox = run.inbox.clone();
        let Equipped { engine, run: mut turn, titles, kept } =
            self.workshop.equip(&mut session, order, asker, &inbox, &self.runtime)?;
        self.rewind(&mut session, order)?;
        turn.prompt.clone_from(&order.prompt);
        turn.name.clone_from(&run.name);
        let picture = |one: &Shown| Picture { data: one.data.clone(), kind: one.kind.clone() };
        turn.pictures = order.pictures.iter().map(picture).collect();
        turn.attachments = order.attachments.iter().map(attachment).collect();
        self.metrics.runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let model = turn.model.clone();
        let id = session.id().clone();
        // What holds for requests holds for turns.
        let engine = engine.confined();
        // Whoever watches is told through the events of the engine.
        let result = engine.run(&mut session, turn, &self.runtime, (inbox, letters), &mut |event| run.notice(event));
        let result = result?;
        engine.end_turn(&mut session)?;
        if titles && matches!(result.end, TurnEnd::Finished(_)) && self.runs.free(run) {
            // The turn is complete: nobody waits for its title, and one that cannot be stored is no reason to say otherwise.
            let _ = engine.make_title(&mut session, &model, &self.runtime);
            engine.end_turn(&mut session)?;
        }
        drop(kept);
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
        if order.leave_last {
            self.leave_last(session)?;
        }
        Ok(())
    }

    /// Goes back to before the last thing that a person said.
    fn leave_last(&self, session: &mut Session) -> Result<(), ApiError> {
        let log = session.log();
        let is_user =
            |seq: &Seq| log.record(*seq).is_some_and(|record| record.role == Role::User && record.is_visible());
        let Some(last) = log.ancestors(log.leaf()).find(is_user) else { return Ok(()) };
        let shows = |seq: &Seq| log.record(*seq).is_some_and(Record::is_visible);
        let before = log.ancestors(Some(last)).skip(1).find(shows);
        match before {
            Some(before) => drop(self.engine.branch(session, before)?),
            None => self.engine.reset_leaf(session)?,
        }
        Ok(())
    }
}

/// A file that came with the order: it is nowhere on this machine.
fn attachment(one: &Attached) -> Attachment {
    Attachment { name: one.name.clone(), path: None, bytes: one.data.clone() }
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
        let end = self.end.take().unwrap_or_else(failed);
        if let Err(error) = &end {
            self.app.log_error(error, "turn");
        }
        self.run.finish(end);
        self.app.hub.ended(&self.run);
    }
}
