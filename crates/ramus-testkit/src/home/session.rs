//! One session of a made-up home: its bytes, and what is in them.

use ramus_model::time;

use super::Made;
use super::vocabulary::{self, Vocabulary};
use super::writer::Writer;
use crate::random::Random;

/// When the oldest session begins, in milliseconds since 1970 (2026-01-01T08:00:00Z), and how far apart sessions begin.
const BEGINNING: i64 = 1_767_254_400_000;
const APART: i64 = 37 * 60_000;

/// Provider, model, API, and the price of a million tokens in cents; a model without a price reports none.
const MODELS: [(&str, &str, &str, u64); 5] = [
    ("anthropic", "claude-sonnet-4-5", "anthropic-messages", 300),
    ("anthropic", "claude-opus-4-5", "anthropic-messages", 500),
    ("openai", "gpt-5.1", "openai-responses", 125),
    ("ollama", "qwen3-coder", "openai-completions", 0),
    ("google", "gemini-3-pro", "google-generative-ai", 200),
];

/// What is wanted.
pub(super) struct Request<'a> {
    /// Its number in the home.
    pub(super) number: usize,
    /// How many messages.
    pub(super) messages: usize,
    /// Its working directory: the number and the name.
    pub(super) directory: usize,
    pub(super) cwd: &'a str,
    pub(super) kind: Kind,
}

/// What a session is.
pub(super) enum Kind {
    Plain,
    /// Nothing was answered yet.
    Draft,
    /// It goes on where another one ended.
    Fork(Origin),
}

/// What a fork must know.
pub(super) struct Origin {
    pub(super) directory: usize,
    session: String,
    entry: String,
    offset: usize,
    clock: i64,
}

/// A finished session.
pub(super) struct Written {
    pub(super) id: String,
    /// When it was made, as it is spelled in names of files.
    pub(super) stamp: String,
    pub(super) bytes: Vec<u8>,
    leaf: String,
    directory: usize,
    clock: i64,
}

impl Written {
    pub(super) fn origin(&self) -> Origin {
        Origin {
            directory: self.directory,
            session: self.id.clone(),
            entry: self.leaf.clone(),
            offset: self.bytes.len(),
            clock: self.clock,
        }
    }
}

/// Writes a session and counts what is in it.
pub(super) fn write(request: &Request<'_>, words: &Vocabulary, random: &mut Random, made: &mut Made) -> Written {
    let mut clock = BEGINNING + request.number as i64 * APART + random.below(60_000) as i64;
    if let Kind::Fork(origin) = &request.kind {
        clock = clock.max(origin.clock + 1_000);
    }
    let id = session_id(clock, random);
    let mut writer = Writer {
        words,
        random,
        out: String::with_capacity(request.messages * 1_200 + 1_024),
        id,
        parent: None,
        entries: 0,
        messages: 0,
        clock,
        salt: request.number as u32,
        marks: (Vec::new(), Vec::new()),
    };
    let stamp = time::format(clock).replace([':', '.'], "-");
    writer.header(request);
    if matches!(request.kind, Kind::Draft) {
        (0..request.messages).for_each(|_| writer.prompt());
    } else {
        writer.conversation(request.messages);
        made.archived += usize::from(writer.ending());
    }
    made.sessions += 1;
    made.drafts += usize::from(matches!(request.kind, Kind::Draft));
    made.forks += usize::from(matches!(request.kind, Kind::Fork(_)));
    made.messages += writer.messages;
    made.entries += writer.entries;
    made.bytes += writer.out.len() as u64;
    let (rare, common) = std::mem::take(&mut writer.marks);
    made.rare.extend(rare);
    made.common.extend(common);
    let Writer { id, out, clock, parent, .. } = writer;
    let leaf = parent.unwrap_or_default();
    Written { id, stamp, bytes: out.into_bytes(), leaf, directory: request.directory, clock }
}

