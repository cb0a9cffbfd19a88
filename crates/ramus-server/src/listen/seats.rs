//! How many connections each address has, so that none of them has all.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::guard::Peer;

/// How many connections each address has now.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    taken: Arc<Mutex<HashMap<Peer, usize>>>,
    most: usize,
}

/// One connection of an address. It is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Seats,
    peer: Peer,
}

impl Seats {
    /// So many for each address.
    pub(super) fn new(most: usize) -> Self {
        Self { taken: Arc::default(), most: most.max(1) }
    }

    /// Takes one; none when the address has as many as it may.
    pub(super) fn take(&self, peer: &Peer) -> Option<Seat> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(peer.clone()).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Seat { seats: self.clone(), peer: peer.clone() })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut taken = self.seats.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.peer) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.peer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_leaves_room_for_others() {
        let (seats, [one, other]) = (Seats::new(2), ["one", "other"].map(|name| Peer(name.into())));
        let held = [seats.take(&one), seats.take(&one)];
        assert!(held.iter().all(Option::is_some));
        assert!(seats.take(&one).is_none() && seats.take(&other).is_some());
        drop(held);
        assert!(seats.take(&one).is_some());
        assert!(seats.taken.lock().unwrap_or_else(PoisonError::into_inner).is_empty(), "nobody is remembered");
    }
}
