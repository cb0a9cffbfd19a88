//! The engine: a store, a clock, and the name of the surface that drives it.

use std::sync::Arc;

use ramus_model::time;
use ramus_store::{LogStore, MemoryStore};

use crate::clock::{Clock, SystemClock};

/// Does the verbs.
#[derive(Clone)]
pub struct Engine {
    pub(crate) store: Arc<dyn LogStore>,
    clock: Arc<dyn Clock>,
    pub(crate) client: String,
}

impl Engine {
    /// Makes an engine over a home. `client` is the surface that drives it; our own entries record it.
    pub fn new(store: Arc<dyn LogStore>, client: impl Into<String>) -> Self {
        Self { store, clock: Arc::new(SystemClock), client: client.into() }
    }

    /// Makes an engine whose sessions live as long as it does.
    pub fn in_memory() -> Self {
        Self::new(Arc::new(MemoryStore::default()), "library")
    }

    /// Replaces the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now()
    }

    pub(crate) fn timestamp(&self) -> String {
        time::format(self.now())
    }
}
