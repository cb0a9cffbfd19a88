//! `revert`, `unrevert`: conversation and files go back together, and come forward again as long as nothing new was said.
//!
//! A revert undoes what ramus and its agents changed since an entry. Files that only somebody else changed stay as they are.
//! The pointer that moves the leaf says all that is needed to take it back.

mod along;
mod mark;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft, EntryId, Parent, Seq};
use ramus_snapshot::{Action, Conflict, Plan, SnapshotId, Snapshots, Taken, Uncovered};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::branch::branch_target;
use crate::verb::restore::{Applied, RestoreOptions, RestoreReport, note_ignored, settle, towards};
use crate::verb::snapshot::SnapshotEntry;
use crate::verb::travel::Then;
use crate::workspace::{Blame, Timeline, Touched, short};
pub use mark::RevertMark;

/// How much of a difference is kept beside a revert.
const DIFF: usize = 1 << 14;

/// What a revert or its opposite did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RevertReport {
    /// What became of the files.
    pub files: RestoreReport,
    /// Where the conversation goes on.
    pub leaf: EntryId,
    /// The state of the files at the entry, as far as it was kept; of a revert only.
    pub snapshot: Option<SnapshotId>,
    /// Whether anything was done.
    pub is_done: bool,
}

impl Engine {
    /// Goes back to an entry, which is kept: what came behind it is hidden, and what was changed since is undone.
    ///
    /// Files that somebody else changed after that are left alone, unless that is forced.
    pub fn revert(
        &self,
        session: &mut Session,
        target: Seq,
        options: &RestoreOptions,
    ) -> Result<RevertReport, EngineError> {
        let _lease = self.begin_travel(session, options.dry_run)?;
        let id = branch_target(session, target)?;
        let end = session.end_of(target)?;
        let timeline = Timeline::of(session)?;
        let left = session.leaf();
        let earlier = session.revert_in_force()?;
        let way = self.way_back(session, &timeline, Some(end), options)?;
        let snapshot = session.files_at(end, &timeline)?.map(|(_, snapshot)| snapshot);
        let is_there = left.as_ref() == Some(&id) && way.plan.steps.is_empty();
        if options.dry_run || is_there {
            return Ok(RevertReport { files: way.planned(), leaf: id, snapshot, is_done: false });
        }
        // Going back twice and forward once leads to where it began.
        let (left, since, kept) = match earlier {
            Some(first) => (Some(first.left), first.since, first.mark.safety_snapshot),
            None => (left.map(|left| left.to_string()), String::new(), None),
        };
        let data = json!({
            "op": "revert", "client": self.client_of(session), "target": id.as_str(), "left": left, "since": since,
            "snapshot": timeline.state_at(end).map(short), "safety_snapshot": kept,
        });
        let mut doing = Doing::several("revert", self, session);
        let what = format!("the files of {id}");
        let done = self.carry_out(session, way, (options.force, &what), Then::Move(data), &mut doing)?;
        self.record(session, &mut doing, done.drafts)?;
        Ok(RevertReport { files: done.files, leaf: id, snapshot, is_done: true })
    }

    /// Takes a revert back: files and leaf are as they were. It fails when something was said since.
    pub fn unrevert(&self, session: &mut Session, options: &RestoreOptions) -> Result<RevertReport, EngineError> {
        let _lease = self.begin_travel(session, options.dry_run)?;
        let none = || {
            EngineError::Conflict("there is no revert to take back: none was made, or something was said since".into())
        };
        let revert = session.revert_in_force()?.ok_or_else(none)?;
        let leaf = session.log().seq_of(&revert.left).ok_or_else(none)?;
        let id = branch_target(session, leaf)?;
        let way = match session.log().seq_of(&revert.since) {
            Some(since) => self.way_back(session, &Timeline::of(session)?, Some(since), options)?,
            // It changed no files.
            None => Way::default(),
        };
        if options.dry_run {
            return Ok(RevertReport { files: way.planned(), leaf: id, snapshot: None, is_done: false });
        }
        let mut doing = Doing::several("unrevert", self, session);
        let data = json!({"op": "unrevert", "client": self.client_of(session), "target": id.as_str()});
        let done =
            self.carry_out(session, way, (options.force, "what a revert undid"), Then::Move(data), &mut doing)?;
        self.record(session, &mut doing, done.drafts)?;
        Ok(RevertReport { files: done.files, leaf: id, snapshot: None, is_done: true })
    }

