//! What came in.

use ramus_engine::Imported;
use serde_json::{Map, Value, json};

use crate::members;

/// What came of an import, or would.
pub fn imported(imported: &Imported, dry_run: bool) -> Map<String, Value> {
    let sessions = imported.imported.iter().map(|session| {
        json!({
            "id": session.id.as_str(),
            "source": "ramus-bundle",
            "origin": session.origin.as_str(),
            "entries": session.entries,
            "branches": session.branches,
            "extended": session.extended,
            "lossy": [],
        })
    });
    let skipped = imported.skipped.iter().map(|(id, reason)| json!({"id": id.as_str(), "reason": reason}));
    members(json!({
        "imported": sessions.collect::<Vec<_>>(),
        "skipped": skipped.collect::<Vec<_>>(),
        "failed": [],
        "snapshots": imported.snapshots,
        "dry_run": dry_run,
    }))
}
