//! Looking at every log of a home: which ones are new, changed, moved or gone.
//!
//! A look at a home is no single moment: a log that is moved meanwhile may be missed, or seen under both names. So one that
//! is missing is looked for again before it is told as gone, and one that is found under another name is read on where it was.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ramus_model::{Depth, Seq, SessionId};
use ramus_store::{Location, Residence, Stamp, Stamped, StoreError};

use super::{Reading, Stream};
use crate::error::EngineError;
use crate::events::log::info;
use crate::events::{Told, What};
use crate::session::{find, load};

/// How many logs of a home are kept open for reading on.
const OPEN: usize = 64;

impl Stream {
    /// Looks at every log of the home, and reads on in those that changed.
    pub(super) fn look_around(&mut self) -> Result<(), EngineError> {
        self.looked = std::time::Instant::now();
        let store = Arc::clone(&self.engine.store);
        let stamps = store.stamps()?;
        let mut gone = std::mem::take(&mut self.stamps);
        let mut changed: Vec<(&Stamped, Location)> = Vec::new();
        for stamped in stamps.iter() {
            let before = gone.remove(&stamped.name);
            self.stamps.extend(before.map(|before| (Arc::clone(&stamped.name), before)));
            if before != Some(stamped.stamp) {
                match store.located(&stamped.name).filter(is_session) {
                    Some(location) => changed.push((stamped, location)),
                    None => drop(self.stamps.insert(Arc::clone(&stamped.name), stamped.stamp)),
                }
            }
        }
        let mut trouble = self.tell_gone(gone).err();
        let unknown = changed.iter().filter(|(stamped, _)| !self.stamps.contains_key(&stamped.name));
        let elsewhere = self.known_as(&unknown.map(|(_, location)| location.id.clone()).collect());
        for (stamped, location) in changed {
            let known = self.stamps.get(&stamped.name).copied();
            let before = known.or_else(|| elsewhere.get(&location.id).map(|(_, stamp)| *stamp));
            // What happens to the others is told, whatever is wrong with one.
            if let Err(error) = self.read_changed(&stamped.name, location, before, (stamped.stamp.changed, u32::MAX)) {
                trouble = Some(error);
            }
        }
        trouble.map_or(Ok(()), Err)
    }

    /// Reads on in one log of the home until it has so many entries, and no further: what was said next comes before what was
    /// written then. One that is gone is found out with the next look at all of them.
    pub(super) fn look_at(&mut self, id: &SessionId, goal: u32) -> Result<(), EngineError> {
        let store = Arc::clone(&self.engine.store);
        let Some(location) = find(store.as_ref(), id)? else { return Ok(()) };
        let Some(name) = store.name_of(&location) else { return Ok(()) };
        let name: Arc<str> = name.into();
        if !self.stamps.contains_key(&name) {
            let known = self.logs.get(id).and_then(|reading| store.name_of(reading.session.location()));
            let known = known.and_then(|known| self.stamps.remove_entry(known.as_str()));
            if let Some((old, stamp)) = known.or_else(|| self.known_as(&HashSet::from([id.clone()])).remove(id)) {
                self.stamps.remove(&old);
                self.stamps.insert(Arc::clone(&name), stamp);
            }
        }
        let before = self.stamps.get(&name).copied();
        self.read_changed(&name, location, before, (0, goal))
    }

