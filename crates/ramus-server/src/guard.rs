//! What every request passes before anything else looks at it: the name it asks for, the page it comes from, who sends it,
//! what kind of body it brings, and whether the sender may do such things.
//!
//! The checks come in this order and do not depend on the route, so no route can forget one. The first that fails answers.

mod attempts;
mod bodies;
mod hosts;

use std::sync::Arc;
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use crate::access::Known;
use crate::app::App;
use crate::error::{ApiError, Kind};
use crate::log::Line;
use crate::role::Role;
use crate::route::waits_for_turn;
use crate::upload;
pub(crate) use attempts::Attempts;
pub(crate) use bodies::Bodies;
use bodies::with_room;
pub(crate) use hosts::{Hosts, Site};

/// Whom the other end of a connection is known as.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Peer(pub(crate) String);

/// The header in which programs say what they are called, and the longest name.
const SURFACE: HeaderName = HeaderName::from_static("ramus-client");
const SURFACE_LENGTH: usize = 64;

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
    let is_upload = upload::is_one(&method, route.as_deref());
    let admitted = match admit(&app, &parts).await {
        // Of whoever has shown nothing yet, routes take little. What is kept on the disk needs no room.
        Ok((site, known)) if known.is_none() || is_upload => Ok((site, known, body, None)),
        Ok((site, known)) => app.bodies.admit(body).await.map(|(body, room)| match room {
            // What was said is a part of the turn then, which may take hours.
            Some(room) if waits_for_turn(&method, route.as_deref()) => (site, known, with_room(body, room), None),
            room => (site, known, body, room),
        }),
        Err(error) => Err(error),
    };
    let mut response = match admitted {
        Ok((site, known, body, _room)) => {
            parts.extensions.insert(site);
            if let Some(known) = &known {
                parts.extensions.insert(known.owner.clone().through(surface(known, &parts.headers)));
                parts.extensions.insert(known.role);
            }
            let answer = next.run(Request::from_parts(parts, body));
            let answer = if is_upload || waits_for_turn(&method, route.as_deref()) {
                answer.await
            } else {
                let answer = tokio::time::timeout(app.limits.request, answer).await;
                answer.unwrap_or_else(|_| late(&method).into_response())
            };
            match known {
                Some(known) => while_known(&app, known, answer),
                None => answer,
            }
        }
        Err(error) => error.into_response(),
    };
    app.log_failure(&mut response, method.as_str(), route.as_deref());
    dress(response.headers_mut());
    let status = response.status().as_u16();
    app.metrics.answered(status);
    if app.log_requests {
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        app.log.say(&Line::Request { method: method.to_string(), route, status, millis });
    }
    response
}

/// Says that a request took too long.
pub(crate) fn late(method: &Method) -> ApiError {
    let error = ApiError::new(Kind::Late, "the request took too long");
    if method.is_safe() { error } else { error.hint("it may still be carried out; look before trying again") }
}

/// Events go on for as long as whoever reads them may come in, and no longer.
fn while_known(app: &App, known: Known, answer: Response) -> Response {
    let kind = answer.headers().get(header::CONTENT_TYPE);
    if kind.is_none_or(|kind| !kind.as_bytes().starts_with(b"text/event-stream")) {
        return answer;
    }
    let ended = Box::pin(app.access.clone().ended(known));
    answer.map(|events| Body::from_stream(events.into_data_stream().take_until(ended)))
}

/// Adds what every answer says, unless a route said it otherwise.
fn dress(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

/// Says which of our sites is asked and for whom a request is made; nobody on the few routes that anyone may ask.
async fn admit(app: &App, request: &Parts) -> Result<(Site, Option<Known>), ApiError> {
    let (method, headers) = (&request.method, &request.headers);
    let site = app.hosts.check(&request.uri, headers)?;
    let is_public = is_public(method, request.uri.path());
    check_origin(headers, &site, is_public && method == Method::GET)?;
    let peer = request.extensions.get::<Peer>().cloned().unwrap_or_else(|| Peer(String::new()));
    if is_public {
        check_media_type(method, headers)?;
        return Ok((site, None));
    }
    // Others may guess from the same address: only what is wrong waits for its turn.
    let Some(known) = authenticate(app, method, headers, &site) else {
        app.attempts.failed(&peer).await?;
        let error = ApiError::new(Kind::Unauthenticated, "a token is needed");
        return Err(error.hint("send `Authorization: Bearer TOKEN`, or open the login URL that the server printed"));
    };
    check_media_type(method, headers)?;
    let route = request.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let needed = Role::needed(method, route);
    if known.role < needed {
        return Err(ApiError::denied(format!("this needs a token that may {}", needed.name())));
    }
    Ok((site, Some(known)))
}

/// Names the surface that sends a request: the web view has a cookie, and whoever has a token may say what they are.
fn surface<'h>(known: &Known, headers: &'h HeaderMap) -> Option<&'h str> {
    if known.is_browser() {
        return Some("web");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let said = headers.get(SURFACE)?.to_str().ok()?;
    ((1..=SURFACE_LENGTH).contains(&said.len()) && said.chars().all(is_plain)).then_some(said)
}

/// The routes that need no token. Shares have a secret of their own.
fn is_public(method: &Method, path: &str) -> bool {
    match *method {
        Method::GET | Method::HEAD => {
            let is_file = path.starts_with("/assets/") || path.starts_with("/share/");
            is_file || matches!(path, "/" | "/health" | "/login" | "/login.js")
        }
        Method::POST => matches!(path, "/login" | "/logout"),
        _ => false,
    }
}

/// A page may ask only the server it came from. Links from elsewhere lead to public pages and nowhere else.
fn check_origin(headers: &HeaderMap, ours: &Site, may_be_linked: bool) -> Result<(), ApiError> {
    let elsewhere = || ApiError::denied("the request comes from a page of another origin");
    for origin in headers.get_all(header::ORIGIN) {
        if origin.to_str().ok() != Some(ours.as_str()) {
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
fn authenticate(app: &App, method: &Method, headers: &HeaderMap, ours: &Site) -> Option<Known> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    if let Some(first) = given.next() {
        let (scheme, token) = first.to_str().ok()?.split_once(' ')?;
        let is_bearer = scheme.eq_ignore_ascii_case("bearer") && given.next().is_none();
        return app.access.by_token(token.trim()).filter(|_| is_bearer);
    }
    // A cookie comes along with whatever a browser sends; that one of our pages sent it must be said too.
    let said_by = |name: &HeaderName, value: &str| headers.get(name).is_some_and(|said| said == value);
    let is_said = said_by(&FETCH_SITE, "same-origin") || said_by(&header::ORIGIN, ours.as_str());
    // Of a page that came unencrypted from another machine, browsers say it only where something is sent. What only reads
    // changes nothing, no page of another origin can see the answer, and none of another site has the cookie sent.
    let is_silent = !headers.contains_key(FETCH_SITE) && !headers.contains_key(header::ORIGIN);
    let is_looking = is_silent && matches!(*method, Method::GET | Method::HEAD);
    if !is_said && !is_looking {
        return None;
    }
    app.access.by_cookie(cookie_of(app, headers)?)
}

/// Returns the cookie of ours that a browser sends.
pub(crate) fn cookie_of<'h>(app: &App, headers: &'h HeaderMap) -> Option<&'h str> {
    let mut cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let ours = cookies.find_map(|line| {
        line.split(';').find_map(|pair| pair.trim().split_once('=').filter(|(name, _)| *name == app.cookie))
    });
    ours.map(|(_, cookie)| cookie)
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
