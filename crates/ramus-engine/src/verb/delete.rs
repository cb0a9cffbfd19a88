//! `delete`: the session's own file goes, after a look at who depends on it.

use ramus_model::SessionId;
use ramus_store::{Removed, Residence};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, header_of};

/// What deleting a session removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// The session.
    pub session: SessionId,
    /// The files and bytes.
    pub removed: Removed,
    /// The sessions it spawned, which stay.
    pub children: Vec<SessionId>,
}

impl Engine {
    /// Deletes a session for good. With `dry_run`, says what would go. Refuses while forks stand on it.
    pub fn delete(&self, session: &Session, dry_run: bool) -> Result<Deleted, EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; ramus deletes only sessions of its own home";
            return Err(EngineError::Invalid(reason.into()));
        }
        let mut children = Vec::new();
        let mut forks = Vec::new();
        for location in self.store.list()? {
            let Some(header) = header_of(self.store.as_ref(), &location)? else { continue };
            if header.ramus.parent.as_ref() == Some(session.id()) {
                children.push(header.id.clone());
            }
            if header.ramus.forked_from.is_some_and(|fork| fork.origin.session == *session.id()) {
                forks.push(header.id.to_string());
            }
        }
        if !forks.is_empty() {
            let message = format!(
                "{} session(s) were forked from {} and still read its entries: {}; delete them first",
                forks.len(),
                session.id(),
                forks.join(", ")
            );
            return Err(EngineError::Conflict(message));
        }
        let removed = self.store.delete(session.location(), dry_run)?;
        Ok(Deleted { session: session.id().clone(), removed, children })
    }
}
