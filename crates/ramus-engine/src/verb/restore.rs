//! `diff`, `restore`: between snapshots, and back to one.

use std::path::PathBuf;

use ramus_snapshot::{FileDiff, Plan, Restore, Restored};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::{Cause, SnapshotEntry};

/// How files are restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreOptions {
    /// Say what would happen, and do nothing.
    pub dry_run: bool,
    /// Overwrite what somebody else changed.
    pub force: bool,
    /// Only these paths and what is beneath them; empty for all.
    pub only: Vec<PathBuf>,
}

/// What a restore did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// What happens to which path, and what stands against it.
    pub plan: Plan,
    /// The directory as it was before; none when nothing was done.
    pub safety: Option<SnapshotEntry>,
    /// What was done.
    pub restored: Restored,
}

impl Engine {
    /// Compares two snapshots; without the second, what is there now counts; without both, what changed since the newest
    /// one.
    pub fn diff(
        &self,
        session: &mut Session,
        old: Option<&str>,
        new: Option<&str>,
        only: &[PathBuf],
    ) -> Result<Vec<FileDiff>, EngineError> {
        let old = match old {
            Some(name) => self.find_snapshot(session, name)?,
            None => self.newest_snapshot(session)?,
        };
        let mut store = self.snapshot_store(session)?;
        let new = match new {
            Some(name) => self.find_snapshot(session, name)?.commit,
            None => store.take(&ramus_snapshot::About::default())?.id,
        };
        Ok(store.diff(old.commit, new, only)?)
    }

    /// Puts the files of the session's directory back to what a snapshot holds. The conversation stays where it is.
    ///
    /// What is there is kept in a snapshot first. Files that somebody else changed since are left alone, unless that is
    /// forced; files that no snapshot of the session held are always left alone.
    pub fn restore(
        &self,
        session: &mut Session,
        target: &SnapshotEntry,
        options: &RestoreOptions,
    ) -> Result<RestoreReport, EngineError> {
        let baseline = self.newest_snapshot(session)?;
        let mut store = self.snapshot_store(session)?;
        let current = store.take(&ramus_snapshot::About::default())?.id;
        let restore =
            Restore { target: target.commit, baseline: baseline.commit, current, only: options.only.as_slice() };
        let plan = store.plan(&restore)?;
        if options.dry_run || plan.steps.is_empty() {
            return Ok(RestoreReport { plan, safety: None, restored: Restored::default() });
        }
        let label = format!("Before restoring {}", target.id());
        let safety = self.take_snapshot(session, &mut store, &label, Cause::Safety)?.snapshot;
        let restored = store.restore(&plan, options.force)?;
        let label = format!("Restored {}", target.id());
        self.take_snapshot(session, &mut store, &label, Cause::Restored)?;
        Ok(RestoreReport { plan, safety: Some(safety), restored })
    }

    fn newest_snapshot(&self, session: &Session) -> Result<SnapshotEntry, EngineError> {
        let none = || EngineError::Invalid("the session has no snapshots".into());
        self.snapshots(session)?.into_iter().next().ok_or_else(none)
    }
}
