//! What a model would be sent.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::Resumed;
use ramus_wire::context::{self as shape, Dialect, Messages};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// Which context is shown, and how.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// The end of the path; the leaf when none is named.
    entry: Option<String>,
    /// `v3`, or `provider`: as a provider is sent it.
    dialect: Option<String>,
}

/// Shows the context at the leaf, or at another entry.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/context", tag = "entries",
    params(("id" = String, Path, description = "The session"), Wanted),
    responses((status = 200, description = "The messages, and what holds at the end of the path", body = shape::SessionContext), Refusals))]
pub(crate) async fn context(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(wanted): Asked<Wanted>,
) -> Result<Answer, ApiError> {
    let dialect = match wanted.dialect.as_deref() {
        None | Some("v3") => Dialect::V3,
        Some("provider") => Dialect::Provider,
        Some(other) => return Err(ApiError::usage(format!("{other:?} is no dialect")).hint("say v3 or provider")),
    };
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let leaf = match &wanted.entry {
            Some(entry) => Some(session.resolve(entry)?),
            None => session.log().leaf(),
        };
        let position = session.log().len() as u64;
        let turn = Resumed::at(session, leaf)?;
        let messages = Messages::of(&turn, dialect)?;
        let tokens = shape::tokens_of(&turn)?;
        Ok(Answer::bytes(shape::object(&turn, &messages, tokens)).at(position))
    })
    .await
}
