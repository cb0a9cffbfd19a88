//! Telling many readers the same, of which some may stand still. What waits for them is bounded by how much of it there is,
//! and by how many bytes it has: what is over that is taken back, the oldest first, and whoever did not have it fell behind.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

/// How many bytes may wait that one sender sent. The last thing that was sent always may.
const MOST: usize = 8 << 20;

/// How many bytes may wait that all senders sent, and how many of each sender may whatever others have.
const ALL: usize = 128 << 20;
const LEAST: usize = 256 << 10;

/// How many bytes wait that all senders sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Room(Arc<AtomicUsize>);

/// Something that waits, until it is taken back.
struct Slot<T> {
    held: Mutex<Option<T>>,
    weight: usize,
    room: Room,
}

impl<T: Clone> Slot<T> {
    fn value(&self) -> Option<T> {
        self.held().clone()
    }
}

impl<T> Slot<T> {
    fn held(&self) -> MutexGuard<'_, Option<T>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_back(&self) {
        if self.held().take().is_some() {
            self.room.0.fetch_sub(self.weight, Ordering::AcqRel);
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        self.take_back();
    }
}

/// What was sent, in its order.
struct Sent<T> {
    /// Each with its weight.
    slots: VecDeque<(Weak<Slot<T>>, usize)>,
    /// How many bytes they have.
    weight: usize,
}

impl<T> Sent<T> {
    /// Takes the oldest out; returns it if somebody may still read it.
    fn pop(&mut self) -> Option<Arc<Slot<T>>> {
        let (slot, weight) = self.slots.pop_front()?;
        self.weight = self.weight.saturating_sub(weight);
        slot.upgrade()
    }
}

/// Tells everyone who listens.
pub(super) struct Sender<T> {
    sender: broadcast::Sender<Arc<Slot<T>>>,
    sent: Arc<Mutex<Sent<T>>>,
    room: Room,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), sent: Arc::clone(&self.sent), room: self.room.clone() }
    }
}

impl<T: Clone> Sender<T> {
    /// Makes a sender of which so much may wait.
    pub(super) fn new(count: usize, room: &Room) -> Self {
        let sent = Arc::new(Mutex::new(Sent { slots: VecDeque::new(), weight: 0 }));
        Self { sender: broadcast::channel(count).0, sent, room: room.clone() }
    }

    /// Tells everyone something of so many bytes. Without a reader it is told to nobody.
    pub(super) fn send(&self, value: T, weight: usize) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        // Everybody reads in this order, so what everybody had comes before what somebody did not have.
        while sent.slots.front().is_some_and(|(slot, _)| slot.strong_count() == 0) {
            drop(sent.pop());
        }
        let slot = Arc::new(Slot { held: Mutex::new(Some(value)), weight, room: self.room.clone() });
        self.room.0.fetch_add(weight, Ordering::AcqRel);
        sent.slots.push_back((Arc::downgrade(&slot), weight));
        sent.weight += weight;
        // Without a reader it is told to nobody, and gone.
        let _ = self.sender.send(slot);
        while sent.slots.len() > 1 && (sent.weight > MOST || sent.weight > LEAST && self.is_full()) {
            if let Some(oldest) = sent.pop() {
                oldest.take_back();
            }
        }
    }

    fn is_full(&self) -> bool {
        self.room.0.load(Ordering::Acquire) > ALL
    }

    pub(super) fn subscribe(&self) -> Receiver<T> {
        Receiver(self.sender.subscribe())
    }

    pub(super) fn receiver_count(&self) -> usize {
        self.sender.receiver_count()
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.sender.same_channel(&other.sender)
    }
}

/// Hears what is told from now on.
pub(super) struct Receiver<T>(broadcast::Receiver<Arc<Slot<T>>>);

impl<T: Clone> Receiver<T> {
    /// Waits for what is told next. What was taken back is missed like what came too often.
    pub(super) async fn recv(&mut self) -> Result<T, RecvError> {
        self.0.recv().await?.value().ok_or(RecvError::Lagged(1))
    }

    /// Returns what is told next, if it was.
    pub(super) fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.0.try_recv()?.value().ok_or(TryRecvError::Lagged(1))
    }

    /// Starts anew with what is told from now on.
    pub(super) fn resubscribe(&self) -> Self {
        Self(self.0.resubscribe())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(room: &Room) -> usize {
        room.0.load(Ordering::Acquire)
    }

    #[test]
    fn who_stands_still_keeps_no_more_than_so_many_bytes() {
        let room = Room::default();
        let sender = Sender::new(1024, &room);
        let (mut slow, mut quick) = (sender.subscribe(), sender.subscribe());
        for at in 0..100 {
            sender.send(at, MOST / 4);
            assert_eq!(quick.try_recv(), Ok(at), "who reads misses nothing");
            assert!(counted(&room) <= MOST, "{}", counted(&room));
        }
        assert!(matches!(slow.try_recv(), Err(TryRecvError::Lagged(_))));
        let rest: Vec<i32> = std::iter::from_fn(|| Some(slow.try_recv()))
            .take_while(|told| *told != Err(TryRecvError::Empty))
            .filter_map(Result::ok)
            .collect();
        assert_eq!(rest, [96, 97, 98, 99]);
        assert_eq!(counted(&room), 0, "what everybody had is gone");
        sender.send(100, 3 * MOST);
        assert_eq!(slow.try_recv(), Ok(100), "what is told last is told");
        drop((slow, quick));
        sender.send(101, 1);
        assert_eq!(counted(&room), 0);
    }

    #[test]
    fn when_all_wait_for_too_much_each_has_a_little() {
        let room = Room::default();
        let senders: Vec<Sender<usize>> = (0..64).map(|_| Sender::new(1024, &room)).collect();
        let _slow: Vec<_> = senders.iter().map(Sender::subscribe).collect();
        for at in 0..1000 {
            senders.iter().for_each(|sender| sender.send(at, LEAST / 4));
        }
        assert!(counted(&room) <= ALL + 64 * LEAST, "{}", counted(&room));
        let mut late = senders.first().map(Sender::subscribe).unwrap_or_else(|| Sender::new(1, &room).subscribe());
        senders.iter().for_each(|sender| sender.send(1000, LEAST / 4));
        assert_eq!(late.try_recv(), Ok(1000));
    }
}
