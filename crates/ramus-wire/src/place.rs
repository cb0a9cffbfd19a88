//! Where sessions work: workspaces, and directories that moved.

use ramus_engine::{Relocated, Relocation, WorkspaceInfo};
use serde_json::{Map, Value, json};

use crate::members;

/// The directory that a session works in.
pub fn workspace(info: &WorkspaceInfo) -> Map<String, Value> {
    let mounts = info
        .mounts
        .iter()
        .map(|mount| json!({"name": mount.name, "path": mount.path, "mount": mount.mount, "purpose": mount.purpose}));
    let mut told = members(json!({
        "id": info.id,
        "root": info.root,
        "mount": info.mount,
        "owned": info.is_owned,
        "mounts": mounts.collect::<Vec<_>>(),
        "deployments": info.deployments,
        "snapshots": info.snapshots,
        "latest_snapshot": info.latest_snapshot,
        "dirty": info.is_dirty,
    }));
    if info.is_interrupted {
        told.insert("restore_interrupted".into(), true.into());
    }
    members(json!({"workspace": told}))
}

/// What became of the sessions of a directory that moved.
pub fn relocated(old: &str, new: &str, relocated: &Relocated, dry_run: bool) -> Map<String, Value> {
    let moved: Vec<_> = relocated.moved.iter().map(one).collect();
    let refused = relocated.refused.iter().map(|(relocation, error)| {
        let mut object = one(relocation);
        object.insert("kind".into(), error.kind().name().into());
        object.insert("reason".into(), error.to_string().into());
        object
    });
    let unreadable = relocated.unreadable.iter().map(|(session, reason)| json!({"session": session, "reason": reason}));
    members(json!({
        "from": old,
        "to": new,
        "moved": moved,
        "refused": refused.collect::<Vec<_>>(),
        "unreadable": unreadable.collect::<Vec<_>>(),
        "terminals": relocated.terminals,
        "dry_run": dry_run,
    }))
}

fn one(relocation: &Relocation) -> Map<String, Value> {
    members(json!({
        "session": relocation.session.as_str(),
        "title": relocation.title,
        "from": relocation.from,
        "to": relocation.to,
    }))
}
