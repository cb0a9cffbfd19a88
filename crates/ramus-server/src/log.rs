//! What the server says about itself: one object per line, with nothing in it that was sent in a header, a query or a body.

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use ramus_redact::Redactor;
use serde_json::{Value, json};

use crate::app::App;
use crate::error::{ApiError, Kind};

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

/// How much of what a panic said is written down, in characters.
const PANIC: usize = 2000;

/// Has panics of this process written like whatever else goes wrong: where it was and what was said, without secrets.
pub fn log_panics(log: Log, redactor: Redactor) {
    std::panic::set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let said =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let whole = format!("panicked{place}: {}", said.unwrap_or_default());
        // First: half of a secret is not known as one.
        let message: String = redactor.pass().redact(&whole, "log").chars().take(PANIC).collect();
        let (method, status) = ("panic".to_owned(), StatusCode::INTERNAL_SERVER_ERROR.as_u16());
        log.say(&Line::Failure { request: None, method, route: None, status, kind: Kind::Broken.name(), message });
    }));
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

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    #[test]
    fn a_panic_is_a_line_of_the_log_without_secrets() {
        let lines: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&lines);
        let before = std::panic::take_hook();
        let log = Log::new(move |line| kept.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_json()));
        log_panics(log, Redactor::new());
        let secret = "AKIAIOSFODNN7ABCDEFG";
        let failed = std::thread::spawn(move || panic!("cannot be: {secret}")).join();
        std::panic::set_hook(before);
        assert!(failed.is_err());
        let told = Value::from(lines.lock().unwrap_or_else(PoisonError::into_inner).clone()).to_string();
        assert!(told.contains("\"event\":\"failure\"") && told.contains("\"method\":\"panic\""), "{told}");
        assert!(told.contains("log.rs:") && told.contains("cannot be: ") && !told.contains(secret), "{told}");
    }
}
