//! The health of sessions.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{RecoveryStatus, Treatment};
use ramus_model::SessionId;
use ramus_wire::health as shape;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Body, Named, Nothing};

/// Looks for damage. Changes nothing.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/doctor", tag = "health", params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "What was found", body = shape::HealthReport), Refusals))]
pub(crate) async fn examine(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    treat(app, owner, id, Treatment::LookOnly).await
}

/// Repairs what can be repaired without losing anything.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/doctor", tag = "health", request_body = Nothing,
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "What was done", body = shape::HealthReport), Refusals))]
pub(crate) async fn repair(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    treat(app, owner, id, Treatment::Repair).await
}

async fn treat(app: Arc<App>, owner: Owner, id: String, treatment: Treatment) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let report = app.engine.doctor_id(session.id(), treatment)?;
        Ok(Answer::object(shape::report(&report)))
    })
    .await
}

/// Makes a session writable again after a crash or an error.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/recover", tag = "health", request_body = Nothing,
    params(("id" = String, Path, description = "The session")),
    responses((status = 200, description = "What was done", body = shape::HealthReport), Refusals))]
pub(crate) async fn recover(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        app.shelf.close(session.id());
        Ok(Answer::object(shape::report(&app.engine.recover(&mut session)?)))
    })
    .await
}

/// Repairs what can be repaired in all sessions. Only the user of the home may.
#[utoipa::path(post, path = "/api/v1/doctor", tag = "health", request_body = Nothing,
    responses((status = 200, description = "What was done", body = shape::HomeHealth), Refusals))]
pub(crate) async fn repair_all(
    State(app): State<Arc<App>>,
    owner: Owner,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    app.access.check_user(&owner)?;
    treat_all(app, owner, Treatment::Repair).await
}

/// Looks for damage in all sessions. Changes nothing.
#[utoipa::path(get, path = "/api/v1/doctor", tag = "health",
    responses((status = 200, description = "What was found", body = shape::HomeHealth), Refusals))]
pub(crate) async fn examine_all(State(app): State<Arc<App>>, owner: Owner) -> Result<Answer, ApiError> {
    treat_all(app, owner, Treatment::LookOnly).await
}

async fn treat_all(app: Arc<App>, owner: Owner, treatment: Treatment) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let ours: HashSet<SessionId> = app.sessions_of(&owner)?;
        let is_user = app.access.is_user(&owner);
        let mut examined = app.engine.doctor_all(treatment)?;
        // What cannot be read has no owner; it is for the user of the home to mend.
        examined
            .retain(|one| ours.contains(&SessionId::from(one.session.as_str())) || (is_user && one.outcome.is_err()));
        let leftovers = if is_user { app.engine.leftovers()? } else { Vec::new() };
        let status = |one: &ramus_engine::Examined| {
            one.outcome.as_ref().map_or(RecoveryStatus::Unreadable, |report| report.status)
        };
        let worst = examined.iter().map(status).max().unwrap_or(RecoveryStatus::Clean);
        let disk = if is_user { Some(app.engine.disk()?) } else { None };
        Ok(Answer::object(shape::many(&examined, &leftovers, worst, disk.as_ref())))
    })
    .await
}
