//! Reading: terms into entries.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use hashbrown::HashSet;
use ramus_model::EntryId;

use super::dets;
use super::term::Term;
use super::{AGENT, META, STRUCT};
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::origin::Kept;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;

/// What Opal writes in front of a summary.
const SUMMARY: &str = "[Conversation summary";

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let mut bytes = Vec::new();
    source.open()?.take(limits.line as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limits.line {
        return Err(Error::Limit(format!("the table is larger than {} MiB", limits.line >> 20)));
    }
    let Some((mut objects, is_whole)) = dets::read(&bytes) else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "it is no DETS table".into() });
    };
    // Where an object stands in the file says nothing, so it must not show.
    objects.sort_by(|one, other| one.bytes.cmp(other.bytes));
    let meta = objects.iter().find(|object| key(&object.term).as_deref() == Some(META));
    let stem = source.name().strip_suffix(".dets").unwrap_or(source.name());
    let mut reader =
        Reader { emitter: Emitter::new(sink, AGENT, start(stem, meta.map(|meta| &meta.term))), calls: HashSet::new() };
    reader.emitter.report.records = objects.len() as u64;
    if !is_whole {
        reader.emitter.lose(None, "the table was not closed; its blocks were looked for")?;
    }
    let mut messages: BTreeMap<String, Message<'_>> = BTreeMap::new();
    for (line, object) in (1..).zip(&objects) {
        let value = object.term.items().get(1);
        let is_message =
            value.and_then(|value| value.get("__struct__")).and_then(Term::as_text).as_deref() == Some(STRUCT);
        match (key(&object.term), value) {
            (Some(id), Some(value)) if is_message && !messages.contains_key(&id) => {
                messages.insert(id, Message { line, bytes: object.bytes, value });
            }
            _ => reader.emitter.keep(Kept::whole(line, object.bytes)),
        }
    }
    reader.tree(&messages)?;
    let leaf = meta.and_then(|meta| meta.term.items().get(1)?.get("current_id")?.as_text());
    if let Some(leaf) = leaf.and_then(|leaf| reader.emitter.entry_of(&leaf)) {
        reader.lead_to(&leaf)?;
    }
    reader.emitter.finish()
}

fn key(object: &Term) -> Option<String> {
    object.items().first().and_then(Term::as_text)
}

fn start(stem: &str, meta: Option<&Term>) -> Start {
    let facts = meta.and_then(|meta| meta.items().get(1));
    let text = |name: &str| facts.and_then(|facts| facts.get(name)).and_then(Term::as_text);
    let title = facts.and_then(|facts| facts.get("metadata")?.get("title")?.as_text());
    Start {
        id: text("session_id").unwrap_or_else(|| stem.to_owned()),
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
                composer.text("summary", &content);
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
                let arguments = serde_json::from_str(&content).unwrap_or(serde_json::Value::Null);
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
                    let arguments = call.get("arguments").map(Term::json).unwrap_or_default();
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

fn requested(parts: &mut Composer<'_>, id: &str, name: &str, arguments: &serde_json::Value) {
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", id);
        part.text("name", name);
        match arguments.is_object() {
            true => part.json("arguments", arguments),
            false => part.object("arguments", |_| {}),
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
