//! Which routes heed the headers that make a write depend on something. The others refuse them: whoever sends one relies on
//! it.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;
use utoipa::openapi::OpenApi;

use crate::error::ApiError;

/// The headers.
const HEADERS: [&str; 2] = ["If-Match", "Idempotency-Key"];

/// The headers that each route heeds, by its method, its path and the name of the header. What is described counts.
#[derive(Debug)]
pub(super) struct Heeded(HashSet<(String, String, &'static str)>);

impl Heeded {
    pub(super) fn of(description: &OpenApi) -> Arc<Self> {
        let described = serde_json::to_value(description).unwrap_or_default();
        let mut heeded = HashSet::new();
        for (path, item) in described.get("paths").and_then(Value::as_object).into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let parameters = operation.get("parameters").and_then(Value::as_array).into_iter().flatten();
                let named = parameters.filter_map(|parameter| parameter.get("name").and_then(Value::as_str));
                let headers = named.filter_map(|name| HEADERS.into_iter().find(|header| *header == name));
                heeded.extend(headers.map(|header| (method.to_uppercase(), path.clone(), header)));
            }
        }
        Arc::new(Self(heeded))
    }

    /// Returns a header that the route of a request does not heed.
    fn unheeded(&self, request: &Request) -> Option<&'static str> {
        let method = request.method();
        let is_write = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
        let path = request.extensions().get::<MatchedPath>().filter(|_| is_write)?.as_str();
        let is_heeded = |name| self.0.contains(&(method.to_string(), path.to_owned(), name));
        HEADERS.into_iter().find(|name| request.headers().contains_key(*name) && !is_heeded(*name))
    }
}

/// Refuses a request that relies on what nobody heeds.
pub(super) async fn refuse_unheeded(State(heeded): State<Arc<Heeded>>, request: Request, next: Next) -> Response {
    match heeded.unheeded(&request) {
        Some(name) => ApiError::usage(format!("`{name}` is not heeded here")).into_response(),
        None => next.run(request).await,
    }
}
