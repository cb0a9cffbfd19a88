//! An answer of the model: lines that belong together become one message.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::block;
use crate::compose::Composer;
use crate::mapping::Tokens;
use crate::origin::Kept;
use crate::record::Record;

/// A message that is still coming in is not held longer than this.
const MAX_BYTES: usize = 16 << 20;
const MAX_LINES: usize = 512;

/// The lines of one message, and what stood between them.
pub(super) struct Answer {
    /// The id of the message, which its lines share.
    message: String,
    lines: Vec<AnswerLine>,
    bytes: usize,
}

enum AnswerLine {
    Block { record: Record<'static>, uuid: String, block: Option<u64> },
    Between(Kept),
}

impl Answer {
    pub(super) fn new(message: &str) -> Self {
        Self { message: message.to_owned(), lines: Vec::new(), bytes: 0 }
    }

    /// Says whether a line goes on with this message: it has the same id, and hangs from one of its lines.
    pub(super) fn continues(&self, message: &str, parent: Option<&str>) -> bool {
        let hangs = parent.is_some_and(|parent| self.uuids().any(|uuid| uuid == parent));
        !message.is_empty()
            && self.message == message
            && hangs
            && self.bytes < MAX_BYTES
            && self.lines.len() < MAX_LINES
    }

    pub(super) fn push(&mut self, record: Record<'static>, uuid: &str) {
        self.bytes += record.bytes.len();
        let block = record.object().and_then(|object| object.field("apiBlockIndex")?.unsigned());
        self.lines.push(AnswerLine::Block { record, uuid: uuid.to_owned(), block });
    }

    pub(super) fn between(&mut self, kept: Vec<Kept>) {
        self.lines.extend(kept.into_iter().map(AnswerLine::Between));
    }

    /// Iterates over the ids of its lines.
    pub(super) fn uuids(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter_map(|line| match line {
            AnswerLine::Block { uuid, .. } => Some(uuid.as_str()),
            AnswerLine::Between(_) => None,
        })
    }

    fn records(&self) -> impl Iterator<Item = &Record<'static>> {
        self.lines.iter().filter_map(|line| match line {
            AnswerLine::Block { record, .. } => Some(record),
            AnswerLine::Between(_) => None,
        })
    }

    /// Returns the first line, which says where the message hangs and when it was written.
    pub(super) fn first(&self) -> Option<&Record<'static>> {
        self.records().next()
    }

    /// Composes the message and what its lines keep.
    pub(super) fn compose(&self) -> (Vec<u8>, Vec<Kept>) {
        let mut composer = Composer::default();
        let mut kept: Vec<Kept> = Vec::with_capacity(self.lines.len());
        composer.object("message", |message| {
            message.text("role", "assistant");
            message.array("content", |parts| {
                for (at, line) in self.lines.iter().enumerate() {
                    match line {
                        AnswerLine::Between(between) => kept.push(between.clone()),
                        AnswerLine::Block { record, .. } => {
                            parts.switch(&record.bytes);
                            if !self.is_repeated(at) {
                                blocks(record).for_each(|block| block::part(parts, block));
                            }
                            kept.push(record.kept(parts.switch(&[])));
                        }
                    }
                }
            });
            self.describe(message);
        });
        (composer.finish().0, kept)
    }

    /// Says whether a later line has the same block. While an answer streams in, a block may be written several times.
    fn is_repeated(&self, at: usize) -> bool {
        let Some(AnswerLine::Block { block: Some(index), record, .. }) = self.lines.get(at) else { return false };
        let kind =
            |record: &Record<'_>| blocks(record).next().and_then(|block| Some(block.field("type")?.bytes().to_vec()));
        self.lines.iter().skip(at + 1).any(|line| match line {
            AnswerLine::Block { block: Some(other), record: later, .. } => {
                other == index && kind(later) == kind(record)
            }
            _ => false,
        })
    }

    /// Writes what the message says beside its content.
    fn describe(&self, message: &mut Composer<'_>) {
        let objects: Vec<_> = self.records().filter_map(|record| record.raw()?.field("message")?.object()).collect();
        let text = |name: &str| objects.iter().rev().find_map(|object| object.text(name)).unwrap_or_default();
        let model = text("model");
        message.text("api", "anthropic-messages");
        message.text("provider", "anthropic");
        message.text("model", &model);
        objects.iter().filter_map(tokens).max_by_key(|tokens| tokens.output).unwrap_or_default().compose(message);
        let failed = self.records().any(|record| {
            record.object().and_then(|object| object.field("isApiErrorMessage")?.flag()).unwrap_or_default()
        });
        message.text("stopReason", stop_reason(&text("stop_reason"), failed));
        let written = self.first().and_then(Record::object).and_then(|object| time::parse(&object.text("timestamp")?));
        if let Some(millis) = written {
            message.number("timestamp", millis);
        }
        if !self.message.is_empty() {
            message.text("responseId", &self.message);
        }
    }
}

/// The blocks of a line.
fn blocks<'a>(record: &'a Record<'_>) -> impl Iterator<Item = Raw<'a>> {
    let content = record.raw().and_then(|raw| raw.field("message")?.field("content"));
    let one = content.filter(|content| content.shape() == Shape::Text);
    one.into_iter().chain(content.into_iter().flat_map(Raw::items))
}

fn tokens(message: &Object<'_>) -> Option<Tokens> {
    let usage = message.field("usage")?.object()?;
    let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    Some(Tokens {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        ..Tokens::default()
    })
}

fn stop_reason(reason: &str, failed: bool) -> &'static str {
    match reason {
        _ if failed => "error",
        "tool_use" => "toolUse",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" => "error",
        _ => "stop",
    }
}