    /// Tells which sessions are gone. Those that were published or moved meanwhile are known by their new names from now on.
    fn tell_gone(&mut self, mut gone: HashMap<Arc<str>, Stamp>) -> Result<(), EngineError> {
        let store = Arc::clone(&self.engine.store);
        gone.retain(|name, _| store.located(name).is_some_and(|at| is_session(&at)));
        if gone.is_empty() {
            return Ok(());
        }
        let there = match store.list() {
            Ok(there) => there,
            // The next look finds out.
            Err(error) => {
                self.stamps.extend(gone);
                return Err(error.into());
            }
        };
        let ids: HashSet<SessionId> = gone.keys().filter_map(|name| store.id_of(name)).collect();
        let there = there.into_iter().filter(|at| is_session(at) && ids.contains(&at.id));
        let there: HashMap<SessionId, Location> = there.map(|at| (at.id.clone(), at)).collect();
        for (name, stamp) in gone {
            let Some(id) = store.id_of(&name) else { continue };
            if let Some(at) = there.get(&id) {
                let name = store.name_of(at).map_or(name, Arc::from);
                self.stamps.entry(name).or_insert(stamp);
                continue;
            }
            let told = match self.logs.remove(&id) {
                Some(known) => Told { seq: None, what: What::Deleted(info(&known.session)), session: id },
                None => Told::deleted(id),
            };
            self.ready.push_back(told);
        }
        Ok(())
    }

    /// Finds the names that sessions are known by, and how their logs looked.
    fn known_as(&self, ids: &HashSet<SessionId>) -> HashMap<SessionId, (Arc<str>, Stamp)> {
        if ids.is_empty() {
            return HashMap::new();
        }
        let store = &self.engine.store;
        let named = self.stamps.iter().filter_map(|(name, stamp)| {
            let id = store.id_of(name).filter(|id| ids.contains(id))?;
            store.located(name).filter(is_session).map(|_| (id, (Arc::clone(name), *stamp)))
        });
        named.collect()
    }

    fn read_changed(
        &mut self,
        name: &Arc<str>,
        location: Location,
        before: Option<Stamp>,
        (changed, goal): (u128, u32),
    ) -> Result<(), EngineError> {
        let id = location.id.clone();
        let mut reading = match self.logs.remove(&id) {
            Some(mut reading) => {
                if *reading.session.location() != location
                    && let Err(error) = reading.relocate(location)
                {
                    self.logs.insert(id, reading);
                    return gone_again(error);
                }
                reading
            }
            None => match self.start_reading(location, before) {
                Ok(reading) => reading,
                Err(error) => return gone_again(error),
            },
        };
        let read = self.read_on(&mut reading, goal, usize::MAX);
        // Whoever could not be read is gone on with where it was left, and the next look finds that it changed, too.
        let changed = if read.is_ok() { changed } else { 0 };
        self.stamps.insert(Arc::clone(name), reading.stamp(changed));
        if *read.as_ref().unwrap_or(&true) {
            if self.logs.len() >= OPEN
                && let Some(other) = self.logs.keys().next().cloned()
            {
                self.logs.remove(&other);
            }
            self.logs.insert(id, reading);
        }
        read.map(drop)
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
            let told = u32::try_from(shared).unwrap_or(u32::MAX);
            return Ok(Reading::new(session, told));
        };
        if session.position().incarnation != before.incarnation {
            // It was replaced, and how much of it was told before is not known.
            let entries = u32::try_from(log.len()).unwrap_or(u32::MAX);
            let reading = Reading::new(session, entries);
            let whats = [What::Updated(info(&reading.session)), What::Reset { entries, epoch: reading.epoch.clone() }];
            let id = reading.session.id();
            self.ready.extend(whats.map(|what| Told { session: id.clone(), seq: None, what }));
            return Ok(reading);
        }
        let is_old =
            |seq: &Seq| log.stored_place(*seq).is_some_and(|place| place.source > 0 || place.offset < before.end);
        let told = u32::try_from(log.seqs().take_while(is_old).count()).unwrap_or(u32::MAX);
        Ok(Reading::new(session, told))
    }
}

/// A log that is gone again, or no session, is nothing to complain about: the next look says so.
fn gone_again(error: EngineError) -> Result<(), EngineError> {
    match error {
        EngineError::Store(StoreError::NotFound { .. }) => Ok(()),
        error => Err(error),
    }
}

fn is_session(at: &Location) -> bool {
    at.residence != Residence::Base
}
