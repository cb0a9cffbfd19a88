//! Guessing takes time: a peer that sends wrong tokens is answered slowly, and then not at all for a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Peer;
use crate::error::{ApiError, Kind};

/// How long a failed attempt of a peer takes.
const PAUSE: Duration = Duration::from_millis(100);

/// How far behind a peer may be with the time that its attempts take.
const MOST: Duration = Duration::from_secs(5);

/// How many peers are remembered.
const PEERS: usize = 4096;

/// When each peer may be answered next.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Peer, Instant>>);

impl Attempts {
    /// Refuses a peer that has failed too often just now.
    pub(crate) fn allow(&self, peer: &Peer) -> Result<(), ApiError> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(peer).copied();
        match free {
            Some(free) if free > Instant::now() + MOST => {
                Err(ApiError::new(Kind::Hurried, "too many requests came without a valid token"))
            }
            _ => Ok(()),
        }
    }

    /// Takes the time that a failed attempt takes.
    pub(crate) async fn failed(&self, peer: &Peer) {
        let now = Instant::now();
        let until = {
            let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if peers.len() >= PEERS {
                peers.retain(|_, free| *free > now);
            }
            let free = peers.entry(peer.clone()).or_insert(now);
            let start = (*free).max(now);
            *free = start + PAUSE;
            start
        };
        // The first attempt after a pause is answered at once.
        tokio::time::sleep(until.saturating_duration_since(now)).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_peer_that_guesses_is_refused_and_others_are_not() {
        let attempts = Attempts::default();
        let (guesser, other) = (Peer("guesser".into()), Peer("other".into()));
        for _ in 0..60 {
            // Nobody waits for an answer.
            let _ = tokio::time::timeout(Duration::ZERO, attempts.failed(&guesser)).await;
        }
        assert!(attempts.allow(&guesser).is_err());
        assert!(attempts.allow(&other).is_ok());
    }
}
