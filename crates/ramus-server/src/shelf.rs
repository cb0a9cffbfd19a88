//! Sessions that are written to often stay open, so that requests that come at the same time are written together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramus_engine::{Engine, Session, SharedSession};
use ramus_model::SessionId;

use crate::access::Owner;
use crate::error::ApiError;

/// How many sessions stay open.
const OPEN: usize = 64;

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct Shelf {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    sessions: HashMap<SessionId, Held>,
    /// Grows with every use.
    clock: u64,
}

struct Held {
    owner: String,
    session: Arc<SharedSession>,
    used: u64,
}

impl Shelf {
    /// Returns a session of an owner, opening it if need be.
    pub(crate) fn session(
        &self,
        engine: &Engine,
        owner: &Owner,
        id: &SessionId,
        open: impl FnOnce() -> Result<Session, ApiError>,
    ) -> Result<Arc<SharedSession>, ApiError> {
        if let Some(held) = self.held(owner, id) {
            return Ok(held);
        }
        let session = open()?;
        let mut shelf = self.open();
        shelf.clock += 1;
        let used = shelf.clock;
        if shelf.sessions.len() >= OPEN && !shelf.sessions.contains_key(id) {
            let oldest = shelf.sessions.iter().min_by_key(|(_, held)| held.used).map(|(id, _)| id.clone());
            oldest.map(|oldest| shelf.sessions.remove(&oldest));
        }
        // Whoever was faster opened it for both.
        let held = shelf.sessions.entry(id.clone()).or_insert_with(|| Held {
            owner: session.owner().to_owned(),
            session: Arc::new(SharedSession::new(engine.clone(), session)),
            used,
        });
        held.used = used;
        Ok(Arc::clone(&held.session))
    }

    fn held(&self, owner: &Owner, id: &SessionId) -> Option<Arc<SharedSession>> {
        let mut shelf = self.open();
        shelf.clock += 1;
        let used = shelf.clock;
        let held = shelf.sessions.get_mut(id).filter(|held| held.owner == owner.name())?;
        held.used = used;
        Some(Arc::clone(&held.session))
    }

    /// Closes a session.
    pub(crate) fn close(&self, id: &SessionId) {
        self.open().sessions.remove(id);
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
