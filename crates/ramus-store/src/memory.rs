//! A home in memory: the same promises, except surviving the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ramus_model::SessionId;

use crate::error::StoreError;
use crate::store::{Location, LogStore, NewLog, Removed, Residence};

/// Logs in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    logs: Mutex<BTreeMap<SessionId, Vec<u8>>>,
}

impl MemoryStore {
    fn logs(&self) -> MutexGuard<'_, BTreeMap<SessionId, Vec<u8>>> {
        // No operation leaves a log half changed, so a panic elsewhere does not spoil them.
        self.logs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, at: &Location, act: impl FnOnce(&mut Vec<u8>) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut logs = self.logs();
        let log = logs.get_mut(&at.id).ok_or_else(|| missing(&at.id))?;
        act(log)
    }
}

fn missing(id: &SessionId) -> StoreError {
    StoreError::NotFound { what: format!("session {id}") }
}

fn location(id: SessionId) -> Location {
    Location { id, residence: Residence::Memory, path: None }
}

fn expect_end(log: &[u8], expected: u64) -> Result<(), StoreError> {
    let actual = log.len() as u64;
    if actual == expected { Ok(()) } else { Err(StoreError::Moved { expected, actual }) }
}

impl LogStore for MemoryStore {
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError> {
        let mut logs = self.logs();
        if logs.contains_key(&new.id) {
            return Err(StoreError::Exists { path: new.id.as_str().into() });
        }
        logs.insert(new.id.clone(), bytes.to_vec());
        Ok(location(new.id.clone()))
    }

    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<u64, StoreError> {
        self.with(at, |log| {
            let start = usize::try_from(from).unwrap_or(usize::MAX);
            take(log.get(start..).unwrap_or_default());
            Ok(from.max(log.len() as u64))
        })
    }

    fn read_at(&self, at: &Location, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        self.with(at, |log| {
            let start = usize::try_from(offset).unwrap_or(usize::MAX).min(log.len());
            let end = start.saturating_add(len).min(log.len());
            Ok(log.get(start..end).unwrap_or_default().to_vec())
        })
    }

    fn append(&self, at: &Location, expected: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        self.with(at, |log| {
            expect_end(log, expected)?;
            log.extend_from_slice(bytes);
            Ok(log.len() as u64)
        })
    }

    fn rewrite(&self, at: &Location, expected: u64, bytes: &[u8], _backup: Option<&str>) -> Result<(), StoreError> {
        self.with(at, |log| {
            expect_end(log, expected)?;
            *log = bytes.to_vec();
            Ok(())
        })
    }

    fn settle(&self, at: &Location, _cwd: &str) -> Result<Location, StoreError> {
        self.with(at, |_| Ok(location(at.id.clone())))
    }

    fn delete(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let mut logs = self.logs();
        let bytes = logs.get(&at.id).ok_or_else(|| missing(&at.id))?.len() as u64;
        if !dry_run {
            logs.remove(&at.id);
        }
        Ok(Removed { files: Vec::new(), bytes })
    }

    fn list(&self) -> Result<Vec<Location>, StoreError> {
        Ok(self.logs().keys().cloned().map(location).collect())
    }
}
