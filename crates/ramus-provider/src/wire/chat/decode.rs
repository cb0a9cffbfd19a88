//! The chunks of a chat completion.
//!
//! An answer is complete when a chunk said why it ended: some servers send no `[DONE]`, and one that does may lose it.

use ramus_model::delta::{Delta, Finish};
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::message::Usage;

use super::super::decode::{Decoder, Event, object, started};
use super::THOUGHTS;
use crate::error::ProviderError;
use crate::fault::Fault;

/// A chat completion as it comes in.
pub(crate) struct Chat {
    asked: String,
    has_started: bool,
    calls: Vec<Known>,
    /// The member in which thoughts come, while one is open.
    thought: Option<&'static str>,
    refusal: String,
    finish: Option<String>,
    is_over: bool,
}

/// A call that was named. Its place in the list is its number.
struct Known {
    index: Option<u64>,
    id: String,
    has_name: bool,
}

impl Chat {
    pub(crate) fn new(asked: &str) -> Self {
        Self {
            asked: asked.to_owned(),
            has_started: false,
            calls: Vec::new(),
            thought: None,
            refusal: String::new(),
            finish: None,
            is_over: false,
        }
    }

    fn start(&mut self, chunk: &Object<'_>, deltas: &mut Vec<Delta>) {
        if !self.has_started {
            self.has_started = true;
            let id = chunk.text("id").map(|id| id.into_owned());
            deltas.push(started(&self.asked, id, chunk.text("model").as_deref()));
        }
    }

