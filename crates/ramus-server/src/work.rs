//! Work that may wait: the verbs of the engine are synchronous, and run on threads of their own, so many at a time.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::{ApiError, Kind};

/// How many requests may wait for a thread, for each that works.
const WAITING: usize = 16;

/// Threads to work on.
#[derive(Clone, Debug)]
pub(crate) struct Work {
    places: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    width: usize,
}

impl Work {
    pub(crate) fn new(width: usize) -> Self {
        let width = width.max(1);
        let queue = Arc::new(Semaphore::new(width * WAITING));
        Self { places: Arc::new(Semaphore::new(width)), queue, width }
    }

    /// Does something that may wait. When too many wait already, it is refused at once.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let busy = || ApiError::new(Kind::Late, "too many requests are waiting");
        let _waiting = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| busy())?;
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(|_| busy())?;
        let done = tokio::task::spawn_blocking(move || {
            // The place is free when the work is done, also when nobody waits for it any more.
            let _place = place;
            work()
        });
        done.await.unwrap_or_else(|_| Err(ApiError::new(Kind::Broken, "the server failed; look before trying again")))
    }

    /// Does something that nobody waits for. When too many wait already, it is refused at once.
    pub(crate) fn start(&self, work: impl FnOnce() + Send + 'static) -> Result<(), ApiError> {
        let busy = || ApiError::new(Kind::Late, "too many requests are waiting");
        let waiting = Arc::clone(&self.queue).try_acquire_owned().map_err(|_| busy())?;
        let places = Arc::clone(&self.places);
        tokio::spawn(async move {
            // The places are never closed.
            let Ok(place) = places.acquire_owned().await else { return };
            let _ = tokio::task::spawn_blocking(move || {
                let _held = (place, waiting);
                work();
            })
            .await;
        });
        Ok(())
    }

    /// Returns how many work now.
    pub(crate) fn busy(&self) -> usize {
        self.width.saturating_sub(self.places.available_permits())
    }
}
