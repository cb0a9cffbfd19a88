//! Sessions that are written to often stay open, so that requests that come at the same time are written together.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ramus_engine::{Durability, Engine, Session, SharedSession};
use ramus_model::SessionId;

use crate::access::Owner;

/// How many sessions stay open.
const OPEN: usize = 256;

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
    /// Returns a session of an owner if it is open.
    pub(crate) fn held(&self, owner: &Owner, id: &SessionId) -> Option<Arc<SharedSession>> {
        let mut shelf = self.open_sessions();
        shelf.clock += 1;
        let used = shelf.clock;
        let held = shelf.sessions.get_mut(id).filter(|held| held.owner == owner.name())?;
        held.used = used;
        Some(Arc::clone(&held.session))
    }

    /// Keeps a session open.
    pub(crate) fn open(&self, engine: &Engine, durability: Durability, session: Session) -> Arc<SharedSession> {
        // A request is a turn of its own.
        let engine = match durability {
            Durability::Turn => engine.clone().with_durability(Durability::Full),
            _ => engine.clone(),
        };
        let mut shelf = self.open_sessions();
        shelf.clock += 1;
        let used = shelf.clock;
        let id = session.id().clone();
        if shelf.sessions.len() >= OPEN && !shelf.sessions.contains_key(&id) {
            let oldest = shelf.sessions.iter().min_by_key(|(_, held)| held.used).map(|(id, _)| id.clone());
            oldest.map(|oldest| shelf.sessions.remove(&oldest));
        }
        // Whoever was faster opened it for both.
        let held = shelf.sessions.entry(id).or_insert_with(|| Held {
            owner: session.owner().to_owned(),
            session: Arc::new(SharedSession::new(engine, session)),
            used,
        });
        held.used = used;
        Arc::clone(&held.session)
    }

    /// Closes a session.
    pub(crate) fn close(&self, id: &SessionId) {
        self.open_sessions().sessions.remove(id);
    }

    fn open_sessions(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
