//! Token arithmetic: what a provider reported, and the estimate of four characters per token for the rest.

use crate::context::{Context, Item, body, render};
use crate::id::Seq;
use crate::json::{Raw, Shape};
use crate::log::{Lines, Log};
use crate::message::{Message, Part};

/// What one image counts for, in characters.
const IMAGE_CHARS: u64 = 4800;

/// Estimates the tokens of a message: a quarter of its characters, rounded up.
pub fn estimate(message: &Message) -> u64 {
    let chars: u64 = message.parts.iter().map(part_chars).sum();
    chars.div_ceil(4)
}

fn part_chars(part: &Part) -> u64 {
    match part {
        Part::Text(text) | Part::Thinking(text) => utf16_len(text),
        Part::Image { .. } => IMAGE_CHARS,
        Part::ToolCall { name, arguments, .. } => utf16_len(name) + utf16_len(arguments),
        Part::Unknown(_, bytes) => utf16_len(bytes),
    }
}

/// The length in UTF-16 units, which is what the programs that share this format count.
fn utf16_len(text: &str) -> u64 {
    if text.is_ascii() { text.len() as u64 } else { text.encode_utf16().count() as u64 }
}

/// Counts the tokens of a context: the last usable provider report behind the compaction, plus an estimate of what
/// follows it; an estimate of everything when there is no such report.
pub fn of_context<L: Lines + ?Sized>(log: &Log, context: &Context, lines: &L) -> Result<u64, L::Error> {
    let mut estimated = 0;
    for item in context.items.iter().rev() {
        let message = decode(log, *item, lines)?;
        if let Some(reported) = usable_report(&message).filter(|_| is_behind(item.seq(), context.compacted_by)) {
            return Ok(reported.saturating_add(estimated));
        }
        estimated += estimate(&message);
    }
    Ok(estimated)
}

/// A report from before the compaction still counts what the compaction dropped.
fn is_behind(seq: Seq, compaction: Option<Seq>) -> bool {
    compaction.is_none_or(|compaction| seq > compaction)
}

fn usable_report(message: &Message) -> Option<u64> {
    let answer = message.answer.as_ref()?;
    let failed = matches!(answer.stop_reason.as_deref(), Some("aborted" | "error"));
    answer.usage.filter(|_| !failed).map(|usage| usage.tokens()).filter(|tokens| *tokens > 0)
}

fn decode<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L) -> Result<Message, L::Error> {
    if let Item::Message(seq) = item {
        let line = body(log, seq, lines)?;
        let message = Raw::parse(&line).and_then(|raw| raw.field("message")).filter(|raw| raw.shape() == Shape::Object);
        return Ok(message.map_or_else(empty, Message::read));
    }
    let mut bytes = Vec::new();
    render::message(log, item, lines, &mut bytes)?;
    let message = Raw::parse(&bytes).map_or_else(empty, |raw| match raw.field("summary").and_then(Raw::text) {
        Some(summary) => Message { parts: vec![Part::Text(summary.into_owned())], ..empty() },
        None => Message::read(raw),
    });
    Ok(message)
}

fn empty() -> Message {
    Message {
        role: crate::kind::Role::Other,
        role_name: String::new(),
        parts: Vec::new(),
        timestamp: None,
        answer: None,
        result: None,
    }
}
