//! Appending to a log: one `write` under the gate, taken back when it fails, confirmed by the disk before success is
//! reported.
//!
//! The gate is let go before the disk is asked to confirm, so that writers wait for the disk together. A disk that does
//! not confirm is never asked again through the same descriptor: the system may have dropped the bytes and would say yes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::gate::Gate;
use super::make::{beside, read_exactly, unfinished, write_all};
use super::{JsonlStore, incarnation, path_of};
use crate::error::StoreError;
use crate::fs::{Access, FileHandle, FileId};
use crate::planted::{Bug, is_planted};
use crate::sidecar::Sidecars as _;
use crate::store::{Flush, Health, Location, LogWriter, Position, Residence, SetAside};

/// How much is copied at a time.
const CHUNK: usize = 1 << 18;

pub(super) struct JsonlWriter {
    store: JsonlStore,
    at: Location,
    path: PathBuf,
    gate: Gate,
    file: Box<dyn FileHandle>,
    id: FileId,
    health: Health,
    /// Where bytes lie that the caller was told are not stored.
    refused: Option<(u64, u64)>,
    /// What a planted bug keeps back.
    kept_back: Vec<u8>,
}

impl JsonlStore {
    pub(super) fn open_writer(&self, at: &Location) -> Result<JsonlWriter, StoreError> {
        let path = path_of(at)?.to_owned();
        let gate = self.gate(at)?;
        let (file, id) = self.open_log(&path)?;
        Ok(JsonlWriter {
            store: self.clone(),
            at: at.clone(),
            path,
            gate,
            file,
            id,
            health: Health::Healthy,
            refused: None,
            kept_back: Vec::new(),
        })
    }

    fn open_log(&self, path: &Path) -> Result<(Box<dyn FileHandle>, FileId), StoreError> {
        let file = self.fs.open(path, Access::Append).map_err(|error| StoreError::io("open", path, error))?;
        let id = file.stat().map_err(|error| StoreError::io("inspect", path, error))?.id;
        Ok((file, id))
    }
}

impl LogWriter for JsonlWriter {
    fn append(&mut self, expected: Position, bytes: &[u8], flush: Flush) -> Result<Position, StoreError> {
        self.check_health()?;
        self.store.confirm_name(&self.path)?;
        if is_planted(Bug::AckBeforeWrite) {
            let late = std::mem::replace(&mut self.kept_back, bytes.to_vec());
            let start = expected.end - late.len() as u64;
            self.write(Position { end: start, ..expected }, &late)?;
        } else {
            self.write(expected, bytes)?;
        }
        if flush == Flush::Now {
            self.sync().inspect_err(|_| self.withdraw(expected, bytes.len() as u64))?;
        }
        Ok(Position { end: expected.end + bytes.len() as u64, ..expected })
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.check_health()?;
        self.sync()
    }

    fn cut(&mut self, expected: Position, end: u64) -> Result<SetAside, StoreError> {
        self.check_health()?;
        let gate = self.gate.hold()?;
        let Self { store, at, path, file, id, .. } = self;
        check_position(store, path, file, id, expected)?;
        let mut tail = vec![0; usize::try_from(expected.end.saturating_sub(end)).unwrap_or(usize::MAX)];
        read_exactly(file.as_ref(), &mut tail, end).map_err(|error| StoreError::io("read", path, error))?;
        let set_aside = || {
            if is_planted(Bug::DropBadLines) {
                return Ok(SetAside { offset: end, len: tail.len() as u64, path: None });
            }
            let kept = store.keep_damage(at, end, &tail, "the end of the file is not a whole record");
            kept.map_err(|error| store.measured(error))
        };
        let failed = |error| StoreError::io("cut", path, error);
        if is_planted(Bug::TruncateBeforeQuarantine) {
            file.truncate(end).and_then(|()| file.sync()).map_err(failed)?;
            return set_aside();
        }
        let kept = set_aside()?;
        file.truncate(end).map_err(failed)?;
        drop(gate);
        self.sync()?;
        Ok(kept)
    }

    fn health(&self) -> Health {
        self.health.clone()
    }

    fn recover(&mut self) -> Result<(), StoreError> {
        if let Health::Poisoned(_) = self.health {
            self.rescue()?;
        }
        self.health = Health::Healthy;
        self.refused = None;
        Ok(())
    }
}

impl JsonlWriter {
    /// A full disk may have space again; anything else must be recovered from first.
    fn check_health(&self) -> Result<(), StoreError> {
        match &self.health {
            Health::Degraded(first) if !matches!(**first, StoreError::Full { .. }) => {
                Err(StoreError::Latched { first: Arc::clone(first) })
            }
            Health::Poisoned(first) => Err(StoreError::Latched { first: Arc::clone(first) }),
            _ => Ok(()),
        }
    }

    /// Writes all of `bytes` at the expected position, or nothing.
    fn write(&mut self, expected: Position, bytes: &[u8]) -> Result<(), StoreError> {
        let Self { store, path, gate, file, id, .. } = self;
        let _held = gate.hold()?;
        check_position(store, path, file, id, expected)?;
        let Err(source) = write_all(file.as_mut(), bytes) else {
            self.health = Health::Healthy;
            return Ok(());
        };
        // The gate keeps this failed attempt from being seen by other writers. When it cannot be taken back, the next
        // writer finds a torn tail and sets it aside.
        let taken_back = is_planted(Bug::NoRollback) || file.truncate(expected.end).is_ok();
        let error = store.measured(StoreError::io("write", path, source));
        let (first, answer) = match &self.health {
            Health::Healthy => (Arc::new(error.again()), error),
            Health::Degraded(first) | Health::Poisoned(first) => {
                (Arc::clone(first), StoreError::Latched { first: Arc::clone(first) })
            }
        };
        self.health = if taken_back { Health::Degraded(first) } else { Health::Poisoned(first) };
        if !taken_back {
            self.refused = Some((expected.end, bytes.len() as u64));
        }
        Err(answer)
    }

