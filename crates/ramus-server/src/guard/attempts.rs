//! Guessing takes time: a peer that sends wrong tokens or secrets is answered slowly, and then not at all for a while.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Peer;
use crate::error::{ApiError, Kind};

/// How long a failed attempt of a peer takes.
const PAUSE: Duration = Duration::from_millis(100);

/// How far behind a peer may be with the time that its attempts take.
const MOST: Duration = Duration::from_secs(5);

/// How long a peer that is further behind waits to be told so: whoever is not answered cannot guess again.
const REFUSAL: Duration = Duration::from_secs(1);

/// How many peers are remembered.
const PEERS: usize = 4096;

/// When each peer may be answered next.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<Peer, Instant>>);

impl Attempts {
    /// Takes the time that a failed attempt takes. That of a peer that has failed too often just now is refused, and takes longer.
    /// Where guesses come from there may be others who know better, so what they send is looked at first and does not wait.
    pub(crate) async fn failed(&self, peer: &Peer) -> Result<(), ApiError> {
        let now = Instant::now();
        let Some(start) = self.next(peer, now) else {
            tokio::time::sleep(REFUSAL).await;
            return Err(ApiError::new(Kind::Hurried, "too many requests came without a valid token or secret"));
        };
        // The first attempt after a pause is answered at once.
        tokio::time::sleep(start.saturating_duration_since(now)).await;
        Ok(())
    }

    /// Returns when an attempt that failed now is answered; never when too many wait for that.
    fn next(&self, peer: &Peer, now: Instant) -> Option<Instant> {
        let mut peers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= PEERS {
            peers.retain(|_, free| *free > now);
        }
        let free = peers.entry(peer.clone()).or_insert(now);
        if *free > now + MOST {
            return None;
        }
        let start = (*free).max(now);
        *free = start + PAUSE;
        Some(start)
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
        assert!(attempts.failed(&guesser).await.is_err());
        assert!(attempts.failed(&other).await.is_ok());
    }
}
