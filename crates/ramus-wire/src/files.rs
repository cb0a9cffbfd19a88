//! Snapshots, differences, and what putting files back comes to.

use std::borrow::Cow;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ramus_engine::{EngineError, RestoreReport, RevertReport, Session, SnapshotEntry, SnapshotTaken};
use ramus_model::{EntryId, Kind, Seq};
use ramus_snapshot::{Action, Conflict, FileDiff, FileInfo, Step, Uncovered};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::session::RevertInForce;
use crate::{object_of, path, words};

/// A snapshot.
#[derive(Serialize, ToSchema)]
pub struct Snapshot<'s> {
    /// The short name that people use.
    id: String,
    /// The whole name.
    commit: String,
    label: &'s str,
    /// The entry that tells of it.
    entry: &'s str,
    /// The position of that entry.
    seq: u32,
    /// How many files it holds.
    files: u64,
    /// How much was in the directory and is not in it.
    not_covered: u64,
    created: &'s str,
    /// Why it was taken.
    #[schema(schema_with = words::causes)]
    cause: &'static str,
    /// Whether what the directory is at came of it.
    ancestor_of_current: bool,
}

impl<'s> From<&'s SnapshotEntry> for Snapshot<'s> {
    fn from(snapshot: &'s SnapshotEntry) -> Self {
        Self {
            id: snapshot.id(),
            commit: snapshot.commit.to_string(),
            label: &snapshot.label,
            entry: snapshot.entry.as_str(),
            seq: snapshot.seq.number(),
            files: snapshot.files,
            not_covered: snapshot.uncovered,
            created: &snapshot.created,
            cause: snapshot.cause.as_str(),
            ancestor_of_current: snapshot.is_ancestor,
        }
    }
}

/// Something that is left out, and why.
#[derive(Serialize, ToSchema)]
pub struct LeftOut<'l> {
    path: Cow<'l, str>,
    reason: &'static str,
}

/// What is left out, and why.
pub fn reasons(left_out: &[Uncovered]) -> Vec<LeftOut<'_>> {
    left_out.iter().map(|one| LeftOut { path: path(&one.path), reason: one.reason }).collect()
}

/// A snapshot that was just taken, and what it does not cover.
#[derive(Serialize, ToSchema)]
pub struct TakenSnapshot<'t> {
    snapshot: Snapshot<'t>,
    /// What is not in it.
    not_covered: Vec<LeftOut<'t>>,
    /// The rules about what to leave out that were not followed.
    not_heeded: Vec<LeftOut<'t>>,
}

/// A snapshot that was just taken, and what it does not cover.
pub fn taken(taken: &SnapshotTaken) -> Map<String, Value> {
    object_of(&TakenSnapshot {
        snapshot: (&taken.snapshot).into(),
        not_covered: reasons(&taken.uncovered),
        not_heeded: reasons(&taken.unheeded),
    })
}

/// The snapshots of a session.
#[derive(Serialize, ToSchema)]
pub struct Snapshots<'s> {
    /// Newest first.
    snapshots: Vec<ListedSnapshot<'s>>,
}

/// A snapshot, and whether the directory is at it.
#[derive(Serialize, ToSchema)]
struct ListedSnapshot<'s> {
    #[serde(flatten)]
    snapshot: Snapshot<'s>,
    /// Whether the directory is at it.
    current: bool,
}

/// All snapshots of a session; `current` is the one that its directory is at.
pub fn listed(all: &[SnapshotEntry], current: Option<&str>) -> Map<String, Value> {
    let is_named = |one: &&SnapshotEntry| Some(one.id().as_str()) == current;
    // Several entries tell of one snapshot when nothing changed between them. The directory is at the newest.
    let current = all.iter().filter(is_named).find(|one| one.is_on_path).or_else(|| all.iter().find(is_named));
    let current = current.map(|one| one.seq);
    let told = all.iter().map(|one| ListedSnapshot { snapshot: one.into(), current: Some(one.seq) == current });
    object_of(&Snapshots { snapshots: told.collect() })
}

/// What changed in files.
#[derive(Serialize, ToSchema)]
pub struct FileChanges<'d> {
    /// How many lines came.
    additions: u64,
    /// How many lines went.
    deletions: u64,
    /// How many files differ.
    files: usize,
    diffs: Vec<FileChange<'d>>,
}

/// What changed in a file.
#[derive(Serialize, ToSchema)]
struct FileChange<'d> {
    path: Cow<'d, str>,
    #[schema(schema_with = words::differences)]
    status: &'static str,
    /// How many lines came.
    additions: u64,
    /// How many lines went.
    deletions: u64,
    binary: bool,
    /// What a renamed file was called.
    #[schema(required)]
    from: Option<Cow<'d, str>>,
    /// A unified diff.
    diff: &'d str,
    /// The same in base64, where text does not hold every byte of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    diff_base64: Option<String>,
}

impl<'d> From<&'d FileDiff> for FileChange<'d> {
    fn from(diff: &'d FileDiff) -> Self {
        Self {
            path: path(&diff.path),
            status: diff.status.as_str(),
            additions: diff.additions,
            deletions: diff.deletions,
            binary: diff.is_binary,
            from: diff.from.as_deref().map(path),
            diff: &diff.diff,
            // Text of JSON cannot hold every byte, and a patch must.
            diff_base64: diff.exact.as_ref().map(|exact| BASE64_STANDARD.encode(exact)),
        }
    }
}

