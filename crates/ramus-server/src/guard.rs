//! What every request passes before anything else looks at it: the name it asks for, the page it comes from, who sends it,
//! what kind of body it brings, and whether the sender may do such things.
//!
//! The checks come in this order and do not depend on the route, so no route can forget one. The first that fails answers.

mod attempts;
mod hosts;

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::access::{Access, COOKIE, Owner};
use crate::app::App;
use crate::error::{ApiError, Kind};
use crate::log::Line;
use crate::role::Role;
pub(crate) use attempts::Attempts;
pub(crate) use hosts::Hosts;

/// Whom the other end of a connection is known as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Peer(pub(crate) String);

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Headers of every answer: nothing is framed, sniffed, cached or passed on.
const HEADERS: [(HeaderName, &str); 7] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Lets a request through, or answers it.
pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (mut parts, body) = request.into_parts();
    let method = parts.method.clone();
    let route = parts.extensions.get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let mut response = match admit(&app, &parts).await {
        Ok(known) => {
            if let Some((owner, role)) = known {
                parts.extensions.insert(owner);
                parts.extensions.insert(role);
            }
            match tokio::time::timeout(app.limits.request, next.run(Request::from_parts(parts, body))).await {
                Ok(response) => response,
                Err(_) => late(&method).into_response(),
            }
        }
        Err(error) => error.into_response(),
    };
    dress(response.headers_mut());
    let status = response.status().as_u16();
    app.metrics.answered(status);
    if app.log_requests {
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        app.log.say(&Line::Request { method: method.to_string(), route, status, millis });
    }
    response
}

fn late(method: &Method) -> ApiError {
    let error = ApiError::new(Kind::Late, "the request took too long");
    if method.is_safe() { error } else { error.hint("it may still be carried out; look before trying again") }
}

/// Adds what every answer says, unless a route said it otherwise.
fn dress(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Says for whom a request is made; nobody on the few routes that anyone may ask.
async fn admit(app: &App, request: &Parts) -> Result<Option<(Owner, Role)>, ApiError> {
    let (method, headers) = (&request.method, &request.headers);
    let host = app.hosts.check(&request.uri, headers)?;
    let is_public = is_public(method, request.uri.path());
    let origin = format!("{}://{host}", app.scheme);
    check_origin(headers, &origin, is_public && method == Method::GET)?;
    if is_public {
        check_media_type(method, headers)?;
        return Ok(None);
    }
    let peer = request.extensions.get::<Peer>().cloned().unwrap_or_else(|| Peer(String::new()));
    app.attempts.allow(&peer)?;
    let Some((owner, role)) = authenticate(&app.access, headers, &origin) else {
        app.attempts.failed(&peer).await;
        let error = ApiError::new(Kind::Unauthenticated, "a token is needed");
        return Err(error.hint("send `Authorization: Bearer TOKEN`, or open the login URL that the server printed"));
    };
    check_media_type(method, headers)?;
    let route = request.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let needed = Role::needed(method, route);
    if role < needed {
        return Err(ApiError::denied(format!("this needs a token that may {}", needed.name())));
    }
    Ok(Some((owner, role)))
}

/// The routes that need no token. Shares have a secret of their own.
fn is_public(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET | Method::HEAD => {
            let is_file = path.starts_with("/assets/") || path.starts_with("/share/");
            is_file || matches!(path, "/" | "/health" | "/login" | "/login.js")
        }
        Method::POST => path == "/login",
        _ => false,
    }
}

/// A page may ask only the server it came from. Links from elsewhere lead to public pages and nowhere else.
fn check_origin(headers: &HeaderMap, ours: &str, may_be_linked: bool) -> Result<(), ApiError> {
    let elsewhere = || ApiError::denied("the request comes from a page of another origin");
    for origin in headers.get_all(header::ORIGIN) {
        if origin.to_str().ok() != Some(ours) {
            return Err(elsewhere());
        }
    }
    for site in headers.get_all(FETCH_SITE) {
        let is_link = may_be_linked && headers.get(FETCH_MODE).is_some_and(|mode| mode == "navigate");
        if site != "same-origin" && site != "none" && !is_link {
            return Err(elsewhere());
        }
    }
    Ok(())
}

/// Finds who sends a request: by the token, or by the cookie of a page of ours.
fn authenticate(access: &Access, headers: &HeaderMap, ours: &str) -> Option<(Owner, Role)> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(first) = given.next() {
        let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer") && given.next().is_none();
        return access.by_token(token.trim()).filter(|_| is_bearer);
    }
    // A cookie comes along with whatever a browser sends; that one of our pages sent it must be said too.
    let said_by = |name: &HeaderName, value: &str| headers.get(name).is_some_and(|said| said == value);
    if !said_by(&FETCH_SITE, "same-origin") && !said_by(&header::ORIGIN, ours) {
        return None;
    }
    let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let ours = cookies.find_map(|line| {
        line.split(';').find_map(|pair| pair.trim().split_once('=').filter(|(name, _)| *name == COOKIE))
    });
    access.by_cookie(ours?.1)
}

/// Bodies are JSON. What a form or a simple script of another page can send is not, and a request that brings no body says
/// so all the same: browsers ask before they send that.
fn check_media_type(method: &Method, headers: &HeaderMap) -> Result<(), ApiError> {
    if !matches!(*method, Method::POST | Method::PUT | Method::PATCH) {
        return Ok(());
    }
    let mut given = headers.get_all(header::CONTENT_TYPE).iter();
    let first = given.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_json = first.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if is_json && given.next().is_none() {
        return Ok(());
    }
    Err(ApiError::new(Kind::MediaType, "bodies are JSON").hint("send `Content-Type: application/json`"))
}
