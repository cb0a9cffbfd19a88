//! `recover`, `flush`, `lease`: what keeps a session's writing in order.

use ramus_store::{Health, Lease, StoreError};

use crate::engine::{Durability, Engine};
use crate::error::EngineError;
use crate::recovery::{Action, ActionKind, RecoveryReport};
use crate::session::Session;

impl Engine {
    /// Makes a session writable again, after an error or a crash, and says what that took. When the disk did not confirm
    /// what it was given, the log is copied to a new file first. A header that is gone is put back.
    pub fn recover(&self, session: &mut Session) -> Result<RecoveryReport, EngineError> {
        let failed = !matches!(session.health(), Health::Healthy);
        session.writer()?.recover()?;
        match session.reload() {
            // Published or moved meanwhile.
            Err(EngineError::Store(StoreError::NotFound { .. })) => self.look_up_again(session)?,
            result => result?,
        }
        if failed {
            let said = "the session can be written to again";
            session.recovered.push(Action::new(ActionKind::WriterRecovered, said));
        }
        if session.log().header().is_some_and(|header| header.synthetic) && !session.log().is_empty() {
            let repaired = self.repair_at(session.location().clone())?;
            session.recovered.extend(repaired.actions);
            session.reload()?;
        }
        self.make_writable(session)?;
        self.keep_what_was_left(session);
        session.looked_for_intent = false;
        self.end_what_was_interrupted(session);
        Ok(session.recovery())
    }

    /// Makes everything that was appended durable, whatever the durability.
    pub fn flush(&self, session: &mut Session) -> Result<(), EngineError> {
        session.writer()?.flush()?;
        session.unconfirmed = false;
        Ok(())
    }

    /// Ends a turn: with [`Durability::Turn`], what was appended in it is made durable.
    pub fn end_turn(&self, session: &mut Session) -> Result<(), EngineError> {
        if self.durability == Durability::Turn { self.flush(session) } else { Ok(()) }
    }

    /// Takes the right to run turns in a session. It is given back when it is dropped and when the process ends.
    pub fn lease(&self, session: &Session) -> Result<Box<dyn Lease>, EngineError> {
        Ok(self.store.lease(session.location(), self.now())?)
    }
}
