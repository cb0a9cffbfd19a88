//! An answer that is still coming in: its items become one message, and what it used is said after the fact.

use ramus_model::json::{Object, Raw};
use ramus_model::time;

use super::item;
use crate::compose::Composer;
use crate::mapping::Tokens;
use crate::origin::Kept;
use crate::record::Record;

/// More than this does not wait.
const MAX_BYTES: usize = 16 << 20;
const MAX_LINES: usize = 512;

/// Items of an answer, and what waits behind it.
#[derive(Default)]
pub(super) struct Pending {
    items: Vec<Line>,
    /// Results and records that came behind the last item, in order.
    pub(super) behind: Vec<Behind>,
    bytes: usize,
    usage: Option<Tokens>,
    response: Option<String>,
}

enum Line {
    Item(Record<'static>),
    Between(Kept),
}

/// What waits behind an answer.
pub(super) enum Behind {
    /// The outcome of a call.
    Output(Record<'static>),
    /// A record that is no entry.
    Record(Kept),
}

impl Pending {
    pub(super) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Says whether another item can be part of the same answer: no outcome lies between.
    pub(super) fn is_open(&self) -> bool {
        self.behind.iter().all(|behind| matches!(behind, Behind::Record(_)))
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES || self.items.len() + self.behind.len() > MAX_LINES
    }

    pub(super) fn push(&mut self, record: Record<'static>) {
        let between = std::mem::take(&mut self.behind).into_iter().filter_map(|behind| match behind {
            Behind::Record(kept) => Some(Line::Between(kept)),
            Behind::Output(_) => None,
        });
        self.items.extend(between);
        self.bytes += record.bytes.len();
        self.items.push(Line::Item(record));
    }

    pub(super) fn wait(&mut self, behind: Behind) {
        self.bytes += match &behind {
            Behind::Output(record) => record.bytes.len(),
            Behind::Record(kept) => kept.len(),
        };
        self.behind.push(behind);
    }

    /// Takes what the answer used. The first report about it counts.
    pub(super) fn used(&mut self, usage: Tokens, response: Option<String>) {
        self.usage = self.usage.or(Some(usage));
        self.response = self.response.take().or(response);
    }

    pub(super) fn first(&self) -> Option<&Record<'static>> {
        self.items.iter().find_map(|line| match line {
            Line::Item(record) => Some(record),
            Line::Between(_) => None,
        })
    }

    /// Composes the message and what its items keep.
    pub(super) fn compose(&self, provider: &str, model: &str) -> (Vec<u8>, Vec<Kept>) {
        let mut composer = Composer::default();
        let mut kept = Vec::with_capacity(self.items.len());
        let mut calls = false;
        composer.object("message", |message| {
            message.text("role", "assistant");
            message.array("content", |parts| {
                for line in &self.items {
                    match line {
                        Line::Between(between) => kept.push(between.clone()),
                        Line::Item(record) => {
                            parts.switch(&record.bytes);
                            if let Some(payload) = record.raw().and_then(item::held) {
                                calls |= payload.field("call_id").is_some();
                                item::answer(parts, payload);
                            }
                            kept.push(record.kept(parts.switch(&[])));
                        }
                    }
                }
            });
            message.text("api", "openai-responses");
            message.text("provider", provider);
            message.text("model", model);
            self.usage.unwrap_or_default().compose(message);
            message.text("stopReason", if calls { "toolUse" } else { "stop" });
            let written = self.first().and_then(Record::object).and_then(|line| time::parse(&line.text("timestamp")?));
            if let Some(millis) = written {
                message.number("timestamp", millis);
            }
            if let Some(response) = &self.response {
                message.text("responseId", response);
            }
        });
        (composer.finish().0, kept)
    }
}

/// What a record says about the answer before it.
pub(super) fn usage(kind: &str, payload: &Object<'_>) -> Option<(Tokens, Option<String>)> {
    match kind {
        "token_usage_record" => {
            let response = payload.text("response_id").map(|id| id.into_owned());
            Some((tokens(payload.field("usage")?), response))
        }
        "event_msg" if payload.text("type")? == "token_count" => {
            let last = payload.field("info")?.field("last_token_usage")?;
            Some((tokens(last), None))
        }
        _ => None,
    }
}

/// Counts of Codex: cached tokens are part of the input, thoughts part of the output.
fn tokens(usage: Raw<'_>) -> Tokens {
    let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    let (cache_read, cache_write) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Tokens {
        input: count("input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: count("output_tokens"),
        cache_read,
        cache_write,
        total: count("total_tokens"),
        cost: None,
    }
}
