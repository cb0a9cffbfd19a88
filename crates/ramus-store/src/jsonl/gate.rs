//! The gate: the lock under which every byte of a log is written.
//!
//! It is a file of its own, so it outlives renames and replacements of the log, and it is never removed: a lock on a
//! removed file would exclude nobody. A file opened in place in the directory of omp is also guarded by omp's own locks.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::JsonlStore;
use super::omp_lock::OmpLock;
use crate::error::StoreError;
use crate::fs::{Hold, LockFile};
use crate::planted::{Bug, is_planted};
use crate::store::{Location, Residence};

/// How long a writer waits for the gate before it gives up.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The gate of one log.
pub(super) struct Gate {
    session: String,
    path: PathBuf,
    lock: Box<dyn LockFile>,
    omp: Option<OmpLock>,
}

/// The gate while it is held.
pub(super) struct Held<'g>(&'g Gate);

impl Gate {
    /// Waits until nobody else holds the gate.
    pub(super) fn hold(&self) -> Result<Held<'_>, StoreError> {
        if is_planted(Bug::NoGate) {
            return Ok(Held(self));
        }
        if !self.acquire(PATIENCE)? {
            return Err(StoreError::Busy { session: self.session.clone(), seconds: PATIENCE.as_secs() });
        }
        Ok(Held(self))
    }

    /// Takes the gate if nobody holds it.
    pub(super) fn try_hold(&self) -> Result<Option<Held<'_>>, StoreError> {
        Ok(self.acquire(Duration::ZERO)?.then_some(Held(self)))
    }

    fn acquire(&self, patience: Duration) -> Result<bool, StoreError> {
        let failed = |error: io::Error| StoreError::io("lock", &self.path, error);
        if !self.lock.acquire(Hold::Exclusive, patience).map_err(failed)? {
            return Ok(false);
        }
        let Some(omp) = &self.omp else { return Ok(true) };
        let taken = omp.acquire(patience);
        if !matches!(taken, Ok(true)) {
            let _ = self.lock.release();
        }
        taken.map_err(failed)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(omp) = &self.0.omp {
            omp.release();
        }
        // A lock that cannot be freed is freed with its descriptor.
        let _ = self.0.lock.release();
    }
}

impl JsonlStore {
    /// Opens the gate of a log.
    pub(super) fn gate(&self, at: &Location) -> Result<Gate, StoreError> {
        let (path, lock) = self.lock_file(&super::lock_name(at))?;
        let in_place = at.path.as_deref().filter(|_| at.residence == Residence::InPlace);
        let omp = match in_place.filter(|path| OmpLock::guards(self.fs.as_ref(), path)) {
            Some(file) => Some(OmpLock::open(&self.fs, file).map_err(|error| StoreError::io("lock", file, error))?),
            None => None,
        };
        Ok(Gate { session: at.id.to_string(), path, lock, omp })
    }

    /// Opens a file under `locks/`.
    pub(super) fn lock_file(&self, name: &str) -> Result<(PathBuf, Box<dyn LockFile>), StoreError> {
        let locks = self.root.join("locks");
        self.own_dir(&locks)?;
        let path = locks.join(name);
        let lock = self.fs.lock_file(&path).map_err(|error| StoreError::io("lock", &path, error))?;
        Ok((path, lock))
    }
}
