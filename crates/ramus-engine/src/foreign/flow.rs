//! What is on its way from readers to whoever writes: so many bytes of it and no more, however many sources are read ahead and
//! however long one message is.
//!
//! Sources are taken in one after another, so what the others have read waits. The one that is taken in must never wait for them:
//! it may hand on one message at any time. The others wait until there is room, or until it is their turn.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::message::Message;

/// How much may be on its way at once, beside one message of any length.
const MOST: usize = 32 << 20;
/// How many messages of one source may.
const AHEAD: usize = 32;

/// How much is on its way.
pub(super) struct Flow {
    most: usize,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    used: usize,
    /// How much of it comes from which source.
    of: HashMap<usize, usize>,
    /// The source that is taken in.
    turn: Option<usize>,
}

/// Where a source hands on what it gives.
pub(super) struct Outlet {
    flow: Arc<Flow>,
    source: usize,
    messages: SyncSender<Carried>,
}

/// A source that is being read: its number, and what it gives.
pub(super) struct Job {
    pub(super) source: usize,
    flow: Arc<Flow>,
    messages: Receiver<Carried>,
}

/// A message on its way. It takes room until it is dropped.
pub(super) struct Carried {
    pub(super) message: Message,
    /// Freed when the message was dealt with.
    pub(super) room: Room,
}

/// Room that a message takes.
pub(super) struct Room {
    flow: Arc<Flow>,
    source: usize,
    bytes: usize,
}

/// Nobody takes in what a source gives.
#[derive(Debug)]
pub(super) struct Closed;

impl Flow {
    pub(super) fn new() -> Arc<Self> {
        Self::of(MOST)
    }

    fn of(most: usize) -> Arc<Self> {
        Arc::new(Self { most, state: Mutex::default(), freed: Condvar::new() })
    }

    /// Opens a way for what a source gives.
    pub(super) fn open(self: &Arc<Self>, source: usize) -> (Outlet, Job) {
        let (sender, messages) = sync_channel(AHEAD);
        let outlet = Outlet { flow: Arc::clone(self), source, messages: sender };
        (outlet, Job { source, flow: Arc::clone(self), messages })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Numbers are never half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is room for a message.
    fn room(self: &Arc<Self>, source: usize, bytes: usize) -> Room {
        let mut state = self.state();
        while bytes > 0 && !state.admits(source, bytes, self.most) {
            state = self.freed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.used += bytes;
        *state.of.entry(source).or_default() += bytes;
        Room { flow: Arc::clone(self), source, bytes }
    }
}

impl State {
    fn admits(&self, source: usize, bytes: usize, most: usize) -> bool {
        let is_alone = self.used == 0 || self.turn == Some(source) && self.of.get(&source).is_none_or(|own| *own == 0);
        is_alone || self.used.saturating_add(bytes) <= most
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut state = self.flow.state();
        state.used = state.used.saturating_sub(self.bytes);
        if let Some(own) = state.of.get_mut(&self.source) {
            *own = own.saturating_sub(self.bytes);
        }
        drop(state);
        self.flow.freed.notify_all();
    }
}

impl Outlet {
    /// Hands a message on, as soon as there is room for it.
    pub(super) fn send(&self, message: Message) -> Result<(), Closed> {
        let room = self.flow.room(self.source, message.weight());
        self.messages.send(Carried { message, room }).map_err(|_| Closed)
    }
}

impl Job {
    /// Takes what the source gives. From now on it is its turn.
    pub(super) fn messages(&self) -> impl Iterator<Item = Carried> {
        self.flow.state().turn = Some(self.source);
        self.flow.freed.notify_all();
        self.messages.iter()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    const LONG: usize = 10 << 10;

    fn lines() -> Message {
        Message::Lines(vec![b'x'; LONG])
    }

    /// Sources that are read ahead fill the room; the one whose turn it is comes through all the same, and all of them end.
    #[test]
    fn what_waits_has_a_bound_and_whoever_is_next_never_waits_for_it() {
        let flow = Flow::of(4 * LONG);
        let (sources, each) = (6, 12);
        let sent = AtomicUsize::new(0);
        let (outlets, jobs): (Vec<_>, Vec<_>) = (0..sources).map(|source| flow.open(source)).unzip();
        std::thread::scope(|scope| {
            for outlet in outlets {
                let sent = &sent;
                scope.spawn(move || {
                    for _ in 0..each {
                        outlet.send(lines()).unwrap();
                        sent.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
            while sent.load(Ordering::SeqCst) < 4 {
                std::thread::yield_now();
            }
            // Nobody takes anything in yet: nothing more than fits can have been handed on.
            pause();
            assert_eq!((sent.load(Ordering::SeqCst), flow.state().used), (4, 4 * LONG));
            let mut taken = 0;
            for job in jobs.iter().rev() {
                for carried in job.messages() {
                    assert!(flow.state().used <= 5 * LONG);
                    taken += usize::from(matches!(carried.message, Message::Lines(_)));
                    drop(carried.room);
                }
            }
            assert_eq!((taken, flow.state().used), (sources * each, 0));
        });
    }

    #[test]
    fn a_message_that_is_longer_than_all_room_passes_alone() {
        let flow = Flow::of(LONG / 2);
        let (outlet, job) = flow.open(0);
        outlet.send(lines()).unwrap();
        let (other, waiting) = flow.open(1);
        let reader = std::thread::spawn(move || other.send(lines()).is_ok());
        pause();
        assert_eq!(flow.state().used, LONG);
        drop(outlet);
        assert_eq!(job.messages().count(), 1);
        assert_eq!(waiting.messages().count(), 1);
        assert!(reader.join().unwrap());
    }

    #[test]
    fn whoever_waits_for_room_is_told_that_nobody_listens() {
        let flow = Flow::of(LONG);
        let (outlet, job) = flow.open(0);
        outlet.send(lines()).unwrap();
        let reader = std::thread::spawn(move || outlet.send(lines()).is_err());
        pause();
        drop(job);
        assert!(reader.join().unwrap());
    }

    #[expect(clippy::disallowed_methods, reason = "that nothing happens shows only after a while")]
    fn pause() {
        std::thread::sleep(Duration::from_millis(50));
    }
}
