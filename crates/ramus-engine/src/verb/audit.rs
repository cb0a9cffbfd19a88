//! `audit`: who did what to a session, on all its branches, and to everything that comes from it: forks, children, and
//! theirs.

use std::collections::{HashMap, HashSet};

use ramus_model::{Depth, SessionId, time};
use ramus_store::StoreError;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};
use crate::verb::list::Filter;
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
        // A link that was found after an import is in no header; lists know it.
        let everyone = Filter { drafts: true, archived: true, ..Filter::default() };
        let mut offspring: HashMap<SessionId, Vec<SessionId>> = HashMap::new();
        for session in self.list(&everyone)?.sessions {
            let forked = session.lineage.forked_from.map(|origin| origin.session);
            for from in forked.into_iter().chain(session.lineage.parent) {
                offspring.entry(from).or_default().push(session.id.clone());
            }
        }
        // Hostile headers may name each other in a circle.
        let (mut found, mut seen, mut next) = (Vec::new(), HashSet::from([id.clone()]), 0);
        let mut of = id.clone();
        loop {
            let theirs = offspring.remove(&of).unwrap_or_default();
            found.extend(theirs.into_iter().filter(|child| seen.insert(child.clone())));
            match found.get(next) {
                Some(child) => of = SessionId::clone(child),
                None => return Ok(found),
            }
            next += 1;
        }
    }
}
