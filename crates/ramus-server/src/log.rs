//! What the server says about itself: one object per line, with nothing in it that was sent in a header, a query or a body.

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::ApiError;

/// One thing to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A request was answered.
    Request {
        /// How it was asked.
        method: String,
        /// The route, with names in the place of what was named; none when there is no such route.
        route: Option<String>,
        /// What it was answered.
        status: u16,
        /// How long that took, in milliseconds.
        millis: u64,
    },
    /// Something went wrong in the server: it is always said.
    Failure {
        /// What the request is called, as its answer says in `X-Request-Id`; none when it was no request.
        request: Option<String>,
        /// How it was asked, or what was done.
        method: String,
        /// The route, with names in the place of what was named.
        route: Option<String>,
        /// What it was answered.
        status: u16,
        /// What kind of error it was.
        kind: &'static str,
        /// Why, without secrets.
        message: String,
    },
    /// Something a person should know.
    Notice(String),
}

impl Line {
    /// Returns the line as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Request { method, route, status, millis } => {
                json!({"event": "request", "method": method, "route": route, "status": status, "ms": millis})
            }
            Self::Failure { request, method, route, status, kind, message } => json!({
                "event": "failure", "request": request, "method": method, "route": route, "status": status, "kind": kind,
                "message": message,
            }),
            Self::Notice(text) => json!({"event": "notice", "text": text}),
        }
    }
}

/// Where lines go.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&Line) + Send + Sync>);

impl Log {
    /// Hands every line to a function.
    pub fn new(to: impl Fn(&Line) + Send + Sync + 'static) -> Self {
        Self(Arc::new(to))
    }

    pub(crate) fn say(&self, line: &Line) {
        (self.0)(line);
    }
}

/// What an answer is told by that something went wrong: people find it in the log.
const REQUEST: HeaderName = HeaderName::from_static("x-request-id");

/// Why an answer is one of the server's own failures.
#[derive(Clone, Debug)]
pub(crate) struct Failed(pub(crate) ApiError);

impl App {
    /// Says why a request failed, if that was the server's fault, and tells whoever sent it where to look.
    pub(crate) fn log_failure(&self, response: &mut Response, method: &str, route: Option<&str>) {
        let Some(Failed(error)) = response.extensions_mut().remove::<Failed>() else { return };
        let request = uuid::Uuid::new_v4().simple().to_string();
        if let Ok(value) = HeaderValue::from_str(&request) {
            response.headers_mut().insert(REQUEST, value);
        }
        self.say_failure(&error, method, route, Some(request));
    }

    /// Says why something failed that no answer tells, if that was the server's fault.
    pub(crate) fn log_error(&self, error: &ApiError, doing: &str) {
        if error.status().is_server_error() {
            self.say_failure(error, doing, None, None);
        }
    }

    fn say_failure(&self, error: &ApiError, method: &str, route: Option<&str>, request: Option<String>) {
        let redactor = self.workshop.redactor();
        let message = redactor.pass().redact(&error.to_string(), "log").into_owned();
        let (method, route) = (method.to_owned(), route.map(str::to_owned));
        let (status, kind) = (error.status().as_u16(), error.kind().name());
        self.log.say(&Line::Failure { request, method, route, status, kind, message });
    }
}

impl Default for Log {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