    /// Plans to undo what ramus and its agents changed behind an entry.
    pub(crate) fn way_back(
        &self,
        session: &mut Session,
        timeline: &Timeline,
        since: Option<Seq>,
        options: &RestoreOptions,
    ) -> Result<Way, EngineError> {
        let without = timeline.without(since);
        let has_changed = timeline.moments.iter().any(|(seq, note)| Some(*seq) > since && !note.steps.is_empty());
        if !has_changed {
            return Ok(Way {
                uncovered: self.unseen(session, timeline, since, options.dry_run),
                without,
                ..Way::default()
            });
        }
        let mut sight = self.sight(session, options.dry_run)?;
        let steps = timeline.moments.iter().filter(|(seq, _)| Some(*seq) > since).flat_map(|(_, note)| &note.steps);
        let first = steps.clone().next().map(|(before, _)| *before);
        check_here(session, &sight, steps.flat_map(|(before, after)| [*before, *after]))?;
        let Taken { id: current, mut uncovered, .. } = sight.look(session)?;
        if let Some(first) = first {
            note_ignored(&mut uncovered, sight.ignored_since(current, sight.info(first)?.created)?);
        }
        let touched = timeline.touched(&sight, since, current, Blame::Behind)?;
        let mut plan = undoing(&sight, &touched, current)?;
        plan.steps
            .retain(|step| options.only.is_empty() || options.only.iter().any(|only| step.path.starts_with(only)));
        settle(&sight, &mut plan, &touched, (current, options.force))?;
        Ok(Way { plan, store: sight.near(), uncovered, without })
    }

    /// What calls behind an entry may have changed that no snapshot shows. Nothing hangs on it, so trouble is none.
    fn unseen(&self, session: &mut Session, timeline: &Timeline, since: Option<Seq>, dry_run: bool) -> Vec<Uncovered> {
        let has_looked = timeline.moments.iter().any(|(seq, note)| Some(*seq) > since && note.commit.is_some());
        let state = since.filter(|_| has_looked).and_then(|since| timeline.state_at(since));
        let Some((state, mut sight)) = state.zip(self.sight(session, dry_run).ok()) else { return Vec::new() };
        let Ok(Taken { id, mut uncovered, .. }) = sight.look(session) else { return Vec::new() };
        let ignored = sight.info(state).and_then(|state| sight.ignored_since(id, state.created));
        note_ignored(&mut uncovered, ignored.unwrap_or_default());
        uncovered
    }

    /// Goes a way back, after what is there was kept. `then` is what becomes of the conversation. Whoever is interrupted
    /// after the first file leaves enough to end both.
    pub(crate) fn carry_out(
        &self,
        session: &mut Session,
        way: Way,
        (force, what): (bool, &str),
        then: Then,
        doing: &mut Doing,
    ) -> Result<Done, EngineError> {
        let Way { plan, store, uncovered, without } = way;
        let leaf = |then| match then {
            Then::Move(data) => Some(data),
            Then::TakeBack(_) => None,
        };
        let Some(mut store) = store.filter(|_| !plan.steps.is_empty()) else {
            let drafts = leaf(then).map(pointer).into_iter().collect::<Result<_, _>>()?;
            return Ok(Done { files: RestoreReport { plan, uncovered, without, ..RestoreReport::default() }, drafts });
        };
        let applied = self.apply(session, &mut store, (&plan, force), what, Some(&then), doing)?;
        let Applied { safety, restored, draft, now } = applied;
        let leaf = leaf(then).map(|data| completed(data, &store, &safety, now)).transpose()?;
        let drafts = std::iter::once(Ok(draft)).chain(leaf.map(pointer)).collect::<Result<_, _>>()?;
        let safety = Some(safety);
        let files = RestoreReport { plan, safety, restored, uncovered, without, ..RestoreReport::default() };
        Ok(Done { files, drafts })
    }
}

