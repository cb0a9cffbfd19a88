//! Advisory locks between the handles of one file system. The invariant: an exclusive lock has one holder and no sharers.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use ramus_store::fs::Hold;

/// Who holds what.
#[derive(Debug, Default)]
pub(super) struct Locks(HashMap<PathBuf, LockState>);

#[derive(Debug, Default)]
struct LockState {
    alone: Option<u64>,
    together: BTreeSet<u64>,
    note: Vec<u8>,
}

impl Locks {
    pub(super) fn make(&mut self, path: &Path) {
        self.0.entry(path.to_owned()).or_default();
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.0.contains_key(path)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.keys()
    }

    /// Takes the lock if nobody else is in the way.
    pub(super) fn take(&mut self, path: &Path, holder: u64, hold: Hold) -> bool {
        let state = self.0.entry(path.to_owned()).or_default();
        let others_alone = state.alone.is_some_and(|other| other != holder);
        let others_together = state.together.iter().any(|other| *other != holder);
        if others_alone || (hold == Hold::Exclusive && others_together) {
            return false;
        }
        state.alone = (hold == Hold::Exclusive).then_some(holder);
        state.together.remove(&holder);
        if hold == Hold::Shared {
            state.together.insert(holder);
        }
        true
    }

    pub(super) fn free(&mut self, path: &Path, holder: u64) {
        if let Some(state) = self.0.get_mut(path) {
            state.alone = state.alone.filter(|other| *other != holder);
            state.together.remove(&holder);
        }
    }

    pub(super) fn note(&mut self, path: &Path) -> &mut Vec<u8> {
        &mut self.0.entry(path.to_owned()).or_default().note
    }
}
