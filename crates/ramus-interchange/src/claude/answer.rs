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
/// What Claude Code calls a model that was never asked.
const SYNTHETIC: &str = "<synthetic>";

/// The lines of one message, and what stood between them.
pub(super) struct Answer {
    /// The id of the message, which its lines share.
    message: String,
    lines: Vec<AnswerLine>,
    bytes: usize,
}

enum AnswerLine {
    Block(Block),
    Between(Kept),
}

struct Block {
    record: Record<'static>,
    uuid: String,
    parent: Option<String>,
    /// Which block of the message it is, when the line says it.
    index: Option<u64>,
}

impl Answer {
    pub(super) fn new(message: &str) -> Self {
        Self { message: message.to_owned(), lines: Vec::new(), bytes: 0 }
    }

    /// Says whether a line goes on with this message: it has the same id, and hangs from one of its lines. While an answer
    /// streams in, it may also be written once more: as the same line, or beside it.
    pub(super) fn continues(&self, message: &str, uuid: &str, parent: Option<&str>) -> bool {
        let is_part = |line: &Block| {
            line.uuid == uuid || !message.is_empty() && (parent == Some(&line.uuid) || parent == line.parent.as_deref())
        };
        self.message == message && self.blocks().any(is_part) && self.bytes < MAX_BYTES && self.lines.len() < MAX_LINES
    }

    /// Returns the id that its lines share; empty when they have none.
    pub(super) fn message(&self) -> &str {
        &self.message
    }

    pub(super) fn push(&mut self, record: Record<'static>, uuid: &str, parent: Option<&str>) {
        self.bytes += record.bytes.len();
        let index = record.object().and_then(|object| object.field("apiBlockIndex")?.unsigned());
        let (uuid, parent) = (uuid.to_owned(), parent.map(str::to_owned));
        self.lines.push(AnswerLine::Block(Block { record, uuid, parent, index }));
    }

    pub(super) fn between(&mut self, kept: Vec<Kept>) {
        self.lines.extend(kept.into_iter().map(AnswerLine::Between));
    }

    /// Iterates over the ids of its lines.
    pub(super) fn uuids(&self) -> impl Iterator<Item = &str> {
        self.blocks().map(|line| line.uuid.as_str())
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        blocks_of(&self.lines)
    }

    fn records(&self) -> impl Iterator<Item = &Record<'static>> {
        self.blocks().map(|line| &line.record)
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
                        AnswerLine::Block(Block { record, .. }) => {
                            parts.switch(&record.bytes);
                            if !self.is_repeated(at) {
                                contents(record).for_each(|block| block::part(parts, block));
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
        let Some(AnswerLine::Block(line)) = self.lines.get(at) else { return false };
        let mut later = blocks_of(self.lines.get(at + 1..).unwrap_or_default()).peekable();
        let is_grown =
            later.peek().is_some_and(|next| (line.index.is_none() || next.index.is_none()) && line.grew(next));
        is_grown
            || later.any(|later| {
                later.uuid == line.uuid
                    || line.index.is_some() && later.index == line.index && later.kind() == line.kind()
            })
    }

    /// Writes what the message says beside its content.
    fn describe(&self, message: &mut Composer<'_>) {
        let objects: Vec<_> = self.records().filter_map(|record| record.raw()?.field("message")?.object()).collect();
        let text = |name: &str| objects.iter().rev().find_map(|object| object.text(name)).unwrap_or_default();
        // What the program says in the name of a model was said by none.
        let model = if text("model") == SYNTHETIC { "".into() } else { text("model") };
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

impl Block {
    /// The type of its first block.
    fn kind(&self) -> Option<Vec<u8>> {
        Some(contents(&self.record).next()?.field("type")?.bytes().to_vec())
    }

    /// Says whether another line has all that this one has, and goes on with it.
    fn grew(&self, next: &Self) -> bool {
        let mut later = contents(&next.record);
        let mut blocks = contents(&self.record).peekable();
        blocks.peek().is_some() && blocks.all(|block| later.next().is_some_and(|later| has_grown(block, later)))
    }
}

/// Says whether a block is the beginning of another one.
fn has_grown(block: Raw<'_>, later: Raw<'_>) -> bool {
    let (Some(block), Some(later)) = (block.object(), later.object()) else { return false };
    let kind = block.text("type").unwrap_or_default();
    let begins = |name: &str| {
        let (text, later) = (block.text(name).unwrap_or_default(), later.text(name).unwrap_or_default());
        !text.trim().is_empty() && later.starts_with(&*text)
    };
    let has_ended =
        |name: &str| block.text(name).is_some_and(|text| !text.is_empty() && later.text(name) != Some(text));
    later.text("type").is_some_and(|later| later == kind)
        && match &*kind {
            "text" => begins("text"),
            "thinking" => begins("thinking") && !has_ended("signature"),
            "tool_use" => begins("id") && later.text("id") == block.text("id"),
            _ => false,
        }
}

fn blocks_of(lines: &[AnswerLine]) -> impl Iterator<Item = &Block> {
    lines.iter().filter_map(|line| match line {
        AnswerLine::Block(block) => Some(block),
        AnswerLine::Between(_) => None,
    })
}

/// The blocks of the message that a line has.
fn contents<'a>(record: &'a Record<'_>) -> impl Iterator<Item = Raw<'a>> {
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
