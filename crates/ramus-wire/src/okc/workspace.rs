//! The state of a workspace: where it is, what is kept of it, and whether it changed.

use ramus_engine::{Cause, Session, SnapshotEntry, WorkspaceInfo};
use serde_json::{Map, Value, json};

use crate::members;

/// Finds the snapshot that files are at: the newest of the path, or what that one restored.
pub fn current(all: &[SnapshotEntry]) -> Option<&SnapshotEntry> {
    let newest = all.iter().find(|one| one.is_on_path)?;
    let target = newest.restored().and_then(|id| all.iter().rev().find(|one| one.id() == id));
    Some(target.unwrap_or(newest))
}

/// Describes a workspace and at most `limit` of its snapshots, newest first. Those that a restore kept for safety are not
/// among them.
pub fn state(session: &Session, info: &WorkspaceInfo, all: &[SnapshotEntry], limit: usize) -> Map<String, Value> {
    let is_listed = |one: &&SnapshotEntry| matches!(one.cause, Cause::Asked | Cause::Turn);
    let current = current(all);
    let latest = current.map(|one| one.commit.to_string());
    // Several entries tell of one snapshot when nothing changed between them, and only one of them is current.
    let same = || all.iter().filter(is_listed).find(|one| Some(one.commit) == current.map(|current| current.commit));
    let current = current.filter(is_listed).or_else(same).map(|one| one.seq);
    let snapshots = all.iter().filter(is_listed).take(limit).map(|one| {
        json!({
            "id": one.commit.to_string(),
            "label": one.label,
            "timestamp": one.created,
            "entry": one.entry.as_str(),
            "files": one.files,
            "current": Some(one.seq) == current,
            "ancestor_of_current": one.is_ancestor,
        })
    });
    let mut told = members(json!({
        "enabled": true,
        "snapshots": snapshots.collect::<Vec<_>>(),
        "latest_snapshot": latest,
        "paths": paths(session, info),
        "git": {"commit": latest, "branch": session.snapshot_name(), "is_dirty": info.is_dirty},
        "branches": session.snapshot_names(),
    }));
    if info.is_interrupted {
        told.insert("restore_interrupted".into(), true.into());
    }
    told
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
