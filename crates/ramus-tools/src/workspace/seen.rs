//! What was seen: the content of each file as the model last read or wrote it. A file that is different now was changed by
//! someone else, and is not changed over their head.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::Place;

/// How files looked when they were last read or written in a session.
#[derive(Debug, Default)]
pub struct Seen {
    sums: Mutex<HashMap<Place, [u8; 32]>>,
}

/// How a file compares to what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It is as it was seen.
    Fresh,
    /// It changed since.
    Stale,
    /// It was never read.
    Unseen,
}

impl Seen {
    /// Notes how a file looks.
    pub fn note(&self, place: &Place, content: &[u8]) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).insert(place.clone(), Sha256::digest(content).into());
    }

    /// Compares a file to what was seen.
    pub fn compare(&self, place: &Place, content: &[u8]) -> Freshness {
        let sum: [u8; 32] = Sha256::digest(content).into();
        match self.sums.lock().unwrap_or_else(PoisonError::into_inner).get(place) {
            Some(seen) if *seen == sum => Freshness::Fresh,
            Some(_) => Freshness::Stale,
            None => Freshness::Unseen,
        }
    }
}
