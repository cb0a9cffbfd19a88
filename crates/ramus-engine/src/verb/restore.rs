//! `diff`, `restore`: between snapshots, and back to one.
//!
//! The invariant: what somebody else changed is not overwritten or removed unless that is forced, and what is there before
//! a restore is kept in a snapshot.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft};
use ramus_snapshot::{
    About, Action, Conflict, FileDiff, Plan, Restore, Restored, SnapshotId, Snapshots, Taken, Uncovered,
};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::revert::check_here;
use crate::verb::snapshot::{SnapshotEntry, describe, look};
use crate::verb::travel::Intent;
use crate::workspace::{Blame, Cause, SNAPSHOT, Timeline, Touched, theirs_to_json};

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// What happens to which path, and what stands against it.
    pub plan: Plan,
    /// The directory as it was before; none when nothing was done.
    pub safety: Option<SnapshotEntry>,
    /// What was done.
    pub restored: Restored,
    /// What is in the directory and in no snapshot: it stays as it is.
    pub uncovered: Vec<Uncovered>,
    /// Ignore files that were not heeded, or not every line of them.
    pub unheeded: Vec<Uncovered>,
}

/// A plan that was carried out.
pub(crate) struct Applied {
    pub(crate) safety: SnapshotEntry,
    pub(crate) restored: Restored,
    /// The entry that tells of it.
    pub(crate) draft: Draft,
    /// The files as they are now.
    pub(crate) now: SnapshotId,
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
            None => store.take_since(old.commit, &About::default())?.id,
        };
        Ok(store.diff(old.commit, new, only)?)
    }

    /// Puts the files of the session's directory back to what a snapshot holds. The conversation stays where it is.
    ///
    /// What is there is kept in a snapshot first. Files that somebody else changed since are left alone, unless that is
    /// forced; files that somebody else made are always left alone.
    pub fn restore(
        &self,
        session: &mut Session,
        target: &SnapshotEntry,
        options: &RestoreOptions,
    ) -> Result<RestoreReport, EngineError> {
        let _lease = self.store.lease(session.location(), self.now())?;
        self.end_travel(session)?;
        let mut store = self.snapshot_store(session)?;
        check_here(session, &store, [target.commit])?;
        let Taken { id: current, uncovered, unheeded, .. } = look(session, &mut store, "")?;
        let blame = Blame::Since(target.commit);
        let touched = Timeline::of(session)?.touched(&store, Some(target.seq), current, blame)?;
        let mut plan = towards(&store, target.commit, current, &options.only)?;
        mind(&mut plan, &touched);
        if options.dry_run || plan.steps.is_empty() {
            return Ok(RestoreReport { plan, uncovered, unheeded, ..RestoreReport::default() });
        }
        let what = target.id();
        let mut doing = Doing::several("restore", self, session);
        let applied = self.apply(session, &mut store, (&plan, options.force), &what, None, &mut doing)?;
        self.record(session, &mut doing, vec![applied.draft])?;
        Ok(RestoreReport { plan, safety: Some(applied.safety), restored: applied.restored, uncovered, unheeded })
    }

    /// Carries out a plan, after what is there was kept, and what shall come of it: whoever finds it interrupted ends it.
    /// What comes of it is still to be noted. `pointer` is where the leaf goes then, if it does.
    pub(crate) fn apply(
        &self,
        session: &mut Session,
        store: &mut Snapshots,
        (plan, force): (&Plan, bool),
        what: &str,
        pointer: Option<&Value>,
        doing: &mut Doing,
    ) -> Result<Applied, EngineError> {
        let label = format!("Before restoring {what}");
        let taken = look(session, store, &label)?;
        let about = About { label: format!("To be restored: {what}"), parents: vec![taken.id] };
        let expected = store.expect(taken.id, plan, force, &about)?;
        let intent = Intent { expected, what: what.to_owned(), pointer: pointer.cloned() };
        let safety = self.note_safety(session, (&taken, &label), Some(&intent), doing)?;
        let restored = store.restore(plan, force)?;
        self.keep_standard_directories(session)?;
        let (draft, now) = note_restored(store, &safety, what, &restored.done)?;
        Ok(Applied { safety, restored, draft, now })
    }

    pub(crate) fn newest_snapshot(&self, session: &Session) -> Result<SnapshotEntry, EngineError> {
        let none = || EngineError::Invalid("the session has no snapshots".into());
        self.snapshots(session)?.into_iter().next().ok_or_else(none)
    }
}

/// Takes a snapshot of what was restored, and describes it: what differs and was not restored was changed by somebody else
/// at the same moment.
pub(crate) fn note_restored(
    store: &mut Snapshots,
    safety: &SnapshotEntry,
    what: &str,
    done: &[PathBuf],
) -> Result<(Draft, SnapshotId), EngineError> {
    let label = format!("Restored {what}");
    let about = About { label: label.clone(), parents: vec![safety.commit] };
    let taken = store.take_since(safety.commit, &about)?;
    let mut data = describe(&taken, &label, Cause::Restored);
    let done: HashSet<&Path> = done.iter().map(PathBuf::as_path).collect();
    let changed = store.changed(safety.commit, taken.id)?;
    let theirs = theirs_to_json(changed.iter().map(PathBuf::as_path).filter(|path| !done.contains(path)));
    if let Some(object) = data.as_object_mut() {
        object.insert("before".into(), Value::from(safety.commit.to_string()));
        if theirs.as_array().is_some_and(|theirs| !theirs.is_empty()) {
            object.insert("theirs".into(), theirs);
        }
    }
    Ok((Draft::new(Body::ramus(SNAPSHOT, data)), taken.id))
}

/// Plans the way from what is there to a snapshot. Who changed what is not looked at yet.
pub(crate) fn towards(
    store: &Snapshots,
    target: SnapshotId,
    current: SnapshotId,
    only: &[PathBuf],
) -> Result<Plan, EngineError> {
    Ok(store.plan(&Restore { target, baseline: current, current, only })?)
}

/// Leaves out what is none of ours, and marks what somebody else changed.
pub(crate) fn mind(plan: &mut Plan, touched: &Touched) {
    let is_theirs = |path: &Path| touched.theirs.contains(path);
    plan.steps.retain(|step| {
        // What somebody else made is theirs to remove.
        step.action != Action::Delete || !is_theirs(&step.path) || touched.ours.contains_key(&step.path)
    });
    for step in plan.steps.iter_mut().filter(|step| step.action != Action::Create && step.conflict.is_none()) {
        step.conflict = is_theirs(&step.path).then_some(Conflict::Changed);
    }
}
