//! Where sessions work: workspaces, and directories that moved.

use std::borrow::Cow;

use ramus_engine::{Relocated, Relocation, WorkspaceInfo};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::usage::{UnreadableJson, unreadable};
use crate::{object_of, path};

/// The directory that a session works in.
#[derive(Serialize, ToSchema)]
pub struct SessionWorkspace<'w> {
    workspace: WorkspaceJson<'w>,
}

/// A directory that a session works in.
#[derive(Serialize, ToSchema)]
#[schema(as = Workspace)]
struct WorkspaceJson<'w> {
    /// Under which name it is kept: that of its session.
    id: &'w str,
    /// Where it is.
    root: Cow<'w, str>,
    /// Where the session sees it.
    mount: &'w str,
    /// Whether it was made for the session.
    owned: bool,
    /// Its standard directories; none when it is somebody else's directory.
    mounts: Vec<WorkspaceMount<'w>>,
    /// Where artefacts are deployed; null when it is somebody else's directory.
    #[schema(required)]
    deployments: Option<Cow<'w, str>>,
    /// How many snapshots the session has.
    snapshots: usize,
    /// The newest one on the path.
    #[schema(required)]
    latest_snapshot: Option<&'w str>,
    /// Whether files differ from that one; null without one.
    #[schema(required)]
    dirty: Option<bool>,
    /// Told when a restore was interrupted, so that files are neither here nor there until it is ended.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restore_interrupted: bool,
}

/// A standard directory of a workspace.
#[derive(Serialize, ToSchema)]
struct WorkspaceMount<'w> {
    name: &'w str,
    /// Where it is.
    path: Cow<'w, str>,
    /// Where the session sees it.
    mount: &'w str,
    purpose: &'w str,
}

/// The directory that a session works in.
pub fn workspace(info: &WorkspaceInfo) -> Map<String, Value> {
    let mounts = info.mounts.iter().map(|mount| WorkspaceMount {
        name: &mount.name,
        path: path(&mount.path),
        mount: &mount.mount,
        purpose: &mount.purpose,
    });
    object_of(&SessionWorkspace {
        workspace: WorkspaceJson {
            id: &info.id,
            root: path(&info.root),
            mount: &info.mount,
            owned: info.is_owned,
            mounts: mounts.collect(),
            deployments: info.deployments.as_deref().map(path),
            snapshots: info.snapshots,
            latest_snapshot: info.latest_snapshot.as_deref(),
            dirty: info.is_dirty,
            restore_interrupted: info.is_interrupted,
        },
    })
}

/// What became of the sessions of a directory that moved.
#[derive(Serialize, ToSchema)]
pub struct RelocatedSessions<'r> {
    from: &'r str,
    to: &'r str,
    moved: Vec<RelocatedSession<'r>>,
    refused: Vec<RefusedRelocation<'r>>,
    unreadable: Vec<UnreadableJson<'r>>,
    /// How many notes of terminals went along.
    terminals: usize,
    dry_run: bool,
}

/// A session that went along.
#[derive(Serialize, ToSchema)]
struct RelocatedSession<'r> {
    session: &'r str,
    title: &'r str,
    from: &'r str,
    to: &'r str,
}

/// A session that could not go along.
#[derive(Serialize, ToSchema)]
struct RefusedRelocation<'r> {
    #[serde(flatten)]
    relocation: RelocatedSession<'r>,
    /// The kind of what went wrong, as refusals tell it.
    kind: &'static str,
    reason: String,
}

impl<'r> From<&'r Relocation> for RelocatedSession<'r> {
    fn from(relocation: &'r Relocation) -> Self {
        Self {
            session: relocation.session.as_str(),
            title: &relocation.title,
            from: &relocation.from,
            to: &relocation.to,
        }
    }
}

/// What became of the sessions of a directory that moved.
pub fn relocated(old: &str, new: &str, relocated: &Relocated, dry_run: bool) -> Map<String, Value> {
    let refused = relocated.refused.iter().map(|(relocation, error)| RefusedRelocation {
        relocation: relocation.into(),
        kind: error.kind().name(),
        reason: error.to_string(),
    });
    object_of(&RelocatedSessions {
        from: old,
        to: new,
        moved: relocated.moved.iter().map(RelocatedSession::from).collect(),
        refused: refused.collect(),
        unreadable: unreadable(&relocated.unreadable),
        terminals: relocated.terminals,
        dry_run,
    })
}

/// What a session is called.
#[derive(Serialize, ToSchema)]
pub struct ResolvedSession<'r> {
    /// The whole id.
    session: &'r str,
}

/// The whole id of a session.
pub fn resolved(session: &str) -> Map<String, Value> {
    object_of(&ResolvedSession { session })
}
