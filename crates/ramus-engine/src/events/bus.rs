//! The bus of a process: who listens is told what is not durable, and that there is more to read.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use ramus_agent::Event;
use ramus_model::SessionId;
use tokio::sync::Notify;

/// How much may wait for one who listens, and how many bytes of it.
const ROOM: usize = 4096;
const WEIGHT: usize = 16 << 20;

/// What a listener is told.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// Something that is not durable.
    Said(Arc<Event>),
    /// A turn went wrong.
    Failed(Arc<str>),
    /// The log has this many entries now.
    Wrote(u32),
}

/// Tells everyone who listens.
#[derive(Clone, Default)]
pub(crate) struct Bus {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    listeners: Mutex<Vec<Weak<Queue>>>,
    count: AtomicUsize,
}

impl Note {
    fn weight(&self) -> usize {
        match self {
            Self::Said(event) => event.weight(),
            Self::Failed(error) => error.len(),
            Self::Wrote(_) => 0,
        }
    }
}

impl Bus {
    /// Says that something was written to a session, which has so many entries now.
    pub(crate) fn wrote(&self, session: &SessionId, entries: usize) {
        self.post(session, || Note::Wrote(u32::try_from(entries).unwrap_or(u32::MAX)));
    }

    /// Says what happens in a turn. What is durable is read from the log by whoever wants to know.
    pub(crate) fn tell(&self, session: &SessionId, event: &Event) {
        let is_in_log = event.seq().is_some() || matches!(event, Event::SessionDiff { .. } | Event::TodoUpdated(_));
        if let Event::TurnEnd { error: Some(error), .. } = event {
            self.post(session, || Note::Failed(error.as_str().into()));
        } else if !is_in_log {
            self.post(session, || Note::Said(Arc::new(event.clone())));
        }
    }

    /// Says that a turn could not go on.
    pub(crate) fn fail(&self, session: &SessionId, error: &str) {
        self.post(session, || Note::Failed(error.into()));
    }

    fn post(&self, session: &SessionId, note: impl FnOnce() -> Note) {
        if self.shared.count.load(Ordering::Acquire) == 0 {
            return;
        }
        let note = note();
        let mut listeners = self.listeners();
        let before = listeners.len();
        listeners.retain(|listener| match listener.upgrade() {
            Some(queue) => {
                queue.push(session, &note);
                true
            }
            None => false,
        });
        self.shared.count.fetch_sub(before - listeners.len(), Ordering::Release);
    }

    /// Listens to one session, or to all.
    pub(super) fn listen(&self, only: Option<SessionId>) -> Arc<Queue> {
        let queue = Arc::new(Queue { only, ..Queue::default() });
        self.listeners().push(Arc::downgrade(&queue));
        self.shared.count.fetch_add(1, Ordering::Release);
        queue
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Weak<Queue>>> {
        // A list of names is never half changed.
        self.shared.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What waits for one who listens.
#[derive(Default)]
pub(super) struct Queue {
    only: Option<SessionId>,
    waiting: Mutex<Waiting>,
    more: Condvar,
    notify: Notify,
}

#[derive(Default)]
struct Waiting {
    notes: VecDeque<(SessionId, Note)>,
    /// How many bytes they have.
    weight: usize,
    missed: u64,
}

impl Queue {
    fn push(&self, session: &SessionId, note: &Note) {
        if self.only.as_ref().is_some_and(|only| only != session) {
            return;
        }
        let weight = note.weight();
        let mut waiting = self.waiting();
        // Of several writes in a row, the last says it all.
        if let (Note::Wrote(entries), Some((last, Note::Wrote(known)))) = (note, waiting.notes.back_mut())
            && last == session
        {
            *known = *entries;
        } else if waiting.notes.len() < ROOM && (waiting.weight + weight <= WEIGHT || waiting.notes.is_empty()) {
            waiting.weight += weight;
            waiting.notes.push_back((session.clone(), note.clone()));
        } else if !matches!(note, Note::Wrote(_)) {
            // What was written is read with the next look anyway.
            waiting.missed += 1;
        }
        drop(waiting);
        self.more.notify_one();
        self.notify.notify_one();
    }

    /// Takes what comes next, and how much was missed before it.
    pub(super) fn take(&self) -> (Option<(SessionId, Note)>, u64) {
        let mut waiting = self.waiting();
        let next = waiting.notes.pop_front();
        if let Some((_, note)) = &next {
            waiting.weight = waiting.weight.saturating_sub(note.weight());
        }
        // What was missed came behind what was waiting then.
        let missed = if next.is_none() { std::mem::take(&mut waiting.missed) } else { 0 };
        (next, missed)
    }

    /// Says whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting().notes.is_empty()
    }

    /// Says whether something that is not durable waits to be told of a session.
    pub(super) fn says_of(&self, session: &SessionId) -> bool {
        self.waiting().notes.iter().any(|(of, note)| of == session && !matches!(note, Note::Wrote(_)))
    }

    /// Waits until there is something, for so long at most.
    pub(super) fn wait(&self, patience: Duration) {
        let waiting = self.waiting();
        if waiting.notes.is_empty() {
            drop(self.more.wait_timeout(waiting, patience));
        }
    }

    /// Waits without a thread.
    pub(super) async fn changed(&self) {
        self.notify.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use ramus_agent::Piece;

    use super::*;

    #[test]
    fn who_falls_behind_is_told_how_much_was_missed_after_what_was_kept() {
        let (bus, session) = (Bus::default(), SessionId::new("s"));
        let queue = bus.listen(Some(session.clone()));
        bus.tell(&SessionId::new("other"), &Event::MessageStart);
        for _ in 0..ROOM + 10 {
            bus.tell(&session, &Event::MessageStart);
            bus.wrote(&session, 1);
        }
        let mut kept = 0;
        let missed = loop {
            match queue.take() {
                (Some(_), 0) => kept += 1,
                (_, missed) => break missed,
            }
        };
        assert_eq!((kept, missed), (ROOM, ROOM as u64 / 2 + 10));
        drop(queue);
        bus.wrote(&session, 2);
        assert_eq!(bus.shared.count.load(Ordering::Acquire), 0, "who is gone is not told any more");
    }

    #[test]
    fn who_falls_behind_with_long_texts_is_told_so_too() {
        let (bus, session) = (Bus::default(), SessionId::new("s"));
        let queue = bus.listen(None);
        let piece = |length: usize| Event::MessageDelta(Piece { text: "x".repeat(length), ..Piece::default() });
        let long = piece(WEIGHT / 8);
        let nested = Event::ChildEvent { child: "c".into(), event: Box::new(long) };
        (0..20).for_each(|_| bus.tell(&session, &nested));
        let kept = std::iter::from_fn(|| queue.take().0).take(20).count();
        assert_eq!((kept, queue.waiting().weight), (8, 0));
        bus.tell(&session, &piece(2 * WEIGHT));
        assert!(queue.take().0.is_some(), "one alone is told, however long it is");
    }
}
