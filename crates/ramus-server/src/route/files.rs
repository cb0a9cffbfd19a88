//! The files of a session's directory through time.

use std::path::PathBuf;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{RestoreOptions, RevertReport, Session};
use ramus_wire::files as shape;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Named};

/// Which snapshots are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Kept {
    /// Only those that the files came of, as they were put back last.
    lineage: bool,
}

/// Lists what is kept of the directory.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/snapshots", tag = "files",
    params(("id" = String, Path, description = "The session"), Kept),
    responses((status = 200, description = "The snapshots", body = shape::Snapshots), Refusals))]
pub(crate) async fn snapshots(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(kept): Asked<Kept>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let mut all = app.engine.states(&session)?;
        all.retain(|one| one.is_ancestor || !kept.lineage);
        let current = session.info()?.latest_snapshot;
        Ok(Answer::object(shape::listed(&all, current.as_deref())))
    })
    .await
}

/// Lists the files that a snapshot holds.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/snapshots/{snapshot}", tag = "files",
    params(("id" = String, Path, description = "The session"),
        ("snapshot" = String, Path, description = "The start of its id, its entry, or its label")),
    responses((status = 200, description = "The snapshot, and its files with mode, size and hash", body = shape::SnapshotFiles), Refusals))]
pub(crate) async fn held(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, snapshot)): Named<(String, String)>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        let snapshot = app.engine.find_snapshot(&session, &snapshot)?;
        let files = app.engine.snapshot_files(&mut session, &snapshot)?;
        Ok(Answer::object(shape::held(&snapshot, &files)))
    })
    .await
}

/// A snapshot to take.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Take {
    /// What to call it.
    label: Option<String>,
}

/// Keeps the files of the directory as they are now.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/snapshots", tag = "files", request_body = Take,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 201, description = "The snapshot", body = shape::TakenSnapshot), Refusals))]
pub(crate) async fn snapshot(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(take): Body<Take>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let taken = app.engine.snapshot(&mut session, take.label.as_deref())?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::taken(&taken)).status(StatusCode::CREATED).at(position))
    })
    .await
}

/// What is compared.
#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Vec<(String, String)>")]
pub(crate) struct Compared {
    /// The snapshot to start from; the newest when none is named.
    from: Option<String>,
    /// The snapshot to end at; what is there now when none is named.
    to: Option<String>,
    /// Only these files and directories, and what is beneath them.
    paths: Vec<PathBuf>,
}

/// Pairs, because `path` may be there several times.
impl TryFrom<Vec<(String, String)>> for Compared {
    type Error = String;

    fn try_from(pairs: Vec<(String, String)>) -> Result<Self, String> {
        let (mut compared, mut stat) = (Self::default(), None);
        for (name, value) in pairs {
            let before = match name.as_str() {
                "from" => compared.from.replace(value).is_some(),
                "to" => compared.to.replace(value).is_some(),
                "stat" => stat.replace(value).is_some(),
                "path" => {
                    compared.paths.push(value.into());
                    false
                }
                _ => return Err(format!("there is no parameter {name:?}; there are from, to, stat and path")),
            };
            if before {
                return Err(format!("{name:?} is there twice"));
            }
        }
        let wrong = |_| "\"stat\" is true or false".to_owned();
        // Who asks for numbers alone is told the lines too: an answer has one shape.
        stat.map(|stat| stat.parse::<bool>()).transpose().map_err(wrong)?;
        Ok(compared)
    }
}

/// Shows what changed in the files.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/diff", tag = "files",
    params(("id" = String, Path, description = "The session"), ("from" = Option<String>, Query, description = "The snapshot to start from"),
        ("to" = Option<String>, Query, description = "The snapshot to end at"), ("stat" = Option<bool>, Query, description = "Accepted, and without effect: the lines are always told"),
        ("path" = Option<Vec<String>>, Query, description = "Only these files and directories, and what is beneath them; one that neither side holds is not found")),
    responses((status = 200, description = "What changed", body = shape::FileChanges), Refusals))]
pub(crate) async fn diff(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(compared): Asked<Compared>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        let (from, to) = (compared.from.as_deref(), compared.to.as_deref());
        let diffs = app.engine.diff(&mut session, from, to, &compared.paths)?;
        Ok(Answer::object(shape::diffs(&diffs)))
    })
    .await
}

/// What is put back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restore {
    /// The snapshot: the start of its id, its entry, or its label.
    snapshot: String,
    /// Only say what would happen.
    #[serde(default)]
    dry_run: bool,
    /// Overwrite what people changed since.
    #[serde(default)]
    force: bool,
    /// Only these files and directories.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    paths: Vec<PathBuf>,
    /// Remove everything else too, whoever made it; only in a workspace that was made for the session.
    #[serde(default)]
    clean: bool,
}

/// Puts the files back to what a snapshot holds. The conversation stays where it is.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/restore", tag = "files", request_body = Restore,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What became of the files", body = shape::RestoredSnapshot), Refusals))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(restore): Body<Restore>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let target = app.engine.find_snapshot(&session, &restore.snapshot)?;
        let options = RestoreOptions { dry_run: restore.dry_run, force: restore.force, only: restore.paths };
        if restore.clean && (options.force || !options.only.is_empty()) {
            return Err(ApiError::usage("`clean` goes without `force` and `paths`"));
        }
        let report = match restore.clean {
            true => app.engine.reset_workspace(&mut session, &target, restore.dry_run)?,
            false => app.engine.restore(&mut session, &target, &options)?,
        };
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::restored_to(&report, &target, &session)).at(position))
    })
    .await
}

/// Where conversation and files go back to.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Revert {
    /// The last entry that shall count; the leaf when none is named.
    entry: Option<String>,
    /// Only say what would happen.
    dry_run: bool,
    /// Overwrite what people changed after an agent did.
    force: bool,
}

/// Goes back to an entry, with the files as they were.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/revert", tag = "files", request_body = Revert,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What became of conversation and files", body = shape::RevertedSession), Refusals))]
pub(crate) async fn revert(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(revert): Body<Revert>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let entry = session.resolve(revert.entry.as_deref().unwrap_or_default())?;
        let options = RestoreOptions { dry_run: revert.dry_run, force: revert.force, ..RestoreOptions::default() };
        let report = app.engine.revert(&mut session, entry, &options)?;
        reverted(app, &mut session, &report)
    })
    .await
}

/// How a revert is taken back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Unrevert {
    /// Only say what would happen.
    dry_run: bool,
    /// Overwrite what people changed since the revert.
    force: bool,
}

/// Takes a revert back.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/unrevert", tag = "files", request_body = Unrevert,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What became of conversation and files", body = shape::RevertedSession), Refusals))]
pub(crate) async fn unrevert(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(unrevert): Body<Unrevert>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let options = RestoreOptions { dry_run: unrevert.dry_run, force: unrevert.force, ..RestoreOptions::default() };
        let report = app.engine.unrevert(&mut session, &options)?;
        reverted(app, &mut session, &report)
    })
    .await
}

/// Tells what became of conversation and files.
pub(super) fn reverted(app: &App, session: &mut Session, report: &RevertReport) -> Result<Answer, ApiError> {
    let position = app.finish(session)?;
    Ok(Answer::object(shape::reverted(report, session)?).at(position))
}
