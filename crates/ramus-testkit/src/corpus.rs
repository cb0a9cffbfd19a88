//! Session files (JSONL, version 3) shaped like a long working day with a coding agent.
//!
//! One chain: a model and a thinking level are chosen, then turn follows turn. A turn is a prompt, up to three tool
//! calls with their results, and a closing answer; every text is of the size seen in real sessions, about 1 KB of line
//! per entry. No call is left without its result, so every program that reads the format makes the same of it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use jiff::Timestamp;

use crate::random::Random;

/// Characters of a prompt, of a tool's output and of a closing answer.
const TEXT: usize = 760;
/// Characters of what the assistant says before it calls a tool.
const REMARK: usize = 440;
/// Characters of the command a tool call carries.
const COMMAND: usize = 60;
/// The moment at which every generated session begins, in milliseconds since 1970 (2026-03-02T08:00:00Z).
const BEGINNING: i64 = 1_772_438_400_000;

const VOCABULARY: [&str; 40] = [
    "branch", "leaf", "root", "trunk", "ring", "graft", "prune", "bark", "moss", "canopy", "seedling", "orchard",
    "compile", "borrow", "trait", "module", "closure", "slice", "buffer", "socket", "thread", "queue", "cursor",
    "offset", "header", "parser", "failing", "test", "passes", "after", "before", "because", "when", "should",
    "return", "error", "now", "the", "and", "with",
];

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Entries, not counting the header.
    pub entries: usize,
    /// Size of the whole file.
    pub bytes: u64,
}

/// Writes a session of exactly `entries` entries to `path`, replacing what is there.
///
/// The same `entries` and `seed` give the same bytes. About 105 MB for 100,000 entries.
///
/// ```
/// let directory = tempfile::tempdir()?;
/// let written = ramus_testkit::corpus::write_session(&directory.path().join("s.jsonl"), 100, 42)?;
/// assert_eq!(written.entries, 100);
/// # std::io::Result::Ok(())
/// ```
pub fn write_session(path: &Path, entries: usize, seed: u64) -> io::Result<Written> {
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let written = stream_session(&mut file, entries, seed)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok(written)
}

/// Writes the same bytes as [`write_session`] to any writer.
pub fn stream_session(out: &mut impl Write, entries: usize, seed: u64) -> io::Result<Written> {
    let mut session = Generator::new(out, seed);
    session.header()?;
    session.choices(entries)?;
    while session.entries < entries {
        session.turn(entries - session.entries)?;
    }
    Ok(Written { entries: session.entries, bytes: session.bytes })
}

struct Generator<'a, W> {
    out: &'a mut W,
    random: Random,
    line: String,
    parent: Option<u32>,
    clock: i64,
    calls: usize,
    entries: usize,
    bytes: u64,
}

impl<'a, W: Write> Generator<'a, W> {
    fn new(out: &'a mut W, seed: u64) -> Self {
        let random = Random::new(seed);
        Self { out, random, line: String::new(), parent: None, clock: BEGINNING, calls: 0, entries: 0, bytes: 0 }
    }

    fn header(&mut self) -> io::Result<()> {
        let (high, low) = (self.random.bits(), self.random.bits());
        let time = stamp(self.clock);
        let id = format!(
            "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            low >> 52,
            low & 0xffff_ffff_ffff
        );
        let line =
            format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"/home/dev/grove"}}"#);
        self.line.push_str(&line);
        self.end_line()
    }

    /// The entries before the first turn, as far as there is room for them.
    fn choices(&mut self, room: usize) -> io::Result<()> {
        if room > 0 {
            let model =
                r#""provider":"anthropic","modelId":"claude-sonnet-4-5","model":"anthropic/claude-sonnet-4-5"}"#;
            self.entry("model_change", model)?;
        }
        if room > 1 {
            self.entry("thinking_level_change", r#""thinkingLevel":"high"}"#)?;
        }
        Ok(())
    }

    /// One turn of at most `room` entries (and at most eight). Never ends between a call and its result.
    fn turn(&mut self, room: usize) -> io::Result<()> {
        let prompt = self.text(TEXT);
        self.message(&format!(r#"{{"role":"user","content":[{{"type":"text","text":"{prompt}"}}]"#))?;
        for _ in 0..(room.saturating_sub(2) / 2).min(3) {
            self.tool_call()?;
        }
        if room > 1 {
            let answer = self.text(TEXT);
            self.message(&format!(
                r#"{{"role":"assistant","content":[{{"type":"text","text":"{answer}"}}],{}"stop""#,
                provenance()
            ))?;
        }
        Ok(())
    }

    fn tool_call(&mut self) -> io::Result<()> {
        let (remark, command) = (self.text(REMARK), self.text(COMMAND));
        let call = format!("call_{:020}", self.calls);
        self.calls += 1;
        self.message(&format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"{remark}"}},{{"type":"toolCall","id":"{call}","name":"bash","arguments":{{"command":"{command}"}}}}],{}"toolUse""#,
            provenance()
        ))?;
        let output = self.text(TEXT);
        self.message(&format!(
            r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"bash","content":[{{"type":"text","text":"{output}"}}],"isError":false"#
        ))
    }

    /// Appends a `message` entry; `open` is the message without its timestamp and closing brace.
    fn message(&mut self, open: &str) -> io::Result<()> {
        let timestamp = self.clock;
        self.entry("message", &format!(r#""message":{open},"timestamp":{timestamp}}}}}"#))
    }

    /// Appends an entry; `rest` are the fields after the envelope with the closing brace.
    fn entry(&mut self, kind: &str, rest: &str) -> io::Result<()> {
        let id = entry_id(self.entries);
        let parent = self.parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent:08x}\""));
        self.clock += 1_000;
        let time = stamp(self.clock);
        let envelope = format!(r#"{{"type":"{kind}","id":"{id:08x}","parentId":{parent},"timestamp":"{time}","#);
        self.line.push_str(&envelope);
        self.line.push_str(rest);
        self.parent = Some(id);
        self.entries += 1;
        self.end_line()
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push('\n');
        self.out.write_all(self.line.as_bytes())?;
        self.bytes += self.line.len() as u64;
        self.line.clear();
        Ok(())
    }

    /// Words up to `length` characters, already escaped as the inside of a JSON string.
    fn text(&mut self, length: usize) -> String {
        let mut text = String::with_capacity(length + length / 16);
        let mut characters = 0;
        while characters < length {
            let word = VOCABULARY.get(self.random.below(VOCABULARY.len())).copied().unwrap_or_default();
            let word = word.get(..word.len().min(length - characters)).unwrap_or_default();
            text.push_str(word);
            characters += word.len();
            if characters < length {
                text.push_str(if self.random.chance(9) { "\\n" } else { " " });
                characters += 1;
            }
        }
        text
    }
}

/// The fields an assistant message carries besides its content, up to the value of the stop reason.
fn provenance() -> &'static str {
    concat!(
        r#""api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","#,
        r#""usage":{"input":900,"output":180,"cacheRead":0,"cacheWrite":0,"totalTokens":1080,"#,
        r#""cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"#
    )
}

/// A different id for every index: an odd factor permutes the 32-bit numbers.
fn entry_id(index: usize) -> u32 {
    (index as u32).wrapping_add(1).wrapping_mul(0x9e37_79b1)
}

fn stamp(milliseconds: i64) -> String {
    let mut text = String::new();
    if let Ok(time) = Timestamp::from_millisecond(milliseconds) {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{}", time.strftime("%Y-%m-%dT%H:%M:%S.%3fZ"));
    }
    text
}