    /// Takes back what the disk did not confirm, so that nobody builds on it, unless others already wrote behind it. They
    /// may know nothing of the failure: the system tells each descriptor once, and new ones not at all.
    fn withdraw(&mut self, expected: Position, len: u64) {
        self.refused = Some((expected.end, len));
        let Ok(_held) = self.gate.hold() else { return };
        // Asked of the file itself: it may have got another name meanwhile.
        if self.file.stat().is_ok_and(|stat| stat.size == expected.end + len) {
            // When that fails too, a rescue leaves it out.
            let _ = self.file.truncate(expected.end);
        }
    }

    /// Asks the disk to confirm what was written.
    fn sync(&mut self) -> Result<(), StoreError> {
        if is_planted(Bug::NoFsync) {
            return Ok(());
        }
        let Err(source) = self.file.sync() else { return Ok(()) };
        if is_planted(Bug::RetryAfterFailedFsync) && self.file.sync().is_ok() {
            return Ok(());
        }
        let unconfirmed = StoreError::Unconfirmed { path: self.path.clone(), source };
        self.health = Health::Poisoned(Arc::new(unconfirmed.again()));
        Err(unconfirmed)
    }

    /// Copies the log to a new file, which takes its name: the descriptor that failed is never written to again. When
    /// the name is gone, the file that is still open gets it back, unless it has another one now.
    fn rescue(&mut self) -> Result<(), StoreError> {
        let Self { store, at, path, gate, file, id, refused, .. } = self;
        let _held = gate.hold()?;
        if let Some(moved) = moved_to(store, at, path, *id)? {
            *path = moved;
        }
        let fs = &store.fs;
        let current = match fs.stat(path) {
            Ok(stat) => Some(stat.id),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::io("inspect", path, error)),
        };
        if current.is_some_and(|current| current != *id) {
            // Somebody else replaced the file: theirs is the log now.
            (*file, *id) = store.open_log(path)?;
            return Ok(());
        }
        let size = file.stat().map_err(|error| StoreError::io("inspect", path, error))?.size;
        // What the caller was told is not stored should not be there, unless others wrote behind it.
        let keep = match *refused {
            Some((start, len)) if size <= start + len => size.min(start),
            _ => size,
        };
        let new = beside(path, &unfinished());
        let mut copy = fs.create_file(&new).map_err(|error| StoreError::io("create", &new, error))?;
        let copied = copy_log(file.as_ref(), copy.as_mut(), keep)
            .and_then(|()| copy.sync())
            .and_then(|()| fs.rename(&new, path))
            .map_err(|error| StoreError::io("rescue", path, error));
        if copied.is_err() {
            let _ = fs.remove(&new);
        }
        copied?;
        store.sync_dir_of(path)?;
        // A sidecar may know of what was left out.
        store.discard(at)?;
        (*file, *id) = store.open_log(path)?;
        Ok(())
    }
}

/// Where a log is now that is no longer at `path`: it was published or moved by another process.
fn moved_to(store: &JsonlStore, at: &Location, path: &Path, id: FileId) -> Result<Option<PathBuf>, StoreError> {
    let is_gone = matches!(store.fs.stat(path), Err(error) if error.kind() == std::io::ErrorKind::NotFound);
    if !is_gone || at.residence == Residence::InPlace {
        return Ok(None);
    }
    let named = store.list_files()?.into_iter().filter(|other| other.id == at.id).filter_map(|other| other.path);
    Ok(named.into_iter().find(|path| store.fs.stat(path).is_ok_and(|stat| stat.id == id)))
}

/// Makes sure, under the gate, that the log is the one the caller read and ends where it read up to.
fn check_position(
    store: &JsonlStore,
    path: &Path,
    file: &mut Box<dyn FileHandle>,
    id: &mut FileId,
    expected: Position,
) -> Result<(), StoreError> {
    let stat = if is_planted(Bug::NoIdentityCheck) { file.stat() } else { store.fs.stat(path) };
    let stat = stat.map_err(|error| StoreError::io("inspect", path, error))?;
    if stat.id != *id {
        (*file, *id) = store.open_log(path)?;
    }
    if incarnation(*id) != expected.incarnation {
        return Err(StoreError::Replaced { path: path.to_owned() });
    }
    if stat.size != expected.end {
        return Err(StoreError::Moved { expected: expected.end, actual: stat.size });
    }
    Ok(())
}

fn copy_log(from: &dyn FileHandle, to: &mut dyn FileHandle, len: u64) -> std::io::Result<()> {
    let mut buffer = vec![0; CHUNK];
    let mut position = 0;
    while position < len {
        let wanted = usize::try_from(len - position).unwrap_or(usize::MAX).min(CHUNK);
        let part = buffer.get_mut(..wanted).unwrap_or_default();
        read_exactly(from, part, position)?;
        write_all(to, part)?;
        position += wanted as u64;
    }
    Ok(())
}
