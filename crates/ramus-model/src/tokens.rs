//! Token arithmetic: what a provider reported, and a count of the rest. How text is counted is up to a [`Counter`].

use crate::context::provider::Outgoing;
use crate::context::{Context, Item, body, render};
use crate::id::Seq;
use crate::json::{Shape, Tape};
use crate::kind::Role;
use crate::log::{Lines, Log};
use crate::message::{Message, Part, Usage};

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
    let parts = parts.iter().filter_map(|part| Tape::read(part)).map(|part| Part::of(part.root())).collect();
    count(&Message { parts, ..Message::empty() }, counter)
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
            return Ok(reported.tokens().saturating_add(counted));
        }
        counted = counted.saturating_add(count(&message, counter));
    }
    Ok(counted)
}

/// Counts the tokens of one item of a context, whatever anybody reported.
pub fn of_item<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L, counter: &dyn Counter) -> Result<u64, L::Error> {
    Ok(count(&decode(log, item, lines)?, counter))
}

/// Counts the tokens of a context as it goes out: the last usable provider report behind the compaction, plus a count of the
/// messages that follow it, set right by what earlier counts were worth. A report covers what goes out `besides`, such as
/// tools and instructions; without one that is added.
pub fn count_outgoing<L: Lines + ?Sized>(
    log: &Log,
    context: &Context,
    lines: &L,
    messages: &[Outgoing],
    besides: u64,
    counter: &dyn Counter,
) -> Result<u64, L::Error> {
    let reports = reports(log, context, lines, counter)?;
    let last = reports.first();
    let is_new = |message: &&Outgoing| match (message.entry, last) {
        (Some(entry), Some(last)) => entry > last.seq,
        _ => true,
    };
    let counted = messages.iter().filter(is_new).map(|message| of_parts(&message.parts, counter)).sum::<u64>();
    let counted = (counted as f64 * worth(&reports)).round() as u64;
    Ok(last.map_or(besides, |last| last.usage.tokens()).saturating_add(counted))
}

/// A provider report, and what was counted between the one before it and the answer it came with.
struct Report {
    seq: Seq,
    usage: Usage,
    counted: u64,
}

/// How many reports are looked at, and how much of each new one is believed.
const REPORTS: usize = 6;
const BELIEVED: f64 = 0.2;

/// Too little to tell anything from.
const TELLING: u64 = 100;

/// The last usable reports behind the compaction, newest first.
fn reports<L: Lines + ?Sized>(
    log: &Log,
    context: &Context,
    lines: &L,
    counter: &dyn Counter,
) -> Result<Vec<Report>, L::Error> {
    let mut reports: Vec<Report> = Vec::new();
    let is_answer = |item: &Item| log.record(item.seq()).is_some_and(|record| record.role == Role::Assistant);
    for item in context.items.iter().rev().take_while(|item| is_behind(item.seq(), context.compacted_by)) {
        // Only answers come with reports, and what stands behind the last one is counted elsewhere.
        if reports.is_empty() && !is_answer(item) {
            continue;
        }
        let message = decode(log, *item, lines)?;
        if let Some(usage) = usable_report(&message) {
            if reports.len() == REPORTS {
                break;
            }
            reports.push(Report { seq: item.seq(), usage, counted: 0 });
        } else if let Some(after) = reports.last_mut() {
            after.counted = after.counted.saturating_add(count(&message, counter));
        }
    }
    Ok(reports)
}

/// How many tokens a counted one is worth: by how much prompts grew from report to report, against what was counted for
/// what was new in them. Moves slowly, and does not believe what is far off.
fn worth(reports: &[Report]) -> f64 {
    let mut worth = 1.0;
    for pair in reports.windows(2).rev() {
        let [after, before] = pair else { continue };
        let Some(grown) = after.usage.prompt().checked_sub(before.usage.tokens()).filter(|grown| *grown > 0) else {
            continue;
        };
        let seen = grown as f64 / after.counted as f64;
        if after.counted >= TELLING && (worth / 2.0..=worth * 2.0).contains(&seen) {
            worth += (seen - worth) * BELIEVED;
        }
    }
    // Between five and two characters a token, where four are counted.
    worth.clamp(0.8, 2.0)
}

/// A report from before the compaction still counts what the compaction dropped.
fn is_behind(seq: Seq, compaction: Option<Seq>) -> bool {
    compaction.is_none_or(|compaction| seq > compaction)
}

fn usable_report(message: &Message) -> Option<Usage> {
    let answer = message.answer.as_ref()?;
    let failed = matches!(answer.stop_reason.as_deref(), Some("aborted" | "error"));
    answer.usage.filter(|usage| !failed && usage.tokens() > 0)
}

fn decode<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L) -> Result<Message, L::Error> {
    if let Item::Message(seq) = item {
        let line = body(log, seq, lines)?;
        let tape = Tape::read(&line);
        let message = tape.as_ref().and_then(|tape| tape.root().field("message"));
        let message = message.filter(|message| message.shape() == Shape::Object);
        return Ok(message.map_or_else(Message::empty, Message::of));
    }
    let mut bytes = Vec::new();
    render::message(log, item, lines, &mut bytes)?;
    let Some(tape) = Tape::read(&bytes) else { return Ok(Message::empty()) };
    let summary = tape.root().field("summary").and_then(|summary| summary.raw().text());
    Ok(match summary {
        Some(summary) => Message { parts: vec![Part::Text(summary.into_owned())], ..Message::empty() },
        None => Message::of(tape.root()),
    })
}
