//! Restoring: a plan, carried out under a journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};

use crate::apply::{Applier, Outcome};
use crate::error::SnapshotError;
use crate::journal;
use crate::plan::{Plan, States, Step, plan};
use crate::store::{SnapshotId, Snapshots};

/// Which restore.
#[derive(Clone, Debug)]
pub struct Restore<'a> {
    /// What shall be.
    pub target: SnapshotId,
    /// What ramus left behind: a path that differs from it was changed by somebody else.
    pub baseline: SnapshotId,
    /// What is there: a snapshot that was just taken.
    pub current: SnapshotId,
    /// Only these paths and what is beneath them; empty for all.
    pub only: &'a [PathBuf],
}

/// What a restore did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// Paths that are as they shall be.
    pub done: Vec<PathBuf>,
    /// Paths that were left alone.
    pub kept: Vec<PathBuf>,
}

impl Snapshots {
    /// Plans a restore. Nothing is changed.
    pub fn plan(&self, restore: &Restore<'_>) -> Result<Plan, SnapshotError> {
        let states = States {
            target: self.vault().directory_of(restore.target)?,
            baseline: self.vault().directory_of(restore.baseline)?,
            current: self.vault().directory_of(restore.current)?,
        };
        let is_wanted = |path: &Path| restore.only.is_empty() || restore.only.iter().any(|only| path.starts_with(only));
        plan(self.objects(), states, is_wanted, |path| self.is_there(path))
    }

    /// Says whether something has a name, no link on the way being followed. A directory makes room for a file when
    /// nothing is left in it; that shows when it comes to it.
    fn is_there(&self, path: &Path) -> bool {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let found = rustix::fs::openat2(self.directory(), path, flags, Mode::empty(), resolve);
        let stat = found.and_then(rustix::fs::fstat);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) != FileType::Directory)
    }

    /// Carries out a plan. Steps with a conflict are left out unless `force` is given; those that may not be written
    /// always are.
    pub fn restore(&mut self, plan: &Plan, force: bool) -> Result<Restored, SnapshotError> {
        let _lock = self.vault().begin()?;
        self.end_restore()?;
        let (chosen, left): (Vec<&Step>, Vec<&Step>) = plan.steps.iter().partition(|step| step.is_chosen(force));
        let steps: Vec<Step> = chosen.into_iter().cloned().collect();
        let journal = self.journal();
        journal::write(&journal, &steps).map_err(SnapshotError::io("write", &journal))?;
        let mut restored = self.carry_out(&steps)?;
        restored.kept.extend(left.into_iter().map(|step| step.path.clone()));
        restored.kept.sort();
        Ok(restored)
    }

    /// Ends a restore that was interrupted, if there is one. Returns what it did.
    pub fn recover(&mut self) -> Result<Option<Restored>, SnapshotError> {
        let _lock = self.vault().begin()?;
        self.end_restore()
    }

    /// The same, for whoever holds the lock.
    pub(crate) fn end_restore(&self) -> Result<Option<Restored>, SnapshotError> {
        let journal = self.journal();
        let steps = journal::read(&journal).map_err(SnapshotError::io("read", &journal))?;
        steps.map(|steps| self.carry_out(&steps)).transpose()
    }

    fn carry_out(&self, steps: &[Step]) -> Result<Restored, SnapshotError> {
        let (root, objects) = (self.directory(), self.objects());
        let mut applier = Applier { root, objects, outcomes: BTreeMap::new(), missing: None };
        applier.apply(steps)?;
        let journal = self.journal();
        journal::clear(&journal).map_err(SnapshotError::io("empty", &journal))?;
        if let Some(missing) = applier.missing {
            return Err(missing);
        }
        let mut restored = Restored::default();
        for (path, outcome) in applier.outcomes {
            match outcome {
                Outcome::Done => restored.done.push(path),
                Outcome::Kept => restored.kept.push(path),
            }
        }
        Ok(restored)
    }

    fn journal(&self) -> PathBuf {
        self.vault().path().join("restore")
    }
}
