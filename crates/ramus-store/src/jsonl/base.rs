//! Bases as files: `bases/<session id>.jsonl`.

use std::path::PathBuf;
use std::time::Duration;

use ramus_model::SessionId;

use super::{JsonlStore, tame_name};
use crate::base::{Bases, Guard};
use crate::error::StoreError;
use crate::fs::{Hold, LockFile};
use crate::store::{Location, Residence};

/// No session's lock has a dot in its name.
const FORKS: &str = "forks.lock";

/// How long whoever forks waits for someone who deletes, and the other way round.
const PATIENCE: Duration = Duration::from_secs(10);

struct HeldLock(Box<dyn LockFile>);

impl Guard for HeldLock {}

impl Drop for HeldLock {
    fn drop(&mut self) {
        // A lock that cannot be freed is freed with its descriptor.
        let _ = self.0.release();
    }
}

impl JsonlStore {
    fn base_path(&self, id: &SessionId) -> PathBuf {
        self.root.join("bases").join(format!("{}.jsonl", tame_name(id.as_str())))
    }
}

impl Bases for JsonlStore {
    fn hold_forks(&self, hold: Hold) -> Result<Box<dyn Guard>, StoreError> {
        let (path, lock) = self.lock_file(FORKS)?;
        if !lock.acquire(hold, PATIENCE).map_err(|error| StoreError::io("lock", &path, error))? {
            return Err(StoreError::ForksBusy { seconds: PATIENCE.as_secs() });
        }
        Ok(Box::new(HeldLock(lock)))
    }

    fn put_base(&self, id: &SessionId, bytes: &[u8]) -> Result<Location, StoreError> {
        let path = self.base_path(id);
        self.own_dir(&self.root.join("bases"))?;
        self.put(&path, bytes)?;
        Ok(Location { id: id.clone(), residence: Residence::Base, path: Some(path) })
    }

    fn find_base(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        let path = self.base_path(id);
        match self.fs.stat(&path) {
            Ok(_) => Ok(Some(Location { id: id.clone(), residence: Residence::Base, path: Some(path) })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("inspect", &path, error)),
        }
    }

    fn bases(&self) -> Result<Vec<Location>, StoreError> {
        let mut found = Vec::new();
        self.list_directory(&self.root.join("bases"), Residence::Base, &mut found)?;
        Ok(found)
    }
}
