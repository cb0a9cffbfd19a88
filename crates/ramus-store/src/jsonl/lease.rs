//! The run lease: at most one process runs turns in a session. The lock is the only truth about who has it; what the file
//! says is for people.

use std::collections::HashSet;
use std::time::Duration;

use super::JsonlStore;
use crate::error::StoreError;
use crate::fs::{Hold, LockFile};
use crate::store::{Lease, Location, Runner};

/// How many sessions are worth listing all locks.
const WORTH_A_LIST: usize = 100;

/// Held until it is dropped.
struct JsonlLease {
    lock: std::sync::Mutex<Box<dyn LockFile>>,
}

impl Lease for JsonlLease {}

impl Drop for JsonlLease {
    fn drop(&mut self) {
        let lock = self.lock.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let _ = lock.release();
    }
}

impl JsonlStore {
    pub(super) fn take_lease(&self, at: &Location, now: i64) -> Result<Box<dyn Lease>, StoreError> {
        let (path, lock) = self.lock_file(&format!("{}.run", super::lock_name(at)))?;
        let failed = |error| StoreError::io("lock", &path, error);
        if !lock.acquire(Hold::Exclusive, Duration::ZERO).map_err(failed)? {
            return Err(StoreError::Running { session: at.id.to_string(), runner: noted(lock.as_ref()) });
        }
        lock.write_note(format!("{} {now}\n", std::process::id()).as_bytes()).map_err(failed)?;
        Ok(Box::new(JsonlLease { lock: std::sync::Mutex::new(lock) }))
    }

    /// Of many sessions few have ever been run: one look at the directory tells which.
    pub(super) fn lease_holders(&self, of: &[Location]) -> Result<Vec<Option<Runner>>, StoreError> {
        if of.len() < WORTH_A_LIST {
            return of.iter().map(|at| self.lease_holder(at)).collect();
        }
        let locks = self.entries(&self.root.join("locks"))?;
        let leases: HashSet<&str> =
            locks.iter().filter_map(|entry| entry.name.to_str()?.strip_suffix(".run")).collect();
        of.iter()
            .map(|at| if leases.contains(&*super::lock_name(at)) { self.lease_holder(at) } else { Ok(None) })
            .collect()
    }

    pub(super) fn lease_holder(&self, at: &Location) -> Result<Option<Runner>, StoreError> {
        let path = self.root.join("locks").join(format!("{}.run", super::lock_name(at)));
        // Nothing is made by looking.
        if self.fs.stat(&path).is_err() {
            return Ok(None);
        }
        let failed = |error| StoreError::io("lock", &path, error);
        let lock = self.fs.lock_file(&path).map_err(failed)?;
        let free = lock.acquire(Hold::Shared, Duration::ZERO).map_err(failed)?;
        Ok((!free).then(|| noted(lock.as_ref())))
    }
}

/// Who the file says holds the lock; zeros while the holder has not said so yet.
fn noted(lock: &dyn LockFile) -> Runner {
    let note = lock.read_note().unwrap_or_default();
    let note = String::from_utf8_lossy(&note);
    let mut words = note.split_whitespace();
    let pid = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let since = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    Runner { pid, since }
}
