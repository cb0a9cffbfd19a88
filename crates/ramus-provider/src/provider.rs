//! The seam: whoever can answer a request.

use std::fmt;
use std::sync::Arc;

use futures_util::stream::BoxStream;
use ramus_model::delta::Delta;
use ramus_model::request::Request;

use crate::endpoint::Endpoint;
use crate::error::ProviderError;
use crate::http::{self, Http};
use crate::models::Models;

/// An answer as it comes in: deltas, then the end or exactly one error. Dropping it stops the answer.
pub type Deltas = BoxStream<'static, Result<Delta, ProviderError>>;

/// Somebody who answers requests.
pub trait Provider: Send + Sync + fmt::Debug {
    /// Returns what it is called, as in `PROVIDER/MODEL`.
    fn name(&self) -> &str;

    /// Returns the `api` of messages it makes.
    fn api(&self) -> &'static str;

    /// Asks. Nothing happens before the answer is polled, and nothing is asked twice.
    fn stream(&self, request: Request) -> Deltas;

    /// Asks for the title of a conversation; none when no title shall be asked for.
    fn title(&self, request: Request) -> Option<Deltas> {
        Some(self.stream(request))
    }
}

/// A provider over HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    pub(crate) endpoint: Endpoint,
    pub(crate) http: Http,
    pub(crate) models: Arc<Models>,
}

impl Provider for Remote {
    fn name(&self) -> &str {
        &self.endpoint.name
    }

    fn api(&self) -> &'static str {
        self.endpoint.api.name()
    }

    fn stream(&self, request: Request) -> Deltas {
        let facts = self.models.facts(&request.model).cloned().unwrap_or_default();
        let body = self.endpoint.api.encode(&request, &facts, self.endpoint.dialect());
        let post = self.endpoint.post(&request.model.model, body);
        http::stream(self.http.clone(), post, self.endpoint.api.decoder(&request.model.model))
    }
}
