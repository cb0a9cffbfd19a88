//! The events of a response. `response.completed`, `response.incomplete` and `response.failed` end it, nothing else does.

use std::collections::HashSet;

use ramus_model::delta::{Delta, Finish};
use ramus_model::json::{Object, Raw};
use ramus_model::message::Usage;

use super::super::decode::{Decoder, Event, object, started};
use crate::error::ProviderError;
use crate::fault::Fault;

/// A response as it comes in.
pub(crate) struct Responses {
    asked: String,
    has_started: bool,
    /// Items of which something came in pieces, by their place.
    heard: HashSet<usize>,
    calls: HashSet<usize>,
    refusal: String,
    is_over: bool,
}

impl Responses {
    pub(crate) fn new(asked: &str) -> Self {
        Self {
            asked: asked.to_owned(),
            has_started: false,
            heard: HashSet::new(),
            calls: HashSet::new(),
            refusal: String::new(),
            is_over: false,
        }
    }

    fn start(&mut self, event: &Object<'_>) -> Vec<Delta> {
        if std::mem::replace(&mut self.has_started, true) {
            return Vec::new();
        }
        let response = event.field("response").and_then(Raw::object).unwrap_or_default();
        let id = response.text("id").map(|id| id.into_owned());
        vec![started(&self.asked, id, response.text("model").as_deref())]
    }

    /// A piece of an item.
    fn piece(&mut self, event: &Object<'_>, make: impl FnOnce(usize, String) -> Delta) -> Vec<Delta> {
        let (index, text) = (number(event), event.text("delta").unwrap_or_default().into_owned());
        if text.is_empty() {
            return Vec::new();
        }
        self.heard.insert(index);
        vec![make(index, text)]
    }

    fn start_item(&mut self, event: &Object<'_>) -> Vec<Delta> {
        let item = event.field("item").and_then(Raw::object).unwrap_or_default();
        let text = |name| item.text(name).unwrap_or_default().into_owned();
        if text("type") != "function_call" || !self.calls.insert(number(event)) {
            return Vec::new();
        }
        vec![Delta::Call { index: number(event), id: text("call_id"), name: text("name") }]
    }

    /// An item that is complete. What came of it in pieces is not said again.
    fn end_item(&mut self, event: &Object<'_>) -> Vec<Delta> {
        let index = number(event);
        let Some(raw) = event.field("item") else { return Vec::new() };
        let item = raw.object().unwrap_or_default();
        let was_heard = self.heard.contains(&index);
        let texts = |list: &str| -> String {
            let parts = item.field(list).into_iter().flat_map(Raw::items);
            parts.filter_map(|part| part.field("text").and_then(Raw::text)).collect::<Vec<_>>().join("\n\n")
        };
        let mut deltas = Vec::new();
        match &*item.text("type").unwrap_or_default() {
            "message" if !was_heard => deltas.push(Delta::Text(texts("content"))),
            "function_call" => {
                deltas.extend(self.start_item(event));
                if !was_heard {
                    deltas.push(Delta::Arguments {
                        index,
                        text: item.text("arguments").unwrap_or_default().into_owned(),
                    });
                }
            }
            "reasoning" => {
                if !was_heard {
                    deltas.push(Delta::Thinking(texts("summary")));
                }
                deltas.push(Delta::ThinkingSeal(String::from_utf8_lossy(raw.bytes()).into_owned()));
            }
            _ => {}
        }
        deltas.retain(|delta| !matches!(delta, Delta::Text(text) | Delta::Thinking(text) if text.is_empty()));
        deltas
    }

    /// Parts of a summary stand apart.
    fn start_summary(&self, event: &Object<'_>) -> Vec<Delta> {
        let is_first = event.field("summary_index").and_then(Raw::unsigned).unwrap_or_default() == 0;
        if is_first || !self.heard.contains(&number(event)) { Vec::new() } else { vec![Delta::Thinking("\n\n".into())] }
    }

    fn finish(&mut self, event: &Object<'_>) -> Vec<Delta> {
        self.is_over = true;
        let response = event.field("response").and_then(Raw::object).unwrap_or_default();
        let detail = response.field("incomplete_details").and_then(|raw| raw.field("reason")).and_then(Raw::text);
        let is_incomplete = response.text("status").as_deref() == Some("incomplete");
        let finish = match detail.as_deref() {
            _ if !self.refusal.is_empty() => Finish::Refused(std::mem::take(&mut self.refusal)),
            Some("max_output_tokens" | "max_tokens") => Finish::Length,
            Some("content_filter") => Finish::Refused("the provider's content filter stopped the answer".to_owned()),
            Some(other) => Finish::Other(other.to_owned()),
            None if is_incomplete => Finish::Length,
            None if self.calls.is_empty() => Finish::Stop,
            None => Finish::Calls,
        };
        let usage = response.field("usage").and_then(Raw::object).map(|reported| Delta::Usage(usage(&reported)));
        usage.into_iter().chain([Delta::Finished(finish)]).collect()
    }
}

impl Decoder for Responses {
    fn take(&mut self, event: Event<'_>) -> Result<Vec<Delta>, ProviderError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Vec::new());
        }
        let event = object(event.data)?;
        Ok(match &*event.text("type").unwrap_or_default() {
            "response.created" | "response.in_progress" => self.start(&event),
            "response.output_item.added" => self.start_item(&event),
            "response.output_item.done" => self.end_item(&event),
            "response.output_text.delta" => self.piece(&event, |_, text| Delta::Text(text)),
            "response.reasoning_summary_part.added" => self.start_summary(&event),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.piece(&event, |_, text| Delta::Thinking(text))
            }
            "response.function_call_arguments.delta" => {
                self.piece(&event, |index, text| Delta::Arguments { index, text })
            }
            "response.refusal.delta" => {
                self.refusal.push_str(&event.text("delta").unwrap_or_default());
                Vec::new()
            }
            "response.completed" | "response.incomplete" | "response.done" => self.finish(&event),
            "response.failed" => {
                let response = event.field("response").and_then(Raw::object).unwrap_or_default();
                return Err(Fault::in_stream(&response).judge());
            }
            "error" => return Err(Fault::in_stream(&event).judge()),
            _ if event.field("error").is_some_and(|error| !error.is_null()) => {
                return Err(Fault::in_stream(&event).judge());
            }
            _ => Vec::new(),
        })
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

fn number(event: &Object<'_>) -> usize {
    let index = event.field("output_index").and_then(Raw::unsigned);
    index.and_then(|index| usize::try_from(index).ok()).unwrap_or_default()
}

/// The prompt's count includes what was cached.
fn usage(reported: &Object<'_>) -> Usage {
    let count = |name| reported.field(name).and_then(Raw::unsigned).unwrap_or_default();
    let detail = |name| reported.field("input_tokens_details").and_then(|raw| raw.field(name)).and_then(Raw::unsigned);
    let (read, written) =
        (detail("cached_tokens").unwrap_or_default(), detail("cache_write_tokens").unwrap_or_default());
    Usage {
        input: count("input_tokens").saturating_sub(read).saturating_sub(written),
        output: count("output_tokens"),
        cache_read: read,
        cache_write: written,
        total: count("total_tokens"),
        cost_micros: None,
    }
}
