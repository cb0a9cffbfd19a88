//! `diff`, `restore`: between snapshots, and back to one.
//!
//! The invariant: what somebody else changed is not overwritten or removed unless that is forced, and what is there before
//! a restore is kept in a snapshot.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft};
use ramus_snapshot::{
    About, Action, Conflict, FileDiff, Plan, Restore, Restored, SnapshotError, SnapshotId, Snapshots, Step, Taken,
    Uncovered,
};
use serde_json::Value;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::chosen::check_chosen;
use crate::verb::revert::check_here;
use crate::verb::snapshot::{SnapshotEntry, describe, look};
use crate::verb::travel::{Intent, Then};
use crate::workspace::{Blame, Cause, SNAPSHOT, Timeline, Touched, paths_to_json};

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
    /// What is in the directory and in no snapshot: it stays as it is, unless a workspace is reset.
    pub uncovered: Vec<Uncovered>,
    /// Why nothing was kept of what a turn did that goes back, if that is so.
    pub without: Option<String>,
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
    /// one. Nothing is kept or put back.
    pub fn diff(
        &self,
        session: &mut Session,
        old: Option<&str>,
        new: Option<&str>,
        only: &[PathBuf],
    ) -> Result<Vec<FileDiff>, EngineError> {
        let chosen = session.chosen(only)?;
        let old = match old {
            Some(name) => self.find_snapshot(session, name)?,
            None => self.newest_snapshot(session)?,
        };
        let missing = || SnapshotError::NotFound(old.commit.to_string());
        let glance = self.glance_at_snapshots(session)?.ok_or_else(missing)?;
        let new = match new {
            Some(name) => self.find_snapshot(session, name)?.commit,
            None => glance.now()?,
        };
        check_chosen(&chosen, |path| Ok(glance.holds(old.commit, path)? || glance.holds(new, path)?))?;
        Ok(glance.diff(old.commit, new, &chosen)?)
    }

    /// Puts the files of the session's directory back to what a snapshot holds. The conversation stays where it is.
    ///
    /// What is there is kept in a snapshot first. Files that somebody else changed since are left alone, unless that is
    /// forced; files that somebody else made are always left alone, unless a snapshot that was asked for has them and it is
    /// forced.
    pub fn restore(
        &self,
        session: &mut Session,
        target: &SnapshotEntry,
        options: &RestoreOptions,
    ) -> Result<RestoreReport, EngineError> {
        let chosen = session.chosen(&options.only)?;
        let _lease = self.begin_travel(session, options.dry_run)?;
        let mut sight = self.sight(session, options.dry_run)?;
        check_here(session, &sight, [target.commit])?;
        let mut taken = sight.look(session)?;
        let current = taken.id;
        note_ignored(&mut taken.uncovered, sight.ignored_since(current, sight.info(target.commit)?.created)?);
        let is_held = |path: &Path| Ok(sight.holds(target.commit, path)? || sight.holds(current, path)?);
        check_chosen(&chosen, is_held)?;
        let blame = Blame::Since(target.commit);
        let touched = Timeline::of(session)?.touched(&sight, Some(target.since), current, blame)?;
        let mut plan = towards(&sight, target.commit, current, &chosen)?;
        mind(&sight, &mut plan, &touched, (current, options.force))?;
        if plan.steps.is_empty() && !options.dry_run && options.only.is_empty() {
            self.note_standing(session, &sight, (&taken, target), "restore")?;
        }
        let Taken { uncovered, unheeded, .. } = taken;
        let Some(mut store) = sight.near().filter(|_| !plan.steps.is_empty()) else {
            return Ok(RestoreReport { plan, uncovered, unheeded, ..RestoreReport::default() });
        };
        let what = target.id();
        let mut doing = Doing::several("restore", self, session);
        let applied = self.apply(session, &mut store, (&plan, options.force), &what, None, &mut doing)?;
        self.record(session, &mut doing, vec![applied.draft])?;
        let (safety, restored) = (Some(applied.safety), applied.restored);
        Ok(RestoreReport { plan, safety, restored, uncovered, unheeded, without: None })
    }

    /// Carries out a plan, after what is there was kept, and what shall come of it: whoever finds it interrupted ends it.
    /// What comes of it is still to be noted. `then` is what becomes of the conversation, if anything does.
    pub(crate) fn apply(
        &self,
        session: &mut Session,
        store: &mut Snapshots,
        (plan, force): (&Plan, bool),
        what: &str,
        then: Option<&Then>,
        doing: &mut Doing,
    ) -> Result<Applied, EngineError> {
        let label = format!("Before restoring {what}");
        let taken = look(session, store, &label)?;
        let about = About { label: format!("To be restored: {what}"), parents: vec![taken.id] };
        let expected = store.expect(taken.id, plan, force, &about)?;
        let intent = Intent { expected, what: what.to_owned(), then: then.cloned() };
        let lost: Vec<&Path> = plan.cleared().collect();
        let safety = self.note_safety(session, (&taken, &label, &lost), Some(&intent), doing)?;
        let restored = store.restore(plan, force)?;
        self.keep_standard_directories(session)?;
        let (draft, now) = note_restored(store, &safety, what, &restored.done)?;
        Ok(Applied { safety, restored, draft, now })
    }

    /// Notes that the files are at a snapshot when nothing had to be done for that, unless the log says so.
    pub(crate) fn note_standing(
        &self,
        session: &mut Session,
        store: &Snapshots,
        (taken, target): (&Taken, &SnapshotEntry),
        operation: &str,
    ) -> Result<(), EngineError> {
        let label = format!("Restored {}", target.id());
        let newest = self.snapshots(session)?.into_iter().find(|one| one.is_on_path);
        let is_known = newest.is_some_and(|newest| match newest.cause {
            Cause::Restored => newest.label == label,
            _ => newest.commit == target.commit,
        });
        if is_known {
            return Ok(());
        }
        let mut data = describe(taken, &label, Cause::Restored);
        // Of two snapshots of the same files, it is at the one that was asked for.
        if let Some(object) = data.as_object_mut()
            && store.changed(target.commit, taken.id)?.is_empty()
        {
            object.insert("commit".into(), Value::from(target.commit.to_string()));
        }
        self.note_snapshot(session, data, &mut Doing::one(operation, self)).map(drop)
    }

    pub(crate) fn newest_snapshot(&self, session: &Session) -> Result<SnapshotEntry, EngineError> {
        let none = || EngineError::Invalid("the session has no snapshots".into());
        self.states(session)?.into_iter().next().ok_or_else(none)
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
    let theirs = paths_to_json(changed.iter().map(PathBuf::as_path).filter(|path| !done.contains(path)));
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

/// Adds what is ignored and may have changed to what was not covered, unless that says more about it.
pub(crate) fn note_ignored(uncovered: &mut Vec<Uncovered>, ignored: Vec<Uncovered>) {
    let known: HashSet<PathBuf> = uncovered.iter().map(|one| one.path.clone()).collect();
    uncovered.extend(ignored.into_iter().filter(|one| !known.contains(&one.path)));
}

/// Leaves out what is none of ours, and marks what somebody else changed or alone has made.
pub(crate) fn mind(
    store: &Snapshots,
    plan: &mut Plan,
    touched: &Touched,
    (current, force): (SnapshotId, bool),
) -> Result<(), EngineError> {
    let is_theirs = |path: &Path| touched.theirs.contains(path);
    let is_made = |step: &Step| step.action == Action::Delete && !touched.ours.contains_key(&step.path);
    plan.steps.retain(|step| {
        // What somebody else made is theirs to remove.
        step.action != Action::Delete || !is_theirs(&step.path) || touched.ours.contains_key(&step.path)
    });
    for step in plan.steps.iter_mut().filter(|step| step.action != Action::Create && step.conflict.is_none()) {
        // A snapshot that somebody asked for keeps what they made, but no agent ever had it: it is still theirs to remove.
        step.conflict = (is_theirs(&step.path) || is_made(step)).then_some(Conflict::Changed);
    }
    settle(store, plan, touched, (current, force))
}

/// Leaves modes that somebody else chose as they are, and marks what cannot be made.
pub(crate) fn settle(
    store: &Snapshots,
    plan: &mut Plan,
    touched: &Touched,
    (current, force): (SnapshotId, bool),
) -> Result<(), EngineError> {
    store.keep_modes(plan, current, |path| touched.left.get(path).copied())?;
    Ok(store.settle(plan, force)?)
}
