//! The events of Anthropic's messages. Only `message_stop` makes an answer complete.

use std::collections::HashMap;

use ramus_model::delta::{Delta, Finish};
use ramus_model::json::{Object, Raw};
use ramus_model::message::Usage;

use super::super::decode::{Decoder, Event, object, started};
use crate::error::ProviderError;
use crate::fault::Fault;

/// An answer as it comes in.
pub(crate) struct Messages {
    asked: String,
    /// Calls whose arguments came with their start, by block: they count when none come in pieces.
    given: HashMap<usize, String>,
    has_calls: bool,
    stop_reason: String,
    is_over: bool,
}

impl Messages {
    pub(crate) fn new(asked: &str) -> Self {
        Self {
            asked: asked.to_owned(),
            given: HashMap::new(),
            has_calls: false,
            stop_reason: String::new(),
            is_over: false,
        }
    }

    fn start_block(&mut self, event: &Object<'_>) -> Vec<Delta> {
        let Some(block) = event.field("content_block").and_then(Raw::object) else { return Vec::new() };
        let text = |name| block.text(name).unwrap_or_default().into_owned();
        match &*text("type") {
            "text" => vec![Delta::Text(text("text"))],
            "thinking" => {
                let seal = Some(text("signature")).filter(|seal| !seal.is_empty()).map(Delta::ThinkingSeal);
                [Delta::Thinking(text("thinking"))].into_iter().chain(seal).collect()
            }
            "redacted_thinking" => vec![Delta::SealedThought(text("data"))],
            "tool_use" => {
                let index = number(event);
                self.has_calls = true;
                if let Some(input) = block.field("input").filter(|input| input.fields().next().is_some()) {
                    self.given.insert(index, String::from_utf8_lossy(input.bytes()).into_owned());
                }
                vec![Delta::Call { index, id: text("id"), name: text("name") }]
            }
            _ => Vec::new(),
        }
    }

    fn continue_block(&mut self, event: &Object<'_>) -> Vec<Delta> {
        let Some(delta) = event.field("delta").and_then(Raw::object) else { return Vec::new() };
        let text = |name| delta.text(name).unwrap_or_default().into_owned();
        match &*text("type") {
            "text_delta" => vec![Delta::Text(text("text"))],
            "thinking_delta" => vec![Delta::Thinking(text("thinking"))],
            "signature_delta" => vec![Delta::ThinkingSeal(text("signature"))],
            "input_json_delta" => {
                let (index, text) = (number(event), text("partial_json"));
                if !text.is_empty() {
                    self.given.remove(&index);
                }
                vec![Delta::Arguments { index, text }]
            }
            _ => Vec::new(),
        }
    }

    fn finish(&self) -> Finish {
        match &*self.stop_reason {
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" => Finish::Refused("the model refused to answer".to_owned()),
            "tool_use" if self.has_calls => Finish::Calls,
            "end_turn" | "stop_sequence" | "tool_use" | "" => Finish::Stop,
            other => Finish::Other(other.to_owned()),
        }
    }
}

impl Decoder for Messages {
    fn take(&mut self, event: Event<'_>) -> Result<Vec<Delta>, ProviderError> {
        let event = object(event.data)?;
        let mut deltas = match &*event.text("type").unwrap_or_default() {
            "message_start" => {
                let message = event.field("message").and_then(Raw::object).unwrap_or_default();
                let id = message.text("id").map(|id| id.into_owned());
                let started = started(&self.asked, id, message.text("model").as_deref());
                [started].into_iter().chain(usage(message.field("usage"))).collect()
            }
            "content_block_start" => self.start_block(&event),
            "content_block_delta" => self.continue_block(&event),
            "content_block_stop" => {
                let index = number(&event);
                self.given.remove(&index).map(|text| Delta::Arguments { index, text }).into_iter().collect()
            }
            "message_delta" => {
                let reason = event.field("delta").and_then(|delta| delta.field("stop_reason")).and_then(Raw::text);
                self.stop_reason = reason.map_or(std::mem::take(&mut self.stop_reason), |reason| reason.into_owned());
                usage(event.field("usage")).into_iter().collect()
            }
            "message_stop" => {
                self.is_over = true;
                vec![Delta::Finished(self.finish())]
            }
            "error" => return Err(Fault::in_stream(&event).judge()),
            _ => Vec::new(),
        };
        deltas.retain(|delta| !is_nothing(delta));
        Ok(deltas)
    }

    fn end(&mut self) -> Result<Vec<Delta>, ProviderError> {
        if self.is_over { Ok(Vec::new()) } else { Err(ProviderError::Truncated) }
    }

    fn is_finished(&self) -> bool {
        self.is_over
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Blocks start empty and go on with nothing now and then.
fn is_nothing(delta: &Delta) -> bool {
    match delta {
        Delta::Text(text) | Delta::Thinking(text) | Delta::ThinkingSeal(text) | Delta::SealedThought(text) => {
            text.is_empty()
        }
        Delta::Arguments { text, .. } => text.is_empty(),
        _ => false,
    }
}

fn number(event: &Object<'_>) -> usize {
    event.field("index").and_then(Raw::unsigned).and_then(|index| usize::try_from(index).ok()).unwrap_or_default()
}

fn usage(reported: Option<Raw<'_>>) -> Option<Delta> {
    let reported = reported?.object()?;
    let count = |name| reported.field(name).and_then(Raw::unsigned).unwrap_or_default();
    Some(Delta::Usage(Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        ..Usage::default()
    }))
}
