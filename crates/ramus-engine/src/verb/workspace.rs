//! `workspace`: a directory of a session's own, with standard directories, which can be reset exactly.
//!
//! The invariant: a directory is reset only if this home made it. What a log says about it is no proof, so the home keeps
//! a note of its own.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use ramus_model::Body;
use ramus_snapshot::{Conflict, Glance};
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::create::is_tame;
use crate::verb::restore::RestoreReport;
use crate::verb::snapshot::SnapshotEntry;
use crate::workspace::{io, make, short};

/// The directories that every workspace has: their names, and what they are for.
const STANDARD: [(&str, &str); 3] =
    [("mnt", "what the session works on"), ("output", "what it makes for others"), ("tmp", "what nobody needs later")];

/// What the first snapshot of a workspace is called.
pub const INITIAL_SNAPSHOT: &str = "Initial workspace state";

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
    /// Whether a restore was interrupted, so that files are neither here nor there until it is ended.
    pub is_interrupted: bool,
}

impl Engine {
    /// Makes a workspace for a session beneath `storage`, moves the session there and keeps its first snapshot.
    pub fn make_workspace(&self, session: &mut Session, storage: &Path) -> Result<WorkspaceInfo, EngineError> {
        if self.owned_workspace(session).is_some() {
            return Err(EngineError::Conflict("the session has a workspace of its own".into()));
        }
        self.ensure_workspace(session, storage)?;
        self.snapshot(session, Some(INITIAL_SNAPSHOT))?;
        self.describe_workspace(session)
    }

    /// Makes sure that a session has a workspace beneath `storage` and works there: makes what is missing of it, also when
    /// somebody was interrupted at that. Says whether something was.
    pub fn ensure_workspace(&self, session: &mut Session, storage: &Path) -> Result<bool, EngineError> {
        let root = match self.owned_workspace(session) {
            Some(root) if Path::new(session.cwd()) == root => return Ok(false),
            Some(root) => root,
            None => self.provision(session, storage)?,
        };
        self.keep_standard_directories(session)?;
        let text =
            root.to_str().ok_or_else(|| EngineError::Invalid("the directory has a name that is not text".into()))?;
        let id = session.id().to_string();
        let workspace = json!({"root": text, "mount": format!("/mnt/{id}"), "session": id});
        self.record_one(session, "workspace", Body::ramus("meta", json!({"set": {"workspace": workspace}})))?;
        // Last of all: who works there has everything.
        self.move_to(session, text)?;
        Ok(true)
    }

    /// Says whether a session works in a workspace that this home made for it.
    pub fn has_workspace(&self, session: &Session) -> bool {
        self.owned_workspace(session).is_some_and(|root| Path::new(session.cwd()) == root)
    }

    /// Makes the directory of a workspace, and notes that it is ours.
    fn provision(&self, session: &Session, storage: &Path) -> Result<PathBuf, EngineError> {
        if !is_tame(session.id()) {
            return Err(EngineError::Invalid(format!("{:?} cannot be the name of a directory", session.id().as_str())));
        }
        let storage = make(storage).and_then(|()| storage.canonicalize()).map_err(io("make", storage))?;
        // The home is closed to tools, and so would be everything in it.
        if self.apart.iter().any(|home| home.canonicalize().is_ok_and(|home| storage.starts_with(home))) {
            return Err(EngineError::Invalid("a workspace cannot be in the home".into()));
        }
        let root = storage.join(session.id().as_str());
        match fs::DirBuilder::new().mode(0o700).create(&root) {
            // One that is there already may be anybody's, unless nothing is in it.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && is_vacant(&root) => {}
            made => made.map_err(io("make", &root))?,
        }
        make(&storage.join("deployments")).map_err(io("make", &storage))?;
        self.note_workspace(session, &root)?;
        Ok(root)
    }

    /// Removes the workspace that was made for a session, with everything in it, and says where it was. The session stays,
    /// and what its snapshots hold.
    pub fn remove_workspace(&self, session: &Session) -> Result<Option<PathBuf>, EngineError> {
        let _lease = self.store.lease(session.location(), self.now())?;
        let Some(owned) = self.owned_by(session) else { return Ok(None) };
        owned.remove(false)?;
        Ok(Some(owned.root))
    }

    /// Says what there is to know about the directory that a session works in. Nothing is kept or put back.
    pub fn describe_workspace(&self, session: &mut Session) -> Result<WorkspaceInfo, EngineError> {
        let id = session.id().to_string();
        let owned = self.owned_workspace(session);
        let root = owned.clone().unwrap_or_else(|| PathBuf::from(session.cwd()));
        let mount = if owned.is_some() { format!("/mnt/{id}") } else { root.display().to_string() };
        let latest = session.account()?.latest;
        // A directory that is gone is neither the same nor another.
        let is_there = latest.is_some() && Path::new(session.cwd()).is_dir();
        let glance = if is_there { self.glance_at_snapshots(session)? } else { None };
        let is_dirty = match (&glance, latest) {
            (Some(glance), Some(latest)) => Some(!glance.is_as(latest)?),
            _ => None,
        };
        let is_interrupted = glance.as_ref().map_or(Ok(false), Glance::is_interrupted)?;
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
            is_interrupted,
            id,
            root,
            mount,
        })
    }

    /// Makes a workspace exactly what a snapshot holds: everything else goes, whoever made it, also what snapshots do not
    /// cover, unless it was there then. What was there is kept in a snapshot first, as far as one can hold it; the rest is
    /// told. Only what this home made can be reset.
    pub fn reset_workspace(
        &self,
        session: &mut Session,
        target: &SnapshotEntry,
        dry_run: bool,
    ) -> Result<RestoreReport, EngineError> {
        if self.owned_workspace(session).is_none() {
            let reason =
                "only a workspace that was made for the session can be reset; `restore` puts files back elsewhere";
            return Err(EngineError::Invalid(reason.into()));
        }
        let _lease = self.begin_travel(session, dry_run)?;
        let mut sight = self.sight(session, dry_run)?;
        let taken = sight.look(session)?;
        let stay = STANDARD.map(|(name, _)| Path::new(name));
        let (mut plan, uncovered) = sight.plan_exactly(target.commit, taken.id, &stay)?;
        sight.settle(&mut plan, true)?;
        let is_final = |conflict| matches!(conflict, Some(Conflict::Forbidden | Conflict::Uncovered));
        let is_there = plan.steps.iter().all(|step| is_final(step.conflict));
        if is_there && !dry_run {
            self.note_standing(session, &sight, (&taken, target), "workspace")?;
        }
        let Some(mut store) = sight.near().filter(|_| !is_there) else {
            return Ok(RestoreReport { plan, uncovered, ..RestoreReport::default() });
        };
        let mut doing = Doing::several("workspace", self, session);
        let applied = self.apply(session, &mut store, (&plan, true), &target.id(), None, &mut doing)?;
        self.record(session, &mut doing, vec![applied.draft])?;
        let (safety, restored) = (Some(applied.safety), applied.restored);
        Ok(RestoreReport { plan, safety, restored, uncovered, ..RestoreReport::default() })
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

/// Says whether a path is a directory, and no link to one, with nothing in it.
fn is_vacant(path: &Path) -> bool {
    let is_directory = fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    is_directory && fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}
