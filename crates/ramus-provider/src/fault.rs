//! What a provider says went wrong, and what that means for whoever asked.
//!
//! Providers say it with a status, a word, or only in prose, and not alike. The judgement is by what can be done: a
//! request that is too long is shortened, a history that is not accepted is simplified, the rest waits or ends.

mod overflow;

use std::time::Duration;

use ramus_model::json::{Object, Raw, Shape};

use crate::error::ProviderError;
use crate::wire::excerpt;

/// The most of a message that is kept.
const LONGEST: usize = 600;

/// Words in which providers speak of the conversation, not of the rest of a request.
const HISTORY: [&str; 24] = [
    "messages",
    "tool_use",
    "tool_result",
    "tool_call",
    "tool call",
    "tool message",
    "tool output",
    "call_id",
    "function call",
    "function response",
    "functioncall",
    "functionresponse",
    "thinking",
    "signature",
    "reasoning",
    "image",
    "surrogate",
    "unicode",
    "alternate",
    "role",
    "contents",
    "content block",
    "empty content",
    "input[",
];

/// What a provider said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    status: Option<u16>,
    retry_after: Option<Duration>,
    /// The words it has for it: type, code and status, in small letters.
    words: String,
    /// Which part of the request it means.
    parameter: String,
    message: String,
    needed: Option<u64>,
    available: Option<u64>,
}

impl Fault {
    /// Reads the body of an answer with a bad status.
    pub(crate) fn in_answer(status: u16, retry_after: Option<Duration>, body: &str) -> Self {
        let mut fault = object(body).map_or_else(Self::default, |object| Self::in_stream(&object));
        if fault.message.is_empty() {
            fault.message = if body.trim().is_empty() { format!("status {status}") } else { excerpt(body, LONGEST) };
        }
        Self { status: Some(status), retry_after, ..fault }
    }

    /// Reads a body that came with a good status, but speaks of an error.
    pub(crate) fn in_good_answer(body: &str) -> Option<Self> {
        let object = object(body)?;
        object.field("error").filter(|error| !error.is_null())?;
        Some(Self::in_stream(&object))
    }

    /// Reads an event that says that something went wrong, or the body that says so.
    pub(crate) fn in_stream(said: &Object<'_>) -> Self {
        let inner = said.field("error").filter(|error| !error.is_null());
        if let Some(text) = inner.and_then(Raw::text) {
            return Self { message: excerpt(&text, LONGEST), ..Self::default() };
        }
        let error = inner.and_then(Raw::object).unwrap_or_else(|| said.clone());
        let word = |name| error.field(name).map(spelled).unwrap_or_default().to_ascii_lowercase();
        let message = error.text("message").or_else(|| error.text("detail")).unwrap_or_default();
        let raw = error.field("metadata").and_then(|metadata| metadata.field("raw")).map(spelled).unwrap_or_default();
        let count = |name| error.field(name).and_then(Raw::unsigned);
        Self {
            status: error.field("code").and_then(Raw::unsigned).and_then(|code| u16::try_from(code).ok()),
            retry_after: None,
            words: [word("type"), word("code"), word("status")].join(" "),
            parameter: word("param"),
            // What a router passes on says more than the router.
            message: excerpt(format!("{message} {raw}").trim(), LONGEST),
            needed: count("n_prompt_tokens"),
            available: count("n_ctx"),
        }
    }

    /// Judges what can be done.
    pub(crate) fn judge(self) -> ProviderError {
        let lower = self.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| self.words.contains(word));
        let status = self.status.unwrap_or_default();
        if overflow::is_meant(&self.words, &lower) {
            let (needed, available) = overflow::counts(&lower);
            let (needed, available) = (self.needed.or(needed), self.available.or(available));
            return ProviderError::Overflow { needed, available, message: self.told() };
        }
        let is_broke = says(&["insufficient_quota", "billing", "payment", "credit"])
            || lower.contains("credit balance")
            || lower.contains("exceeded your current quota, please check your plan and billing");
        match status {
            401..=403 => ProviderError::Denied { message: self.told() },
            _ if is_broke
                || says(&["authentication", "permission", "unauthenticated", "invalid_api_key", "unauthorized"]) =>
            {
                ProviderError::Denied { message: self.told() }
            }
            // Gemini says a wrong key is a bad request.
            400 if lower.contains("api key") => ProviderError::Denied { message: self.told() },
            404 | 405 | 410 => ProviderError::NotFound { message: self.told() },
            413 => ProviderError::Overflow { needed: None, available: None, message: self.told() },
            408 | 409 | 425 | 429 | 503 | 529 => self.busy(),
            _ if says(&["rate_limit", "overloaded", "resource_exhausted", "unavailable", "slow_down", "capacity"]) => {
                self.busy()
            }
            _ if says(&["not_found", "model_not_found"]) => ProviderError::NotFound { message: self.told() },
            400 | 422 => self.refused(&lower),
            500..=599 => ProviderError::Failed { status: self.status, message: self.told() },
            _ if says(&["invalid_request", "invalid_argument", "invalid_prompt", "bad_request", "badrequest"]) => {
                self.refused(&lower)
            }
            300..=499 => ProviderError::Invalid { message: self.told() },
            _ => ProviderError::Failed { status: self.status, message: self.told() },
        }
    }

    fn busy(self) -> ProviderError {
        ProviderError::Busy { retry_after: self.retry_after, message: self.told() }
    }

    /// A request that is not accepted: because of the conversation, or of something else.
    fn refused(self, lower: &str) -> ProviderError {
        let part = self.parameter.as_str();
        let is_history = match part {
            "" => HISTORY.iter().any(|word| lower.contains(word)) && !lower.starts_with("tools."),
            _ => part.starts_with("messages") || part.starts_with("input") || part.starts_with("contents"),
        };
        if is_history {
            ProviderError::History { message: self.told() }
        } else {
            ProviderError::Invalid { message: self.told() }
        }
    }

    /// What is shown: the message, and the provider's word for it when there is nothing else.
    fn told(&self) -> String {
        match (&self.message, self.words.trim()) {
            (message, words) if message.is_empty() && words.is_empty() => "it did not say why".to_owned(),
            (message, words) if message.is_empty() => words.to_owned(),
            (message, _) => message.clone(),
        }
    }
}

/// The object that a body is. Google wraps it in a list.
fn object(body: &str) -> Option<Object<'_>> {
    let raw = Raw::parse(body.as_bytes())?;
    if raw.shape() == Shape::Array { raw.items().next()?.object() } else { raw.object() }
}

fn spelled(raw: Raw<'_>) -> String {
    match raw.text() {
        Some(text) => text.into_owned(),
        None if raw.is_null() => String::new(),
        None => String::from_utf8_lossy(raw.bytes()).into_owned(),
    }
}

#[cfg(test)]
mod tests;
