//! The web view: its page and its files, which anyone may read, because they hold nothing of a home.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

use crate::error::ApiError;
use crate::input::Named;

/// The page. It names its files by their hash, so it is asked for each time and sent only when it changed.
pub(crate) async fn page(headers: HeaderMap) -> Response {
    let tag = format!("\"{}\"", ramus_web::bundle());
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes());
    let common = [
        (header::ETAG, tag.as_str()),
        (header::CACHE_CONTROL, "no-cache"),
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, ramus_web::POLICY),
    ];
    if is_known {
        (StatusCode::NOT_MODIFIED, common).into_response()
    } else {
        (common, ramus_web::page()).into_response()
    }
}

/// A file of the page. Its address changes when any file does.
pub(crate) async fn asset(Named((bundle, name)): Named<(String, String)>) -> Result<Response, ApiError> {
    let missing = || ApiError::not_found("there is no such file, or it is of another version");
    let asset = ramus_web::asset(&bundle, &name).ok_or_else(missing)?;
    let headers = [
        (header::CONTENT_TYPE, asset.media_type()),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::ETAG, &format!("\"{bundle}\"")),
    ];
    Ok((headers, asset.bytes).into_response())
}
