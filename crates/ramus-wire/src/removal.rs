//! What was removed.

use std::path::PathBuf;

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
    let workspaces = |is_gone: bool| -> Vec<&PathBuf> {
        let some = deleted.workspaces.iter().filter(|one| one.kept_for.is_empty() == is_gone);
        some.map(|one| &one.path).collect()
    };
    let in_use = deleted.workspaces.iter().filter(|one| !one.kept_for.is_empty());
    let in_use = in_use.map(|one| json!({"path": one.path, "sessions": one.kept_for.len()}));
    members(json!({
        "removed": {
            "session": deleted.session.as_str(),
            "files": deleted.removed.files,
            "blobs": deleted.blobs,
            "snapshots": deleted.snapshots,
            "bytes": deleted.removed.bytes,
            "workspace": workspaces(true).into_iter().next(),
            "prompts": prompts,
        },
        "children": ids(&deleted.children),
        "kept": kept.collect::<Vec<_>>(),
        "workspaces": workspaces(true),
        "workspaces_kept": workspaces(false),
        "workspaces_in_use": in_use.collect::<Vec<_>>(),
        "snapshots_left": deleted.snapshots_left,
        "dry_run": dry_run,
    }))
}
