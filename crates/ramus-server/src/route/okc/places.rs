//! One at a time in the workspace of a client: nobody takes a snapshot of what another request removes.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Client;
use crate::access::Owner;

/// How many places there are. Clients that share one wait for each other now and then.
const PLACES: usize = 64;

/// The places of all clients.
pub(crate) struct Places(Vec<Mutex<()>>);

impl Default for Places {
    fn default() -> Self {
        Self((0..PLACES).map(|_| Mutex::default()).collect())
    }
}

impl Places {
    /// Waits for the place of a client, on a thread that may.
    pub(super) fn hold(&self, owner: &Owner, client: &Client) -> Option<MutexGuard<'_, ()>> {
        let mut hasher = DefaultHasher::new();
        (owner.name(), client.name()).hash(&mut hasher);
        let at = usize::try_from(hasher.finish() % PLACES as u64).unwrap_or_default();
        // What it stands for is on the disk, so a holder that failed left nothing half changed here.
        self.0.get(at).map(|place| place.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