/// What changed in files.
pub fn diffs(diffs: &[FileDiff]) -> Map<String, Value> {
    let sum = |count: fn(&FileDiff) -> u64| diffs.iter().map(count).sum::<u64>();
    object_of(&FileChanges {
        additions: sum(|diff| diff.additions),
        deletions: sum(|diff| diff.deletions),
        files: diffs.len(),
        diffs: diffs.iter().map(FileChange::from).collect(),
    })
}

/// The files that a snapshot holds.
#[derive(Serialize, ToSchema)]
pub struct SnapshotFiles<'s> {
    snapshot: Snapshot<'s>,
    files: Vec<HeldFile<'s>>,
}

/// A file of a snapshot.
#[derive(Serialize, ToSchema)]
struct HeldFile<'s> {
    path: Cow<'s, str>,
    sha256: &'s str,
    /// The mode, in six octal digits.
    mode: String,
    /// In bytes.
    size: u64,
}

/// The files that a snapshot holds.
pub fn held(one: &SnapshotEntry, files: &[FileInfo]) -> Map<String, Value> {
    let told = files.iter().map(|file| HeldFile {
        path: path(&file.path),
        sha256: &file.sha256,
        mode: format!("{:06o}", file.mode),
        size: file.size,
    });
    // What was read now counts, whatever the entry says.
    let snapshot = Snapshot { files: files.len() as u64, ..one.into() };
    object_of(&SnapshotFiles { snapshot, files: told.collect() })
}

/// What became of files that were put back, or would.
#[derive(Serialize, ToSchema)]
pub struct RestoredFiles<'r> {
    plan: Vec<RestoreStep<'r>>,
    /// Whether it was done; otherwise it was only said.
    applied: bool,
    /// How many files were put back.
    restored: usize,
    /// The files that were left as they are, because somebody changed them meanwhile.
    kept: Vec<Cow<'r, str>>,
    /// The files as they were before.
    #[schema(required)]
    safety_snapshot: Option<String>,
}

impl<'r> RestoredFiles<'r> {
    /// Tells what became of files.
    pub(crate) fn of(report: &'r RestoreReport, applied: bool) -> Self {
        Self {
            plan: report.plan.steps.iter().map(RestoreStep::from).collect(),
            applied,
            restored: report.restored.done.len(),
            kept: report.restored.kept.iter().map(|kept| path(kept)).collect(),
            safety_snapshot: report.safety.as_ref().map(SnapshotEntry::id),
        }
    }
}

/// What became of files that were put back, or would.
pub fn restored(report: &RestoreReport) -> Map<String, Value> {
    object_of(&RestoredFiles::of(report, report.safety.is_some()))
}

/// What became of files that were put back to a snapshot, and where the conversation is.
#[derive(Serialize, ToSchema)]
pub struct RestoredSnapshot<'r> {
    #[serde(flatten)]
    files: RestoredFiles<'r>,
    snapshot: Snapshot<'r>,
    /// What is in no snapshot.
    not_covered: Vec<LeftOut<'r>>,
    /// The rules about what to leave out that were not followed.
    not_heeded: Vec<LeftOut<'r>>,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
}

/// What became of files that were put back to a snapshot, and where the conversation is.
pub fn restored_to(report: &RestoreReport, target: &SnapshotEntry, session: &Session) -> Map<String, Value> {
    object_of(&RestoredSnapshot {
        files: RestoredFiles::of(report, report.safety.is_some()),
        snapshot: target.into(),
        not_covered: reasons(&report.uncovered),
        not_heeded: reasons(&report.unheeded),
        leaf: session.leaf().map(|leaf| leaf.to_string()),
    })
}

/// What became of conversation and files that went back together.
#[derive(Serialize, ToSchema)]
pub struct RevertedSession<'r> {
    #[serde(flatten)]
    files: RestoredFiles<'r>,
    /// What is in no snapshot.
    not_covered: Vec<LeftOut<'r>>,
    /// Why there are no snapshots to go back to.
    #[schema(required)]
    without_snapshots: Option<&'r str>,
    /// The entry that it goes on from.
    leaf: &'r str,
    /// The last entry up to the leaf that people are shown.
    shown: String,
    /// The state of the files that it goes back to.
    #[schema(required)]
    snapshot: Option<String>,
    /// The revert that is in force now.
    #[schema(required)]
    revert: Option<RevertInForce<'r>>,
}

/// What became of conversation and files that went back together.
pub fn reverted(report: &RevertReport, session: &Session) -> Result<Map<String, Value>, EngineError> {
    let mark = session.revert_mark()?;
    Ok(object_of(&RevertedSession {
        files: RestoredFiles::of(&report.files, report.is_done),
        not_covered: reasons(&report.files.uncovered),
        without_snapshots: report.files.without.as_deref(),
        leaf: report.leaf.as_str(),
        shown: shown(session, &report.leaf),
        snapshot: report.snapshot.map(|snapshot| snapshot.to_string()),
        revert: mark.as_ref().map(RevertInForce::from),
    }))
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

/// What is done to a file.
#[derive(Serialize, ToSchema)]
struct RestoreStep<'s> {
    path: Cow<'s, str>,
    #[schema(schema_with = words::file_actions)]
    action: &'static str,
    /// Why it is not done unless it is forced.
    #[schema(schema_with = words::conflicts, required)]
    conflict: Option<&'static str>,
}

impl<'s> From<&'s Step> for RestoreStep<'s> {
    fn from(step: &'s Step) -> Self {
        let conflict = step.conflict.map(|conflict| match conflict {
            Conflict::Changed => "changed",
            Conflict::Uncovered => "uncovered",
            Conflict::Forbidden => "forbidden",
        });
        Self { path: path(&step.path), action: action(step.action), conflict }
    }
}
