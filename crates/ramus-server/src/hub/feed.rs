//! What happens in all sessions, in the order in which this process heard of it. The last events are kept for whoever comes
//! back; who was away for longer, or comes from another process, is told to look anew.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::frame::{event, spelled};
use crate::access::Owner;

/// How many events are kept.
const KEPT: usize = 8192;

/// The events of all sessions.
pub(crate) struct Feed {
    kept: Mutex<Kept>,
    sender: broadcast::Sender<Told>,
}

/// An event, and whom it is for.
#[derive(Clone, Debug)]
pub(super) struct Told {
    number: u64,
    /// None: everybody.
    owner: Option<Owner>,
    pub(super) text: Bytes,
}

impl Told {
    pub(super) fn is_for(&self, owner: &Owner) -> bool {
        self.owner.as_ref().is_none_or(|whose| whose == owner)
    }
}

struct Kept {
    /// Tells the events of this stretch of watching from all others.
    epoch: String,
    next: u64,
    events: VecDeque<Told>,
}

impl Kept {
    fn new() -> Self {
        Self { epoch: uuid::Uuid::new_v4().simple().to_string(), next: 1, events: VecDeque::new() }
    }

    /// Says whether everything behind an event is still known; none when the name is not one of ours.
    fn place(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.split_once('-')?;
        let number: u64 = number.parse().ok().filter(|_| epoch == self.epoch)?;
        let oldest = self.events.front().map_or(self.next, |told| told.number);
        (number < self.next && number + 1 >= oldest).then_some(number)
    }
}

impl Feed {
    pub(super) fn new(events: usize) -> Self {
        Self { kept: Mutex::new(Kept::new()), sender: broadcast::channel(events).0 }
    }

    /// Tells everyone who watches an owner's sessions, or everyone.
    pub(crate) fn publish(&self, owner: Option<&Owner>, name: &str, told: &Value) {
        let mut kept = self.kept();
        let number = kept.next;
        kept.next += 1;
        let text = spelled(name, Some(&format!("{}-{number}", kept.epoch)), told);
        let told = Told { number, owner: owner.cloned(), text };
        kept.events.push_back(told.clone());
        if kept.events.len() > KEPT {
            kept.events.pop_front();
        }
        // Under the lock, so that whoever subscribes gets each event once.
        let _ = self.sender.send(told);
    }

    /// Returns what came behind an event, and what will come.
    pub(super) fn subscribe(&self, owner: &Owner, after: Option<&str>) -> (Vec<Bytes>, broadcast::Receiver<Told>) {
        let kept = self.kept();
        let receiver = self.sender.subscribe();
        let Some(after) = after else { return (Vec::new(), receiver) };
        match kept.place(after) {
            Some(place) => {
                let behind = kept.events.iter().filter(|told| told.number > place && told.is_for(owner));
                (behind.map(|told| told.text.clone()).collect(), receiver)
            }
            None => {
                let message = "what happened since is not known here; read the sessions anew";
                (vec![event("reset", None, &json!({"type": "reset", "message": message})).text], receiver)
            }
        }
    }

    /// Returns how many watch.
    pub(super) fn watchers(&self) -> usize {
        self.sender.receiver_count()
    }

    /// Forgets everything: nobody looked for a while, so something may have been missed.
    pub(super) fn restart(&self) {
        *self.kept() = Kept::new();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_back_gets_what_was_missed_once_and_only_its_own() {
        let feed = Feed::new(16);
        let (ours, theirs) = (Owner("default".into()), Owner("bob".into()));
        let (_, mut receiver) = feed.subscribe(&ours, None);
        feed.publish(Some(&ours), "session.created", &json!({"n": 1}));
        feed.publish(Some(&theirs), "session.created", &json!({"n": 2}));
        feed.publish(None, "lagged", &json!({"n": 3}));
        let first = receiver.try_recv().map(|told| String::from_utf8_lossy(&told.text).into_owned());
        let first = first.unwrap_or_default();
        let id = first.lines().next().and_then(|line| line.strip_prefix("id: ")).unwrap_or_default();
        let (missed, _) = feed.subscribe(&ours, Some(id));
        let missed: Vec<String> = missed.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        assert_eq!(missed.len(), 1, "{missed:?}");
        assert!(missed.iter().all(|text| text.contains("\"n\":3")));
        for unknown in ["", "x", "other-1", &format!("{id}9"), &format!("{}{}", id, u64::MAX)] {
            let (told, _) = feed.subscribe(&ours, Some(unknown));
            assert!(told.iter().any(|text| text.starts_with(b"event: reset")), "{unknown}");
        }
    }
}
