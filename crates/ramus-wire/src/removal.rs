//! What was removed.

use std::borrow::Cow;

use ramus_engine::Deleted;
use ramus_model::SessionId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, path};

/// A session that was deleted, or would be.
#[derive(Serialize, ToSchema)]
pub struct DeletedSession<'d> {
    removed: RemovedSession<'d>,
    /// The sessions that it started and that went with it.
    children: Vec<&'d str>,
    /// What forks still need of sessions that went.
    kept: Vec<KeptSessionBase<'d>>,
    /// The workspaces that went with it.
    workspaces: Vec<Cow<'d, str>>,
    /// The workspaces that stay, because other sessions work there.
    workspaces_kept: Vec<Cow<'d, str>>,
    /// The same, and how many sessions those are.
    workspaces_in_use: Vec<UsedWorkspace<'d>>,
    /// How many snapshots stay, because other sessions name them.
    snapshots_left: u64,
    dry_run: bool,
}

/// What was removed of a session.
#[derive(Serialize, ToSchema)]
struct RemovedSession<'d> {
    session: &'d str,
    files: Vec<Cow<'d, str>>,
    blobs: u64,
    snapshots: u64,
    bytes: u64,
    /// The first of the workspaces that went with it.
    #[schema(required)]
    workspace: Option<Cow<'d, str>>,
    /// How many prompts were forgotten with it.
    prompts: usize,
}

/// What forks still need of a session that went.
#[derive(Serialize, ToSchema)]
struct KeptSessionBase<'d> {
    session: &'d str,
    bytes: u64,
    forks: Vec<&'d str>,
}

/// A workspace that stays.
#[derive(Serialize, ToSchema)]
struct UsedWorkspace<'d> {
    path: Cow<'d, str>,
    /// How many sessions work there.
    sessions: usize,
}

impl<'d> DeletedSession<'d> {
    /// Tells of a session that was deleted. `prompts` is how many prompts were forgotten with it.
    pub fn of(deleted: &'d Deleted, prompts: usize, dry_run: bool) -> Self {
        fn ids(ids: &[SessionId]) -> Vec<&str> {
            ids.iter().map(SessionId::as_str).collect()
        }
        let kept = deleted.kept.iter().map(|base| KeptSessionBase {
            session: base.session.as_str(),
            bytes: base.bytes,
            forks: ids(&base.forks),
        });
        let workspaces = |is_gone: bool| -> Vec<Cow<'d, str>> {
            let some = deleted.workspaces.iter().filter(|one| one.kept_for.is_empty() == is_gone);
            some.map(|one| path(&one.path)).collect()
        };
        let in_use = deleted.workspaces.iter().filter(|one| !one.kept_for.is_empty());
        let in_use = in_use.map(|one| UsedWorkspace { path: path(&one.path), sessions: one.kept_for.len() });
        Self {
            removed: RemovedSession {
                session: deleted.session.as_str(),
                files: deleted.removed.files.iter().map(|file| path(file)).collect(),
                blobs: deleted.blobs,
                snapshots: deleted.snapshots,
                bytes: deleted.removed.bytes,
                workspace: workspaces(true).into_iter().next(),
                prompts,
            },
            children: ids(&deleted.children),
            kept: kept.collect(),
            workspaces: workspaces(true),
            workspaces_kept: workspaces(false),
            workspaces_in_use: in_use.collect(),
            snapshots_left: deleted.snapshots_left,
            dry_run,
        }
    }
}

/// A session that was deleted, or would be. `prompts` is how many prompts were forgotten with it.
pub fn deleted(deleted: &Deleted, prompts: usize, dry_run: bool) -> Map<String, Value> {
    object_of(&DeletedSession::of(deleted, prompts, dry_run))
}
