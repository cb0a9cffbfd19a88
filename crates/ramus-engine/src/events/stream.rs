//! A stream of events: of one session from any position on, or of all sessions from now on.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use ramus_model::{Depth, Seq, SessionId};
use ramus_store::{Location, Residence, Stamp, StoreError};

use super::bus::{Note, Queue};
use super::log::info;
use super::{Told, What};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, find, load};

/// How long it takes at most until something that another process wrote is noticed.
const LOOK: Duration = Duration::from_millis(200);

/// How many entries are read before they are told: a long log need not fit in memory as events.
const AT_ONCE: usize = 256;

/// How many logs of a home are kept open for reading on.
const OPEN: usize = 64;

/// Events, as they come.
pub struct Stream {
    engine: Engine,
    queue: Arc<Queue>,
    /// The session it is about; none for all.
    one: Option<SessionId>,
    /// How every log looked when it was last looked at, by its name.
    stamps: HashMap<Arc<str>, Stamp>,
    logs: HashMap<SessionId, Reading>,
    ready: VecDeque<Told>,
    /// How many entries are to be told before anything else is.
    goal: Option<u32>,
}

/// Tells when it is worth polling a stream again.
pub struct Changes(Arc<Queue>);

impl Changes {
    /// Waits for that, without a thread.
    pub async fn wait(&self) {
        let look = tokio::time::timeout(LOOK, self.0.changed());
        // Nothing of this process: another one may have written.
        drop(look.await);
    }
}

/// A log that is read on.
struct Reading {
    session: Session,
    /// How many of its entries were told.
    told: u32,
}

impl Engine {
    /// Tells what happens to a session: everything durable behind `from`, then everything as it happens.
    pub fn events(&self, session: Session, from: Option<Seq>) -> Result<Stream, EngineError> {
        let mut stream = self.stream(Some(session.id().clone()));
        let told = from.map_or(0, Seq::number);
        stream.logs.insert(session.id().clone(), Reading { session, told });
        stream.read_on_one(u32::MAX)?;
        Ok(stream)
    }

    /// Tells what happens to all sessions of the home from now on.
    pub fn all_events(&self) -> Result<Stream, EngineError> {
        let mut stream = self.stream(None);
        let stamps = self.store.stamps()?;
        stream.stamps = stamps.iter().map(|stamped| (Arc::clone(&stamped.name), stamped.stamp)).collect();
        Ok(stream)
    }

    fn stream(&self, one: Option<SessionId>) -> Stream {
        // Listening comes before reading: what is written in between is in the log.
        let queue = self.bus.listen(one.clone());
        Stream {
            engine: self.clone(),
            queue,
            one,
            stamps: HashMap::new(),
            logs: HashMap::new(),
            ready: VecDeque::new(),
            goal: None,
        }
    }
}

