//! Who stands on a session: forks by reference, and theirs. What destroys entries asks first.

use std::collections::{HashMap, HashSet};

use ramus_model::SessionId;
use ramus_store::{Location, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::header_of;

impl Engine {
    /// Finds the sessions that read the log of another one. A session whose header cannot be read may be one of them, and
    /// that is an error: what it needs cannot be told.
    pub(crate) fn forks_of(&self, id: &SessionId) -> Result<Vec<Location>, EngineError> {
        let mut origins: HashMap<SessionId, SessionId> = HashMap::new();
        let mut sessions = Vec::new();
        for base in self.store.bases()? {
            let Some(header) = self.header_if_there(&base)? else { continue };
            origins.extend(header.ramus.forked_from.map(|fork| (header.id, fork.origin.session)));
        }
        for location in self.store.list()? {
            let Some(header) = self.header_if_there(&location)? else {
                if location.id != *id && self.may_mention(&location, id) {
                    let reason = "its header cannot be read and it may have been forked from this one; repair it first";
                    return Err(EngineError::Conflict(format!("session {}: {reason}", location.id)));
                }
                continue;
            };
            // A session that is there wins over its base.
            origins.remove(&location.id);
            origins.extend(header.ramus.forked_from.map(|fork| (location.id.clone(), fork.origin.session)));
            sessions.push(location);
        }
        let stands = |fork: &Location| {
            let mut seen = HashSet::from([&fork.id]);
            let up = std::iter::successors(origins.get(&fork.id), |id| origins.get(id));
            // Hostile headers may name each other in a circle.
            up.take_while(|id| seen.insert(id)).any(|origin| origin == id)
        };
        Ok(sessions.into_iter().filter(stands).collect())
    }

    fn header_if_there(&self, at: &Location) -> Result<Option<ramus_model::Header>, EngineError> {
        match header_of(self.store.as_ref(), at) {
            Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(None),
            header => header,
        }
    }
}

/// Names sessions in a message.
pub(crate) fn named(sessions: &[Location]) -> String {
    sessions.iter().map(|location| location.id.as_str()).collect::<Vec<_>>().join(", ")
}
