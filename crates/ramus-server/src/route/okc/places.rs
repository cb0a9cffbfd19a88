//! One at a time in the workspace of a client: nobody takes a snapshot of what another request removes. Whoever waits for that
//! takes no thread from others. Who only looks does not wait.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::{Mutex as Turns, OwnedMutexGuard};

use super::Client;
use crate::access::Owner;
use crate::app::App;
use crate::error::ApiError;

/// Whose workspace it is.
type Whose = (Owner, Client);

/// Where whoever works in the workspace of a client takes turns. There is one as long as somebody has it or waits for it.
type Known = HashMap<Whose, Weak<Turns<()>>>;

/// The places of all clients.
#[derive(Clone, Default)]
pub(crate) struct Places(Arc<Mutex<Known>>);

/// The place of a client, held until this is dropped.
struct Place {
    places: Places,
    whose: Whose,
    held: Option<OwnedMutexGuard<()>>,
}

impl Places {
    async fn hold(&self, owner: &Owner, client: &Client) -> Place {
        let whose = (owner.clone(), client.clone());
        let turns = {
            let mut known = self.known();
            known.get(&whose).and_then(Weak::upgrade).unwrap_or_else(|| {
                let turns = Arc::default();
                known.insert(whose.clone(), Arc::downgrade(&turns));
                turns
            })
        };
        // Made before the wait: who gives up waiting leaves nothing behind either.
        let mut place = Place { places: self.clone(), whose, held: None };
        place.held = Some(turns.lock_owned().await);
        place
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What a place stands for is on the disk, and nobody leaves the list half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(self.held.take());
        let mut known = self.places.known();
        if known.get(&self.whose).is_some_and(|turns| turns.strong_count() == 0) {
            known.remove(&self.whose);
        }
    }
}

impl App {
    /// Does something in the workspace of a client that may wait, when nobody else does.
    pub(super) async fn work_alone<T: Send + 'static>(
        self: &Arc<Self>,
        owner: &Owner,
        client: &Client,
        work: impl FnOnce(&Arc<Self>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let place = self.places.hold(owner, client).await;
        self.work(move |app| {
            // The place is free when the work is done, also when nobody waits for it any more.
            let _place = place;
            work(app)
        })
        .await
    }

    /// Looks at the workspace of a client, also while somebody works in it. What cannot be told then is looked at alone.
    pub(super) async fn look_beside<T: Send + 'static>(
        self: &Arc<Self>,
        owner: &Owner,
        client: &Client,
        look: impl Fn(&Arc<Self>) -> Result<T, ApiError> + Send + Sync + 'static,
    ) -> Result<T, ApiError> {
        let look = Arc::new(look);
        let again = Arc::clone(&look);
        match self.work(move |app| look(app)).await {
            Err(_) => self.work_alone(owner, client, move |app| again(app)).await,
            told => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn one_client_waits_for_itself_and_for_nobody_else() {
        let places = Places::default();
        let owners = [Owner::new("default"), Owner::new("bob")];
        let clients: Vec<Client> = (0..200).map(|number| Client::called(&format!("client {number}"))).collect();
        let waited = |owner, client| tokio::time::timeout(Duration::from_millis(20), places.hold(owner, client));
        let mut held = Vec::new();
        for owner in &owners {
            for client in &clients {
                held.push(places.hold(owner, client).await);
            }
        }
        for owner in &owners {
            assert!(waited(owner, &clients[7]).await.is_err());
        }
        assert_eq!(places.known().len(), 400);
        held.clear();
        assert!(waited(&owners[0], &clients[7]).await.is_ok());
        assert_eq!(places.known().len(), 0, "nothing is left of who was here");
    }
}
