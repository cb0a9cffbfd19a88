//! The languages of providers: how a request is spelled in each, and what the events of an answer mean.
//!
//! Everything here is pure. Encoders write bytes, decoders take one event at a time; neither knows connections. The
//! invariants: what an encoder writes is valid JSON and a conversation the format allows, whatever is stored; a decoder
//! ignores what it does not know, and only the event that ends an answer in its format makes it complete.

mod anthropic;
mod chat;
mod decode;
mod effort;
mod gemini;
mod history;
mod images;
mod json;
mod names;
mod responses;

use ramus_model::request::Request;

pub(crate) use decode::excerpt;
pub use decode::{Decoder, Event};
pub(crate) use names::is_dated;

use crate::models::Facts;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's chat completions, which many servers speak.
    Completions,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Anthropic,
    /// Google's `streamGenerateContent`.
    Gemini,
}

/// Whose server speaks a format. Others refuse members that only OpenAI's own knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// The one who made the format.
    Original,
    /// Somebody who speaks it too.
    Compatible,
}

impl Api {
    /// Returns the `api` of stored messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completions => "openai-completions",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic-messages",
            Self::Gemini => "google-generative-ai",
        }
    }

    /// Finds a format by its name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Completions, Self::Responses, Self::Anthropic, Self::Gemini].into_iter().find(|api| api.name() == name)
    }

    /// Spells a request. `facts` say what the model can do.
    pub fn encode(self, request: &Request, facts: &Facts, dialect: Dialect) -> Vec<u8> {
        match self {
            Self::Completions => chat::encode(request, facts, dialect),
            Self::Responses => responses::encode(request, facts, dialect),
            Self::Anthropic => anthropic::encode(request, facts),
            Self::Gemini => gemini::encode(request, facts),
        }
    }

    /// Returns what understands the answer of the model that was asked for.
    pub fn decoder(self, asked: &str) -> Box<dyn Decoder> {
        match self {
            Self::Completions => Box::new(chat::Chat::new(asked)),
            Self::Responses => Box::new(responses::Responses::new(asked)),
            Self::Anthropic => Box::new(anthropic::Messages::new(asked)),
            Self::Gemini => Box::new(gemini::Gemini::new(asked)),
        }
    }
}
