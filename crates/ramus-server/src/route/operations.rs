//! What was done to a session, and taking it back.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{RestoreOptions, Session};
use ramus_model::operation::Way;
use ramus_wire::operation as shape;
use ramus_wire::preview::Signs;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Named};

/// How many operations a page holds when nobody says, and at most.
const PAGE: usize = 50;
const MOST: usize = 1000;

/// Which operations are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// At most so many.
    limit: Option<usize>,
    /// Behind this operation: the `next_cursor` of the page before.
    cursor: Option<String>,
    /// What was done to its forks and children too; there is one page of that.
    all: bool,
}

/// Lists what was done to a session, newest first.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/log", tag = "operations",
    params(("id" = String, Path, description = "The session"), Range),
    responses((status = 200, description = "The operations", body = shape::OperationLog), Refusals))]
pub(crate) async fn log(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(range): Asked<Range>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let limit = range.limit.unwrap_or(PAGE).clamp(1, MOST);
        let position = session.log().len() as u64;
        if !range.all {
            let page = session.operations(Some(limit), range.cursor.as_deref())?;
            return Ok(Answer::object(shape::page(&session, &page, &Signs::default())?).at(position));
        }
        if range.cursor.is_some() {
            return Err(ApiError::usage("what was done to all of them has no pages"));
        }
        let audited = app.engine.audit(&session)?;
        let is_ours = |session: &Session| session.owner() == owner.name();
        Ok(Answer::object(shape::audited(&session, &audited, limit, &Signs::default(), is_ours)?).at(position))
    })
    .await
}

/// How something is taken back.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Back {
    /// Only say what would happen.
    dry_run: bool,
    /// Overwrite what people changed since.
    force: bool,
    /// The operation that is meant, by its id or by one of its entries: when another one would be next, nothing happens (409).
    operation: Option<String>,
}

/// Takes back what was done last to a session: a turn with its files, a title, a label.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/undo", tag = "operations", request_body = Back,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was taken back", body = shape::TakenBackOperation), Refusals))]
pub(crate) async fn undo(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(back): Body<Back>,
) -> Result<Answer, ApiError> {
    app.work(move |app| take_back(app, app.session_at(&owner, &id, expected)?, &back, Way::Undo)).await
}

/// Does again what was undone last.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/redo", tag = "operations", request_body = Back,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was done again", body = shape::TakenBackOperation), Refusals))]
pub(crate) async fn redo(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(back): Body<Back>,
) -> Result<Answer, ApiError> {
    app.work(move |app| take_back(app, app.session_at(&owner, &id, expected)?, &back, Way::Redo)).await
}

fn take_back(app: &App, mut session: Session, back: &Back, way: Way) -> Result<Answer, ApiError> {
    let options = RestoreOptions { dry_run: back.dry_run, force: back.force, ..RestoreOptions::default() };
    let taken = match (way, &back.operation) {
        (way, Some(operation)) => app.engine.take_back_this(&mut session, (way, operation), &options)?,
        (Way::Undo, None) => app.engine.undo(&mut session, &options)?,
        (Way::Redo, None) => app.engine.redo(&mut session, &options)?,
    };
    let position = app.finish(&mut session)?;
    Ok(Answer::object(shape::taken_back(&session, &taken)?).at(position))
}
