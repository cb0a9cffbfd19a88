//! What turns did to files.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::files as shape;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// Which part of which path is looked at.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Stretch {
    /// The entry it starts with; the root when none is named.
    since: Option<String>,
    /// The entry it ends with; the leaf when none is named.
    entry: Option<String>,
}

/// Shows what calls of tools changed in files on a part of a path.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/changes", tag = "files",
    params(("id" = String, Path, description = "The session"), Stretch),
    responses((status = 200, description = "What changed", body = shape::FileChanges), Refusals))]
pub(crate) async fn changes(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(stretch): Asked<Stretch>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session(&owner, &id)?;
        let since = stretch.since.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        let end = stretch.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?.or(session.log().leaf());
        let diffs = match end {
            Some(end) => app.engine.changes(&mut session, since, end)?,
            None => Vec::new(),
        };
        Ok(Answer::object(shape::diffs(&diffs)))
    })
    .await
}
