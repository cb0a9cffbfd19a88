//! Opening many forks of the same logs: each of those is read once, and every fork goes on from a copy of as much of it as
//! it shares.

use std::sync::Arc;

use ramus_model::{Depth, Log};
use ramus_store::{Location, LogStore};

use super::Session;
use super::ancestry::{Ancestry, Read, among};
use crate::error::EngineError;
use crate::sidecar::Sidecar;

/// How much of a log is read at a time.
const STEP: u64 = 1 << 20;

/// Logs that forks stand on, and how far each was read. Forks that come in order ([`Self::in_order`]) make for one reading
/// of each; in any other order the answers are the same.
pub(crate) struct Trunks<'s> {
    store: &'s Arc<dyn LogStore>,
    logs: &'s [Location],
    read: Vec<Trunk>,
}

/// A log up to some byte. It was not ended there, so that more can follow.
struct Trunk {
    location: Location,
    log: Log,
}

impl<'s> Trunks<'s> {
    /// Reads nothing yet. Origins of forks are looked up in `logs` first.
    pub(crate) fn new(store: &'s Arc<dyn LogStore>, logs: &'s [Location]) -> Self {
        Self { store, logs, read: Vec::new() }
    }

    /// Returns the forks in the order of how much of these logs they share.
    pub(crate) fn in_order(&self, forks: &[Location]) -> Result<Vec<Location>, EngineError> {
        let mut shares = Vec::with_capacity(forks.len());
        for fork in forks {
            let ancestry = self.ancestry(fork)?;
            let level = self.level(&ancestry).unwrap_or_default();
            let on = ancestry.chain.get(level).map(|trunk| trunk.id.clone());
            shares.push((on, ancestry.shared(level), fork));
        }
        shares.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        Ok(shares.into_iter().map(|(_, _, fork)| fork.clone()).collect())
    }

    /// Opens a session.
    pub(crate) fn load(&mut self, fork: &Location) -> Result<Session, EngineError> {
        let ancestry = self.ancestry(fork)?;
        let read = self.read(&ancestry, u64::MAX)?;
        Ok(ancestry.into_session(self.store, read))
    }

    /// Reads only what a fork shares with its origin, as it was when it was forked.
    pub(crate) fn load_shared(&mut self, fork: &Location) -> Result<Session, EngineError> {
        let ancestry = self.ancestry(fork)?;
        let mut read = self.read(&ancestry, 0)?;
        read.sidecar = Sidecar::None;
        Ok(Session::new(Arc::clone(self.store), ancestry.chain, read))
    }

    fn ancestry(&self, fork: &Location) -> Result<Ancestry, EngineError> {
        Ancestry::of(self.store.as_ref(), fork.clone(), &among(self.logs))
    }

    /// The level of the nearest log that others may stand on too.
    fn level(&self, ancestry: &Ancestry) -> Option<usize> {
        let mut levels = ancestry.chain.iter().enumerate().skip(1);
        levels.find(|(_, location)| self.logs.contains(location)).map(|(level, _)| level)
    }

    fn read(&mut self, ancestry: &Ancestry, limit: u64) -> Result<Read, EngineError> {
        let trunk =
            self.level(ancestry).map(|level| self.trunk(ancestry, level).map(|log| (level, log))).transpose()?;
        let above = trunk.as_ref().map_or(ancestry.chain.len(), |(level, _)| *level);
        let below = trunk.as_ref().map(|(_, log)| log);
        ancestry.read_above(self.store.as_ref(), Depth::Envelope, limit, true, (0..above, below))
    }

    /// The log at a level, as far as the one above shares it.
    fn trunk(&mut self, ancestry: &Ancestry, level: usize) -> Result<Log, EngineError> {
        let shared = ancestry.shared(level);
        let Some(location) = ancestry.chain.get(level) else { return Ok(Log::default()) };
        let known = self.read.iter().position(|trunk| trunk.location == *location);
        let log = match known.map(|at| self.read.swap_remove(at)) {
            Some(trunk) if trunk.log.end() <= shared => trunk.log,
            _ => self.root(ancestry, level)?,
        };
        let trunk = Trunk { location: location.clone(), log }.read_until(self.store.as_ref(), shared)?;
        let mut log = trunk.log.clone();
        self.read.push(trunk);
        if let Some(reason) = ancestry.broken_at(level) {
            log.note_missing_origin(reason.clone());
        }
        log.finish();
        Ok(log)
    }

    /// The log at a level before anything of it was read.
    fn root(&self, ancestry: &Ancestry, level: usize) -> Result<Log, EngineError> {
        let levels = level + 1..ancestry.chain.len();
        let below = match levels.is_empty() {
            true => None,
            false => Some(ancestry.read_above(self.store.as_ref(), Depth::Envelope, 0, true, (levels, None))?),
        };
        Ok(ancestry.on(level, below, Depth::Envelope))
    }
}

impl Trunk {
    fn read_until(mut self, store: &dyn LogStore, end: u64) -> Result<Self, EngineError> {
        while let Some(room) = end.checked_sub(self.log.end()).filter(|room| *room > 0) {
            let step = usize::try_from(room.min(STEP)).unwrap_or_default();
            let more = store.read_at(&self.location, self.log.end(), step)?;
            if more.is_empty() {
                break;
            }
            self.log.feed(&more);
        }
        Ok(self)
    }
}
