//! What the server says about itself: one object per line, with nothing in it that was sent in a header, a query or a body.

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

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
