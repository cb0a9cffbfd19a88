//! `audit`: who did what to a session, on all its branches, and to everything that comes from it: forks, children, and
//! theirs.

use std::collections::HashSet;

use ramus_model::{Depth, SessionId, time};
use ramus_store::StoreError;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, header_of, load};
use crate::verb::operations::Performed;

/// What was done to some sessions.
pub struct Audited {
    /// The sessions, the one that was asked about first.
    pub sessions: Vec<Session>,
    /// Every operation with the session it was done to, newest first.
    done: Vec<(usize, Performed)>,
}

impl Audited {
    /// Returns the newest operations, at most so many, each with its session.
    pub fn newest(&self, limit: usize) -> impl Iterator<Item = (&Session, &Performed)> {
        self.done.iter().take(limit).filter_map(|(at, done)| Some((self.sessions.get(*at)?, done)))
    }
}

impl Engine {
    /// Collects what was done to a session and to everything that comes from it.
    pub fn audit(&self, session: &Session) -> Result<Audited, EngineError> {
        let mut sessions = vec![load(&self.store, session.location().clone(), Depth::Envelope)?];
        for id in self.offspring(session.id())? {
            match self.open(id.as_str(), "/") {
                Ok(session) => sessions.push(session),
                // Deleted since it was looked for.
                Err(EngineError::SessionNotFound(_) | EngineError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        let mut done = Vec::new();
        for (at, session) in sessions.iter().enumerate() {
            done.extend(session.operations(None, None)?.operations.into_iter().map(|done| (at, done)));
        }
        // The order of a log counts more than its clock; between logs there is only the clock.
        done.sort_by_key(|(_, done)| std::cmp::Reverse(time::parse(&done.operation.time).unwrap_or_default()));
        Ok(Audited { sessions, done })
    }

    /// The sessions that were forked from a session or spawned by it, and theirs.
    fn offspring(&self, id: &SessionId) -> Result<Vec<SessionId>, EngineError> {
        let mut parents = Vec::new();
        for location in self.store.list()? {
            let header = match header_of(self.store.as_ref(), &location) {
                Ok(Some(header)) => header,
                Ok(None) | Err(EngineError::Store(StoreError::NotFound { .. })) => continue,
                Err(error) => return Err(error),
            };
            let ramus = header.ramus;
            let forked = ramus.forked_from.map(|fork| fork.origin.session);
            let from = forked.or(ramus.copied_from.map(|origin| origin.session)).into_iter().chain(ramus.parent);
            parents.extend(from.map(|parent| (parent, location.id.clone())));
        }
        let (mut found, mut seen, mut next) = (Vec::new(), HashSet::from([id.clone()]), 0);
        let mut of = id.clone();
        loop {
            let theirs = parents.iter().filter(|(parent, _)| *parent == of).map(|(_, child)| child);
            found.extend(theirs.filter(|child| seen.insert((*child).clone())).cloned().collect::<Vec<_>>());
            match found.get(next) {
                Some(child) => of = child.clone(),
                None => return Ok(found),
            }
            next += 1;
        }
    }
}
