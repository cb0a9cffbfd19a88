//! What happens, as it happens: server-sent events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::Stream;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

use crate::access::Owner;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::hub::{self, After, Reader, event};
use crate::input::{Asked, Named};
use crate::run::Running;

/// Where reading starts.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// Behind this event, for clients that cannot send `Last-Event-ID`, or behind a position of the log as it is now.
    after: Option<String>,
}

/// Where reading of everything starts, and what is told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct FromAll {
    /// Behind this event, for clients that cannot send `Last-Event-ID`.
    after: Option<String>,
    /// Tell answers word by word too, as the streams of single sessions do. Words are not told again.
    pieces: bool,
}

/// What a client names as the last event it has.
fn last(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(header) = headers.get("last-event-id") else { return Ok(None) };
    let wrong = |_| ApiError::usage("`Last-Event-ID` holds the id of an event, which is plain text");
    let id = header.to_str().map_err(wrong)?.trim();
    Ok(Some(id).filter(|id| !id.is_empty()))
}

/// Streams the events of a session. The id of an event is the position of its entry in the log; whoever comes back with one,
/// also after a restart, gets everything that was stored behind it once, in order. An entry may tell several things: the last of
/// them has its position, those before it `12.1`, `12.2`. Behind an `@` an id says which log it is about when a session of
/// this id may have had another one, before a reset or a deletion: whoever names that one gets `reset`. What is not stored has
/// no id and is not told again.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/events", tag = "events",
    params(("id" = String, Path, description = "The session"), From,
        ("Last-Event-ID" = Option<String>, Header, description = "The position to go on from")),
    responses((status = 200, description = "Events", body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn of_session(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(from): Asked<From>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let wrong = || ApiError::usage("an event of a session is named by a position: a number");
    let after = match last(&headers)? {
        Some(id) => Some(After::event(id).ok_or_else(wrong)?),
        None => from.after.map(|after| After::position(&after).ok_or_else(wrong)).transpose()?,
    };
    let session = app.work(move |app| app.session(&owner, &id)).await?;
    let name = session.id().to_string();
    let reader = Reader::start(&app, session, after).await?;
    let (kind, seq) = (if reader.is_lost() { "reset" } else { "open" }, reader.position());
    let mut told = ramus_wire::members(json!({"type": kind, "session": name, "seq": seq}));
    if reader.is_lost() {
        told.insert("message".into(), "the log is another one, or does not reach that far; read it anew".into());
    }
    let first = event(kind, reader.id().as_deref(), &told.into()).text;
    let first = Bytes::from([b"retry: 1000\n\n", &*first].concat());
    Ok(sse(reader.into_stream(first)))
}

/// Streams what happens in all sessions: `session.created`, `session.updated`, `session.deleted`, and what turns do. It starts with
/// `open`, whose id is where the stream stands; who comes back in time behind any id misses nothing. Otherwise, as after a restart
/// of the server, `reset` says so: what was missed is found in the list of the sessions and in the events of each of them.
#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    params(FromAll, ("Last-Event-ID" = Option<String>, Header, description = "The event to go on from")),
    responses((status = 200, description = "Events", body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn of_all(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(from): Asked<FromAll>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let after = last(&headers)?.or(from.after.as_deref());
    app.watch_all().await;
    Ok(sse(hub::global(&app, owner, after, from.pieces)))
}

/// Streams what a turn does until it ends.
pub(crate) fn stream(
    events: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static,
    run: &Running,
) -> Response {
    let mut told = run.to_json();
    told.insert("type".into(), "run".into());
    let first = futures_util::stream::iter([Ok(event("run", None, &told.into()).text)]);
    sse(futures_util::StreamExt::chain(first, events))
}

fn sse(events: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Response {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(events)).into_response()
}
