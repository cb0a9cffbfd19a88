//! What the server is to answer, in no provider's words: replies in order, each with what is to go wrong.

use std::collections::VecDeque;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::refusal::Overflow;

/// Replies in the order in which legal requests get them. Illegal requests use none up.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The replies.
    #[serde(default)]
    pub replies: VecDeque<Reply>,
    /// What happens when all were given.
    #[serde(default)]
    pub then: Then,
    /// The models that are listed. Any model can be asked.
    #[serde(default)]
    pub models: Vec<String>,
}

impl Plan {
    /// Plans these replies and refuses every further request.
    pub fn of(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: replies.into_iter().collect(), then: Then::Refuse, models: vec!["model".to_owned()] }
    }

    /// Plans nothing: every reply is the last text of the user.
    pub fn echo() -> Self {
        Self { then: Then::Echo, ..Self::of([]) }
    }

    /// Lists these models.
    #[must_use]
    pub fn with_models(mut self, models: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.models = models.into_iter().map(Into::into).collect();
        self
    }

    /// Says what happens when all replies were given.
    #[must_use]
    pub fn then(mut self, then: Then) -> Self {
        self.then = then;
        self
    }
}

/// What happens when all replies were given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Then {
    /// Further requests get the status 500, which no client should see in a test that is right.
    #[default]
    Refuse,
    /// Further requests get the last text of the user back.
    Echo,
}

/// One reply.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    /// What the model thinks, says and calls, in this order.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// What the answer costs.
    #[serde(default)]
    pub usage: Usage,
    /// Why it ends.
    #[serde(default)]
    pub finish: Finish,
    /// What goes wrong.
    #[serde(default)]
    pub fault: Option<Fault>,
    /// How long to wait after each event.
    #[serde(default)]
    pub pace_ms: u64,
    /// Whether calls come in pieces by turns, where the format allows it.
    #[serde(default)]
    pub interleaved: bool,
}

impl Reply {
    /// Says `text` in one piece.
    pub fn text(text: impl Into<String>) -> Self {
        Self::default().say([text.into()])
    }

    /// Answers nothing but this fault.
    pub fn broken(fault: Fault) -> Self {
        Self::text("This is never seen whole.").with_fault(fault)
    }

    /// Adds text in these pieces.
    #[must_use]
    pub fn say(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Part::Text(pieces.into_iter().map(Into::into).collect()))
    }

    /// Adds a thought in these pieces. Without any, only its seal is sent, where the format has one.
    #[must_use]
    pub fn think(self, pieces: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.with(Part::Thinking(pieces.into_iter().map(Into::into).collect()))
    }

    /// Adds a call.
    #[must_use]
    pub fn call(self, name: impl Into<String>, arguments: Value) -> Self {
        self.with(Part::Call { id: None, name: name.into(), arguments, pieces: 3 })
    }

    /// Adds a call with an id of its own.
    #[must_use]
    pub fn call_as(self, id: impl Into<String>, name: impl Into<String>, arguments: Value) -> Self {
        self.with(Part::Call { id: Some(id.into()), name: name.into(), arguments, pieces: 3 })
    }

    /// Adds a part.
    #[must_use]
    pub fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }

    /// Says what it costs.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = usage;
        self
    }

    /// Says why it ends.
    #[must_use]
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Lets something go wrong.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// Waits after each event.
    #[must_use]
    pub fn paced(mut self, pause: Duration) -> Self {
        self.pace_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
        self
    }
}

/// A part of a reply.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the model says, in pieces.
    Text(Vec<String>),
    /// What it thinks, in pieces.
    Thinking(Vec<String>),
    /// What it thinks and only its provider can read. Formats without such thoughts leave it out.
    Redacted(String),
    /// A tool it calls.
    Call {
        /// The id; none lets the format choose.
        #[serde(default)]
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
        /// In how many pieces the arguments come, where the format sends pieces.
        #[serde(default = "three")]
        pieces: usize,
    },
}

fn three() -> usize {
    3
}

/// What an answer costs, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    /// All of the prompt, whether it was cached or not.
    pub input: u64,
    /// Of these, how many were read from a cache.
    pub cached: u64,
    /// Of these, how many were written to one.
    pub cache_written: u64,
    /// All of the answer, thoughts included.
    pub output: u64,
    /// Of these, how many were thoughts.
    pub reasoning: u64,
}

impl Default for Usage {
    fn default() -> Self {
        Self { input: 11, cached: 0, cache_written: 0, output: 7, reasoning: 0 }
    }
}

/// Why an answer ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model is done, or wants the results of its calls.
    #[default]
    Natural,
    /// It was not allowed more tokens.
    Length,
    /// It, or its provider, refuses to go on.
    Refusal,
}

/// What goes wrong with a reply. Bytes are counted in the body of the answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// The body comes in chunks that end at these bytes, wherever that is.
    Split(Vec<usize>),
    /// The body comes in chunks of this many bytes.
    Pieces(usize),
    /// Nothing comes from this byte on: for a while, or until the client goes.
    Stall {
        /// The first byte that is late.
        at: usize,
        /// How long; none never ends.
        #[serde(default)]
        for_ms: Option<u64>,
    },
    /// The connection is closed in front of this byte, in the middle of the body.
    Cut {
        /// The first byte that is not sent.
        at: usize,
    },
    /// The body ends in front of this byte as if it were whole, as a proxy would do it.
    End {
        /// The first byte that is not sent.
        at: usize,
    },
    /// The connection is reset in front of this byte.
    Reset {
        /// The first byte that is not sent.
        at: usize,
    },
    /// The provider answers with a status that says nothing about the request: 429, 500, 503, 529.
    Status {
        /// The status.
        code: u16,
        /// What the header `Retry-After` says.
        #[serde(default)]
        retry_after: Option<String>,
    },
    /// The context is full, in these words.
    Overflow(Overflow),
    /// The provider takes the request, and fails after `after` events of the stream, in the way of its format.
    Error {
        /// How many events come before.
        after: usize,
    },
    /// All calls have one id.
    OneCallId,
    /// A page for people comes instead of events.
    Html,
    /// The stream ends properly, but without the event that says so.
    NoTerminal,
    /// Everything comes as it should; then the last event comes again.
    TwoTerminals,
}
