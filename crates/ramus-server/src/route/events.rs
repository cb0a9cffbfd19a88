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
use serde_json::{Value, json};
use utoipa::IntoParams;

use crate::access::Owner;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::hub::{self, Place, Reader, event};
use crate::input::{Asked, Named};
use crate::run::Running;

/// Where reading starts.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct From {
    /// Behind this event, for clients that cannot send `Last-Event-ID`.
    after: Option<String>,
}

/// What a client names as the last event it has.
fn last(headers: &HeaderMap, from: From) -> Option<String> {
    let header = headers.get("last-event-id").and_then(|id| id.to_str().ok()).map(str::trim);
    header.filter(|id| !id.is_empty()).map(str::to_owned).or(from.after)
}

/// Streams the events of a session. The id of an event is the position of its entry in the log; whoever comes back with one,
/// also after a restart, gets everything that was stored behind it once, in order. An entry may tell several things: the last of
/// them has its position, those before it `12.1`, `12.2`. What is not stored has no id and is not told again.
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
    let after = last(&headers, from).map(|id| Place::parse(&id).ok_or_else(wrong)).transpose()?;
    let session = app.work(move |app| app.session(&owner, &id)).await?;
    let name = session.id().to_string();
    let reader = Reader::start(&app, session, after).await?;
    let told = match after {
        Some(after) if after != reader.place() => json!({
            "type": "reset", "session": name, "seq": reader.place().seq,
            "message": "the log does not reach that far; read it anew",
        }),
        _ => json!({"type": "open", "session": name, "seq": reader.place().seq}),
    };
    let kind = told.get("type").and_then(Value::as_str).unwrap_or("open").to_owned();
    // Who goes on in the middle of an entry has named the place already.
    let at = Some(reader.place()).filter(|place| place.part == 0).map(|place| place.seq);
    let first = event(&kind, at, &told).text;
    let first = Bytes::from([b"retry: 1000\n\n", &*first].concat());
    Ok(sse(reader.into_stream(first)))
}

/// Streams what happens in all sessions: `session.created`, `session.updated`, `session.deleted`, and what turns do. Who comes
/// back in time misses nothing; otherwise `reset` says so.
#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    params(From, ("Last-Event-ID" = Option<String>, Header, description = "The event to go on from")),
    responses((status = 200, description = "Events", body = String, content_type = "text/event-stream"), Refusals))]
pub(crate) async fn of_all(
    State(app): State<Arc<App>>,
    owner: Owner,
    Asked(from): Asked<From>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    app.watch_all().await;
    Ok(sse(hub::global(&app, owner, last(&headers, from).as_deref())))
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
