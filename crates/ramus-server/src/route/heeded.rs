//! Which routes heed the headers that make a write depend on something. The others refuse them: whoever sends one relies on
//! it.

use std::collections::HashSet;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use crate::error::ApiError;
use crate::route::handlers::Handlers;

/// The headers.
const HEADERS: [&str; 2] = ["If-Match", "Idempotency-Key"];

/// The headers that each route heeds, by its method, its path and the name of the header. What is described counts.
#[derive(Debug)]
pub(super) struct Heeded(HashSet<(Method, String, &'static str)>);

impl Heeded {
    pub(super) fn of(all: &[Handlers]) -> Arc<Self> {
        let mut heeded = HashSet::new();
        for handlers in all {
            for (method, named) in (handlers.writes)() {
                let headers = HEADERS.into_iter().filter(|header| named.iter().any(|name| name == header));
                heeded.extend(headers.map(|header| (method.clone(), handlers.path.clone(), header)));
            }
        }
        Arc::new(Self(heeded))
    }

    /// Returns a header that the route of a request does not heed.
    fn unheeded(&self, request: &Request) -> Option<&'static str> {
        let method = request.method();
        let is_write = matches!(*method, Method::POST | Method::PUT | Method::PATCH | Method::DELETE);
        let path = request.extensions().get::<MatchedPath>().filter(|_| is_write)?.as_str();
        let is_heeded = |name| self.0.contains(&(method.clone(), path.to_owned(), name));
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
