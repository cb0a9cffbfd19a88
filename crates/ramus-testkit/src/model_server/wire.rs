//! Replies as each format streams them, event by event.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::format::Format;
use super::plan::{Fault, Part, Reply};
use super::refusal;

/// What an answer needs to know of its request.
pub(super) struct Asked<'a> {
    /// The model.
    pub(super) model: &'a str,
    /// The body.
    pub(super) body: &'a Value,
    /// A name that no other answer has.
    pub(super) tag: String,
}

/// One event of a stream, as it is sent.
pub(super) type Event = String;

/// Returns the events of a reply.
pub(super) fn events(format: Format, asked: &Asked<'_>, reply: &Reply) -> Vec<Event> {
    let mut events = match format {
        Format::Chat => chat::events(asked, reply),
        Format::Responses => responses::events(asked, reply),
        Format::Anthropic => anthropic::events(asked, reply),
        Format::Gemini => gemini::events(asked, reply),
    };
    match reply.fault {
        Some(Fault::NoTerminal) => strip_terminal(format, &mut events),
        Some(Fault::TwoTerminals) => events.extend(events.last().cloned()),
        Some(Fault::Error { after }) => {
            events.truncate(after);
            events.push(error(format));
        }
        _ => {}
    }
    events
}

/// Returns a reply as a stream of a format, for a server with rules of its own. No two answers may have one number.
pub fn stream(format: Format, model: &str, body: &Value, number: usize, reply: &Reply) -> Vec<String> {
    events(format, &Asked { model, body, tag: tag(number) }, reply)
}

/// Joins the events of a stream that was not asked for as events: a list of their data, as Gemini sends it.
pub(super) fn list(events: Vec<Event>) -> Vec<Event> {
    let last = events.len().saturating_sub(1);
    let piece = |(index, event): (usize, Event)| {
        let start = if index == 0 { "[" } else { ",\r\n" };
        let end = if index == last { "]" } else { "" };
        format!("{start}{}{end}", event.trim_start_matches("data: ").trim_end())
    };
    events.into_iter().enumerate().map(piece).collect()
}

/// Returns the event by which a format says, in the middle of a stream, that it failed.
fn error(format: Format) -> Event {
    let status = if format == Format::Anthropic { 529 } else { 503 };
    let body = refusal::error_body(format, status, refusal::message(format, status), None, None);
    match format {
        Format::Chat => data(&body),
        Format::Responses => responses::failure(),
        Format::Anthropic => named("error", &body),
        Format::Gemini => gemini::event(&body),
    }
}

/// Takes away what says that a stream is whole.
fn strip_terminal(format: Format, events: &mut Vec<Event>) {
    let last = match format {
        // The finish reason, the usage and the mark of the end.
        Format::Chat => events.iter().position(|event| event.contains("\"finish_reason\":\"")),
        Format::Anthropic => events.iter().position(|event| event.starts_with("event: message_delta")),
        Format::Responses => events.len().checked_sub(1),
        Format::Gemini => events.iter().position(|event| event.contains("\"finishReason\":")),
    };
    events.truncate(last.unwrap_or(events.len()));
}

/// Returns a name for the answer to the request `number`; the same on every machine.
pub fn tag(number: usize) -> String {
    let hash = Sha256::digest(number.to_le_bytes());
    hash.iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns an event with data only.
fn data(value: &Value) -> Event {
    format!("data: {value}\n\n")
}

/// Returns an event with a name.
fn named(name: &str, value: &Value) -> Event {
    format!("event: {name}\ndata: {value}\n\n")
}

/// Returns the id of the call `index` of a reply: its own, or one of the format's kind.
fn call_id(reply: &Reply, asked: &Asked<'_>, prefix: &str, index: usize, own: Option<&str>) -> String {
    match (&reply.fault, own) {
        (Some(Fault::OneCallId), _) => format!("{prefix}{}", asked.tag),
        (_, Some(own)) => own.to_owned(),
        (_, None) => format!("{prefix}{}{index}", asked.tag),
    }
}

/// Cuts text into so many pieces, between characters.
fn pieces(text: &str, count: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let size = characters.len().div_ceil(count.max(1)).max(1);
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// Returns whether a reply calls anything.
fn calls(reply: &Reply) -> bool {
    reply.parts.iter().any(|part| matches!(part, Part::Call { .. }))
}
