//! What can happen in a turn.

use std::time::Duration;

use ramus_model::Seq;
use ramus_model::delta::Delta;
use serde_json::Value;

use crate::effect::{Ticket, Timer};

/// Something that happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// What was to be stored is durable.
    Stored {
        /// What it was.
        ticket: Ticket,
        /// Where it is; none when there was nothing worth storing.
        seq: Option<Seq>,
    },
    /// The request is made, or cannot be.
    Prepared(Result<Prepared, String>),
    /// A piece of the answer came.
    Delta(Delta),
    /// Nothing more of the answer comes: it is complete, or something went wrong.
    Answered(Result<(), Failure>),
    /// The older part of the path was summarised, or could not be.
    Compacted(Result<(), String>),
    /// Whether a call may run was decided.
    Judged {
        /// Which call of the answer.
        call: usize,
        /// The decision.
        verdict: Verdict,
    },
    /// A call ended.
    Done {
        /// Which call of the answer.
        call: usize,
        /// What came of it.
        outcome: Outcome,
    },
    /// A time that was waited for has come.
    Elapsed(Timer),
    /// Whoever drives the turn wants it to stop.
    Cancel,
    /// A person says something that counts before the next request.
    Steer(String),
    /// A person says something that counts when the turn would end.
    FollowUp(String),
    /// What a person said and the model does not have yet is not to be said.
    TakeOut(String),
}

/// A request that was made, as far as deciding needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    /// Whether it is so long that the older part of the path should be summarised first, and that can be.
    pub needs_room: bool,
}

/// Why an answer did not come to its end, by what can be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It may work later: how long to wait when the provider says so, and what it said.
    Later(Option<Duration>, String),
    /// The request is too long for the model.
    Overflow(String),
    /// The history is not accepted.
    History(String),
    /// It will not work.
    Final(String),
}

impl Failure {
    /// Returns what went wrong.
    pub fn reason(&self) -> &str {
        match self {
            Self::Later(_, reason) | Self::Overflow(reason) | Self::History(reason) | Self::Final(reason) => reason,
        }
    }
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may, and it changes nothing: that it started need not be stored.
    Harmless,
    /// It may.
    Allowed,
    /// It may not, and why.
    Denied(String),
}

/// What came of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The content of the result, as version 3 parts.
    pub content: Vec<Value>,
    /// Whether it failed.
    pub is_error: bool,
    /// What programs may want to know about it.
    pub details: Option<Value>,
}

impl Outcome {
    /// A failure in words.
    pub fn failed(text: impl Into<String>) -> Self {
        let content = vec![serde_json::json!({"type": "text", "text": text.into()})];
        Self { content, is_error: true, details: None }
    }
}
