//! The tree of a session.

use std::sync::Arc;

use axum::extract::State;
use ramus_model::Scope;
use ramus_wire::preview::Signs;
use ramus_wire::tree as shape;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// How much of a tree is shown.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Extent {
    /// Labels, metadata and replaced entries too.
    all: bool,
}

/// Shows the tree.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/tree", tag = "entries",
    params(("id" = String, Path, description = "The session"), Extent),
    responses((status = 200, description = "The entries and what they hang from", body = shape::SessionTree), Refusals))]
pub(crate) async fn tree(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(extent): Asked<Extent>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let scope = if extent.all { Scope::All } else { Scope::Visible };
        let tree = session.tree(scope);
        let mut object = shape::head(&session, &tree, scope);
        let signs = Signs::default();
        let entries: Vec<Value> = shape::entries(&session, &tree, &signs).collect::<Result<_, _>>()?;
        object.insert("entries".into(), entries.into());
        Ok(Answer::object(object).at(session.log().len() as u64))
    })
    .await
}
