//! `recover`, `flush`, `lease`: what keeps a session's writing in order.

use ramus_store::Lease;

use crate::engine::{Durability, Engine};
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Makes a session whose writing failed writable again. When the disk did not confirm what it was given, the log is
    /// copied to a new file first.
    pub fn recover(&self, session: &mut Session) -> Result<(), EngineError> {
        session.writer()?.recover()?;
        session.reload()?;
        self.make_writable(session)
    }

    /// Makes everything that was appended durable, whatever the durability.
    pub fn flush(&self, session: &mut Session) -> Result<(), EngineError> {
        Ok(session.writer()?.flush()?)
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
