//! Snapshots, differences, and what putting files back comes to.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ramus_engine::{EngineError, RestoreReport, RevertReport, Session, SnapshotEntry, SnapshotTaken};
use ramus_model::{EntryId, Kind, Seq};
use ramus_snapshot::{Action, Conflict, FileDiff, FileInfo, Step, Uncovered};
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
        "ancestor_of_current": snapshot.is_ancestor,
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
    let is_named = |one: &&SnapshotEntry| Some(one.id().as_str()) == current;
    // Several entries tell of one snapshot when nothing changed between them. The directory is at the newest.
    let current = all.iter().filter(is_named).find(|one| one.is_on_path).or_else(|| all.iter().find(is_named));
    let current = current.map(|one| one.seq);
    let with_current = |one: &SnapshotEntry| {
        let mut value = members(snapshot(one));
        value.insert("current".into(), (Some(one.seq) == current).into());
        value
    };
    members(json!({"snapshots": all.iter().map(with_current).collect::<Vec<_>>()}))
}

/// What is left out, and why.
pub fn reasons(left_out: &[Uncovered]) -> Vec<Value> {
    left_out.iter().map(|one| json!({"path": one.path.to_string_lossy(), "reason": one.reason})).collect()
}

/// What changed in files.
pub fn diffs(diffs: &[FileDiff]) -> Map<String, Value> {
    let sum = |count: fn(&FileDiff) -> u64| diffs.iter().map(count).sum::<u64>();
    let (additions, deletions) = (sum(|diff| diff.additions), sum(|diff| diff.deletions));
    let files: Vec<Value> = diffs.iter().map(file_diff).collect();
    members(json!({"additions": additions, "deletions": deletions, "files": diffs.len(), "diffs": files}))
}

fn file_diff(diff: &FileDiff) -> Value {
    let mut value = json!({
        "path": diff.path.to_string_lossy(),
        "status": diff.status.as_str(),
        "additions": diff.additions,
        "deletions": diff.deletions,
        "binary": diff.is_binary,
        "from": diff.from.as_ref().map(|from| from.to_string_lossy()),
        "diff": diff.diff,
    });
    // Text of JSON cannot hold every byte, and a patch must.
    if let (Some(exact), Some(object)) = (&diff.exact, value.as_object_mut()) {
        object.insert("diff_base64".into(), BASE64_STANDARD.encode(exact).into());
    }
    value
}

/// The files that a snapshot holds.
pub fn held(one: &SnapshotEntry, files: &[FileInfo]) -> Map<String, Value> {
    let mut known = members(snapshot(one));
    known.insert("files".into(), files.len().into());
    let file = |file: &FileInfo| {
        let mode = format!("{:06o}", file.mode);
        json!({"path": file.path.to_string_lossy(), "sha256": file.sha256, "mode": mode, "size": file.size})
    };
    members(json!({"snapshot": known, "files": files.iter().map(file).collect::<Vec<_>>()}))
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
    answer.insert("not_covered".into(), reasons(&report.files.uncovered).into());
    answer.insert("without_snapshots".into(), json!(report.files.without));
    answer.insert("leaf".into(), report.leaf.as_str().into());
    answer.insert("shown".into(), shown(session, &report.leaf).into());
    answer.insert("snapshot".into(), json!(report.snapshot.map(|snapshot| snapshot.to_string())));
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
