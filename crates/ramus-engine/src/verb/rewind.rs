//! `rewind`: the leaf goes back, so that something is said or answered again. What was there stays, as a branch beside it.

use ramus_model::{EntryId, Kind, Record, Role, Seq};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Moves the leaf in front of what a person said, so that it can be said in other words. Returns the leaf; none when
    /// nothing comes before.
    pub fn rewind_before(&self, session: &mut Session, said: Seq) -> Result<Option<EntryId>, EngineError> {
        session.check_said(said)?;
        match session.before(said) {
            Some(target) => self.branch(session, target).map(Some),
            None => self.reset_leaf(session).map(|()| None),
        }
    }

    /// Moves the leaf to what a person said last, so that it is answered again.
    pub fn rewind_to_last_said(&self, session: &mut Session) -> Result<EntryId, EngineError> {
        let missing = || EngineError::Invalid("nobody has said anything on this path".into());
        let said = session.last_said().ok_or_else(missing)?;
        self.branch(session, said)
    }
}

impl Session {
    /// Returns the entry that comes before another one on its path.
    pub fn before(&self, entry: Seq) -> Option<Seq> {
        let log = self.log();
        let mut above = log.ancestors(log.record(entry).and_then(Record::parent));
        above.find(|seq| log.record(*seq).is_some_and(Record::is_visible) && log.belongs(*seq))
    }

    /// Refuses an entry that is not something a person said.
    pub fn check_said(&self, entry: Seq) -> Result<(), EngineError> {
        if self.log().record(entry).is_some_and(is_said) {
            return Ok(());
        }
        Err(EngineError::Invalid(format!("{} is not something a person said", self.entry_id(entry))))
    }

    /// Returns what a person said last on the path to the leaf.
    pub fn last_said(&self) -> Option<Seq> {
        let log = self.log();
        log.ancestors(log.leaf()).find(|seq| log.record(*seq).is_some_and(is_said))
    }
}

fn is_said(record: &Record) -> bool {
    record.kind == Kind::Message && record.role == Role::User && record.is_visible()
}
