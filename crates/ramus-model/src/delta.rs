//! An answer while it comes in: the pieces a provider streams, and what they have become so far.
//!
//! The invariant: whatever pieces came, in whatever order, and whenever they stop, what is there is a message that can be
//! stored: its text is all text that came, and a call whose arguments are not whole yet is not a call.

mod answering;

pub use answering::{Answering, Called, Ending, INTERRUPTED};

use serde::{Deserialize, Serialize};

use crate::message::Usage;

/// One piece of an answer, in no provider's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delta {
    /// The provider accepted the request.
    Started {
        /// What it calls the response.
        response: Option<String>,
        /// The model that answers, when it is named more precisely than it was asked for.
        model: Option<String>,
    },
    /// More of what the model says.
    Text(String),
    /// More of what it thinks.
    Thinking(String),
    /// The seal on what it thought, which the provider wants back unchanged. It ends the thought.
    ThinkingSeal(String),
    /// A thought that only the provider can read. It must be given back unchanged.
    SealedThought(String),
    /// It calls a tool.
    Call {
        /// Which of its calls this is; later pieces name the same number.
        index: usize,
        /// The id that its result must bear. Empty when the provider gives none.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call.
    Arguments {
        /// Which call.
        index: usize,
        /// The piece of JSON.
        text: String,
    },
    /// The seal on a call, which the provider wants back unchanged.
    CallSeal {
        /// Which call.
        index: usize,
        /// The seal.
        seal: String,
    },
    /// What was used so far. A later report replaces an earlier one, but for counts it does not name, which are 0.
    Usage(Usage),
    /// The answer is complete. Nothing comes after it but usage.
    Finished(Finish),
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// The model had said everything.
    Stop,
    /// It wants the results of its calls.
    Calls,
    /// It was not allowed more tokens.
    Length,
    /// The provider or the model refused to go on, and why.
    Refused(String),
    /// It ended otherwise, in the provider's words.
    Other(String),
}

impl Finish {
    /// Returns the `stopReason` of a stored message.
    pub fn stop_reason(&self) -> &'static str {
        match self {
            Self::Stop | Self::Other(_) => "stop",
            Self::Calls => "toolUse",
            Self::Length => "length",
            Self::Refused(_) => "error",
        }
    }
}
