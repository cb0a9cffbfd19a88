//! Blobs as files under `blobs/`, named by their hash.
//!
//! A blob is complete and durable before it has its name, never takes a name that is taken, and is never written to
//! again. Its content is checked whenever it is read.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use ramus_model::{Blob, BlobHash};

use super::JsonlStore;
use super::gate::PATIENCE;
use crate::blobs::{BlobHold, BlobStore, Collected, Collection, Tally};
use crate::error::StoreError;
use crate::fs::{FileId, Hold, LockFile};

/// The lock that keeps collection and writers of references apart.
const LOCK: &str = "gc.lock";

/// How often a writer puts a blob that others keep taking away.
const ATTEMPTS: usize = 8;

/// Holds the lock until it is dropped.
struct Held(#[expect(dead_code, reason = "the lock is freed when this is dropped")] Box<dyn LockFile>);

impl BlobHold for Held {}

/// What is under the name of a blob.
enum Found {
    Nothing,
    Whole(Vec<u8>),
    /// Something else, which lay in this file.
    Wrong(Vec<u8>, FileId),
}

impl JsonlStore {
    pub(super) fn blob_directory(&self) -> PathBuf {
        self.root.join("blobs")
    }

    fn blob_path(&self, hash: BlobHash) -> PathBuf {
        self.blob_directory().join(hash.to_string())
    }

    /// Takes the lock that keeps collection and writers of references apart.
    pub(super) fn hold_blobs(&self, hold: Hold) -> Result<Box<dyn BlobHold>, StoreError> {
        let (path, lock) = self.lock_file(LOCK)?;
        if lock.acquire(hold, PATIENCE).map_err(|error| StoreError::io("lock", &path, error))? {
            return Ok(Box::new(Held(lock)));
        }
        Err(StoreError::Collecting { seconds: PATIENCE.as_secs() })
    }

    fn look_at(&self, hash: BlobHash) -> Result<Found, StoreError> {
        let mut bytes = Vec::new();
        let id = match self.read_file(&self.blob_path(hash), 0, &mut |chunk| bytes.extend_from_slice(chunk)) {
            Err(StoreError::NotFound { .. }) => return Ok(Found::Nothing),
            result => result?.0,
        };
        Ok(if BlobHash::of(&bytes) == hash { Found::Whole(bytes) } else { Found::Wrong(bytes, id) })
    }

    /// Moves a file that is not what its name says out of the way, if it is still there.
    fn set_blob_aside(&self, hash: BlobHash, bytes: &[u8], id: FileId) -> Result<(), StoreError> {
        let path = self.blob_path(hash);
        if !self.fs.stat(&path).is_ok_and(|stat| stat.id == id) {
            return Ok(());
        }
        let directory = self.root.join("quarantine");
        self.own_dir(&directory)?;
        let content = BlobHash::of(bytes).to_string();
        let aside = directory.join(format!("blob-{hash}-{}.bin", content.get(..16).unwrap_or_default()));
        match self.fs.rename(&path, &aside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            result => {
                result.map_err(|error| StoreError::io("set aside", &path, error))?;
                self.sync_dir_of(&aside)?;
                self.sync_dir_of(&path)
            }
        }
    }

    /// Says whether a blob is there and whole, looking into it once in the life of this process.
    fn has_blob(&self, blob: &Blob) -> Result<bool, StoreError> {
        let path = self.blob_path(blob.hash());
        let stat = match self.fs.stat(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            result => result.map_err(|error| StoreError::io("inspect", &path, error))?,
        };
        let is_known = self.known_blobs().contains(&(blob.hash(), stat.id));
        if is_known && stat.size == blob.bytes().len() as u64 {
            return Ok(true);
        }
        match self.look_at(blob.hash())? {
            Found::Nothing => Ok(false),
            Found::Wrong(bytes, id) => {
                self.set_blob_aside(blob.hash(), &bytes, id)?;
                Ok(false)
            }
            Found::Whole(_) => {
                self.known_blobs().insert((blob.hash(), stat.id));
                Ok(true)
            }
        }
    }

    fn known_blobs(&self) -> std::sync::MutexGuard<'_, super::KnownBlobs> {
        // A set of names is never half changed.
        self.known_blobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BlobStore for JsonlStore {
    fn put(&self, blob: &Blob) -> Result<(), StoreError> {
        self.own_dir(&self.blob_directory())?;
        let path = self.blob_path(blob.hash());
        for _ in 0..ATTEMPTS {
            if self.has_blob(blob)? {
                return match self.fs.touch(&path) {
                    // Its age only delays collection, which is held off while a reference to it is being written.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    result => result.map_err(|error| StoreError::io("touch", &path, error)),
                }
                .and_then(|()| self.sync_dir_of(&path));
            }
            match self.make(&path, blob.bytes()) {
                Err(StoreError::Exists { .. }) => {}
                result => return result,
            }
        }
        Err(StoreError::Exists { path })
    }

    fn fetch(&self, hash: BlobHash) -> Result<Option<Vec<u8>>, StoreError> {
        match self.look_at(hash)? {
            Found::Nothing => Ok(None),
            Found::Whole(bytes) => Ok(Some(bytes)),
            Found::Wrong(bytes, id) => {
                // Where it cannot be moved it is still not what it should be.
                let _ = self.set_blob_aside(hash, &bytes, id);
                Ok(None)
            }
        }
    }

    fn hold(&self) -> Result<Box<dyn BlobHold>, StoreError> {
        self.hold_blobs(Hold::Shared)
    }

    fn erase(&self, hashes: &BTreeSet<BlobHash>) -> Result<Tally, StoreError> {
        let _alone = self.hold_blobs(Hold::Exclusive)?;
        self.erase_blobs(hashes)
    }

    fn collect(&self, collection: Collection) -> Result<Collected, StoreError> {
        let _alone = self.hold_blobs(Hold::Exclusive)?;
        self.collect_blobs(collection)
    }

    fn blob_size(&self, hash: BlobHash) -> Result<Option<u64>, StoreError> {
        let path = self.blob_path(hash);
        match self.fs.stat(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            result => Ok(Some(result.map_err(|error| StoreError::io("inspect", &path, error))?.size)),
        }
    }
}

/// Reads the name of a blob from a file name.
pub(super) fn hash_in_file_name(name: &Path) -> Option<BlobHash> {
    BlobHash::parse(name.as_os_str().as_encoded_bytes())
}
