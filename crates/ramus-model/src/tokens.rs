//! Token arithmetic: what a provider reported, and a count of the rest. How text is counted is up to a [`Counter`].

use crate::context::{Context, Item, body, render};
use crate::id::Seq;
use crate::json::{Raw, Shape};
use crate::log::{Lines, Log};
use crate::message::{Message, Part};

/// What one image counts for.
const IMAGE: u64 = 1_200;

/// Counts tokens.
pub trait Counter: Send + Sync {
    /// Counts the tokens of texts that stand in one message.
    fn count(&self, texts: &[&str]) -> u64;
}

/// Four characters a token, rounded up for each message. The programs that share this format estimate the same, to the
/// token, so it is what everybody agrees on when nothing better is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heuristic;

impl Counter for Heuristic {
    fn count(&self, texts: &[&str]) -> u64 {
        texts.iter().map(|text| utf16_len(text)).sum::<u64>().div_ceil(4)
    }
}

/// The length in UTF-16 units, which is what the programs that share this format count.
fn utf16_len(text: &str) -> u64 {
    if text.is_ascii() { text.len() as u64 } else { text.encode_utf16().count() as u64 }
}

/// Estimates the tokens of a message at four characters each.
pub fn estimate(message: &Message) -> u64 {
    count(message, &Heuristic)
}

/// Counts the tokens of a message.
pub fn count(message: &Message, counter: &dyn Counter) -> u64 {
    let (mut texts, mut images) = (Vec::with_capacity(message.parts.len()), 0);
    for part in &message.parts {
        match part {
            Part::Text(text) | Part::Thinking(text) | Part::Unknown(_, text) => texts.push(text.as_str()),
            Part::ToolCall { name, arguments, .. } => texts.extend([name.as_str(), arguments.as_str()]),
            Part::Image { .. } => images += 1,
        }
    }
    counter.count(&texts) + images * IMAGE
}

/// Counts the tokens of parts as they are sent.
pub fn of_parts(parts: &[Vec<u8>], counter: &dyn Counter) -> u64 {
    let parts = parts.iter().filter_map(|part| Raw::parse(part)).map(Part::read).collect();
    count(&Message { parts, ..empty() }, counter)
}

/// Counts the tokens of a context, and estimates at four characters a token what nobody reported.
pub fn of_context<L: Lines + ?Sized>(log: &Log, context: &Context, lines: &L) -> Result<u64, L::Error> {
    count_context(log, context, lines, &Heuristic)
}

/// Counts the tokens of a context: the last usable provider report behind the compaction, plus a count of what follows it; a
/// count of everything when there is no such report.
pub fn count_context<L: Lines + ?Sized>(
    log: &Log,
    context: &Context,
    lines: &L,
    counter: &dyn Counter,
) -> Result<u64, L::Error> {
    let mut counted: u64 = 0;
    for item in context.items.iter().rev() {
        let message = decode(log, *item, lines)?;
        if let Some(reported) = usable_report(&message).filter(|_| is_behind(item.seq(), context.compacted_by)) {
            return Ok(reported.saturating_add(counted));
        }
        counted = counted.saturating_add(count(&message, counter));
    }
    Ok(counted)
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
