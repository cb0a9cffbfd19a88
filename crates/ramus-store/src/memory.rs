//! A home in memory: the same promises, except surviving the process.

mod staging;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ramus_model::blob::References;
use ramus_model::{Blob, BlobHash, SessionId};

use crate::base::{Bases, Guard};
use crate::blobs::{BlobHold, BlobStore, Collected, Collection, Tally};
use crate::breadcrumb::{Breadcrumb, Breadcrumbs, Terminal};
use crate::error::StoreError;
use crate::fs::Hold;
use crate::sidecar::Sidecars;
use crate::store::{
    Flush, Health, Incarnation, Lease, Location, LogStore, LogWriter, NewLog, Position, Removed, Residence, Runner,
    SetAside, Stamp, Stamped,
};

/// Logs in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    home: Arc<Mutex<Home>>,
    forks: Arc<Forks>,
}

/// How long whoever forks waits for someone who deletes, and the other way round.
const PATIENCE: Duration = Duration::from_secs(10);

/// The lock on forks.
#[derive(Debug, Default)]
struct Forks {
    held: Mutex<Held>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    shared: usize,
    alone: bool,
}

#[derive(Debug, Default)]
struct Home {
    logs: BTreeMap<SessionId, Log>,
    bases: BTreeMap<SessionId, Log>,
    breadcrumbs: BTreeMap<Terminal, Breadcrumb>,
    runners: HashMap<SessionId, Runner>,
    incarnations: u128,
    blobs: BTreeMap<BlobHash, Vec<u8>>,
    /// Sessions that came from elsewhere.
    imported: HashSet<SessionId>,
    /// How many writers keep collection away.
    holds: usize,
}

impl Home {
    /// Everything that logs refer to, unless somebody is about to refer to more.
    fn references(&self) -> Result<References, StoreError> {
        if self.holds > 0 {
            return Err(StoreError::Collecting { seconds: 0 });
        }
        let mut references = References::default();
        for log in self.logs.values() {
            references.feed(&log.bytes);
            references.end();
        }
        Ok(references)
    }
}

#[derive(Debug)]
struct Log {
    incarnation: Incarnation,
    bytes: Vec<u8>,
    /// How often it changed.
    changes: u128,
}

impl Home {
    fn shelf(&mut self, at: &Location) -> &mut BTreeMap<SessionId, Log> {
        if at.residence == Residence::Base { &mut self.bases } else { &mut self.logs }
    }

    fn log(&mut self, at: &Location) -> Result<&mut Log, StoreError> {
        self.shelf(at).get_mut(&at.id).ok_or_else(|| missing(&at.id))
    }

    fn next_incarnation(&mut self) -> Incarnation {
        self.incarnations += 1;
        Incarnation(self.incarnations)
    }
}

impl Log {
    fn position(&self) -> Position {
        Position { incarnation: self.incarnation, end: self.bytes.len() as u64 }
    }

    fn expect(&self, expected: Position) -> Result<(), StoreError> {
        let actual = self.position();
        if actual.incarnation != expected.incarnation {
            return Err(StoreError::Replaced { path: "memory".into() });
        }
        if actual.end == expected.end {
            return Ok(());
        }
        Err(StoreError::Moved { expected: expected.end, actual: actual.end })
    }
}

impl MemoryStore {
    fn home(&self) -> MutexGuard<'_, Home> {
        // No operation leaves a log half changed, so a panic elsewhere does not spoil them.
        self.home.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn missing(id: &SessionId) -> StoreError {
    StoreError::NotFound { what: format!("session {id}") }
}

fn location(id: SessionId) -> Location {
    Location { id, residence: Residence::Memory, path: None }
}

/// What the names of logs and of bases start with.
const LOGS: &str = "logs/";
const BASES: &str = "bases/";

fn stamped(place: &str, id: &SessionId, residence: Residence, log: &Log) -> Stamped {
    let Position { incarnation, end } = log.position();
    // Every change is counted, so none goes unnoticed.
    let stamp = Stamp { incarnation, end, changed: log.changes };
    Stamped { name: format!("{place}{id}").into(), residence, stamp, is_fresh: false }
}

impl LogStore for MemoryStore {
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError> {
        let mut home = self.home();
        if home.logs.contains_key(&new.id) {
            return Err(StoreError::Exists { path: new.id.as_str().into() });
        }
        let incarnation = home.next_incarnation();
        home.logs.insert(new.id.clone(), Log { incarnation, bytes: bytes.to_vec(), changes: 0 });
        Ok(location(new.id.clone()))
    }

    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<Position, StoreError> {
        let mut home = self.home();
        let log = home.log(at)?;
        let start = usize::try_from(from).unwrap_or(usize::MAX);
        take(log.bytes.get(start..).unwrap_or_default());
        Ok(log.position())
    }

