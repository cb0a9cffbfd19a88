//! Whose home it is: directories of a home are real directories of this user that nobody else can enter.
//!
//! A home that was open to others is closed, which is said once. One that belongs to someone else, or leads elsewhere, is
//! not trusted, neither for writing nor for reading.

use std::path::Path;

use super::JsonlStore;
use crate::error::StoreError;

/// What a home is made of, beside the sessions.
const DIRECTORIES: [&str; 11] = [
    "drafts",
    "sessions",
    "locks",
    "bases",
    "blobs",
    "imported",
    "imports",
    "index",
    "journals",
    "quarantine",
    "terminal-sessions",
];

const FOREIGN: &str = "it belongs to another user";
const NO_DIRECTORY: &str = "it is a link or a file where a directory of this home should be";

impl JsonlStore {
    /// Makes sure that a directory of this home is there and safe. Looked at once: whoever can change it later can do
    /// anything anyway.
    pub(super) fn own_dir(&self, path: &Path) -> Result<(), StoreError> {
        self.fs.create_dir(path).map_err(|error| StoreError::io("make", path, error))?;
        if self.known_dirs().contains(path) {
            return Ok(());
        }
        let inside = path.ancestors().take_while(|part| part.starts_with(&self.root) && *part != self.root);
        for part in inside {
            self.check_dir(part)?;
        }
        self.check_root()?;
        self.known_dirs().insert(path.to_owned());
        Ok(())
    }

    /// Makes sure that what is there of this home is safe to read. Nothing is made.
    pub(super) fn check_home(&self) -> Result<(), StoreError> {
        if self.known_dirs().contains(&self.root) || !self.exists(&self.root)? {
            return Ok(());
        }
        self.check_root()?;
        for name in DIRECTORIES {
            let path = self.root.join(name);
            if self.exists(&path)? {
                self.check_dir(&path)?;
            }
        }
        for entry in self.entries(&self.sessions())?.into_iter().filter(|entry| !entry.is_file) {
            self.check_dir(&self.sessions().join(entry.name))?;
        }
        self.known_dirs().insert(self.root.clone());
        Ok(())
    }

    fn exists(&self, path: &Path) -> Result<bool, StoreError> {
        match self.fs.stat(path) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("inspect", path, error)),
        }
    }

    fn check_dir(&self, path: &Path) -> Result<(), StoreError> {
        let stat = self.fs.stat(path).map_err(|error| StoreError::io("inspect", path, error))?;
        let refuse = |reason| Err(StoreError::Unsafe { path: path.to_owned(), reason });
        if !stat.is_dir {
            return refuse(NO_DIRECTORY);
        }
        if !stat.is_ours {
            return refuse(FOREIGN);
        }
        if stat.is_private { Ok(()) } else { self.close(path) }
    }

    /// The home itself may be a link that the user made, but what it leads to must be the user's.
    fn check_root(&self) -> Result<(), StoreError> {
        let inside = self.root.join(".");
        let stat = self.fs.stat(&inside).map_err(|error| StoreError::io("inspect", &self.root, error))?;
        if !stat.is_ours {
            return Err(StoreError::Unsafe { path: self.root.clone(), reason: FOREIGN });
        }
        if stat.is_private { Ok(()) } else { self.close(&inside) }
    }

    /// Takes a directory away from others, and the files in it, and says so. On a file system that is read-only that
    /// cannot be done, which is said instead.
    fn close(&self, directory: &Path) -> Result<(), StoreError> {
        let closed = self.fs.make_private(directory).and_then(|()| {
            for entry in self.fs.list(directory)?.into_iter().filter(|entry| entry.is_file) {
                let path = directory.join(entry.name);
                let stat = self.fs.stat(&path)?;
                if stat.is_file && stat.is_ours && !stat.is_private {
                    self.fs.make_private(&path)?;
                }
            }
            Ok(())
        });
        let shown = directory.strip_prefix(&self.root).ok().filter(|path| !path.as_os_str().is_empty());
        let shown = shown.map_or_else(|| self.root.clone(), |path| self.root.join(path));
        match closed {
            Ok(()) => self.notice(format!("{} was open to other users; it is private now", shown.display())),
            Err(error) if error.kind() == std::io::ErrorKind::ReadOnlyFilesystem => {
                self.notice(format!("{} is open to other users and cannot be changed", shown.display()));
            }
            Err(error) => return Err(StoreError::io("protect", directory, error)),
        }
        Ok(())
    }
}
