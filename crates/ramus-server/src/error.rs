//! What a request can be answered instead of what it asked for: one table from kinds to statuses.

use std::error::Error as _;
use std::io;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ramus_engine::{EngineError, ErrorKind};
use ramus_store::StoreError;
use ramus_wire::trouble::Trouble;
use serde_json::json;

use crate::app::moved;
use crate::log::Failed;

/// The stable name of an error: the kinds of the engine, and those that only a server knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What the engine says.
    Engine(ErrorKind),
    /// This version cannot do that.
    Unavailable,
    /// No token, or a wrong one.
    Unauthenticated,
    /// Another host was asked.
    Misdirected,
    /// Too many requests.
    Hurried,
    /// The body is too large.
    TooLarge,
    /// The body is not JSON.
    MediaType,
    /// There is no such route for this method.
    Method,
    /// It was there, for whoever asks, and never will be again.
    Gone,
    /// What was expected to be there is not.
    Precondition,
    /// It took too long.
    Late,
    /// The server failed.
    Broken,
}

impl Kind {
    /// Finds a kind by its name; what nobody knows is a failure.
    pub fn named(name: &str) -> Self {
        let engine = [
            ErrorKind::Usage,
            ErrorKind::NotFound,
            ErrorKind::Ambiguous,
            ErrorKind::Busy,
            ErrorKind::Conflict,
            ErrorKind::Invalid,
            ErrorKind::Corrupt,
            ErrorKind::Degraded,
            ErrorKind::Denied,
            ErrorKind::Full,
            ErrorKind::ContextFull,
            ErrorKind::Io,
        ];
        let known = engine.into_iter().find(|kind| kind.name() == name).map(Self::Engine);
        known.unwrap_or(if name == "unavailable" { Self::Unavailable } else { Self::Broken })
    }

    /// Returns the stable name.
    pub(crate) fn name(self) -> &'static str {
        self.row().0
    }

    /// Returns the name and the status.
    fn row(self) -> (&'static str, StatusCode) {
        match self {
            Self::Engine(kind) => (kind.name(), status_of(kind)),
            Self::Unavailable => ("unavailable", StatusCode::NOT_IMPLEMENTED),
            Self::Unauthenticated => ("denied", StatusCode::UNAUTHORIZED),
            Self::Misdirected => ("denied", StatusCode::MISDIRECTED_REQUEST),
            Self::Hurried => ("busy", StatusCode::TOO_MANY_REQUESTS),
            Self::TooLarge => ("invalid", StatusCode::PAYLOAD_TOO_LARGE),
            Self::MediaType => ("usage", StatusCode::UNSUPPORTED_MEDIA_TYPE),
            Self::Method => ("usage", StatusCode::METHOD_NOT_ALLOWED),
            Self::Gone => ("not-found", StatusCode::GONE),
            Self::Precondition => ("conflict", StatusCode::PRECONDITION_FAILED),
            Self::Late => ("busy", StatusCode::SERVICE_UNAVAILABLE),
            Self::Broken => ("io", StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::Usage | ErrorKind::Ambiguous => StatusCode::BAD_REQUEST,
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Busy | ErrorKind::Conflict => StatusCode::CONFLICT,
        ErrorKind::Invalid | ErrorKind::ContextFull => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorKind::Denied => StatusCode::FORBIDDEN,
        ErrorKind::Full => StatusCode::INSUFFICIENT_STORAGE,
        ErrorKind::Degraded => StatusCode::SERVICE_UNAVAILABLE,
        ErrorKind::Corrupt | ErrorKind::Io => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// An error, ready to be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ApiError {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl ApiError {
    /// Makes an error.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// The request is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::Usage), message)
    }

    /// The values are wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::Invalid), message)
    }

    /// There is no such thing.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::NotFound), message)
    }

    /// It is not allowed.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::Denied), message)
    }

    /// It contradicts what is there.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::Conflict), message)
    }

    /// Someone else is at it.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(Kind::Engine(ErrorKind::Busy), message)
    }

    /// Adds what might be done about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the error as programs are told everywhere.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        json!({"error": self.trouble()})
    }

    /// Tells what went wrong.
    pub(crate) fn trouble(&self) -> Trouble<'_> {
        Trouble { kind: self.kind.row().0, message: &self.message, hint: self.hint.as_deref() }
    }

    pub(crate) fn status(&self) -> StatusCode {
        self.kind.row().1
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        // Hints of the engine are for whoever sits at a command line; where they name no command they help here too.
        if let EngineError::Moved { found, expected } = error {
            return moved(found, expected);
        }
        let hint = error.hint().filter(|hint| !hint.contains("ramus "));
        if error.kind() == ErrorKind::Io
            && let Some(cause) = cause(&error)
            && is_choice(cause)
        {
            return Self::invalid(format!("a path that was chosen cannot be used: {cause}"));
        }
        let message = match &error {
            EngineError::Store(error) => without_path(error),
            _ => error.to_string(),
        };
        Self { kind: Kind::Engine(error.kind()), message, hint }
    }
}

