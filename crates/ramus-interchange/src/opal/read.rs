//! Reading: terms into entries.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;
use ramus_model::json::{Raw, Shape};
use ramus_model::{EntryId, time};

use super::decode::Unread;
use super::dets;
use super::term::Term;
use super::{AGENT, META, STRUCT};
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::whole;
use crate::origin::Kept;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;

/// How many records are said to be missing, at most.
const MOST_MISSING: usize = 1000;
/// What Opal writes in front of a summary.
const SUMMARY: &str = "[Conversation summary";

/// A summary without the line that Opal writes in front of it.
fn summary(content: &str) -> &str {
    let behind =
        content.strip_prefix(SUMMARY).and_then(|rest| rest.split_once("]\n")).map(|(_, text)| text.trim_start());
    behind.filter(|text| !text.is_empty()).unwrap_or(content)
}

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let Some(bytes) = whole(source.open()?, limits.line)? else {
        return Err(Error::Limit(format!("the table is larger than {} MiB", limits.line >> 20)));
    };
    let Some(mut table) = dets::read(&bytes, limits)? else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "it is no DETS table".into() });
    };
    if table.objects.is_empty() {
        return Err(Error::NotThisFormat { agent: AGENT, why: "no record was found in its table".into() });
    }
    // Where an object stands in the file says nothing, so it must not show.
    table.objects.sort_by(|one, other| one.bytes.cmp(other.bytes));
    let objects = &table.objects;
    let meta = objects.iter().filter_map(|object| object.term.as_ref().ok());
    let meta = meta.into_iter().find(|term| key(term).as_deref() == Some(META));
    let stem = source.name().strip_suffix(".dets").unwrap_or(source.name());
    let start = start(stem, meta, source.modified());
    let mut reader = Reader { emitter: Emitter::new(sink, AGENT, start), calls: HashSet::new() };
    reader.emitter.report.records = objects.len() as u64;
    if !table.is_whole {
        reader.emitter.lose(None, "the table was not closed; its blocks were looked for")?;
    }
    for _ in objects.len()..table.count.min(objects.len().saturating_add(MOST_MISSING)) {
        reader.emitter.lose(None, "the table counts a record that was not found in it")?;
    }
    let mut messages: BTreeMap<String, Message<'_>> = BTreeMap::new();
    for (line, object) in (1..).zip(objects) {
        if object.bytes.len() > limits.line / 8 * 3 {
            reader.emitter.lose(Some(line), "a record is too long to be shown; it is kept as it is")?;
            reader.keep(Kept::whole(line, object.bytes))?;
            continue;
        }
        let term = match &object.term {
            Ok(term) => term,
            Err(why) => {
                reader.emitter.lose(Some(line), unread(*why))?;
                reader.keep(Kept::whole(line, object.bytes))?;
                continue;
            }
        };
        let value = term.items().get(1);
        let is_message =
            value.and_then(|value| value.get("__struct__")).and_then(Term::as_text).as_deref() == Some(STRUCT);
        match (key(term), value) {
            (Some(id), Some(value)) if is_message && !messages.contains_key(&id) => {
                messages.insert(id, Message { line, bytes: object.bytes, value });
            }
            _ => reader.keep(Kept::whole(line, object.bytes))?,
        }
    }
    reader.tree(&messages)?;
    let leaf = meta.and_then(|meta| meta.items().get(1)?.get("current_id")?.as_text());
    if let Some(leaf) = leaf.and_then(|leaf| reader.emitter.entry_of(&leaf)) {
        reader.lead_to(&leaf)?;
    }
    reader.emitter.finish()
}

fn key(object: &Term) -> Option<String> {
    object.items().first().and_then(Term::as_text)
}

/// Why an object is kept and not shown.
fn unread(why: Unread) -> String {
    match why {
        Unread::Tag(tag) => format!("a record has a part of kind {tag}, which is not understood; it is kept as it is"),
        Unread::Deep => "a record is nested too deep; it is kept as it is".into(),
        Unread::Short | Unread::Budget => "a record is damaged; it is kept as it is".into(),
    }
}

