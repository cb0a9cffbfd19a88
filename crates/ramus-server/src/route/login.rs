//! Logging a browser in. The token stands behind the `#` of the login URL, where no server and no log sees it; a script of
//! ours sends it once and gets a cookie, which works only from our own pages.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::access::COOKIE_LIFETIME;
use crate::app::App;
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::guard::{Peer, Site, cookie_of};
use crate::input::{Body, Nothing};

const PAGE: &str = include_str!("login.html");
const SCRIPT: &str = include_str!("login.js");

/// What the page may do: run its own script, and ask this server.
const POLICY: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

/// The longest body of somebody who has shown no token yet.
pub(super) const BODY: usize = 1 << 12;

/// What is exchanged for a cookie.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Login {
    /// The token.
    token: String,
}

/// The page of the login URL.
pub(crate) async fn page() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, POLICY)], PAGE)
}

/// The script of that page.
pub(crate) async fn script() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], SCRIPT)
}

/// Exchanges a token for a cookie.
#[utoipa::path(post, path = "/login", tag = "server", security(()), request_body = Login,
    responses((status = 204, description = "The cookie is set"), Refusals))]
pub(crate) async fn login(
    State(app): State<Arc<App>>,
    axum::Extension(peer): axum::Extension<Peer>,
    axum::Extension(site): axum::Extension<Site>,
    Body(login): Body<Login>,
) -> Result<Response, ApiError> {
    let Some(cookie) = app.access.cookie_for(&login.token) else {
        app.attempts.failed(&peer).await?;
        return Err(ApiError::new(Kind::Unauthenticated, "that is not the token"));
    };
    Ok(set_cookie(&app, &site, &cookie, COOKIE_LIFETIME))
}

/// Takes the cookie away from the browser that sends this; it lets nobody in any more. The token that it was made of stays
/// what it is.
#[utoipa::path(post, path = "/logout", tag = "server", security(()), request_body = Nothing,
    responses((status = 204, description = "The cookie is gone"), Refusals))]
pub(crate) async fn logout(
    State(app): State<Arc<App>>,
    axum::Extension(site): axum::Extension<Site>,
    headers: HeaderMap,
    Body(Nothing {}): Body<Nothing>,
) -> Response {
    if let Some(cookie) = cookie_of(&app, &headers) {
        app.access.dismiss(cookie);
    }
    set_cookie(&app, &site, "", 0)
}

fn set_cookie(app: &App, site: &Site, cookie: &str, lifetime: u32) -> Response {
    let secure = if site.is_encrypted() { "; Secure" } else { "" };
    let set = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict{secure}; Max-Age={lifetime}", app.cookie);
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, set)]).into_response()
}
