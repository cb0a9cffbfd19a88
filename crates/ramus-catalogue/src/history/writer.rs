//! The thread that stores prompts, and what waits for it.
//!
//! A prompt leaves the queue only when it is stored. Whatever is in the way, the thread tries again until it is told to
//! stop; whoever stops it is told what was left.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use super::database::{Database, Presence};
use super::place::Place;
use super::{Prompt, Unstored, lock, salvage};
use crate::error::CatalogueError;

/// How many prompts may wait. A person cannot type that fast; a program that does is told what was refused.
const CAPACITY: usize = 1024;

/// How long the thread waits before it tries again when the disk was in the way.
const PAUSE: Duration = Duration::from_millis(250);

/// How long it waits when another process was, beyond what the statement waited.
const SHORT_PAUSE: Duration = Duration::from_millis(5);

/// How often a batch is tried in a row on a database that turns out to be damaged or another one.
const TRIES: usize = 4;

/// The queue and the thread that empties it.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Prompt>,
    /// How many are being stored right now.
    storing: usize,
    /// How many found no place in the queue.
    refused: usize,
    /// When the thread must end, once it was told to.
    deadline: Option<Instant>,
    trouble: Option<CatalogueError>,
    notices: Vec<String>,
}

impl Writer {
    pub(super) fn start(place: Place) -> Self {
        let queue = Arc::new(Queue::default());
        let of_thread = Arc::clone(&queue);
        let started = Builder::new().name("history".into()).spawn(move || of_thread.empty(&place));
        let thread = started.map_err(|cause| lock(&queue.state).trouble = Some(no_thread(cause))).ok();
        Self { queue, thread }
    }

    pub(super) fn record(&self, prompt: Prompt) {
        let mut state = lock(&self.queue.state);
        if state.waiting.len() < CAPACITY {
            state.waiting.push_back(prompt);
        } else {
            state.refused += 1;
        }
        self.queue.changed.notify_all();
    }

    /// Waits until everything is stored or `patience` ends, and returns what there is to tell.
    pub(super) fn close(mut self, patience: Duration) -> (Vec<String>, Result<(), Unstored>) {
        let mut state = lock(&self.queue.state);
        state.deadline = Some(Instant::now() + patience);
        self.queue.changed.notify_all();
        let unfinished = |state: &mut State| state.storing > 0 || !state.waiting.is_empty();
        if self.thread.is_some() {
            let waited = self.queue.changed.wait_timeout_while(state, patience, unfinished);
            state = waited.unwrap_or_else(std::sync::PoisonError::into_inner).0;
        }
        let count = state.waiting.len() + state.storing + state.refused;
        let unstored = Unstored { count, refused: state.refused, cause: state.trouble.take() };
        let notices = std::mem::take(&mut state.notices);
        let is_idle = state.storing == 0;
        // Nothing that was reported as left is stored later on.
        state.waiting.clear();
        drop(state);
        if let Some(thread) = self.thread.take().filter(|_| is_idle) {
            // It has nothing left to do; should it have panicked, everything is stored nevertheless.
            let _ = thread.join();
        }
        (notices, if count == 0 { Ok(()) } else { Err(unstored) })
    }
}

impl Queue {
    /// Stores what comes until told to stop.
    fn empty(&self, place: &Place) {
        let mut database = None;
        while let Some(batch) = self.next() {
            let mut notices = Vec::new();
            let stored = store(place, &mut database, &batch, &mut notices);
            let mut state = lock(&self.state);
            state.storing = 0;
            state.notices.extend(notices);
            if let Err(error) = stored {
                // Whoever locked it is done soon; anything else needs a new start.
                let is_busy = matches!(error, CatalogueError::Busy { .. });
                let pause = if is_busy { SHORT_PAUSE } else { PAUSE };
                database = database.filter(|_| is_busy);
                state.trouble = Some(error);
                batch.into_iter().rev().for_each(|prompt| state.waiting.push_front(prompt));
                let stopping = state.deadline.is_some();
                let waited =
                    self.changed.wait_timeout_while(state, pause, |state| state.deadline.is_some() == stopping);
                drop(waited);
            } else {
                state.trouble = None;
                self.changed.notify_all();
            }
        }
    }

    /// Waits for prompts and takes them all; none when it is time to end.
    fn next(&self) -> Option<Vec<Prompt>> {
        let state = lock(&self.state);
        let idle = |state: &mut State| state.waiting.is_empty() && state.deadline.is_none();
        let mut state = self.changed.wait_while(state, idle).unwrap_or_else(std::sync::PoisonError::into_inner);
        if state.waiting.is_empty() || state.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return None;
        }
        let batch: Vec<Prompt> = state.waiting.drain(..).collect();
        state.storing = batch.len();
        Some(batch)
    }
}

/// Stores a batch in the database that has the name when it is done.
fn store(
    place: &Place,
    database: &mut Option<Database>,
    batch: &[Prompt],
    notices: &mut Vec<String>,
) -> Result<(), CatalogueError> {
    let mut trouble = None;
    for _ in 0..TRIES {
        let mut open = match database.take() {
            Some(open) => open,
            None => match Database::open_sound(place, Presence::Made, notices)? {
                Some(open) => open,
                None => continue,
            },
        };
        match open.add(batch) {
            // Otherwise it was set aside or removed meanwhile, and the batch with it.
            Ok(()) if open.is_current(place)? => {
                *database = Some(open);
                return Ok(());
            }
            Ok(()) => {}
            Err(error @ CatalogueError::Corrupt { .. }) => {
                drop(open);
                notices.extend(salvage::mend(place)?);
                trouble = Some(error);
            }
            Err(error) => {
                *database = Some(open);
                return Err(error);
            }
        }
    }
    Err(trouble.unwrap_or_else(|| changing(place)))
}

/// The database is another one each time it is looked at.
fn changing(place: &Place) -> CatalogueError {
    CatalogueError::Io { action: "keep", path: place.database(), cause: std::io::ErrorKind::NotFound.into() }
}

fn no_thread(cause: std::io::Error) -> CatalogueError {
    CatalogueError::Io { action: "start a thread for", path: "history.db".into(), cause }
}