impl Stream {
    /// Returns what comes next, waiting for it as long as `patience` lasts; none when nothing came.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Told>, EngineError> {
        let mut left = patience;
        loop {
            if let Some(told) = self.poll()? {
                return Ok(Some(told));
            }
            if left.is_zero() {
                return Ok(None);
            }
            let step = left.min(LOOK);
            self.queue.wait(step);
            left -= step;
        }
    }

    /// Waits, without a thread, until it is worth polling again.
    pub async fn changed(&self) {
        self.changes().wait().await;
    }

    /// Returns what tells when it is worth polling again, for tasks that hand the stream to threads in between.
    pub fn changes(&self) -> Changes {
        Changes(Arc::clone(&self.queue))
    }

    /// Returns what comes next, if something is there.
    pub fn poll(&mut self) -> Result<Option<Told>, EngineError> {
        if let Some(told) = self.ready.pop_front() {
            return Ok(Some(told));
        }
        loop {
            if let Some(goal) = self.goal.take() {
                self.look(goal)?;
                if let Some(told) = self.ready.pop_front() {
                    return Ok(Some(told));
                }
                continue;
            }
            let (next, missed) = self.queue.take();
            if missed > 0 {
                let session = self.one.clone().unwrap_or_else(|| SessionId::new(""));
                self.ready.push_back(Told { session, seq: None, what: What::Lagged(missed) });
            }
            match next {
                Some((session, Note::Said(event))) => {
                    self.ready.push_back(Told { session, seq: None, what: What::Event((*event).clone()) });
                }
                Some((session, Note::Failed(error))) => {
                    self.ready.push_back(Told { session, seq: None, what: What::Error(error.to_string()) });
                }
                // Up to here and no further: what was said next comes before what was written then.
                Some((_, Note::Wrote(entries))) => self.look(entries)?,
                None => {
                    self.look(u32::MAX)?;
                    return Ok(self.ready.pop_front());
                }
            }
            if let Some(told) = self.ready.pop_front() {
                return Ok(Some(told));
            }
        }
    }

    fn look(&mut self, entries: u32) -> Result<(), EngineError> {
        if self.one.is_some() { self.read_on_one(entries) } else { self.look_around() }
    }

    fn read_on_one(&mut self, entries: u32) -> Result<(), EngineError> {
        let Some(id) = self.one.clone() else { return Ok(()) };
        let Some(mut reading) = self.logs.remove(&id) else { return Ok(()) };
        if self.read_on(&mut reading, entries, AT_ONCE)? {
            let len = u32::try_from(reading.session.log().len()).unwrap_or(u32::MAX);
            self.goal = Some(entries).filter(|goal| reading.told < len.min(*goal));
            self.logs.insert(id, reading);
        } else {
            self.ready.push_back(Told { session: id, seq: None, what: What::Deleted });
        }
        Ok(())
    }

    /// Tells what was added to a log, until it has so many entries, at most so many of them. Says whether it is still there.
    fn read_on(&mut self, reading: &mut Reading, entries: u32, most: usize) -> Result<bool, EngineError> {
        let Reading { session, told } = reading;
        let known = session.position();
        match session.refresh() {
            Err(EngineError::Store(StoreError::NotFound { .. })) => {
                // Published or moved, unless it is really gone.
                let Some(found) = find(self.engine.store.as_ref(), session.id())? else { return Ok(false) };
                session.relocate(found);
                session.refresh()?;
            }
            result => result?,
        }
        if session.position().incarnation != known.incarnation && known.end > 0 {
            // Entries were erased or upgraded; positions stay, unless everything is new.
            self.ready.push_back(Told { session: session.id().clone(), seq: None, what: What::Updated(info(session)) });
            let len = u32::try_from(session.log().len()).unwrap_or(u32::MAX);
            if *told > len {
                self.ready.push_back(Told { session: session.id().clone(), seq: None, what: What::Reset(len) });
                *told = len;
            }
        }
        let behind = session.log().seqs().skip(*told as usize).take_while(|seq| seq.number() <= entries);
        for seq in behind.take(most) {
            self.ready.extend(session.events_of(seq)?);
            *told = seq.number();
        }
        Ok(true)
    }

    /// Looks at every log of the home, and reads on in those that changed.
    fn look_around(&mut self) -> Result<(), EngineError> {
        let stamps = self.engine.store.stamps()?;
        let mut gone = std::mem::take(&mut self.stamps);
        for stamped in stamps.iter() {
            let before = gone.remove(&stamped.name).or_else(|| {
                // Published and moved logs are old ones under another name.
                let id = self.engine.store.id_of(&stamped.name);
                let is_same = |name: &Arc<str>| self.engine.store.id_of(name) == id;
                gone.iter().find(|(name, _)| is_same(name)).map(|(_, stamp)| *stamp)
            });
            self.stamps.insert(Arc::clone(&stamped.name), stamped.stamp);
            if before != Some(stamped.stamp) {
                let location = self.engine.store.located(&stamped.name);
                if let Some(location) = location.filter(|at| at.residence != Residence::Base) {
                    self.read_changed(location, before)?;
                }
            }
        }
        for name in gone.into_keys() {
            let is_session = |at: &Location| at.residence != Residence::Base;
            let Some(at) = self.engine.store.located(&name).filter(is_session) else { continue };
            let id = at.id;
            // Published and moved logs have another name.
            let is_there = stamps.iter().any(|other| self.engine.store.id_of(&other.name).as_ref() == Some(&id));
            if !is_there {
                self.logs.remove(&id);
                self.ready.push_back(Told { session: id, seq: None, what: What::Deleted });
            }
        }
        Ok(())
    }

    fn read_changed(&mut self, location: Location, before: Option<Stamp>) -> Result<(), EngineError> {
        let id = location.id.clone();
        let mut reading = match self.logs.remove(&id) {
            Some(mut reading) => {
                if *reading.session.location() != location {
                    reading.session.relocate(location);
                }
                reading
            }
            None => match self.start_reading(location, before) {
                Ok(reading) => reading,
                // Gone again, or no session: the next look says so.
                Err(EngineError::Store(StoreError::NotFound { .. })) => return Ok(()),
                Err(error) => return Err(error),
            },
        };
        if self.read_on(&mut reading, u32::MAX, usize::MAX)? {
            if self.logs.len() >= OPEN
                && let Some(other) = self.logs.keys().next().cloned()
            {
                self.logs.remove(&other);
            }
            self.logs.insert(id, reading);
        }
        Ok(())
    }

    /// Opens a log that changed since it looked as `before`; one that was not there before is new.
    fn start_reading(&mut self, location: Location, before: Option<Stamp>) -> Result<Reading, EngineError> {
        let session = load(&self.engine.store, location, Depth::Envelope)?;
        let log = session.log();
        let Some(before) = before else {
            self.ready.push_back(Told {
                session: session.id().clone(),
                seq: None,
                what: What::Created(info(&session)),
            });
            let shared = log.len() - log.own_len();
            return Ok(Reading { told: u32::try_from(shared).unwrap_or(u32::MAX), session });
        };
        let is_old =
            |seq: &Seq| log.stored_place(*seq).is_some_and(|place| place.source > 0 || place.offset < before.end);
        let told = log.seqs().take_while(is_old).count();
        Ok(Reading { told: u32::try_from(told).unwrap_or(u32::MAX), session })
    }
}
