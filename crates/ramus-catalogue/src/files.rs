//! The files of a catalogue, and the lock that keeps whoever uses them and whoever replaces them apart.
//!
//! Nothing here opens the database itself: closing any descriptor of it would free the locks that SQLite holds.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::error::CatalogueError;

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// With others who use the catalogue.
    Shared,
    /// Alone: the main file is written or replaced.
    Alone,
}

/// Where a catalogue is.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) database: PathBuf,
    pub(crate) seal: PathBuf,
    lock: File,
    lock_path: PathBuf,
}

impl Files {
    /// Finds the files in a home. Only the lock is made.
    pub(crate) fn in_home(home: &Path) -> Result<Self, CatalogueError> {
        let lock_path = home.join("catalogue.lock");
        let lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
            .open(&lock_path)
            .map_err(|cause| failed("open", &lock_path, cause))?;
        check_owner(&lock.metadata().map_err(|cause| failed("inspect", &lock_path, cause))?, &lock_path)?;
        Ok(Self { database: home.join("catalogue.db"), seal: home.join("catalogue.seal"), lock, lock_path })
    }

    /// Waits for the lock; says whether it was had in time. Whoever holds it already changes how.
    pub(crate) fn hold(&self, hold: Hold, patience: Duration) -> Result<bool, CatalogueError> {
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_micros(50);
        loop {
            let tried = match hold {
                Hold::Shared => self.lock.try_lock_shared(),
                Hold::Alone => self.lock.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(false),
                Err(TryLockError::WouldBlock) => {
                    wait(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::Error(cause)) => return Err(failed("lock", &self.lock_path, cause)),
            }
        }
    }

    /// Lets go. A lock that cannot be freed is freed with its descriptor.
    pub(crate) fn release(&self) {
        let _ = self.lock.unlock();
    }

    /// Removes the database, and everything that belongs to it, the seal first: without one nothing else is believed.
    pub(crate) fn remove(&self) -> Result<(), CatalogueError> {
        for path in [&self.seal, &self.database, &self.beside("-wal"), &self.beside("-shm")] {
            match std::fs::remove_file(path) {
                Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(failed("remove", path, cause)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes an empty database file that only this user can read; SQLite gives the files beside it the same mode.
    pub(crate) fn make(&self) -> Result<(), CatalogueError> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&self.database);
        made.map(drop).map_err(|cause| failed("make", &self.database, cause))
    }

    /// Returns how long the write-ahead log is.
    pub(crate) fn wal_len(&self) -> u64 {
        std::fs::symlink_metadata(self.beside("-wal")).map_or(0, |metadata| metadata.len())
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.database.clone().into_os_string();
        name.push(suffix);
        name.into()
    }
}

/// Refuses a file that another user owns or that is no file.
pub(crate) fn check_owner(metadata: &std::fs::Metadata, path: &Path) -> Result<(), CatalogueError> {
    let foreign = !metadata.is_file() || metadata.uid() != rustix::process::geteuid().as_raw();
    let refused = || io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file of this user");
    if foreign { Err(failed("use", path, refused())) } else { Ok(()) }
}

pub(crate) fn failed(action: &'static str, path: &Path, cause: io::Error) -> CatalogueError {
    CatalogueError::Io { action, path: path.to_owned(), cause }
}

/// Lets time pass.
#[expect(clippy::disallowed_methods, reason = "the system has no lock with a deadline, and clocks tick on their own")]
pub(crate) fn wait(pause: Duration) {
    std::thread::sleep(pause);
}
