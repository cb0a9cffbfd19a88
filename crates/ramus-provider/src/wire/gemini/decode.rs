//! The chunks of a Gemini answer. It is complete when a chunk said why it ended; there is no event behind it.

use ramus_model::delta::{Delta, Finish};
use ramus_model::json::{Object, Raw};
use ramus_model::message::Usage;

use super::super::decode::{Decoder, Event, object, started};
use crate::error::ProviderError;
use crate::fault::Fault;

/// An answer as it comes in.
pub(crate) struct Gemini {
    asked: String,
    has_started: bool,
    calls: usize,
    finish: Option<(String, String)>,
    is_over: bool,
}

impl Gemini {
    pub(crate) fn new(asked: &str) -> Self {
        Self { asked: asked.to_owned(), has_started: false, calls: 0, finish: None, is_over: false }
    }

    fn part(&mut self, part: &Object<'_>, deltas: &mut Vec<Delta>) {
        let text = |name| part.text(name).unwrap_or_default().into_owned();
        let seal = Some(text("thoughtSignature")).filter(|seal| !seal.is_empty());
        if let Some(call) = part.field("functionCall").and_then(Raw::object) {
            let index = self.calls;
            self.calls += 1;
            let named = |name| call.text(name).unwrap_or_default().into_owned();
            let arguments = call.field("args").map(|args| String::from_utf8_lossy(args.bytes()).into_owned());
            deltas.push(Delta::Call { index, id: named("id"), name: named("name") });
            deltas.push(Delta::Arguments { index, text: arguments.unwrap_or_else(|| "{}".to_owned()) });
            deltas.extend(seal.map(|seal| Delta::CallSeal { index, seal }));
            return;
        }
        let said = text("text");
        if !said.is_empty() {
            let is_thought = part.field("thought").and_then(Raw::flag) == Some(true);
            deltas.push(if is_thought { Delta::Thinking(said) } else { Delta::Text(said) });
        }
        deltas.extend(seal.map(Delta::ThinkingSeal));
    }

    fn complete(&mut self) -> Result<Vec<Delta>, ProviderError> {
        let Some((reason, message)) = self.finish.take() else { return Err(ProviderError::Truncated) };
        self.is_over = true;
        let told = if message.is_empty() { reason.clone() } else { format!("{reason}: {message}") };
        let finish = match &*reason {
            "MAX_TOKENS" => Finish::Length,
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "IMAGE_SAFETY" | "BLOCKED" => {
                Finish::Refused(told)
            }
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
                return Err(ProviderError::BadAnswer { message: told });
            }
            _ if self.calls > 0 => Finish::Calls,
            "STOP" => Finish::Stop,
            _ => Finish::Other(told),
        };
        Ok(vec![Delta::Finished(finish)])
    }
}

impl Decoder for Gemini {
    fn take(&mut self, event: Event<'_>) -> Result<Vec<Delta>, ProviderError> {
        let chunk = object(event.data)?;
        if chunk.field("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::in_stream(&chunk).judge());
        }
        let mut deltas = Vec::new();
        if !std::mem::replace(&mut self.has_started, true) {
            let id = chunk.text("responseId").map(|id| id.into_owned());
            deltas.push(started(&self.asked, id, chunk.text("modelVersion").as_deref()));
        }
        if let Some(candidate) = chunk.field("candidates").and_then(|list| list.items().next()).and_then(Raw::object) {
            let parts = candidate.field("content").and_then(|content| content.field("parts"));
            for part in parts.into_iter().flat_map(Raw::items).filter_map(Raw::object) {
                self.part(&part, &mut deltas);
            }
            if let Some(reason) = candidate.text("finishReason").filter(|reason| !reason.is_empty()) {
                let message = candidate.text("finishMessage").unwrap_or_default().into_owned();
                self.finish = Some((reason.into_owned(), message));
            }
        }
        let blocked = chunk.field("promptFeedback").and_then(|raw| raw.field("blockReason")).and_then(Raw::text);
        if let Some(reason) = blocked {
            self.finish = Some(("BLOCKED".to_owned(), reason.into_owned()));
        }
        deltas
            .extend(chunk.field("usageMetadata").and_then(Raw::object).map(|reported| Delta::Usage(usage(&reported))));
        Ok(deltas)
    }

    fn end(&mut self) -> Result<Vec<Delta>, ProviderError> {
        if self.is_over { Ok(Vec::new()) } else { self.complete() }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some() || self.is_over
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// The prompt's count includes what was cached; the answer's does not include thoughts.
fn usage(reported: &Object<'_>) -> Usage {
    let count = |name| reported.field(name).and_then(Raw::unsigned).unwrap_or_default();
    let read = count("cachedContentTokenCount");
    let prompt = count("promptTokenCount").saturating_add(count("toolUsePromptTokenCount"));
    Usage {
        input: prompt.saturating_sub(read),
        output: count("candidatesTokenCount").saturating_add(count("thoughtsTokenCount")),
        cache_read: read,
        cache_write: 0,
        total: count("totalTokenCount"),
        cost_micros: None,
    }
}
