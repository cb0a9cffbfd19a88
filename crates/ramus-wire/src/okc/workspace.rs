//! The state of a workspace: where it is, what is kept of it, and whether it changed.

use ramus_engine::{Cause, Session, SnapshotEntry, WorkspaceInfo};
use serde_json::{Map, Value, json};

use crate::members;

/// Finds the snapshot that files are at: the newest of the path, or what that one restored.
pub fn current(all: &[SnapshotEntry]) -> Option<&SnapshotEntry> {
    let newest = all.iter().find(|one| one.is_on_path)?;
    let restored = newest.label.strip_prefix("Restored ").filter(|_| newest.cause == Cause::Restored);
    let target = restored.and_then(|id| all.iter().rev().find(|one| one.id() == id));
    Some(target.unwrap_or(newest))
}

/// Describes a workspace and at most `limit` of its snapshots, newest first. Those that a restore kept for safety are not
/// among them.
pub fn state(session: &Session, info: &WorkspaceInfo, all: &[SnapshotEntry], limit: usize) -> Map<String, Value> {
    let current = current(all).map(|one| one.commit);
    let is_listed = |one: &&SnapshotEntry| matches!(one.cause, Cause::Asked | Cause::Turn);
    let snapshots = all.iter().filter(is_listed).take(limit).map(|one| {
        json!({
            "id": one.commit.to_string(),
            "label": one.label,
            "timestamp": one.created,
            "entry": one.entry.as_str(),
            "files": one.files,
            "current": Some(one.commit) == current,
            "ancestor_of_current": one.is_on_path,
        })
    });
    let latest = current.map(|commit| commit.to_string());
    members(json!({
        "enabled": true,
        "snapshots": snapshots.collect::<Vec<_>>(),
        "latest_snapshot": latest,
        "paths": paths(session, info),
        "git": {"commit": latest, "branch": session.snapshot_name(), "is_dirty": info.is_dirty},
        "branches": session.snapshot_names(),
    }))
}

fn paths(session: &Session, info: &WorkspaceInfo) -> Value {
    let mount = |name: &str| info.mounts.iter().find(|mount| mount.name == name);
    let seen = |name: &str| mount(name).map(|mount| mount.mount.as_str());
    let inner = |name: &str| mount(name).map(|mount| mount.path.as_path());
    json!({
        "mount": info.mount,
        "output": seen("output"),
        "internal_root": info.root,
        "internal_mount": inner("mnt"),
        "internal_output": inner("output"),
        "internal_tmp": inner("tmp"),
        "session_id": session.namespace(),
        "storage_root": info.root.parent().filter(|_| info.is_owned),
        "deployments_root": info.root.join("deployments"),
        "owned": info.is_owned,
    })
}
