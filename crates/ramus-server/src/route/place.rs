//! Where sessions are: their names, their workspaces, and directories that moved.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{EngineError, Filter, WhichDirectory};
use ramus_wire::place as shape;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, cause};
use crate::input::{Asked, Body, Expected, Named};

/// The shortest beginning of an id that names a session.
const SHORTEST: usize = 4;

/// How many candidates are named.
const NAMED: usize = 10;

/// What a session is called.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Called {
    /// An id, the beginning of one, or `last`.
    name: String,
    /// The directory whose most recent session `last` is.
    cwd: Option<String>,
}

/// Finds the whole id of a session. Every other route takes whole ids only.
#[utoipa::path(get, path = "/api/v1/resolve", tag = "sessions", params(Called),
    responses((status = 200, description = "The session", body = shape::ResolvedSession), Refusals))]
pub(crate) async fn resolve(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(called): Asked<Called>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let found = if called.name == "last" {
            last(app, &owner, called.cwd.unwrap_or_else(|| app.directory.clone()))?
        } else {
            by_beginning(app, &owner, &called.name)?
        };
        Ok(Answer::object(shape::resolved(&found)))
    })
    .await
}

/// The most recent session of a directory. Drafts count: who has just started a session means that one.
fn last(app: &App, owner: &Owner, cwd: String) -> Result<String, ApiError> {
    let filter = Filter {
        directory: WhichDirectory::One(cwd.clone()),
        owner: Some(owner.name().to_owned()),
        drafts: true,
        limit: Some(1),
        ..Filter::default()
    };
    let recent = app.engine.list(&filter)?.sessions.into_iter().next();
    Ok(recent.ok_or(EngineError::NoRecentSession(cwd))?.id.to_string())
}

fn by_beginning(app: &App, owner: &Owner, name: &str) -> Result<String, ApiError> {
    if let Ok(session) = app.session(owner, name) {
        return Ok(session.id().to_string());
    }
    let missing = || EngineError::SessionNotFound(name.chars().take(SHORTEST * 64).collect());
    if name.len() < SHORTEST {
        return Err(missing().into());
    }
    let all = app.sessions_of(owner)?;
    let mut found: Vec<String> = all.iter().filter(|id| id.can_be_cut_to(name)).map(ToString::to_string).collect();
    found.sort_unstable();
    match found.len() {
        0 | 1 => Ok(found.pop().ok_or_else(missing)?),
        _ => {
            found.truncate(NAMED);
            Err(EngineError::SessionAmbiguous { reference: name.to_owned(), candidates: found }.into())
        }
    }
}

/// Describes where a session works.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/workspace", tag = "files", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "The workspace", body = shape::SessionWorkspace), Refusals))]
pub(crate) async fn workspace(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        Ok(Answer::object(shape::workspace(&app.engine.describe_workspace(&mut session)?)))
    })
    .await
}

/// Where a workspace is made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Make {
    /// The directory beneath which it is made: an absolute path.
    #[schema(value_type = String)]
    beneath: PathBuf,
}

/// Gives a session a directory of its own, and moves it there. Only the user of the home may.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/workspace", tag = "files", request_body = Make,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The workspace", body = shape::SessionWorkspace), Refusals))]
pub(crate) async fn make_workspace(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(make): Body<Make>,
) -> Result<Answer, ApiError> {
    if !make.beneath.is_absolute() {
        return Err(ApiError::invalid("a workspace is made beneath an absolute path"));
    }
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        app.access.check_user(&owner)?;
        let info =
            app.engine.make_workspace(&mut session, &make.beneath).map_err(|error| chosen(error, &make.beneath))?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::workspace(&info)).at(position))
    })
    .await
}

/// What is wrong with a directory that was named is not wrong with the server.
fn chosen(error: EngineError, beneath: &Path) -> ApiError {
    use io::ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    match cause(&error) {
        Some(cause) if matches!(cause.kind(), NotFound | PermissionDenied | ReadOnlyFilesystem) => {
            ApiError::invalid(format!("no directory can be made beneath {}: {cause}", beneath.display()))
        }
        _ => error.into(),
    }
}

/// A directory that moved.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    /// Where it was: an absolute path.
    from: String,
    /// Where it is now: an absolute path.
    to: String,
    /// Only say what would be done; so it is unless this is false.
    #[serde(default = "yes")]
    dry_run: bool,
}

fn yes() -> bool {
    true
}

/// Takes the sessions of a directory that moved along. Only the user of the home may.
#[utoipa::path(post, path = "/api/v1/relocate", tag = "sessions", request_body = Move,
    responses((status = 200, description = "What was moved", body = shape::RelocatedSessions), Refusals))]
pub(crate) async fn relocate(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(moved): Body<Move>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    if [&moved.from, &moved.to].into_iter().any(|path| !Path::new(path).is_absolute() || path.contains('\0')) {
        return Err(ApiError::invalid("a directory is an absolute path"));
    }
    app.work(move |app| {
        let relocated = app.engine.relocate(&moved.from, &moved.to, moved.dry_run)?;
        Ok(Answer::object(shape::relocated(&moved.from, &moved.to, &relocated, moved.dry_run)))
    })
    .await
}
