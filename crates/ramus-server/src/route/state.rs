//! What holds at the end of a path: the model and where it comes from, the mode, the rules.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::settings::{resolve_model, resolve_provider};
use ramus_wire::state as shape;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// What is asked.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The end of the path; the leaf when none is named.
    entry: Option<String>,
    /// The role of the model.
    role: Option<String>,
    /// Choose as if a call named this model.
    model: Option<String>,
    /// Choose as if a call named this provider.
    provider: Option<String>,
}

/// Tells what holds at the leaf, or at another entry.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/state", tag = "entries",
    params(("id" = String, Path, description = "The session"), Wanted),
    responses((status = 200, description = "What holds", body = shape::SessionState), Refusals))]
pub(crate) async fn state(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let leaf = match &wanted.entry {
            Some(entry) => Some(session.resolve(entry)?),
            None => session.log().leaf(),
        };
        let state = session.context(leaf)?.state;
        let settings = app.workshop.settings(session.cwd())?;
        let role = wanted.role.as_deref().unwrap_or("default");
        let model = resolve_model(wanted.model.as_deref(), &state, role, &settings);
        let provider = resolve_provider(wanted.provider.as_deref(), model.as_ref(), &settings);
        let told = shape::state((&session, leaf), role, (model.as_ref(), provider.as_ref()), &state);
        Ok(Answer::object(told).at(session.log().len() as u64))
    })
    .await
}
