//! Which models turns can be run with.

use std::sync::Arc;

use axum::extract::State;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, check_directory};
use crate::role::Role;
use crate::run::ModelQuery;

/// Lists models, and whether this server can ask them.
#[utoipa::path(get, path = "/api/v1/models", tag = "runs", params(ModelQuery),
    responses((status = 200, description = "The models, and the day that what is known about them is of", body = ramus_wire::model::Models), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    _: Owner,
    axum::Extension(role): axum::Extension<Role>,
    Asked(query): Asked<ModelQuery>,
) -> Result<Answer, ApiError> {
    if let Some(cwd) = &query.cwd {
        check_directory(cwd)?;
        // Its settings are read.
        app.check_place(role, cwd, None)?;
    }
    app.work(move |app| {
        let directory = query.cwd.as_deref().unwrap_or(&app.directory);
        Ok(Answer::object(app.workshop.models(&query, directory)?))
    })
    .await
}
