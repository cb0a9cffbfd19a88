//! The state of a workspace: where it is, what is kept of it, and whether it changed.

use std::borrow::Cow;

use ramus_engine::{Cause, Session, SnapshotEntry, WorkspaceInfo};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::files::RestoredFiles;
use crate::{object_of, path};

/// The state of a workspace.
#[derive(Serialize, ToSchema)]
pub struct WorkspaceState<'w> {
    /// Always true.
    enabled: bool,
    /// Newest first.
    snapshots: Vec<WorkspaceSnapshot<'w>>,
    /// The snapshot that files are at.
    #[schema(required)]
    latest_snapshot: Option<String>,
    /// Where it is.
    #[schema(value_type = WorkspacePaths)]
    paths: Map<String, Value>,
    git: WorkspaceGit<'w>,
    /// The snapshots that names stand for.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    branches: Map<String, Value>,
    /// Told when a restore was interrupted, so that files are neither here nor there until it is ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restore_interrupted: bool,
}

/// Something that is kept of a workspace.
#[derive(Serialize, ToSchema)]
struct WorkspaceSnapshot<'w> {
    id: String,
    label: &'w str,
    timestamp: &'w str,
    /// The entry that tells of it.
    entry: &'w str,
    /// How many files it holds.
    files: u64,
    /// Whether files are at it.
    current: bool,
    /// Whether what files are at came of it.
    ancestor_of_current: bool,
}

/// The state that the files of a workspace are in.
#[derive(Serialize, ToSchema)]
struct WorkspaceGit<'w> {
    /// The snapshot that they are at.
    #[schema(required)]
    commit: Option<String>,
    /// The name that they were last brought to.
    #[schema(required)]
    branch: Option<&'w str>,
    /// Whether they differ from the snapshot; null without one.
    #[schema(required)]
    is_dirty: Option<bool>,
}

/// Where a workspace is. Of one that was not made yet nothing is told.
#[derive(Serialize, ToSchema)]
struct WorkspacePaths<'w> {
    /// Where the session sees it.
    #[schema(required = false)]
    mount: &'w str,
    /// Where the session sees what it hands out.
    #[schema(required = false)]
    output: Option<&'w str>,
    /// Where it is.
    #[schema(required = false)]
    internal_root: Cow<'w, str>,
    /// Where the directory is that the session sees.
    #[schema(required = false)]
    internal_mount: Option<Cow<'w, str>>,
    /// Where that is what the session hands out.
    #[schema(required = false)]
    internal_output: Option<Cow<'w, str>>,
    /// Where the session keeps what it needs for a while.
    #[schema(required = false)]
    internal_tmp: Option<Cow<'w, str>>,
    /// What the nodes of the session are named after.
    #[schema(required = false)]
    session_id: String,
    /// Where workspaces are made; null when it is somebody else's directory.
    #[schema(required = false)]
    storage_root: Option<Cow<'w, str>>,
    /// Where artefacts are deployed.
    #[schema(required = false)]
    deployments_root: String,
    /// Whether it was made for the session.
    #[schema(required = false)]
    owned: bool,
}

/// A snapshot that was taken, and the state of the workspace.
#[derive(Serialize, ToSchema)]
pub struct KeptWorkspace {
    /// The state.
    #[serde(flatten)]
    #[schema(value_type = WorkspaceState)]
    pub state: Map<String, Value>,
    /// The snapshot.
    pub snapshot_id: String,
}

/// What became of files that were put back, and the state of the workspace.
#[derive(Serialize, ToSchema)]
pub struct RestoredWorkspace {
    /// The state.
    #[serde(flatten)]
    #[schema(value_type = WorkspaceState)]
    pub state: Map<String, Value>,
    /// The snapshot.
    pub restored: String,
    /// What became of the files.
    #[schema(value_type = RestoredFiles)]
    pub plan: Map<String, Value>,
}

/// A name that stands for a snapshot, and the state of the workspace.
#[derive(Serialize, ToSchema)]
pub struct NamedWorkspace {
    /// The state.
    #[serde(flatten)]
    #[schema(value_type = WorkspaceState)]
    pub state: Map<String, Value>,
    /// The name.
    pub branch: String,
    /// The snapshot.
    pub snapshot_id: String,
}

/// What is told of a workspace that was not made yet.
pub fn no_workspace() -> Map<String, Value> {
    object_of(&WorkspaceState {
        enabled: true,
        snapshots: Vec::new(),
        latest_snapshot: None,
        paths: Map::new(),
        git: WorkspaceGit { commit: None, branch: None, is_dirty: None },
        branches: Map::new(),
        restore_interrupted: false,
    })
}

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
    let snapshots = all.iter().filter(is_listed).take(limit).map(|one| WorkspaceSnapshot {
        id: one.commit.to_string(),
        label: &one.label,
        timestamp: &one.created,
        entry: one.entry.as_str(),
        files: one.files,
        current: Some(one.seq) == current,
        ancestor_of_current: one.is_ancestor,
    });
    object_of(&WorkspaceState {
        enabled: true,
        snapshots: snapshots.collect(),
        latest_snapshot: latest.clone(),
        paths: object_of(&paths(session, info)),
        git: WorkspaceGit { commit: latest, branch: session.snapshot_name(), is_dirty: info.is_dirty },
        branches: session.snapshot_names(),
        restore_interrupted: info.is_interrupted,
    })
}

fn paths<'w>(session: &Session, info: &'w WorkspaceInfo) -> WorkspacePaths<'w> {
    let mount = |name: &str| info.mounts.iter().find(|mount| mount.name == name);
    let inner = |name: &str| mount(name).map(|mount| path(&mount.path));
    WorkspacePaths {
        mount: &info.mount,
        output: mount("output").map(|mount| mount.mount.as_str()),
        internal_root: path(&info.root),
        internal_mount: inner("mnt"),
        internal_output: inner("output"),
        internal_tmp: inner("tmp"),
        session_id: session.namespace(),
        storage_root: info.root.parent().filter(|_| info.is_owned).map(path),
        deployments_root: path(&info.root.join("deployments")).into_owned(),
        owned: info.is_owned,
    }
}