/// What is known about the session. When the table says no time, it is as old as its file.
fn start(stem: &str, meta: Option<&Term>, modified: Option<i64>) -> Start {
    let facts = meta.and_then(|meta| meta.items().get(1));
    let text = |name: &str| facts.and_then(|facts| facts.get(name)).and_then(Term::as_text);
    let noted = |name: &str| facts.and_then(|facts| facts.get("metadata")?.get(name)?.as_text());
    let (title, created) = (noted("title"), noted("created_at").and_then(|text| time::parse(&text)).or(modified));
    Start {
        id: text("session_id").unwrap_or_else(|| stem.to_owned()),
        created: created.map(time::format).unwrap_or_default(),
        title: title.filter(|title| !title.is_empty()),
        format: Some(Format::Opal),
        ..Start::default()
    }
}

/// A message of the table.
struct Message<'a> {
    line: u64,
    bytes: &'a [u8],
    value: &'a Term,
}

impl Message<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.value.get(name).and_then(Term::as_text)
    }
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    /// Calls that an answer has made.
    calls: HashSet<String>,
}

impl Reader<'_> {
    /// Keeps a record that is no message.
    fn keep(&mut self, kept: Kept) -> Result<(), Error> {
        self.emitter.keep(kept);
        if self.emitter.is_full() { self.emitter.flush() } else { Ok(()) }
    }

    /// Gives the messages, parents first; brothers by id, because the table keeps no time. What hangs from nothing that is
    /// there, or from itself in a circle, is given last, and bridged.
    fn tree(&mut self, messages: &BTreeMap<String, Message<'_>>) -> Result<(), Error> {
        let parent = |message: &Message<'_>| message.text("parent_id").filter(|parent| messages.contains_key(parent));
        let mut children: BTreeMap<Option<String>, Vec<&String>> = BTreeMap::new();
        for (id, message) in messages {
            let orphan = parent(message).is_none();
            if orphan || message.text("parent_id").as_deref() != Some(id) {
                children.entry(parent(message)).or_default().push(id);
            }
        }
        let mut given: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = children.get(&None).into_iter().flatten().rev().copied().collect();
        let mut left = messages.keys();
        loop {
            let Some(id) = open.pop().or_else(|| left.find(|id| !given.contains(id))) else { return Ok(()) };
            if !given.insert(id) {
                continue;
            }
            if let Some(message) = messages.get(id) {
                self.message(id, message)?;
            }
            open.extend(children.get(&Some(id.clone())).into_iter().flatten().rev());
        }
    }

    fn message(&mut self, id: &str, message: &Message<'_>) -> Result<(), Error> {
        let mut composer = Composer::new(&[]);
        let role = message.text("role").unwrap_or_default();
        let content = message.text("content").unwrap_or_default();
        let call = message.text("call_id").unwrap_or_default();
        let metadata = message.value.get("metadata");
        let is_summary = metadata.and_then(|metadata| metadata.get("type")?.as_text()).as_deref()
            == Some("compaction_summary")
            || role == "user" && content.starts_with(SUMMARY);
        let kind = match role.as_str() {
            "user" if is_summary => {
                composer.text("summary", summary(&content));
                composer.text("firstKeptEntryId", id);
                composer.number("tokensBefore", 0);
                files(&mut composer, metadata);
                "compaction"
            }
            "assistant" => {
                self.answer(&mut composer, message, &content);
                "message"
            }
            // The answer before it has made the call already.
            "tool_call" if self.calls.contains(&call) => "custom",
            "tool_call" => {
                let arguments = spelled(&content);
                let name = message.text("name").unwrap_or_default();
                composer.object("message", |message| {
                    message.text("role", "assistant");
                    message.array("content", |parts| requested(parts, &call, &name, &arguments));
                });
                "message"
            }
            "tool_result" => {
                composer.object("message", |result| {
                    result.text("role", "toolResult");
                    result.text("toolCallId", &call);
                    result.text("toolName", &message.text("name").unwrap_or_default());
                    said(result, &content);
                    result.flag("isError", message.value.get("is_error").is_some_and(Term::is_true));
                });
                "message"
            }
            _ => {
                let role = if role == "system" { "system" } else { "user" };
                composer.object("message", |message| {
                    message.text("role", role);
                    said(message, &content);
                });
                "message"
            }
        };
        if kind == "custom" {
            composer.text("customType", "ramus.origin");
            composer.object("data", |data| data.text("op", "import"));
        }
        let (members, _) = composer.finish();
        drop(content);
        let parent = message.text("parent_id");
        let records = [Kept::whole(message.line, message.bytes)];
        let new = New {
            kind,
            id,
            parent: parent.as_deref().map_or(Hang::Root, Hang::From),
            timestamp: None,
            members: &members,
            records: &records,
            inert: kind == "custom",
        };
        self.emitter.entry(&new).map(drop)
    }

    fn answer(&mut self, composer: &mut Composer<'_>, message: &Message<'_>, content: &str) {
        let calls = message.value.get("tool_calls").map(Term::items).unwrap_or_default();
        composer.object("message", |answer| {
            answer.text("role", "assistant");
            answer.array("content", |parts| {
                if let Some(thought) = message.text("thinking") {
                    parts.object("", |part| {
                        part.text("type", "thinking");
                        part.text("thinking", &thought);
                    });
                }
                text_part(parts, content);
                for call in calls {
                    let text = |name: &str| call.get(name).and_then(Term::as_text).unwrap_or_default();
                    let mut arguments = Vec::new();
                    call.get("arguments").into_iter().for_each(|term| term.json(&mut arguments));
                    requested(parts, &text("call_id"), &text("name"), &arguments);
                    self.calls.insert(text("call_id"));
                }
            });
            answer.text("api", "opal");
            answer.text("provider", "");
            answer.text("model", "");
            crate::mapping::Tokens::default().compose(answer);
            answer.text("stopReason", if calls.is_empty() { "stop" } else { "toolUse" });
        });
    }

    /// Says where the conversation stands, unless that is what came last.
    fn lead_to(&mut self, leaf: &EntryId) -> Result<(), Error> {
        if self.emitter.last() == Some(leaf) {
            return Ok(());
        }
        let new = New {
            kind: "custom",
            id: "current",
            parent: Hang::Entry(leaf),
            members: br#""customType":"ramus.leaf","data":{"op":"import"}"#,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }
}

/// Arguments, spelled as JSON is here. Long ones stay as they are: taken apart they would fill the memory.
fn spelled(content: &str) -> Cow<'_, [u8]> {
    const LONGEST: usize = 1 << 20;
    let value = || serde_json::from_str::<serde_json::Value>(content).ok();
    match (content.len() <= LONGEST).then(value).flatten() {
        Some(value) => value.to_string().into_bytes().into(),
        None => content.as_bytes().into(),
    }
}

fn said(message: &mut Composer<'_>, content: &str) {
    message.array("content", |parts| text_part(parts, content));
}

fn text_part(parts: &mut Composer<'_>, text: &str) {
    if !text.is_empty() {
        parts.object("", |part| {
            part.text("type", "text");
            part.text("text", text);
        });
    }
}

fn requested(parts: &mut Composer<'_>, id: &str, name: &str, arguments: &[u8]) {
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", id);
        part.text("name", name);
        match Raw::parse(arguments).filter(|arguments| arguments.shape() == Shape::Object) {
            Some(arguments) => part.raw("arguments", arguments),
            None => part.object("arguments", |_| {}),
        }
    });
}

/// The files that a summary is about.
fn files(composer: &mut Composer<'_>, metadata: Option<&Term>) {
    composer.object("details", |details| {
        for (name, from) in [("readFiles", "read_files"), ("modifiedFiles", "modified_files")] {
            let list = metadata.and_then(|metadata| metadata.get(from)).map(Term::items).unwrap_or_default();
            details.array(name, |files| list.iter().filter_map(Term::as_text).for_each(|file| files.text("", &file)));
        }
    });
}
