//! A stream of events: of one session from any position on, or of all sessions from now on.

mod around;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_model::{Depth, Seq, SessionId};
use ramus_store::{Location, Position, Stamp, StoreError};

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

/// How often a log that was moved is looked for at a time.
const MOVES: usize = 4;

/// How long all sessions go without a look at every one of them while there is always something to tell.
const BUSY: Duration = Duration::from_secs(1);

/// Events, as they come.
pub struct Stream {
    engine: Engine,
    queue: Arc<Queue>,
    /// The session it is about; none for all.
    one: Option<SessionId>,
    /// How every log looked up to where it was told, by its name.
    stamps: HashMap<Arc<str>, Stamp>,
    /// When every log was last looked at.
    looked: Instant,
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
    /// Which log they were of.
    epoch: Option<String>,
}

impl Reading {
    fn new(session: Session, told: u32) -> Self {
        Self { epoch: session.epoch(), session, told }
    }

    /// How many entries were read.
    fn len(&self) -> u32 {
        u32::try_from(self.session.log().len()).unwrap_or(u32::MAX)
    }

    /// How the log looked up to what was told of it; `changed` is what its home says of it when all of that was told. As long
    /// as there is more, it looks otherwise.
    fn stamp(&self, changed: u128) -> Stamp {
        let log = self.session.log();
        let Position { incarnation, end } = self.session.position();
        match log.seqs().nth(self.told as usize).and_then(|seq| log.stored_place(seq)) {
            Some(next) => Stamp { incarnation, end: next.offset, changed: 0 },
            None => Stamp { incarnation, end, changed },
        }
    }

    /// Follows the log to where it is now. One that was made anew has another name, and maybe the old one's file.
    fn relocate(&mut self, location: Location) -> Result<(), EngineError> {
        let name = |at: &Location| at.path.as_ref().and_then(|path| path.file_name()).map(ToOwned::to_owned);
        let is_same = name(self.session.location()) == name(&location);
        self.session.relocate(location);
        if is_same {
            return Ok(());
        }
        match self.session.reload() {
            // Another session has the id: reading on finds that, too.
            Err(EngineError::SessionNotFound(_)) => Ok(()),
            reloaded => reloaded,
        }
    }

    /// Goes on with the session that has the id now. Says whether it has the same owner.
    fn succeed(&mut self, engine: &Engine) -> Result<bool, EngineError> {
        let session = load(&engine.store, self.session.location().clone(), Depth::Envelope)?;
        let owner = |session: &Session| session.log().header().and_then(|header| header.ramus.owner.clone());
        let is_same = owner(&self.session) == owner(&session);
        self.session = session;
        Ok(is_same)
    }
}

impl Engine {
    /// Tells what happens to a session: everything durable behind `from`, then everything as it happens.
    pub fn events(&self, session: Session, from: Option<Seq>) -> Result<Stream, EngineError> {
        let mut stream = self.stream(Some(session.id().clone()));
        let told = from.map_or(0, Seq::number);
        let reading = Reading::new(session, told);
        let known = reading.len();
        stream.logs.insert(reading.session.id().clone(), reading);
        stream.read_on_one(u32::MAX)?;
        // What was there before anybody listened comes first, whatever is said meanwhile.
        stream.goal = stream.goal.or(Some(known));
        Ok(stream)
    }

    /// Tells what happens to all sessions of the home from now on.
    pub fn all_events(&self) -> Result<Stream, EngineError> {
        let mut stream = self.stream(None);
        // A log that is moved while the home is looked at may be missed once.
        for _ in 0..2 {
            for stamped in self.store.stamps()?.iter() {
                stream.stamps.entry(Arc::clone(&stamped.name)).or_insert(stamped.stamp);
            }
        }
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
            looked: Instant::now(),
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
            if self.one.is_none() && self.looked.elapsed() > BUSY {
                self.look_around()?;
                if let Some(told) = self.ready.pop_front() {
                    return Ok(Some(told));
                }
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
                Some((session, Note::Wrote(entries))) => match self.one {
                    Some(_) => self.read_on_one(entries)?,
                    None => self.look_at(&session, entries)?,
                },
                None => {
                    self.look(u32::MAX)?;
                    // What was said while this looked comes before what it left.
                    if !self.ready.is_empty() || self.queue.is_empty() {
                        return Ok(self.ready.pop_front());
                    }
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
        let before = reading.told;
        match self.read_on(&mut reading, entries, AT_ONCE) {
            Ok(true) => {
                // What is there now and no further: what is said next comes before what is written then. What is left for
                // later is nothing to wait for.
                let goal = reading.len().min(entries);
                self.goal = Some(goal).filter(|goal| reading.told < *goal && reading.told != before);
                self.logs.insert(id, reading);
                Ok(())
            }
            Ok(false) => {
                let what = What::Deleted(info(&reading.session));
                self.ready.push_back(Told { session: id, seq: None, what });
                Ok(())
            }
            // Whoever asks again goes on here: what waits to be told behind it is not lost.
            Err(error) => {
                self.goal = Some(entries);
                self.logs.insert(id, reading);
                Err(error)
            }
        }
    }

    /// Tells what was added to a log, until it has so many entries, at most so many of them. Says whether it is still there.
    fn read_on(&mut self, reading: &mut Reading, goal: u32, most: usize) -> Result<bool, EngineError> {
        for _ in 0..MOVES {
            match self.read_where_it_is(reading, goal, most) {
                // Published or moved, also while its entries were read, unless it is really gone.
                Err(EngineError::Store(StoreError::NotFound { .. })) => {
                    let found = find(self.engine.store.as_ref(), reading.session.id())?;
                    let Some(found) = found else { return Ok(false) };
                    match reading.relocate(found) {
                        // Moved again.
                        Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                        relocated => relocated?,
                    }
                }
                // Whoever follows one session is not told of what another owner does under its id.
                Err(EngineError::SessionNotFound(_)) => {
                    if !reading.succeed(&self.engine)? && self.one.is_some() {
                        return Ok(false);
                    }
                }
                result => return result.map(|()| true),
            }
        }
        // The next look finds it.
        Ok(true)
    }

    fn read_where_it_is(&mut self, reading: &mut Reading, goal: u32, most: usize) -> Result<(), EngineError> {
        let Reading { session, told, epoch } = reading;
        let known = session.position();
        session.refresh()?;
        let entries = u32::try_from(session.log().len()).unwrap_or(u32::MAX);
        let now = session.epoch();
        // Entries were erased or upgraded; positions stay, unless everything is new.
        let is_other = *told > entries || now != *epoch;
        if is_other || (session.position().incarnation != known.incarnation && known.end > 0) {
            self.ready.push_back(Told { session: session.id().clone(), seq: None, what: What::Updated(info(session)) });
        }
        if is_other {
            let what = What::Reset { entries, epoch: now.clone() };
            self.ready.push_back(Told { session: session.id().clone(), seq: None, what });
            (*told, *epoch) = (entries, now);
        }
        // This process says things before it writes them: what was found on the way is left until they were told.
        if goal == u32::MAX && self.queue.says_of(session.id()) {
            return Ok(());
        }
        let behind = session.log().seqs().skip(*told as usize).take_while(|seq| seq.number() <= goal);
        for seq in behind.take(most) {
            self.ready.extend(session.events_of(seq)?);
            *told = seq.number();
        }
        Ok(())
    }
}
