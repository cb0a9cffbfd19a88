//! A session that many threads and tasks write to. Whoever comes first writes for all who came meanwhile: one `write` and
//! one confirmation of the disk for the whole group.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use ramus_model::Draft;
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::{Appended, Cursor};

/// What came of an append.
type Outcome = Result<Appended, EngineError>;

/// A session for many writers.
pub struct SharedSession {
    engine: Engine,
    desk: Mutex<Desk>,
    changed: Condvar,
}

/// What the writers share.
struct Desk {
    /// Here unless someone is writing.
    session: Option<Session>,
    queue: Vec<Waiting>,
    /// What threads wait for, by their tickets.
    outcomes: HashMap<u64, Outcome>,
    tickets: u64,
    /// Whether somebody is to write for the tasks that wait.
    is_carried: bool,
}

/// An append that has not been written.
struct Waiting {
    drafts: Vec<Draft>,
    cursor: Cursor,
    who: Who,
}

/// Who waits for an append.
enum Who {
    /// A thread, which looks for its ticket.
    Thread(u64),
    /// A task, which is told.
    Task(oneshot::Sender<Outcome>),
}

/// An append that was handed in.
pub struct Submitted {
    /// Tells what came of it.
    pub outcome: oneshot::Receiver<Outcome>,
    /// Must be run on a thread that may wait; nobody else does it.
    pub carrier: Option<Carrier>,
}

/// Writes for the tasks that wait, until none does.
pub struct Carrier {
    shared: Arc<SharedSession>,
    is_done: bool,
}

impl SharedSession {
    /// Shares a session.
    pub fn new(engine: Engine, session: Session) -> Self {
        let desk =
            Desk { session: Some(session), queue: Vec::new(), outcomes: HashMap::new(), tickets: 0, is_carried: false };
        Self { engine, desk: Mutex::new(desk), changed: Condvar::new() }
    }

    /// Appends a batch and returns when it is as durable as the engine makes it.
    pub fn append(&self, drafts: Vec<Draft>, cursor: Cursor) -> Outcome {
        let mut desk = self.desk();
        let ticket = desk.tickets;
        desk.tickets += 1;
        desk.queue.push(Waiting { drafts, cursor, who: Who::Thread(ticket) });
        loop {
            if let Some(outcome) = desk.outcomes.remove(&ticket) {
                return outcome;
            }
            desk = match desk.session.take() {
                Some(session) => self.write(desk, session),
                None => self.wait(desk),
            };
        }
    }

    /// Hands a batch in without waiting for it. However many do, one thread writes.
    pub fn submit(self: &Arc<Self>, drafts: Vec<Draft>, cursor: Cursor) -> Submitted {
        let (told, outcome) = oneshot::channel();
        let mut desk = self.desk();
        desk.queue.push(Waiting { drafts, cursor, who: Who::Task(told) });
        let is_carried = std::mem::replace(&mut desk.is_carried, true);
        let carrier = (!is_carried).then(|| Carrier { shared: Arc::clone(self), is_done: false });
        Submitted { outcome, carrier }
    }

    /// Looks at the session when nobody is writing.
    pub fn read<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        let mut desk = self.desk();
        loop {
            if let Some(session) = &desk.session {
                return look(session);
            }
            desk = self.wait(desk);
        }
    }

    /// Changes the session, through any verb, when nobody is writing.
    pub fn with<T>(&self, act: impl FnOnce(&Engine, &mut Session) -> T) -> T {
        let mut desk = self.desk();
        loop {
            if let Some(session) = &mut desk.session {
                return act(&self.engine, session);
            }
            desk = self.wait(desk);
        }
    }

    /// Writes everything that waits and answers everyone who waits for it.
    fn write<'d>(&'d self, mut desk: MutexGuard<'d, Desk>, session: Session) -> MutexGuard<'d, Desk> {
        let group = std::mem::take(&mut desk.queue);
        drop(desk);
        // Even if this panics the others must not wait for ever.
        let mut turn = Turn { shared: self, group, session: Some(session), outcomes: None };
        let requests: Vec<_> = turn.group.iter().map(|waiting| (&*waiting.drafts, &waiting.cursor)).collect();
        let outcomes = match &mut turn.session {
            Some(session) => self.engine.append_together(session, &requests),
            None => Ok(Vec::new()),
        };
        turn.outcomes = Some(outcomes);
        drop(turn);
        self.desk()
    }

    fn wait<'d>(&self, desk: MutexGuard<'d, Desk>) -> MutexGuard<'d, Desk> {
        self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner)
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // A panic never leaves the desk half changed.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn at writing: gives the session back and tells everyone, however it ends.
struct Turn<'s> {
    shared: &'s SharedSession,
    group: Vec<Waiting>,
    session: Option<Session>,
    outcomes: Option<Result<Vec<Outcome>, EngineError>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let failed = || EngineError::Conflict("the thread that was writing failed; look before trying again".into());
        let outcomes = self.outcomes.take().unwrap_or_else(|| Err(failed()));
        let (mut each, error) = match outcomes {
            Ok(outcomes) => (outcomes.into_iter(), failed()),
            Err(error) => (Vec::new().into_iter(), error),
        };
        let mut desk = self.shared.desk();
        desk.session = self.session.take();
        for waiting in self.group.drain(..) {
            let outcome = each.next().unwrap_or_else(|| Err(error.again()));
            match waiting.who {
                Who::Thread(ticket) => drop(desk.outcomes.insert(ticket, outcome)),
                // Who left meanwhile is not told.
                Who::Task(told) => drop(told.send(outcome)),
            }
        }
        drop(desk);
        self.shared.changed.notify_all();
    }
}

impl Carrier {
    /// Writes what waits, and what comes while it writes.
    pub fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut desk = shared.desk();
        while !desk.queue.is_empty() {
            desk = match desk.session.take() {
                Some(session) => shared.write(desk, session),
                None => shared.wait(desk),
            };
        }
        // Under the lock, so that whoever comes next finds that nobody is at it.
        desk.is_carried = false;
        self.is_done = true;
    }
}

impl Drop for Carrier {
    /// One that did not run to its end leaves nobody waiting for it: their batches were not written.
    fn drop(&mut self) {
        if self.is_done {
            return;
        }
        let mut desk = self.shared.desk();
        desk.is_carried = false;
        desk.queue.retain(|waiting| matches!(waiting.who, Who::Thread(_)));
    }
}
