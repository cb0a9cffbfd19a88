//! What a list of sessions can be narrowed to.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::facets as shape;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;

/// Counts sessions by agent, project and tag.
#[utoipa::path(get, path = "/api/v1/facets", tag = "sessions",
    responses((status = 200, description = "Agents, projects and tags, each with a number of sessions", body = shape::SessionFacets), Refusals))]
pub(crate) async fn facets(State(app): State<Arc<App>>, owner: Owner) -> Result<Answer, ApiError> {
    app.work(move |app| Ok(Answer::object(shape::facets(&app.engine.facets(Some(owner.name()))?)))).await
}
