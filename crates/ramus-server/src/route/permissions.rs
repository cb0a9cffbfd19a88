//! What the models of a session may do, and what people said yes to.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::permission as shape;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// Whose rules are shown.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Whose {
    /// The agent; the one that answers when none is named.
    agent: Option<String>,
}

/// Lists rules in the order they are read, and approvals.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/permissions", tag = "permissions",
    params(("id" = String, Path, description = "The session"), Whose),
    responses((status = 200, description = "Rules and approvals", body = shape::PermissionsInForce), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(whose): Asked<Whose>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let settings = app.workshop.settings(session.cwd())?;
        let mode = session.context(session.log().leaf())?.state.mode;
        let agent = settings.resolve_agent(whose.agent.as_deref(), &mode)?;
        let permissions = agent.permissions(&settings, session.rules()?);
        let approvals = app.engine.approvals(&session)?;
        let built_in = ramus_tools::shell::defaults::rules().len();
        Ok(Answer::object(shape::in_force(&session, &agent, &permissions, built_in, &approvals)))
    })
    .await
}

/// Takes an approval back.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}/permissions/{approval}", tag = "permissions",
    params(("id" = String, Path, description = "The session"), ("approval" = String, Path, description = "The approval")),
    responses((status = 200, description = "The approval that held until now", body = shape::RevokedApproval), Refusals))]
pub(crate) async fn revoke(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named((id, approval)): Named<(String, String)>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        let granted = app.engine.revoke_approval(&mut session, &approval)?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::revoked(&granted)).at(position))
    })
    .await
}
