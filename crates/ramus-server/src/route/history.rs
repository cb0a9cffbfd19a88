//! What people asked.

use std::sync::Arc;

use axum::extract::State;
use ramus_catalogue::HistoryQuery;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::Asked;

/// How many prompts there are when nobody says, and at most.
const PROMPTS: usize = 50;
const MOST: usize = 10_000;

/// Which prompts are read.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Remembered {
    /// Words that must all be in the prompt.
    q: String,
    /// Only prompts of this directory.
    cwd: Option<String>,
    /// At most so many.
    limit: Option<usize>,
}

/// Finds prompts, newest first. Only those of the user of the home are remembered, and nobody else may read them.
#[utoipa::path(get, path = "/api/v1/history", tag = "search", params(Remembered),
    responses((status = 200, description = "The prompts", body = ramus_wire::search::Prompts), Refusals))]
pub(crate) async fn history(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(remembered): Asked<Remembered>,
) -> Result<Answer, ApiError> {
    if !app.access.is_user(&owner) {
        return Err(ApiError::denied("the prompt history belongs to the user of the home"));
    }
    app.work(move |app| {
        let limit = remembered.limit.unwrap_or(PROMPTS).clamp(1, MOST);
        let prompts = app.engine.prompts(&HistoryQuery { text: remembered.q, cwd: remembered.cwd, limit })?;
        Ok(Answer::object(ramus_wire::search::prompts(&prompts)))
    })
    .await
}
