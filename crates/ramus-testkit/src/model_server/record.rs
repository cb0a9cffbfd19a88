//! What the server was asked, and how that went.

use serde_json::Value;

use super::format::Format;
use super::illegal::Illegal;

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The format whose path was asked for; none for other paths.
    pub format: Option<Format>,
    /// Method and path, with the query.
    pub line: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
    /// What the judge said.
    pub verdict: Verdict,
    /// How the answer went.
    pub outcome: Outcome,
}

impl Recorded {
    /// Returns a header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON, or null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// What the judge said of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is legal.
    Legal,
    /// It is not.
    Illegal(Illegal),
    /// There is nothing to judge: a list of models, or no path of ours.
    None,
}

/// How an answer went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is on its way.
    Underway,
    /// It was sent whole.
    Whole,
    /// The plan broke it off.
    Broken,
    /// The client went before it was whole, after this many bytes of the body.
    ClosedEarly(usize),
}
