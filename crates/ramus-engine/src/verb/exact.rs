//! Verbs for surfaces whose callers must not reach files by their names: sessions are named by whole ids and nothing else.

use std::collections::HashSet;

use ramus_model::{BlobHash, Depth, SessionId};
use ramus_store::{Location, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::recovery::RecoveryReport;
use crate::session::{Session, find, load};
use crate::verb::doctor::Treatment;
use crate::verb::search::{Hits, Search};
use crate::verb::usage::{UsageQuery, UsageReport};

/// How often a log is looked for that is moved while it is opened.
const LOOKS: usize = 4;

impl Engine {
    /// Opens the session with exactly this id.
    pub fn open_id(&self, id: &SessionId) -> Result<Session, EngineError> {
        for _ in 0..LOOKS {
            match load(&self.store, self.locate_exactly(id)?, Depth::Envelope) {
                // A draft that was published between looking and reading is found at the next look.
                Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                result => return result,
            }
        }
        Err(EngineError::SessionNotFound(id.to_string()))
    }

    fn locate_exactly(&self, id: &SessionId) -> Result<Location, EngineError> {
        find(self.store.as_ref(), id)?.ok_or_else(|| EngineError::SessionNotFound(id.to_string()))
    }

    /// Reads what others appended to a session since it was opened, wherever its log is now.
    pub fn read_on(&self, session: &mut Session) -> Result<(), EngineError> {
        match session.refresh() {
            Err(EngineError::Store(StoreError::NotFound { .. })) => self.look_up_again(session),
            result => result,
        }
    }

    /// Examines the session with exactly this id, and repairs it if asked to.
    pub fn doctor_id(&self, id: &SessionId, treatment: Treatment) -> Result<RecoveryReport, EngineError> {
        let location = self.locate_exactly(id)?;
        match treatment {
            Treatment::LookOnly => RecoveryReport::with_blobs(&load(&self.store, location, Depth::Whole)?),
            Treatment::Repair => self.repair_at(location),
        }
    }

    /// Searches an open session, what it shares with its origin included.
    pub fn search_in(&self, session: &Session, search: &Search) -> Result<Hits, EngineError> {
        self.search_open(session, search)
    }

    /// Reports like [`Engine::usage`], of these sessions alone.
    pub fn usage_of(&self, query: &UsageQuery<'_>, only: &HashSet<String>) -> Result<UsageReport, EngineError> {
        self.usage_where(query, &|id| only.contains(id))
    }

    /// Returns the bytes of a blob; none when there is none, or its bytes are not what its name says.
    pub fn blob(&self, hash: BlobHash) -> Result<Option<Vec<u8>>, EngineError> {
        match self.store.blobs() {
            Some(blobs) => Ok(blobs.fetch(hash)?),
            None => Ok(None),
        }
    }
}

impl Session {
    /// Says whether a line of the session refers to a blob.
    pub fn refers_to(&self, hash: BlobHash) -> Result<bool, EngineError> {
        for seq in self.log.seqs() {
            if ramus_model::blob::named(&self.line(seq)?).contains(&hash) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
