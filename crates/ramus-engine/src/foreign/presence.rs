//! Which sessions there are, while several readers bring new ones.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, PoisonError};

use ramus_model::SessionId;
use ramus_store::Location;

/// Which sessions there are, and which are on their way.
#[derive(Debug, Default)]
pub(super) struct Presence(Mutex<HashMap<SessionId, Option<Location>>>);

impl Presence {
    pub(super) fn of(locations: Vec<Location>) -> Self {
        Self(Mutex::new(locations.into_iter().map(|location| (location.id.clone(), Some(location))).collect()))
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Option<Location>>> {
        // A table of names is never half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether a session is there.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        matches!(self.all().get(id), Some(Some(_)))
    }

    /// Returns where a session is; none when it is not there.
    pub(super) fn location(&self, id: &SessionId) -> Option<Location> {
        self.all().get(id).cloned().flatten()
    }

    /// Takes a name for a session that is about to come, or says who has it.
    pub(super) fn claim(&self, id: &SessionId) -> Claim {
        match self.all().entry(id.clone()) {
            Entry::Vacant(free) => {
                free.insert(None);
                Claim::Free
            }
            Entry::Occupied(taken) => match taken.get() {
                Some(location) => Claim::Here(location.clone()),
                None => Claim::Coming,
            },
        }
    }

    /// The session is there now.
    pub(super) fn arrived(&self, location: Location) {
        self.all().insert(location.id.clone(), Some(location));
    }

    /// The session does not come after all.
    pub(super) fn gone(&self, id: &SessionId) {
        self.all().remove(id);
    }
}

/// What became of asking for a name.
pub(super) enum Claim {
    /// Nobody had it.
    Free,
    /// A session that is there has it.
    Here(Location),
    /// A session has it that another reader brings.
    Coming,
}
