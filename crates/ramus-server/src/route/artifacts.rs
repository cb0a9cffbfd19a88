//! What tools made in a session.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::artifact as shape;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// Up to where to look.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct UpTo {
    /// The last entry that counts; the leaf when none is named.
    entry: Option<String>,
}

/// Lists what tools made on the path, newest first.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/artifacts", tag = "entries",
    params(("id" = String, Path, description = "The session"), UpTo),
    responses((status = 200, description = "What was made", body = shape::Artifacts), Refusals))]
pub(crate) async fn artifacts(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(up_to): Asked<UpTo>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let entry = up_to.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        let artifacts = session.artifacts(entry.or(session.log().leaf()))?;
        Ok(Answer::object(shape::list(session.id(), &artifacts)))
    })
    .await
}
