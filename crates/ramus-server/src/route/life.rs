//! The life of a session: its root, out of the way and back, starting afresh, starting over, erasing.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{Boot as Seed, EngineError, Purge as How, PurgeScope, Session};
use ramus_wire::{life as shape, session};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Body, Expected, Named, Nothing};

/// Puts a session out of the way of lists.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/archive", tag = "sessions", request_body = Nothing,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The session", body = session::ListedSession), Refusals))]
pub(crate) async fn archive(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    app.work(move |app| listed(app, app.session_at(&owner, &id, expected)?, |session| app.engine.archive(session)))
        .await
}

/// Brings an archived session back.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/unarchive", tag = "sessions", request_body = Nothing,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The session", body = session::ListedSession), Refusals))]
pub(crate) async fn unarchive(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    app.work(move |app| listed(app, app.session_at(&owner, &id, expected)?, |session| app.engine.unarchive(session)))
        .await
}

fn listed(
    app: &App,
    mut session: Session,
    change: impl FnOnce(&mut Session) -> Result<(), EngineError>,
) -> Result<Answer, ApiError> {
    change(&mut session)?;
    let position = app.finish(&mut session)?;
    let info = app.engine.describe(&session, &app.directory)?;
    Ok(Answer::of(&session::ListedSession { session: session::session(&info, &app.prices) })?.at(position))
}

/// What the root of a session says.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Boot {
    /// A word of welcome, for people.
    welcome: Option<String>,
    /// A system message, for models.
    system: Option<String>,
}

/// Seeds the root of a session, once. Doing it again changes nothing and tells what the first time said.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/boot", tag = "sessions", request_body = Boot,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The root", body = shape::BootedSession), Refusals))]
pub(crate) async fn boot(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(boot): Body<Boot>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let late = || ApiError::invalid("something was said in the session before it could be seeded");
        let seed = Seed { welcome: boot.welcome, system: boot.system };
        let booted = app.engine.boot(&mut session, &seed)?.ok_or_else(late)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::booted(&booted)).at(position))
    })
    .await
}

/// Whether something is done, or only said.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Really {
    /// Only say what would happen.
    dry_run: bool,
}

/// Lets a model start afresh: it is sent nothing of what was said so far.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/clear", tag = "sessions", request_body = Really,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What is left out", body = shape::ClearedContext), Refusals))]
pub(crate) async fn clear(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(really): Body<Really>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let cleared = app.engine.clear(&mut session, really.dry_run)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::cleared(&cleared, &session, really.dry_run)).at(position))
    })
    .await
}

/// Erases everything that was said and done in a session, for good.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/reset", tag = "sessions", request_body = Really,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was erased", body = shape::ResetSession), Refusals))]
pub(crate) async fn reset(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(really): Body<Really>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        app.shelf.close(session.id());
        let reset = app.engine.reset(&mut session, really.dry_run)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::reset(&reset, really.dry_run)).at(position))
    })
    .await
}

/// What is erased.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Purge {
    /// The entry; everything below it goes too.
    entry: String,
    /// The whole branch that the entry is on.
    #[serde(default)]
    branch: bool,
    /// What was asked there is forgotten too.
    #[serde(default)]
    history: bool,
    /// Only say what would happen.
    #[serde(default)]
    dry_run: bool,
}

/// Erases an entry and everything below it, for good.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/purge", tag = "sessions", request_body = Purge,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was erased", body = shape::PurgedSession), Refusals))]
pub(crate) async fn purge(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(purge): Body<Purge>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let entry = session.resolve(&purge.entry)?;
        let scope = if purge.branch { PurgeScope::Branch } else { PurgeScope::Subtree };
        app.shelf.close(session.id());
        let purged = app.engine.purge(&mut session, entry, How { scope, dry_run: purge.dry_run })?;
        let prompts = if purge.history { purged.prompts.as_slice() } else { &[] };
        // Last: what could not be erased keeps its prompts.
        let forgotten = app.engine.forget_prompts(prompts, purge.dry_run)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::purged(&purged, forgotten, purge.dry_run)).at(position))
    })
    .await
}