    fn choice(&mut self, choice: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), ProviderError> {
        let delta = choice.field("delta").or_else(|| choice.field("message")).and_then(Raw::object).unwrap_or_default();
        let thought = THOUGHTS.iter().find_map(|name| Some((*name, delta.text(name).filter(|text| !text.is_empty())?)));
        if let Some((name, text)) = thought {
            self.thought = Some(name);
            deltas.push(Delta::Thinking(text.into_owned()));
        }
        if let Some(content) = delta.field("content") {
            self.content(content, deltas);
        }
        self.refusal.push_str(&delta.text("refusal").unwrap_or_default());
        for call in delta.field("tool_calls").into_iter().flat_map(Raw::items).filter_map(Raw::object) {
            self.end_thought(deltas);
            self.call(&call, deltas);
        }
        match choice.text("finish_reason").filter(|reason| !reason.is_empty()) {
            Some(reason) if reason == "error" => Err(Fault::in_stream(choice).judge()),
            Some(reason) => {
                self.finish = Some(reason.into_owned());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Content is text; some servers send it in parts.
    fn content(&mut self, content: Raw<'_>, deltas: &mut Vec<Delta>) {
        if content.shape() == Shape::Array {
            content.items().filter_map(|part| part.field("text")).for_each(|text| self.content(text, deltas));
        } else if let Some(text) = content.text().filter(|text| !text.is_empty()) {
            self.end_thought(deltas);
            deltas.push(Delta::Text(text.into_owned()));
        }
    }

    fn end_thought(&mut self, deltas: &mut Vec<Delta>) {
        deltas.extend(self.thought.take().map(|name| Delta::ThinkingSeal(name.to_owned())));
    }

    fn call(&mut self, call: &Object<'_>, deltas: &mut Vec<Delta>) {
        let function = call.field("function").and_then(Raw::object).unwrap_or_default();
        let id = call.text("id").unwrap_or_default().into_owned();
        let name = function.text("name").unwrap_or_default().into_owned();
        let index = self.number(call.field("index").and_then(Raw::unsigned), &id, !name.is_empty());
        let Some(known) = self.calls.get_mut(index) else { return };
        // Some servers name a call again with every piece.
        if !known.has_name && !name.is_empty() {
            known.has_name = true;
            deltas.push(Delta::Call { index, id: known.id.clone(), name });
        }
        let text = match function.field("arguments") {
            Some(arguments) if arguments.shape() == Shape::Object => {
                String::from_utf8_lossy(arguments.bytes()).into_owned()
            }
            arguments => arguments.and_then(Raw::text).unwrap_or_default().into_owned(),
        };
        if !text.is_empty() {
            deltas.push(Delta::Arguments { index, text });
        }
    }

    /// Finds which call a piece belongs to. Servers number calls, or tell them apart by id, or give all the number 0.
    fn number(&mut self, index: Option<u64>, id: &str, has_name: bool) -> usize {
        let is_it = |known: &Known| match index {
            Some(_) => known.index == index && (id.is_empty() || known.id.is_empty() || known.id == id),
            None if id.is_empty() => !has_name,
            None => known.id == id,
        };
        match self.calls.iter().rposition(is_it) {
            Some(at) => {
                if let Some(known) = self.calls.get_mut(at).filter(|known| known.id.is_empty()) {
                    id.clone_into(&mut known.id);
                }
                at
            }
            None => {
                self.calls.push(Known { index, id: id.to_owned(), has_name: false });
                self.calls.len() - 1
            }
        }
    }

    fn finish(&self, reason: &str) -> Finish {
        let has_calls = self.calls.iter().any(|call| call.has_name);
        match reason {
            _ if !self.refusal.is_empty() => Finish::Refused(self.refusal.clone()),
            "length" | "max_tokens" => Finish::Length,
            "content_filter" => Finish::Refused("the provider's content filter stopped the answer".to_owned()),
            // Some servers say `stop` though they want results, and some want results of no calls.
            _ if has_calls => Finish::Calls,
            "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Finish::Stop,
            other => Finish::Other(other.to_owned()),
        }
    }

    fn complete(&mut self) -> Result<Vec<Delta>, ProviderError> {
        let Some(reason) = &self.finish else { return Err(ProviderError::Truncated) };
        let finish = self.finish(reason);
        let mut deltas = Vec::new();
        self.end_thought(&mut deltas);
        self.is_over = true;
        deltas.push(Delta::Finished(finish));
        Ok(deltas)
    }
}

impl Decoder for Chat {
    fn take(&mut self, event: Event<'_>) -> Result<Vec<Delta>, ProviderError> {
        if event.data.trim() == "[DONE]" {
            return self.complete();
        }
        let chunk = object(event.data)?;
        if chunk.field("error").is_some_and(|error| !error.is_null()) || event.name == Some("error") {
            return Err(Fault::in_stream(&chunk).judge());
        }
        let mut deltas = Vec::new();
        let choices = chunk.field("choices");
        if choices.is_some() {
            self.start(&chunk, &mut deltas);
        }
        let first = choices.into_iter().flat_map(Raw::items).filter_map(Raw::object).find(is_first);
        if let Some(choice) = &first {
            self.choice(choice, &mut deltas)?;
        }
        let reported = chunk.field("usage").or_else(|| first.as_ref().and_then(|choice| choice.field("usage")));
        deltas.extend(reported.and_then(Raw::object).map(|reported| Delta::Usage(usage(&reported))));
        Ok(deltas)
    }

    fn end(&mut self) -> Result<Vec<Delta>, ProviderError> {
        if self.is_over { Ok(Vec::new()) } else { self.complete() }
    }

    fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    fn is_over(&self) -> bool {
        self.is_over
    }
}

fn is_first(choice: &Object<'_>) -> bool {
    choice.field("index").and_then(Raw::unsigned).unwrap_or_default() == 0
}

/// The prompt's count includes what was cached.
fn usage(reported: &Object<'_>) -> Usage {
    let count = |name| reported.field(name).and_then(Raw::unsigned);
    let detail = |name| reported.field("prompt_tokens_details").and_then(|raw| raw.field(name)).and_then(Raw::unsigned);
    let read = detail("cached_tokens").or_else(|| count("prompt_cache_hit_tokens")).unwrap_or_default();
    let written = detail("cache_write_tokens").unwrap_or_default();
    let prompt = count("prompt_tokens").unwrap_or_default();
    let dollars = reported.field("cost").and_then(Raw::float).filter(|dollars| *dollars > 0.0);
    Usage {
        input: prompt.saturating_sub(read).saturating_sub(written),
        output: count("completion_tokens").unwrap_or_default(),
        cache_read: read,
        cache_write: written,
        total: count("total_tokens").unwrap_or_default(),
        cost_micros: dollars.map(|dollars| (dollars * 1e6).round() as u64),
    }
}
