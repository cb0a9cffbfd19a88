//! Large content, by its hash. Whatever it is, no browser shows or runs it.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use ramus_model::BlobHash;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// Where a blob is needed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Where {
    /// A session that refers to it. Everyone but the user of the home must name one.
    session: Option<String>,
}

/// Reads a blob.
#[utoipa::path(get, path = "/api/v1/blobs/{sha256}", tag = "entries",
    params(("sha256" = String, Path, description = "Its hash"), Where),
    responses((status = 200, description = "Its bytes", body = Vec<u8>, content_type = "application/octet-stream"), Refusals))]
pub(crate) async fn blob(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(name): Named<String>,
    Asked(place): Asked<Where>,
) -> Result<impl IntoResponse, ApiError> {
    let bytes = app.work(move |app| {
        let missing = || ApiError::not_found("there is no such blob");
        let hash = BlobHash::parse(name.as_bytes()).ok_or_else(missing)?;
        let is_allowed = match &place.session {
            Some(id) => app.session(&owner, id)?.refers_to(hash)?,
            None => app.access.is_user(&owner),
        };
        let bytes = if is_allowed { app.engine.blob(hash)? } else { None };
        bytes.ok_or_else(missing)
    });
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
    ];
    Ok((headers, bytes.await?))
}