/// What went wrong with the home: where that is concerns whoever has the machine.
fn without_path(error: &StoreError) -> String {
    let path = match error {
        StoreError::Io { action, source, .. } => return format!("cannot {action} a file of the server: {source}"),
        StoreError::NotFound { what } if what.starts_with('/') => return "a file of the server was not found".into(),
        StoreError::Exists { path }
        | StoreError::Replaced { path }
        | StoreError::Unmarked { path, .. }
        | StoreError::Unsafe { path, .. }
        | StoreError::Full { path, .. }
        | StoreError::Denied { path, .. }
        | StoreError::Unconfirmed { path, .. } => path.display().to_string(),
        _ => return error.to_string(),
    };
    error.to_string().replace(&path, "a file of the server")
}

/// What the system said, where it said something.
pub(crate) fn cause(error: &EngineError) -> Option<&io::Error> {
    let mut chain = std::iter::successors(error.source(), |error| (*error).source());
    chain.find_map(|error| error.downcast_ref())
}

/// Says whether a path is at fault that somebody else named: those of the home are made so that this cannot happen.
fn is_choice(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let (status, body) = (self.status(), self.to_json().to_string());
        let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        if status.is_server_error() {
            // The guard puts it in the log.
            response.extensions_mut().insert(Failed(self.clone()));
        }
        if self.kind == Kind::Unauthenticated {
            let scheme = HeaderValue::from_static("Bearer");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
        }
        if matches!(self.kind, Kind::Hurried | Kind::Late) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_where_the_home_is() {
        let path = || std::path::PathBuf::from("/home/somebody/.ramus/sessions/x.jsonl");
        let source = || io::Error::from(io::ErrorKind::PermissionDenied);
        let errors = [
            StoreError::NotFound { what: path().display().to_string() },
            StoreError::Replaced { path: path() },
            StoreError::Denied { path: path(), source: source() },
            StoreError::Full { path: path(), free: None, source: source() },
            StoreError::Io { action: "read", path: path(), source: source() },
        ];
        for error in errors {
            let told = ApiError::from(EngineError::Store(error)).to_string();
            assert!(told.contains("a file of the server") && !told.contains("somebody"), "{told}");
        }
    }

    #[test]
    fn every_kind_has_one_status_and_one_name() {
        let told = |kind| ApiError::new(kind, "").status().as_u16();
        let engine = [
            (ErrorKind::Usage, 400),
            (ErrorKind::NotFound, 404),
            (ErrorKind::Ambiguous, 400),
            (ErrorKind::Busy, 409),
            (ErrorKind::Conflict, 409),
            (ErrorKind::Invalid, 422),
            (ErrorKind::Corrupt, 500),
            (ErrorKind::Degraded, 503),
            (ErrorKind::Denied, 403),
            (ErrorKind::Full, 507),
            (ErrorKind::ContextFull, 422),
            (ErrorKind::Io, 500),
        ];
        for (kind, status) in engine {
            assert_eq!(told(Kind::Engine(kind)), status, "{}", kind.name());
        }
        assert_eq!([told(Kind::Unauthenticated), told(Kind::Misdirected), told(Kind::TooLarge)], [401, 421, 413]);
        assert_eq!(told(Kind::Gone), 410);
    }
}