    fn position(&self, at: &Location) -> Result<Position, StoreError> {
        Ok(self.home().log(at)?.position())
    }

    fn read_at(&self, at: &Location, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let mut home = self.home();
        let bytes = &home.log(at)?.bytes;
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
        let end = start.saturating_add(len).min(bytes.len());
        Ok(bytes.get(start..end).unwrap_or_default().to_vec())
    }

    fn writer(&self, at: &Location) -> Result<Box<dyn LogWriter>, StoreError> {
        self.home().log(at)?;
        Ok(Box::new(MemoryWriter { store: self.clone(), at: at.clone() }))
    }

    fn rewrite(
        &self,
        at: &Location,
        expected: Position,
        bytes: &[u8],
        _backup: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut home = self.home();
        let incarnation = home.next_incarnation();
        let log = home.log(at)?;
        log.expect(expected)?;
        *log = Log { incarnation, bytes: bytes.to_vec(), changes: 0 };
        Ok(())
    }

    fn settle(&self, at: &Location, _cwd: &str) -> Result<Location, StoreError> {
        self.home().log(at)?;
        Ok(location(at.id.clone()))
    }

    fn delete(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let mut home = self.home();
        let bytes = home.log(at)?.bytes.len() as u64;
        if !dry_run {
            home.shelf(at).remove(&at.id);
        }
        Ok(Removed { files: Vec::new(), bytes })
    }

    fn list(&self) -> Result<Vec<Location>, StoreError> {
        Ok(self.home().logs.keys().cloned().map(location).collect())
    }

    fn stamps(&self) -> Result<Arc<Vec<Stamped>>, StoreError> {
        let home = self.home();
        let logs = home.logs.iter().map(|(id, log)| stamped(LOGS, id, Residence::Memory, log));
        let bases = home.bases.iter().map(|(id, log)| stamped(BASES, id, Residence::Base, log));
        Ok(Arc::new(logs.chain(bases).collect()))
    }

    fn located(&self, name: &str) -> Option<Location> {
        let logs = name.strip_prefix(LOGS).map(|id| location(id.into()));
        logs.or_else(|| name.strip_prefix(BASES).map(|id| base(id.into())))
    }

    fn name_of(&self, at: &Location) -> Option<String> {
        let place = if at.residence == Residence::Base { BASES } else { LOGS };
        Some(format!("{place}{}", at.id))
    }

    fn sidecars(&self) -> Option<&dyn Sidecars> {
        None
    }

    fn lease(&self, at: &Location, now: i64) -> Result<Box<dyn Lease>, StoreError> {
        let mut home = self.home();
        if let Some(runner) = home.runners.get(&at.id) {
            return Err(StoreError::Running { session: at.id.to_string(), runner: *runner });
        }
        home.runners.insert(at.id.clone(), Runner { pid: std::process::id(), since: now });
        Ok(Box::new(MemoryLease { store: self.clone(), id: at.id.clone() }))
    }

    fn runner(&self, at: &Location) -> Result<Option<Runner>, StoreError> {
        Ok(self.home().runners.get(&at.id).copied())
    }

    fn set_aside(&self, _at: &Location, offset: u64, bytes: &[u8], _reason: &str) -> Result<SetAside, StoreError> {
        Ok(SetAside { offset, len: bytes.len() as u64, path: None })
    }

    fn blobs(&self) -> Option<&dyn BlobStore> {
        Some(self)
    }
}

impl BlobStore for MemoryStore {
    fn put(&self, blob: &Blob) -> Result<(), StoreError> {
        self.home().blobs.entry(blob.hash()).or_insert_with(|| blob.bytes().to_vec());
        Ok(())
    }

    fn fetch(&self, hash: BlobHash) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.home().blobs.get(&hash).cloned())
    }

    fn hold(&self) -> Result<Box<dyn BlobHold>, StoreError> {
        self.home().holds += 1;
        Ok(Box::new(MemoryHold(self.clone())))
    }

    /// Memory needs no trash: what nothing refers to is gone with the process anyway.
    fn erase(&self, hashes: &BTreeSet<BlobHash>) -> Result<Tally, StoreError> {
        let mut home = self.home();
        let references = home.references()?;
        let mut erased = Tally::default();
        home.blobs.retain(|hash, bytes| {
            let goes = hashes.contains(hash) && !references.contains(*hash);
            if goes {
                erased.add(bytes.len() as u64);
            }
            !goes
        });
        Ok(erased)
    }

    fn collect(&self, collection: Collection) -> Result<Collected, StoreError> {
        let mut home = self.home();
        let references = home.references()?;
        let mut collected = Collected::default();
        home.blobs.retain(|hash, bytes| {
            let stays = references.contains(*hash);
            let tally = if stays { &mut collected.kept } else { &mut collected.removed };
            tally.add(bytes.len() as u64);
            stays || collection.dry_run
        });
        Ok(collected)
    }

    fn blob_size(&self, hash: BlobHash) -> Result<Option<u64>, StoreError> {
        Ok(self.home().blobs.get(&hash).map(|bytes| bytes.len() as u64))
    }
}

