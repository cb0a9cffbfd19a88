//! Journals as files under `journals/`, named like the lock of their session. Nothing is synced: they are there for
//! processes that end, and what a power cut leaves of one is read with suspicion.

use std::io;
use std::path::{Path, PathBuf};

use super::make::{read_exactly, write_all};
use super::{JsonlStore, lock_name};
use crate::error::StoreError;
use crate::fs::{Access, FileHandle};
use crate::journal::{Journal, Journals};
use crate::store::{Location, Removed};

/// How much of a journal is read. No model says more in one answer.
const LONGEST: u64 = 1 << 28;

struct JsonlJournal {
    path: PathBuf,
    file: Box<dyn FileHandle>,
}

impl Journal for JsonlJournal {
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        write_all(self.file.as_mut(), bytes).map_err(|error| StoreError::io("write", &self.path, error))
    }

    fn cut(&mut self, len: u64) -> Result<(), StoreError> {
        self.file.truncate(len).map_err(|error| StoreError::io("cut", &self.path, error))
    }
}

impl JsonlStore {
    pub(super) fn journals_dir(&self) -> PathBuf {
        self.root.join("journals")
    }

    fn journal_of(&self, at: &Location) -> PathBuf {
        self.journals_dir().join(lock_name(at))
    }

    fn open_journal(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        match self.fs.create_file(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let mut file = self.fs.open(path, Access::Append)?;
                file.truncate(0)?;
                Ok(file)
            }
            result => result,
        }
    }

    fn read_journal(&self, path: &Path) -> io::Result<Vec<u8>> {
        let file = self.fs.open(path, Access::Read)?;
        let len = usize::try_from(file.stat()?.size.min(LONGEST)).map_err(io::Error::other)?;
        let mut bytes = vec![0; len];
        read_exactly(file.as_ref(), &mut bytes, 0)?;
        Ok(bytes)
    }

    /// Removes the journal of a session that is deleted: it holds what was said in it. With `dry_run` only says so.
    pub(super) fn delete_journal(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let path = self.journal_of(at);
        let Ok(stat) = self.fs.stat(&path) else { return Ok(Removed::default()) };
        if !dry_run {
            self.remove_journal(at)?;
        }
        Ok(Removed { files: vec![path], bytes: stat.size })
    }
}

impl Journals for JsonlStore {
    fn start_journal(&self, at: &Location) -> Result<Box<dyn Journal>, StoreError> {
        self.own_dir(&self.journals_dir())?;
        let path = self.journal_of(at);
        let file = self.open_journal(&path).map_err(|error| StoreError::io("create", &path, error))?;
        Ok(Box::new(JsonlJournal { path, file }))
    }

    fn left_journal(&self, at: &Location) -> Result<Option<Vec<u8>>, StoreError> {
        let path = self.journal_of(at);
        match self.read_journal(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &path, error)),
        }
    }

    fn remove_journal(&self, at: &Location) -> Result<(), StoreError> {
        let path = self.journal_of(at);
        match self.fs.remove(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", &path, error)),
            _ => Ok(()),
        }
    }
}
