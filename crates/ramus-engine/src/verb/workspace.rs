//! `workspace`: a directory of a session's own, with standard directories, which can be reset exactly.
//!
//! The invariant: a directory is reset only if this home made it. What a log says about it is no proof, so the home keeps
//! a note of its own.

use std::fs;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use ramus_model::{Body, Draft};
use ramus_snapshot::Conflict;
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::restore::{RestoreReport, towards};
use crate::verb::snapshot::{SnapshotEntry, look};
use crate::workspace::{Cause, io, make, short};

/// The directories that every workspace has: their names, and what they are for.
const STANDARD: [(&str, &str); 3] =
    [("mnt", "what the session works on"), ("output", "what it makes for others"), ("tmp", "what nobody needs later")];

/// What the first snapshot of a workspace is called.
const INITIAL: &str = "Initial workspace state";

/// One directory of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// What it is called.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Where the session sees it.
    pub mount: String,
    /// What it is for.
    pub purpose: String,
}

/// What there is to know about the workspace of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceInfo {
    /// Under which name it is kept: that of its session.
    pub id: String,
    /// Where it is.
    pub root: PathBuf,
    /// Where the session sees it.
    pub mount: String,
    /// Whether this home made it.
    pub is_owned: bool,
    /// Its standard directories; none when it is somebody else's directory.
    pub mounts: Vec<Mount>,
    /// Where artefacts are deployed, beside all workspaces; none when it is somebody else's directory.
    pub deployments: Option<PathBuf>,
    /// How many snapshots the session has.
    pub snapshots: usize,
    /// The newest one on the path.
    pub latest_snapshot: Option<String>,
    /// Whether files differ from that one; none without one.
    pub is_dirty: Option<bool>,
}

impl Engine {
    /// Makes a workspace for a session beneath `storage`, moves the session there and keeps its first snapshot.
    pub fn make_workspace(&self, session: &mut Session, storage: &Path) -> Result<WorkspaceInfo, EngineError> {
        if self.owned_workspace(session).is_some() {
            return Err(EngineError::Conflict("the session has a workspace of its own".into()));
        }
        let id = session.id().to_string();
        let is_tame = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_tame {
            return Err(EngineError::Invalid(format!("{id:?} cannot be the name of a directory")));
        }
        let storage = make(storage).and_then(|()| storage.canonicalize()).map_err(io("make", storage))?;
        // The home is closed to tools, and so would be everything in it.
        if self.apart.iter().any(|home| home.canonicalize().is_ok_and(|home| storage.starts_with(home))) {
            return Err(EngineError::Invalid("a workspace cannot be in the home".into()));
        }
        let root = storage.join(&id);
        // One that is there already may be anybody's.
        fs::DirBuilder::new().mode(0o700).create(&root).map_err(io("make", &root))?;
        make(&storage.join("deployments")).map_err(io("make", &storage))?;
        self.note_workspace(session, &root)?;
        self.keep_standard_directories(session)?;
        let text =
            root.to_str().ok_or_else(|| EngineError::Invalid("the directory has a name that is not text".into()))?;
        self.move_to(session, text)?;
        let workspace = json!({"root": text, "mount": format!("/mnt/{id}"), "session": id});
        let mut doing = Doing::several("workspace", self, session);
        let body = Body::ramus("meta", json!({"set": {"workspace": workspace}}));
        self.record(session, &mut doing, vec![Draft::new(body)])?;
        let mut store = self.snapshot_store(session)?;
        self.take_snapshot(session, &mut store, (INITIAL, Cause::Asked), &mut doing)?;
        self.describe_workspace(session)
    }

    /// Says what there is to know about the directory that a session works in.
    pub fn describe_workspace(&self, session: &mut Session) -> Result<WorkspaceInfo, EngineError> {
        let id = session.id().to_string();
        let owned = self.owned_workspace(session);
        let root = owned.clone().unwrap_or_else(|| PathBuf::from(session.cwd()));
        let mount = if owned.is_some() { format!("/mnt/{id}") } else { root.display().to_string() };
        let latest = session.account()?.latest;
        let is_dirty = match latest {
            Some(latest) => {
                let mut store = self.snapshot_store(session)?;
                let now = look(session, &mut store, "")?.id;
                Some(!store.changed(latest, now)?.is_empty())
            }
            None => None,
        };
        let standard = |(name, purpose): &(&str, &str)| Mount {
            name: (*name).to_owned(),
            path: root.join(name),
            mount: format!("{mount}/{name}"),
            purpose: (*purpose).to_owned(),
        };
        Ok(WorkspaceInfo {
            mounts: owned.iter().flat_map(|_| STANDARD.iter().map(standard)).collect(),
            deployments: owned.as_deref().and_then(Path::parent).map(|storage| storage.join("deployments")),
            is_owned: owned.is_some(),
            snapshots: self.snapshots(session)?.len(),
            latest_snapshot: latest.map(short),
            is_dirty,
            id,
            root,
            mount,
        })
    }

    /// Makes a workspace exactly what a snapshot holds: everything else that snapshots cover goes, whoever made it. What
    /// was there is kept in a snapshot first. Only what this home made can be reset.
    pub fn reset_workspace(
        &self,
        session: &mut Session,
        target: &SnapshotEntry,
        dry_run: bool,
    ) -> Result<RestoreReport, EngineError> {
        let _lease = self.store.lease(session.location(), self.now())?;
        if self.owned_workspace(session).is_none() {
            let reason =
                "only a workspace that was made for the session can be reset; `restore` puts files back elsewhere";
            return Err(EngineError::Invalid(reason.into()));
        }
        self.end_travel(session)?;
        let mut store = self.snapshot_store(session)?;
        let current = look(session, &mut store, "")?.id;
        let plan = towards(&store, target.commit, current, &[])?;
        if dry_run || plan.steps.iter().all(|step| step.conflict == Some(Conflict::Forbidden)) {
            return Ok(RestoreReport { plan, ..RestoreReport::default() });
        }
        let mut doing = Doing::several("workspace", self, session);
        let applied = self.apply(session, &mut store, (&plan, true), &target.id(), None, &mut doing)?;
        self.record(session, &mut doing, vec![applied.draft])?;
        let (safety, restored) = (Some(applied.safety), applied.restored);
        Ok(RestoreReport { plan, safety, restored, ..RestoreReport::default() })
    }

    /// Makes the standard directories of a session's workspace, if it has one and they are gone: a restore removes
    /// directories that hold nothing.
    pub(crate) fn keep_standard_directories(&self, session: &Session) -> Result<(), EngineError> {
        let Some(root) = self.owned_workspace(session) else { return Ok(()) };
        for (name, _) in STANDARD {
            let path = root.join(name);
            make(&path).map_err(io("make", &path))?;
        }
        Ok(())
    }
}