struct MemoryHold(MemoryStore);

impl BlobHold for MemoryHold {}

impl Drop for MemoryHold {
    fn drop(&mut self) {
        self.0.home().holds -= 1;
    }
}

impl Bases for MemoryStore {
    fn hold_forks(&self, hold: Hold) -> Result<Box<dyn Guard>, StoreError> {
        let is_taken = |held: &mut Held| held.alone || hold == Hold::Exclusive && held.shared > 0;
        let held = self.forks.held.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.forks.freed.wait_timeout_while(held, PATIENCE, is_taken);
        let (mut held, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            return Err(StoreError::ForksBusy { seconds: PATIENCE.as_secs() });
        }
        match hold {
            Hold::Shared => held.shared += 1,
            Hold::Exclusive => held.alone = true,
        }
        Ok(Box::new(HeldForks { forks: Arc::clone(&self.forks), hold }))
    }

    fn put_base(&self, id: &SessionId, bytes: &[u8]) -> Result<Location, StoreError> {
        let mut home = self.home();
        let incarnation = home.next_incarnation();
        home.bases.insert(id.clone(), Log { incarnation, bytes: bytes.to_vec(), changes: 0 });
        Ok(base(id.clone()))
    }

    fn find_base(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        Ok(self.home().bases.contains_key(id).then(|| base(id.clone())))
    }

    fn bases(&self) -> Result<Vec<Location>, StoreError> {
        Ok(self.home().bases.keys().cloned().map(base).collect())
    }
}

impl Breadcrumbs for MemoryStore {
    fn leave_breadcrumb(&self, terminal: &Terminal, crumb: &Breadcrumb) -> Result<(), StoreError> {
        self.home().breadcrumbs.insert(terminal.clone(), crumb.clone());
        Ok(())
    }

    fn breadcrumb(&self, terminal: &Terminal) -> Result<Option<Breadcrumb>, StoreError> {
        Ok(self.home().breadcrumbs.get(terminal).cloned())
    }

    fn move_breadcrumbs(&self, moved: &dyn Fn(&str) -> Option<String>, dry_run: bool) -> Result<usize, StoreError> {
        let mut home = self.home();
        let mut count = 0;
        for crumb in home.breadcrumbs.values_mut() {
            let Some(cwd) = moved(&crumb.cwd) else { continue };
            count += 1;
            if !dry_run {
                crumb.cwd = cwd;
            }
        }
        Ok(count)
    }

    fn sweep_breadcrumbs(&self, session: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        if !dry_run {
            self.home().breadcrumbs.retain(|_, crumb| crumb.session != session.id);
        }
        Ok(Removed::default())
    }
}

fn base(id: SessionId) -> Location {
    Location { id, residence: Residence::Base, path: None }
}

struct HeldForks {
    forks: Arc<Forks>,
    hold: Hold,
}

impl Guard for HeldForks {}

impl Drop for HeldForks {
    fn drop(&mut self) {
        let mut held = self.forks.held.lock().unwrap_or_else(PoisonError::into_inner);
        match self.hold {
            Hold::Shared => held.shared = held.shared.saturating_sub(1),
            Hold::Exclusive => held.alone = false,
        }
        self.forks.freed.notify_all();
    }
}

struct MemoryWriter {
    store: MemoryStore,
    at: Location,
}

impl LogWriter for MemoryWriter {
    fn append(&mut self, expected: Position, bytes: &[u8], _flush: Flush) -> Result<Position, StoreError> {
        let mut home = self.store.home();
        let log = home.log(&self.at)?;
        log.expect(expected)?;
        log.bytes.extend_from_slice(bytes);
        log.changes += 1;
        Ok(log.position())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    fn cut(&mut self, expected: Position, end: u64) -> Result<SetAside, StoreError> {
        let mut home = self.store.home();
        let log = home.log(&self.at)?;
        log.expect(expected)?;
        log.bytes.truncate(usize::try_from(end).unwrap_or(usize::MAX));
        log.changes += 1;
        Ok(SetAside { offset: end, len: expected.end.saturating_sub(end), path: None })
    }

    fn health(&self) -> Health {
        Health::Healthy
    }

    fn recover(&mut self) -> Result<(), StoreError> {
        Ok(())
    }
}

struct MemoryLease {
    store: MemoryStore,
    id: SessionId,
}

impl Lease for MemoryLease {}

impl Drop for MemoryLease {
    fn drop(&mut self) {
        self.store.home().runners.remove(&self.id);
    }
}
