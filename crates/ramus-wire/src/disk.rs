//! What a home takes on disk.

use ramus_engine::DiskReport;
use ramus_store::Tally;
use serde_json::{Map, Value, json};

/// The report of `doctor` and `gc`.
pub fn report(report: &DiskReport) -> Value {
    let tally = |tally: &Tally| json!({"files": tally.count, "bytes": tally.bytes});
    let mut parts: Map<String, Value> =
        report.parts.iter().map(|(name, part)| ((*name).to_owned(), tally(part))).collect();
    parts.insert("trash".into(), tally(&report.trash));
    let directories = report.directories.iter().map(|one| {
        json!({
            "directory": one.directory,
            "exists": one.is_there,
            "path": one.path,
            "snapshots": one.usage.map(|usage| usage.snapshots),
            "bytes": one.usage.map(|usage| usage.bytes),
        })
    });
    let workspaces = report.workspaces.iter().map(
        |one| json!({"session": one.session, "path": one.path, "files": one.tally.count, "bytes": one.tally.bytes}),
    );
    json!({
        "bytes": report.bytes(),
        "parts": parts,
        "directories": directories.collect::<Vec<_>>(),
        "workspaces": workspaces.collect::<Vec<_>>(),
    })
}