impl Writer<'_> {
    fn header(&mut self, request: &Request<'_>) {
        let (id, time) = (&self.id, time::format(self.clock));
        let cwd = request.cwd;
        self.push(format_args!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"{cwd}","ramus":{{"engine":"0.1.0""#,
            id = id.clone()
        ));
        if let Kind::Fork(origin) = &request.kind {
            let Origin { session, entry, offset, .. } = origin;
            self.push(format_args!(r#","forkedFrom":{{"session":"{session}","entry":"{entry}","offset":{offset}}}"#));
            self.parent = Some(entry.clone());
        }
        self.out.push_str("}}\n");
    }

    /// So many messages: turns with their tools, sometimes a branch, sometimes something that is no message.
    fn conversation(&mut self, messages: usize) {
        let mut model = self.random.below(MODELS.len());
        self.choose(model);
        let mut earlier = None;
        while self.messages < messages {
            self.prompt();
            let room = messages.saturating_sub(self.messages + 1) / 2;
            for _ in 0..room.min(self.random.below(5)) {
                self.tool_call(model);
            }
            if self.messages < messages || self.messages < 2 {
                self.answer(model);
            }
            match self.random.below(100) {
                0..2 => {
                    model = self.random.below(MODELS.len());
                    self.choose(model);
                }
                2..4 => self.label(),
                4..6 => self.note(),
                // Back to where an earlier turn ended.
                6..8 => self.parent = earlier.take().or(self.parent.take()),
                8..30 => earlier = self.parent.clone(),
                _ => {}
            }
            self.clock += self.random.below(600_000) as i64;
        }
    }

    /// What people do with a session: a title, tags, a star, away with it. Returns whether it was archived.
    fn ending(&mut self) -> bool {
        let leaf = self.parent.clone();
        if self.random.chance(40) {
            let mut title = String::new();
            std::mem::swap(&mut title, &mut self.out);
            self.text(40);
            std::mem::swap(&mut title, &mut self.out);
            let title = title.replace("\\n", " ");
            self.entry("session_info", format_args!(r#""name":"{}"}}"#, title.trim()));
        }
        let archived = self.random.chance(5);
        let facts = [
            (self.random.chance(10), format!(r#""tags":["{}","work"]"#, vocabulary::project(self.random.below(10)))),
            (self.random.chance(3), r#""starred":true"#.to_owned()),
            (archived, format!(r#""archived_at":"{}""#, time::format(self.clock))),
        ];
        for (_, fact) in facts.iter().filter(|(wanted, _)| *wanted) {
            self.entry(
                "custom",
                format_args!(r#""customType":"ramus.meta","data":{{"op":"meta","client":"made","set":{{{fact}}}}}}}"#),
            );
        }
        // None of these is in the tree.
        self.parent = leaf;
        archived
    }

    fn choose(&mut self, model: usize) {
        let (provider, name, ..) = pick(model);
        self.entry(
            "model_change",
            format_args!(r#""provider":"{provider}","modelId":"{name}","model":"{provider}/{name}"}}"#),
        );
    }

    fn label(&mut self) {
        let (Some(target), name) = (self.parent.clone(), vocabulary::syllables(self.random)) else { return };
        self.entry("label", format_args!(r#""targetId":"{target}","label":"{name}"}}"#));
        self.parent = Some(target);
    }

    fn note(&mut self) {
        let text = self.aside(120);
        self.entry("custom_message", format_args!(r#""customType":"note","content":"{text}","display":true}}"#));
    }

    fn prompt(&mut self) {
        let length = 30 + self.skewed(700);
        self.message(|writer| {
            writer.out.push_str(r#"{"role":"user","content":[{"type":"text","text":""#);
            writer.marked_text(length);
            writer.out.push_str(r#""}]"#);
        });
    }

    fn answer(&mut self, model: usize) {
        let length = 120 + self.skewed(1_400);
        self.message(|writer| {
            writer.out.push_str(r#"{"role":"assistant","content":["#);
            writer.thinking();
            writer.out.push_str(r#"{"type":"text","text":""#);
            writer.marked_text(length);
            writer.out.push_str(r#""}],"#);
            writer.provenance(model, "stop");
        });
    }

    fn tool_call(&mut self, model: usize) {
        let call = format!("call_{:08x}_{}", self.salt, self.messages);
        let tool = self.random.below(5);
        let (name, length) = (TOOLS.get(tool).copied().unwrap_or("bash"), 40 + self.skewed(400));
        self.message(|writer| {
            writer.out.push_str(r#"{"role":"assistant","content":["#);
            writer.thinking();
            writer.out.push_str(r#"{"type":"text","text":""#);
            writer.marked_text(length);
            writer.push(format_args!(r#""}},{{"type":"toolCall","id":"{call}","name":"{name}","arguments":{{"#));
            writer.arguments(name);
            writer.out.push_str("}}],");
            writer.provenance(model, "toolUse");
        });
        let failed = self.random.chance(4);
        let length = 60 + self.skewed(3_600);
        self.message(|writer| {
            writer.push(format_args!(
                r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"{name}","content":[{{"type":"text","text":""#
            ));
            writer.out.push_str(if failed { "error: exit status 1\\n" } else { "" });
            writer.marked_text(length);
            writer.push(format_args!(r#""}}],"isError":{failed}"#));
        });
    }

    fn thinking(&mut self) {
        if self.random.chance(20) {
            self.out.push_str(r#"{"type":"thinking","thinking":""#);
            let length = 80 + self.skewed(900);
            self.text(length);
            self.out.push_str(r#""},"#);
        }
    }

    fn arguments(&mut self, tool: &str) {
        let path = vocabulary::path(self.random);
        match tool {
            "bash" => {
                self.out.push_str(r#""command":""#);
                self.text(50);
                self.out.push('"');
            }
            "edit" => {
                self.push(format_args!(r#""path":"{path}","old_string":""#));
                self.text(80);
                self.out.push_str(r#"","new_string":""#);
                self.text(90);
                self.out.push('"');
            }
            "grep" => self.push(format_args!(r#""pattern":"fn","path":"{path}""#)),
            _ => self.push(format_args!(r#""path":"{path}""#)),
        }
    }

    /// The fields an assistant message carries besides its content.
    fn provenance(&mut self, model: usize, reason: &str) {
        let (provider, name, api, price) = pick(model);
        let (input, output) = (500 + self.random.below(9_000), 40 + self.random.below(900));
        let cached = self.random.below(20_000);
        self.push(format_args!(
            r#""api":"{api}","provider":"{provider}","model":"{name}","usage":{{"input":{input},"output":{output},"cacheRead":{cached},"cacheWrite":0,"totalTokens":{}"#,
            input + output + cached
        ));
        if price > 0 {
            // Dollars, as a program that knows the price would write them.
            let dollars = |tokens: usize, times: u64| tokens as f64 * (price * times) as f64 / 1e8;
            let (input, output) = (dollars(input, 1), dollars(output, 5));
            let total = input + output;
            self.push(format_args!(
                r#","cost":{{"input":{input:.6},"output":{output:.6},"cacheRead":0,"cacheWrite":0,"total":{total:.6}}}"#
            ));
        }
        self.push(format_args!(r#"}},"stopReason":"{reason}""#));
    }
}

const TOOLS: [&str; 5] = ["bash", "read", "edit", "grep", "write"];

fn pick(model: usize) -> (&'static str, &'static str, &'static str, u64) {
    MODELS.get(model).copied().unwrap_or(("none", "none", "none", 0))
}

/// A UUID of version 7: the time it was made, and chance.
fn session_id(millis: i64, random: &mut Random) -> String {
    let (millis, bits) = (millis as u64, random.bits());
    let low = random.bits() & 0xffff_ffff_ffff;
    let (variant, node) = (0x8000 | (bits & 0x3fff), low);
    format!("{:08x}-{:04x}-7{:03x}-{variant:04x}-{node:012x}", millis >> 16, millis & 0xffff, (bits >> 16) & 0xfff)
}
