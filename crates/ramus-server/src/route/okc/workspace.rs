//! The workspace of a client: what is kept of its files, and back to that. The conversation stays where it is.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{EngineError, ErrorKind, RestoreOptions, RestoreReport, Session, SnapshotEntry};
use ramus_wire::{files, okc as shape};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::{Client, Whose};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body};

/// How many snapshots are told when nobody says, and at most.
const LISTED: usize = 20;
const MOST: usize = 1000;

/// How many snapshots are told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Listed {
    /// At most so many, the newest ones; 20 when nobody says.
    limit: Option<usize>,
}

impl Listed {
    fn most(&self) -> usize {
        self.limit.unwrap_or(LISTED).min(MOST)
    }
}

/// Lists what is kept of the workspace, newest first. A restore takes nothing from the list.
#[utoipa::path(get, path = "/api/session/workspace/snapshots", tag = "workbench", params(Whose, Listed),
    responses((status = 200, description = "The state of the workspace", body = shape::WorkspaceState), Refusals))]
pub(crate) async fn snapshots(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(listed): Asked<Listed>,
) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.look_beside(&whose, &name, move |app| match app.client_session(&owner, &client)? {
        Some(mut session) => Ok(Answer::object(app.workspace_state(&mut session, listed.most())?)),
        None => Ok(Answer::object(shape::no_workspace())),
    })
    .await
}

/// A snapshot to take.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = WorkspaceTake)]
pub(crate) struct Take {
    /// What to call it, in at most 200 characters.
    label: Option<String>,
}

/// Keeps the files of the workspace as they are now.
#[utoipa::path(post, path = "/api/session/workspace/snapshots", tag = "workbench", request_body = Take, params(Whose, Listed),
    responses((status = 200, description = "The snapshot, and the state of the workspace", body = shape::KeptWorkspace), Refusals))]
pub(crate) async fn snapshot(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(listed): Asked<Listed>,
    Body(take): Body<Take>,
) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| {
        let mut session = app.start_client_session(&owner, &client)?;
        let taken = app.engine.snapshot(&mut session, take.label.as_deref())?;
        let position = app.finish(&mut session)?;
        let state = app.workspace_state(&mut session, listed.most())?;
        let told = shape::KeptWorkspace { state, snapshot_id: taken.snapshot.commit.to_string() };
        Ok(Answer::of(&told)?.at(position))
    })
    .await
}

/// Where files go back to.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default)]
#[schema(as = WorkspaceRestore)]
pub(crate) struct Restore {
    /// The snapshot: its id, the start of it, or its label.
    snapshot_id: Option<String>,
    /// The branch; with a snapshot, the branch is moved there.
    branch: Option<String>,
    /// Whether the branch counts as the one that files are on; it does unless this says otherwise.
    checkout: Option<bool>,
}

/// Puts the files of the workspace back to a snapshot or a branch. The history stays, and so do newer snapshots.
#[utoipa::path(post, path = "/api/session/workspace/restore", tag = "workbench", request_body = Restore, params(Whose, Listed),
    responses((status = 200, description = "What became of the files, and the state of the workspace", body = shape::RestoredWorkspace), Refusals))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(listed): Asked<Listed>,
    Body(restore): Body<Restore>,
) -> Result<Answer, ApiError> {
    let named = |name: Option<String>| name.map(|name| name.trim().to_owned());
    let (id, branch) = (named(restore.snapshot_id), named(restore.branch).filter(|name| !name.is_empty()));
    if id.is_none() && branch.is_none() {
        return Err(ApiError::invalid("a restore names a `snapshot_id` or a `branch`"));
    }
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| {
        let mut session = app.client_session(&owner, &client)?.ok_or_else(unknown)?;
        let target = find(app, &session, id.as_deref(), branch.as_deref())?;
        // A workspace that was removed with a conversation comes back.
        if let Some(storage) = &app.workspaces {
            app.engine.ensure_workspace(&mut session, storage)?;
        }
        let report = go_back(app, &mut session, &target)?;
        match &branch {
            Some(name) => {
                let is_current = restore.checkout.unwrap_or(true);
                app.engine.name_snapshot(&mut session, name, &target, is_current)?;
            }
            None => app.engine.leave_snapshot_name(&mut session)?,
        }
        let position = app.finish(&mut session)?;
        let state = app.workspace_state(&mut session, listed.most())?;
        let (restored, plan) = (target.commit.to_string(), files::restored(&report));
        Ok(Answer::of(&shape::RestoredWorkspace { state, restored, plan })?.at(position))
    })
    .await
}

/// A name for a snapshot.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = WorkspaceBranch)]
pub(crate) struct Branch {
    /// What it is called.
    branch: String,
    /// What it stands for; the files as they are now when nothing is named.
    #[serde(default)]
    snapshot_id: Option<String>,
    /// Whether files go there too.
    #[serde(default)]
    checkout: bool,
}

/// Lets a name stand for a snapshot, also when it stood for another one.
#[utoipa::path(post, path = "/api/session/workspace/branch", tag = "workbench", request_body = Branch, params(Whose, Listed),
    responses((status = 200, description = "The branch, and the state of the workspace", body = shape::NamedWorkspace), Refusals))]
pub(crate) async fn branch(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(listed): Asked<Listed>,
    Body(branch): Body<Branch>,
) -> Result<Answer, ApiError> {
    if !branch.branch.contains(|c: char| c.is_ascii_alphanumeric()) {
        return Err(ApiError::invalid("the name of a branch has letters or digits"));
    }
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| {
        let mut session = app.start_client_session(&owner, &client)?;
        let id = branch.snapshot_id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        let target = match id {
            Some(id) => find(app, &session, Some(id), None)?,
            None => app.engine.snapshot(&mut session, Some(&branch.branch))?.snapshot,
        };
        if id.is_some() && branch.checkout {
            go_back(app, &mut session, &target)?;
        }
        let name = app.engine.name_snapshot(&mut session, &branch.branch, &target, branch.checkout)?;
        let position = app.finish(&mut session)?;
        let state = app.workspace_state(&mut session, listed.most())?;
        let told = shape::NamedWorkspace { state, branch: name, snapshot_id: target.commit.to_string() };
        Ok(Answer::of(&told)?.at(position))
    })
    .await
}

/// Finds what is meant. Whatever a snapshot is not, short or long, is one wrong request.
fn find(app: &App, session: &Session, id: Option<&str>, branch: Option<&str>) -> Result<SnapshotEntry, ApiError> {
    let found = match (id, branch) {
        (Some(id), _) => app.engine.find_snapshot(session, id),
        (None, Some(branch)) => app.engine.find_named_snapshot(session, branch),
        (None, None) => return Err(unknown()),
    };
    found.map_err(refused)
}

/// Puts files back: exactly, in a workspace that was made for the session; elsewhere without touching what others changed.
fn go_back(app: &App, session: &mut Session, target: &SnapshotEntry) -> Result<RestoreReport, ApiError> {
    let report = match app.engine.has_workspace(session) {
        true => app.engine.reset_workspace(session, target, false),
        false => app.engine.restore(session, target, &RestoreOptions::default()),
    };
    report.map_err(refused)
}

fn refused(error: EngineError) -> ApiError {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Ambiguous | ErrorKind::Invalid => ApiError::usage(error.to_string()),
        _ => error.into(),
    }
}

fn unknown() -> ApiError {
    ApiError::usage("the session has no such snapshot")
}
