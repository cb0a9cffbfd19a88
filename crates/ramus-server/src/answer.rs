//! What requests are answered.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use ramus_wire::{members, versioned};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::{ApiError, Kind};

/// An answer in JSON, and the position of the log that it is about.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    body: Bytes,
    position: Option<u64>,
}

impl Answer {
    /// Answers with an object, to which the version is added.
    pub(crate) fn object(object: Map<String, Value>) -> Self {
        Self { status: StatusCode::OK, body: versioned(object).to_string().into(), position: None }
    }

    /// Answers with a `json!` object.
    pub(crate) fn json(value: Value) -> Self {
        Self::object(members(value))
    }

    /// Answers with something long, without building it up first.
    pub(crate) fn of(object: &impl Serialize) -> Result<Self, ApiError> {
        #[derive(Serialize)]
        struct Versioned<'o, T> {
            schema_version: u32,
            #[serde(flatten)]
            object: &'o T,
        }
        let versioned = Versioned { schema_version: ramus_wire::SCHEMA_VERSION, object };
        let body = serde_json::to_vec(&versioned).map_err(|error| ApiError::new(Kind::Broken, error.to_string()))?;
        Ok(Self::bytes(body))
    }

    /// Answers with bytes that are JSON already.
    pub(crate) fn bytes(body: impl Into<Bytes>) -> Self {
        Self { status: StatusCode::OK, body: body.into(), position: None }
    }

    /// Returns what it says, to say it again.
    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    pub(crate) fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Says which position of the log the answer is about, as `ETag`.
    pub(crate) fn at(mut self, position: u64) -> Self {
        self.position = Some(position);
        self
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], self.body).into_response();
        if let Some(position) = self.position
            && let Ok(tag) = HeaderValue::from_str(&format!("\"{position}\""))
        {
            response.headers_mut().insert(header::ETAG, tag);
        }
        response
    }
}
