//! What nothing needs any more.

use ramus_engine::{DiskReport, Swept};
use ramus_snapshot::SnapshotInfo;
use ramus_store::{Collected, Tally};
use serde_json::{Map, Value, json};

use crate::{disk, members};

/// What was collected, or would be, and what the home takes.
pub fn collected(collected: &Collected, swept: &[Swept], report: &DiskReport, dry_run: bool) -> Map<String, Value> {
    members(json!({
        "removed": blobs(collected.removed),
        "trashed": blobs(collected.trashed),
        "restored": blobs(collected.restored),
        "kept": blobs(collected.kept),
        "leftovers": {"files": collected.leftovers.count, "bytes": collected.leftovers.bytes},
        "snapshots": snapshots(swept),
        "disk": disk::report(report),
        "dry_run": dry_run,
    }))
}

fn blobs(tally: Tally) -> Value {
    json!({"blobs": tally.count, "bytes": tally.bytes})
}

fn snapshots(swept: &[Swept]) -> Value {
    let freed = |one: &Swept| one.outcome.as_ref().map_or(0, |done| done.before.bytes.saturating_sub(done.after.bytes));
    let gone = |one: &Swept| one.outcome.as_ref().map_or(0, |done| done.gone.len());
    let directories = swept.iter().map(|one| {
        let collected = one.outcome.as_ref().ok();
        let removed = collected.into_iter().flat_map(|done| &done.gone);
        json!({
            "directory": one.directory,
            "path": one.path,
            "removed": removed.map(|gone| json!({
                "id": short(gone), "commit": gone.id.to_string(), "label": gone.label, "created": gone.created,
            })).collect::<Vec<_>>(),
            "bytes": freed(one),
            "kept": collected.map(|done| json!({"snapshots": done.after.snapshots, "bytes": done.after.bytes})),
            "left": one.outcome.as_ref().err().map(ToString::to_string),
        })
    });
    json!({
        "removed": swept.iter().map(gone).sum::<usize>(),
        "bytes": swept.iter().map(freed).sum::<u64>(),
        "directories": directories.collect::<Vec<_>>(),
    })
}

/// A snapshot by the start of its commit, as people name it.
pub fn short(snapshot: &SnapshotInfo) -> String {
    snapshot.id.to_string().chars().take(12).collect()
}