/// Adds to what a pointer says what is known only when files were restored.
pub(crate) fn completed(
    mut data: Value,
    store: &Snapshots,
    safety: &SnapshotEntry,
    now: SnapshotId,
) -> Result<Value, EngineError> {
    let is_revert = data.get("op").and_then(Value::as_str) == Some("revert");
    let Some(object) = data.as_object_mut().filter(|_| is_revert) else { return Ok(data) };
    let mut diff: String = store.diff(safety.commit, now, &[])?.into_iter().map(|file| file.diff).collect();
    if diff.len() > DIFF {
        diff.truncate(diff.floor_char_boundary(DIFF));
    }
    object.insert("diff".into(), diff.into());
    let mut fill = |name: &str, value: String| {
        let is_empty = object.get(name).is_none_or(|old| old.is_null() || old.as_str() == Some(""));
        is_empty.then(|| object.insert(name.to_owned(), value.into()));
    };
    fill("since", safety.entry.to_string());
    fill("safety_snapshot", safety.id());
    Ok(data)
}

/// A way back that was found.
#[derive(Default)]
pub(crate) struct Way {
    pub(crate) plan: Plan,
    store: Option<Snapshots>,
    /// What no snapshot covers, and may have changed.
    uncovered: Vec<Uncovered>,
    /// Why nothing was kept of what a turn did, if that is so.
    without: Option<String>,
}

impl Way {
    /// What it would come to.
    pub(crate) fn planned(self) -> RestoreReport {
        let Self { plan, uncovered, without, .. } = self;
        RestoreReport { plan, uncovered, without, ..RestoreReport::default() }
    }
}

/// A way back that was gone.
pub(crate) struct Done {
    pub(crate) files: RestoreReport,
    /// What must be noted: what was restored, and where the leaf goes.
    pub(crate) drafts: Vec<Draft>,
}

/// Files are known in the directory where they were: a session that was moved since has others.
pub(crate) fn check_here(
    session: &Session,
    store: &Snapshots,
    named: impl IntoIterator<Item = SnapshotId>,
) -> Result<(), EngineError> {
    match named.into_iter().find(|id| !store.has(*id)) {
        None => Ok(()),
        Some(missing) => Err(EngineError::Conflict(format!(
            "snapshot {} is none of {}: the session worked in another directory then, or came here without its files; move it back, or go to the entry \
             with `ramus branch`, which leaves files alone",
            short(missing),
            session.cwd()
        ))),
    }
}

/// Every path goes back to what it was before ramus first touched it.
fn undoing(store: &Snapshots, touched: &Touched, current: SnapshotId) -> Result<Plan, EngineError> {
    let mut by_state: BTreeMap<SnapshotId, Vec<PathBuf>> = BTreeMap::new();
    for (path, state) in &touched.ours {
        by_state.entry(*state).or_default().push(path.clone());
    }
    let mut plan = Plan::default();
    for (state, paths) in by_state {
        let wanted: HashSet<&Path> = paths.iter().map(PathBuf::as_path).collect();
        let mut steps = towards(store, state, current, &[])?.steps;
        // What is beneath a path is a path of its own.
        steps.retain(|step| wanted.contains(step.path.as_path()));
        plan.steps.append(&mut steps);
    }
    plan.steps.sort_by(|left, right| left.path.cmp(&right.path));
    for step in plan.steps.iter_mut().filter(|step| step.conflict.is_none()) {
        let is_theirs = step.action != Action::Create && touched.theirs.contains(&step.path);
        step.conflict = is_theirs.then_some(Conflict::Changed);
    }
    Ok(plan)
}

/// The entry that moves the leaf to its target.
pub(crate) fn pointer(data: Value) -> Result<Draft, EngineError> {
    let target = data.get("target").and_then(Value::as_str).map(EntryId::new);
    let target = target.ok_or_else(|| EngineError::Corrupt("a pointer has no target".into()))?;
    Ok(Draft::new(Body::ramus("leaf", data)).under(Parent::Entry(target)))
}
