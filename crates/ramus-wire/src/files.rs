//! Snapshots, differences, and what putting files back comes to.

use ramus_engine::{EngineError, RestoreReport, RevertReport, Session, SnapshotEntry, SnapshotTaken};
use ramus_model::{EntryId, Kind, Seq};
use ramus_snapshot::{Action, Conflict, FileDiff, Step, Uncovered};
use serde_json::{Map, Value, json};

use crate::members;

/// A snapshot.
pub fn snapshot(snapshot: &SnapshotEntry) -> Value {
    json!({
        "id": snapshot.id(),
        "commit": snapshot.commit.to_string(),
        "label": snapshot.label,
        "entry": snapshot.entry.as_str(),
        "seq": snapshot.seq.number(),
        "files": snapshot.files,
        "not_covered": snapshot.uncovered,
        "created": snapshot.created,
        "cause": snapshot.cause.as_str(),
        "ancestor_of_current": snapshot.is_on_path,
    })
}

/// A snapshot that was just taken, and what it does not cover.
pub fn taken(taken: &SnapshotTaken) -> Map<String, Value> {
    members(json!({
        "snapshot": snapshot(&taken.snapshot),
        "not_covered": reasons(&taken.uncovered),
        "not_heeded": reasons(&taken.unheeded),
    }))
}

/// All snapshots of a session; `current` is the one that its directory is at.
pub fn listed(all: &[SnapshotEntry], current: Option<&str>) -> Map<String, Value> {
    let with_current = |one: &SnapshotEntry| {
        let mut value = members(snapshot(one));
        value.insert("current".into(), (Some(one.id().as_str()) == current).into());
        value
    };
    members(json!({"snapshots": all.iter().map(with_current).collect::<Vec<_>>()}))
}

/// What is left out, and why.
pub fn reasons(left_out: &[Uncovered]) -> Vec<Value> {
    left_out.iter().map(|one| json!({"path": one.path.to_string_lossy(), "reason": one.reason})).collect()
}

/// Whether what changed is told, or only how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Line by line.
    Patch,
    /// Only how much.
    Stat,
}

/// What changed in files.
pub fn diffs(diffs: &[FileDiff], detail: Detail) -> Map<String, Value> {
    let sum = |count: fn(&FileDiff) -> u64| diffs.iter().map(count).sum::<u64>();
    let (additions, deletions) = (sum(|diff| diff.additions), sum(|diff| diff.deletions));
    let files: Vec<Value> = diffs.iter().map(|diff| file_diff(diff, detail)).collect();
    members(json!({"additions": additions, "deletions": deletions, "files": diffs.len(), "diffs": files}))
}

fn file_diff(diff: &FileDiff, detail: Detail) -> Value {
    let mut value = json!({
        "path": diff.path.to_string_lossy(),
        "status": diff.status.as_str(),
        "additions": diff.additions,
        "deletions": diff.deletions,
        "binary": diff.is_binary,
        "from": diff.from.as_ref().map(|from| from.to_string_lossy()),
    });
    if let (Detail::Patch, Some(object)) = (detail, value.as_object_mut()) {
        object.insert("diff".into(), diff.diff.clone().into());
    }
    value
}

/// What became of files that were put back, or would.
pub fn restored(report: &RestoreReport) -> Map<String, Value> {
    let steps: Vec<Value> = report.plan.steps.iter().map(step).collect();
    let kept: Vec<_> = report.restored.kept.iter().map(|path| path.to_string_lossy()).collect();
    members(json!({
        "plan": steps,
        "applied": report.safety.is_some(),
        "restored": report.restored.done.len(),
        "kept": kept,
        "safety_snapshot": report.safety.as_ref().map(|safety| safety.id()),
    }))
}

/// What became of files that were put back to a snapshot, and where the conversation is.
pub fn restored_to(report: &RestoreReport, target: &SnapshotEntry, session: &Session) -> Map<String, Value> {
    let mut answer = restored(report);
    answer.insert("snapshot".into(), snapshot(target));
    answer.insert("not_covered".into(), reasons(&report.uncovered).into());
    answer.insert("not_heeded".into(), reasons(&report.unheeded).into());
    answer.insert("leaf".into(), json!(session.leaf().as_ref().map(|leaf| leaf.as_str())));
    answer
}

/// What became of conversation and files that went back together.
pub fn reverted(report: &RevertReport, session: &Session) -> Result<Map<String, Value>, EngineError> {
    let mut answer = restored(&report.files);
    answer.insert("applied".into(), report.is_done.into());
    answer.insert("leaf".into(), report.leaf.as_str().into());
    answer.insert("shown".into(), shown(session, &report.leaf).into());
    answer.insert("revert".into(), json!(session.revert_mark()?));
    Ok(answer)
}

/// The last entry up to the leaf that people are shown: notes of ours hang behind what was said.
fn shown(session: &Session, leaf: &EntryId) -> String {
    let log = session.log();
    let is_drawn = |seq: &Seq| log.record(*seq).is_some_and(|record| record.kind != Kind::Custom);
    let shown = log.ancestors(log.seq_of(leaf.as_str())).find(is_drawn);
    shown.map_or_else(|| leaf.to_string(), |seq| session.entry_id(seq).to_string())
}

/// What is done to a file, in one word.
pub fn action(action: Action) -> &'static str {
    match action {
        Action::Create => "create",
        Action::Overwrite => "overwrite",
        Action::Delete => "delete",
    }
}

fn step(step: &Step) -> Value {
    let conflict = step.conflict.map(|conflict| match conflict {
        Conflict::Changed => "changed",
        Conflict::Uncovered => "uncovered",
        Conflict::Forbidden => "forbidden",
    });
    json!({"path": step.path.to_string_lossy(), "action": action(step.action), "conflict": conflict})
}
