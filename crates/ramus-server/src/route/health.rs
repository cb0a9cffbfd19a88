//! How the server is, and what it can be asked.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;

use crate::answer::Answer;
use crate::app::App;
use crate::document::{self, Refusals};
use crate::metrics::Now;

/// Says that the server answers.
#[utoipa::path(get, path = "/health", tag = "server", security(()),
    responses((status = 200, description = "The server answers", body = ramus_wire::server::ServerHealth), Refusals))]
pub(crate) async fn health() -> Answer {
    Answer::object(ramus_wire::server::health(env!("CARGO_PKG_VERSION")))
}

/// Counters, as Prometheus reads them.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, description = "The counters", body = String, content_type = "text/plain"), Refusals))]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    let now = Now { working: app.work.busy(), running: app.runs.count(), streams: app.streams.load(Ordering::Relaxed) };
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.write(&now))
}

/// The description of the server.
pub(crate) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], document::document())
}
