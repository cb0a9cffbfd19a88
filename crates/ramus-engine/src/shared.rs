//! A session that many threads write to. Whoever comes first writes for all who came meanwhile: one `write` and one
//! confirmation of the disk for the whole group.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ramus_model::Draft;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::append::{Appended, Cursor};

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
    outcomes: HashMap<u64, Result<Appended, EngineError>>,
    tickets: u64,
}

/// An append that has not been written.
struct Waiting {
    ticket: u64,
    drafts: Vec<Draft>,
    cursor: Cursor,
}

impl SharedSession {
    /// Shares a session.
    pub fn new(engine: Engine, session: Session) -> Self {
        let desk = Desk { session: Some(session), queue: Vec::new(), outcomes: HashMap::new(), tickets: 0 };
        Self { engine, desk: Mutex::new(desk), changed: Condvar::new() }
    }

    /// Appends a batch and returns when it is as durable as the engine makes it.
    pub fn append(&self, drafts: Vec<Draft>, cursor: Cursor) -> Result<Appended, EngineError> {
        let mut desk = self.desk();
        let ticket = desk.tickets;
        desk.tickets += 1;
        desk.queue.push(Waiting { ticket, drafts, cursor });
        loop {
            if let Some(outcome) = desk.outcomes.remove(&ticket) {
                return outcome;
            }
            desk = match desk.session.take() {
                Some(session) => self.write(desk, session),
                None => self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Looks at the session when nobody is writing.
    pub fn read<T>(&self, look: impl FnOnce(&Session) -> T) -> T {
        let mut desk = self.desk();
        loop {
            if let Some(session) = &desk.session {
                return look(session);
            }
            desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Changes the session, through any verb, when nobody is writing.
    pub fn with<T>(&self, act: impl FnOnce(&Engine, &mut Session) -> T) -> T {
        let mut desk = self.desk();
        loop {
            if let Some(session) = &mut desk.session {
                return act(&self.engine, session);
            }
            desk = self.changed.wait(desk).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Writes everything that waits and answers everyone who waits for it.
    fn write<'d>(&'d self, mut desk: MutexGuard<'d, Desk>, session: Session) -> MutexGuard<'d, Desk> {
        let group = std::mem::take(&mut desk.queue);
        drop(desk);
        // Even if this panics the others must not wait for ever.
        let mut turn = Turn { shared: self, group: &group, session: Some(session) };
        let requests: Vec<_> = group.iter().map(|waiting| (&*waiting.drafts, &waiting.cursor)).collect();
        let outcomes = match &mut turn.session {
            Some(session) => self.engine.append_together(session, &requests),
            None => Ok(Vec::new()),
        };
        drop(turn);
        let mut desk = self.desk();
        match outcomes {
            Ok(outcomes) => desk.outcomes.extend(group.iter().map(|waiting| waiting.ticket).zip(outcomes)),
            Err(error) => {
                desk.outcomes.extend(group.iter().map(|waiting| (waiting.ticket, Err(error.again()))));
            }
        }
        self.changed.notify_all();
        desk
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        // A panic never leaves the desk half changed.
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A turn at writing: gives the session back, however it ends.
struct Turn<'s> {
    shared: &'s SharedSession,
    group: &'s [Waiting],
    session: Option<Session>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut desk = self.shared.desk();
        desk.session = self.session.take();
        if std::thread::panicking() {
            let failed =
                || EngineError::Conflict("the thread that was writing failed; look before trying again".into());
            desk.outcomes.extend(self.group.iter().map(|waiting| (waiting.ticket, Err(failed()))));
            self.shared.changed.notify_all();
        }
    }
}
