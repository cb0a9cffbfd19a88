//! What was removed.

use ramus_engine::Deleted;
use ramus_model::SessionId;
use serde_json::{Map, Value, json};

use crate::members;

/// A session that was deleted, or would be. `prompts` is how many prompts were forgotten with it.
pub fn deleted(deleted: &Deleted, prompts: usize, dry_run: bool) -> Map<String, Value> {
    let ids = |ids: &[SessionId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
    let kept = deleted
        .kept
        .iter()
        .map(|base| json!({"session": base.session.as_str(), "bytes": base.bytes, "forks": ids(&base.forks)}));
    members(json!({
        "removed": {
            "session": deleted.session.as_str(),
            "files": deleted.removed.files,
            "blobs": deleted.blobs,
            "snapshots": 0,
            "bytes": deleted.removed.bytes,
            "workspace": null,
            "prompts": prompts,
        },
        "children": ids(&deleted.children),
        "kept": kept.collect::<Vec<_>>(),
        "dry_run": dry_run,
    }))
}
