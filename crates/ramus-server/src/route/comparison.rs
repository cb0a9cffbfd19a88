//! Branches, forks and children side by side, and bringing them together.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::MergeBack as What;
use ramus_wire::compare as shape;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Named};

/// What a session is compared with.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Sides {
    /// The entry of this session; its leaf when none is named.
    entry: Option<String>,
    /// The other session; this one when none is named.
    with: Option<String>,
    /// The entry of the other; its leaf when none is named.
    with_entry: Option<String>,
}

/// Compares two branches, forks or sessions.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/compare", tag = "branches",
    params(("id" = String, Path, description = "The session"), Sides),
    responses((status = 200, description = "Where they part and what was said on each side", body = shape::SessionComparison), Refusals))]
pub(crate) async fn compare(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(sides): Asked<Sides>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut left = app.session(&owner, &id)?;
        let right = app.session(&owner, sides.with.as_deref().unwrap_or(&id))?;
        let one = sides.entry.as_deref().map(|entry| left.resolve(entry)).transpose()?;
        let other = sides.with_entry.as_deref().map(|entry| right.resolve(entry)).transpose()?;
        let (one, other) = (one.or(left.log().leaf()), other.or(right.log().leaf()));
        let comparison = app.engine.compare((&mut left, one), (&right, other))?;
        Ok(Answer::object(shape::comparison(&comparison, &app.prices)))
    })
    .await
}

/// What is brought back.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Bring {
    /// The session it comes from.
    from: String,
    /// The end of the branch it comes from; the leaf when none is named.
    #[serde(default)]
    entry: Option<String>,
    /// Tell this.
    #[serde(default)]
    summary: Option<String>,
    /// Tell these messages word for word.
    #[serde(default)]
    messages: Vec<String>,
    /// Only say what would be told.
    #[serde(default)]
    dry_run: bool,
}

/// Tells a session what came of another branch, fork or child.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/merge-back", tag = "branches", request_body = Bring,
    params(("id" = String, Path, description = "The session it is told in"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was told", body = shape::MergedBack), Refusals))]
pub(crate) async fn merge_back(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(bring): Body<Bring>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut into = app.session_at(&owner, &id, expected)?;
        let from = app.session(&owner, &bring.from)?;
        let what = match bring.summary {
            Some(_) if !bring.messages.is_empty() => {
                return Err(ApiError::usage("a summary or messages are told, not both"));
            }
            Some(summary) => What::Summary(summary),
            None if bring.messages.is_empty() => What::Plain,
            None => What::Messages(bring.messages.iter().map(|name| from.resolve(name)).collect::<Result<_, _>>()?),
        };
        let end = bring.entry.as_deref().map(|entry| from.resolve(entry)).transpose()?.or(from.log().leaf());
        let merged = app.engine.merge_back(&mut into, (&from, end), &what, bring.dry_run)?;
        let position = app.finish(&mut into)?;
        Ok(Answer::object(shape::merged(&merged, &into, bring.dry_run)).at(position))
    })
    .await
}
