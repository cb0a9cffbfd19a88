//! Snapshots, differences, and what putting files back comes to.

use ramus_engine::{RestoreReport, SnapshotEntry, SnapshotTaken};
use ramus_snapshot::{Action, Conflict, FileDiff, Step};
use serde_json::{Map, Value, json};

use crate::members;

/// A snapshot.
pub fn snapshot(snapshot: &SnapshotEntry) -> Value {
    json!({
        "id": snapshot.id(),
        "commit": snapshot.commit.to_string(),
        "label": snapshot.label,
        "entry": snapshot.entry.as_str(),
        "files": snapshot.files,
        "created": snapshot.created,
        "cause": snapshot.cause.as_str(),
        "ancestor_of_current": snapshot.is_on_path,
    })
}

/// A snapshot that was just taken, and what it does not cover.
pub fn taken(taken: &SnapshotTaken) -> Map<String, Value> {
    let uncovered = taken.uncovered.iter();
    let uncovered: Vec<Value> =
        uncovered.map(|one| json!({"path": one.path.to_string_lossy(), "reason": one.reason})).collect();
    members(json!({"snapshot": snapshot(&taken.snapshot), "not_covered": uncovered}))
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
        "kept": kept,
        "safety_snapshot": report.safety.as_ref().map(|safety| safety.id()),
    }))
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
