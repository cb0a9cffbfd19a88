//! Reading: the document into entries.

use ramus_model::json::{Object, Raw, Shape};
use ramus_model::{time, title};

use super::AGENT;
use crate::compose::Composer;
use crate::emit::{Emitter, New, hash};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::document;
use crate::mapping::Tokens;
use crate::origin::{Kept, with_members};
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let bytes = document(source.open()?, limits)?;
    let whole = Record::new(1, &bytes);
    let messages =
        whole.object().and_then(|object| object.field("messages")).filter(|list| list.shape() == Shape::Array);
    let (Some(messages), Some(info)) = (messages, with_members(&whole.bytes, &[("messages", None)])) else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "the document has no messages".into() });
    };
    let Some(facts) = Raw::parse(&info).and_then(Raw::object) else { return Ok(Report::default()) };
    if facts.field("version").and_then(Raw::unsigned).is_some_and(|version| version != 1) {
        return Err(Error::NotThisFormat { agent: AGENT, why: "the document is of another version than 1".into() });
    }
    let text = |name: &str| facts.text(name).unwrap_or_default().into_owned();
    // The document has no id, and its time is that of the last save; where it is and what it begins with stay.
    let first = messages.items().next().map(|message| String::from_utf8_lossy(message.bytes()).into_owned());
    let named = format!("{}\n{}", source.name(), first.unwrap_or_default());
    let id_of = |text: &str| format!("shepherd-{}", hash(text));
    let directory = source.directory().unwrap_or_default();
    let (id, former_id) = match directory.is_empty() {
        true => (id_of(&named), None),
        false => (id_of(&format!("{directory}\n{named}")), Some(id_of(&named))),
    };
    let start = Start {
        id,
        former_id,
        cwd: directory,
        created: created(&facts).unwrap_or_default(),
        title: first_prompt(messages),
        format: Some(Format::Shepherd),
        ..Start::default()
    };
    let mut emitter = Emitter::new(sink, AGENT, start);
    emitter.report.records = 1;
    emitter.keep(Kept::whole(1, &info));
    let model = (text("provider"), text("model"));
    for (line, raw) in (2..).zip(messages.items()) {
        emitter.report.records += 1;
        let record = Record::new(line, raw.bytes());
        let Some(message) = record.object() else {
            emitter.keep(record.whole());
            continue;
        };
        let mut composer = Composer::new(&record.bytes);
        compose(&mut composer, &message, &model);
        let (members, holes) = composer.finish();
        let (id, records) = (format!("message-{}", line - 1), [record.kept(holes)]);
        emitter.entry(&New { kind: "message", id: &id, members: &members, records: &records, ..New::default() })?;
    }
    emitter.finish()
}

/// What the first prompt says, where something was put in front of it.
fn first_prompt(messages: Raw<'_>) -> Option<String> {
    let mut prompts =
        messages.items().filter(|message| message.field("role").and_then(Raw::text).as_deref() == Some("user"));
    title::made_of(&prompts.next()?.field("pre_injection_content")?.text()?)
}

/// The time of a document, as text or as seconds.
fn created(facts: &Object<'_>) -> Option<String> {
    let stamp = facts.field("timestamp")?;
    let seconds = stamp.float().map(|seconds| time::format((seconds * 1000.0) as i64));
    seconds.or_else(|| stamp.text().filter(|text| time::parse(text).is_some()).map(|text| text.into_owned()))
}

fn compose(composer: &mut Composer<'_>, message: &Object<'_>, model: &(String, String)) {
    let role = message.text("role").unwrap_or_default();
    let content = message.field("content").filter(|content| content.shape() == Shape::Text);
    composer.object("message", |said| match &*role {
        "assistant" | "tool_request" => {
            said.text("role", "assistant");
            let calls = message.field("tool_calls_json").and_then(Raw::text).unwrap_or_default();
            let calls = Raw::parse(calls.as_bytes());
            said.array("content", |parts| {
                text_part(parts, content);
                calls.into_iter().flat_map(Raw::items).for_each(|item| call(parts, item));
            });
            said.text("api", "openai-completions");
            said.text("provider", &model.0);
            said.text("model", &model.1);
            let output = message.field("tokens").and_then(Raw::unsigned).unwrap_or_default();
            Tokens { output, ..Tokens::default() }.compose(said);
            let calls = calls.is_some_and(|calls| calls.items().next().is_some());
            said.text("stopReason", if calls { "toolUse" } else { "stop" });
        }
        "tool" | "function" | "tool_response" => {
            said.text("role", "toolResult");
            said.text("toolCallId", &message.text("tool_call_id").unwrap_or_default());
            said.text("toolName", &message.text("tool_name").unwrap_or_default());
            said.array("content", |parts| text_part(parts, content));
            said.flag("isError", false);
        }
        // A role that nobody knows reads as a person's, as in Shepherd.
        other => {
            said.text("role", if other == "system" { "system" } else { "user" });
            said.array("content", |parts| text_part(parts, content));
        }
    });
}

fn text_part(parts: &mut Composer<'_>, text: Option<Raw<'_>>) {
    if let Some(text) = text.filter(|text| text.bytes().len() > 2) {
        parts.object("", |part| {
            part.text("type", "text");
            part.raw("text", text);
        });
    }
}

/// A call in the words of any provider.
fn call(parts: &mut Composer<'_>, item: Raw<'_>) {
    let Some(object) = item.object() else { return };
    let function = object.field("function").and_then(Raw::object);
    let named = function.as_ref().unwrap_or(&object);
    let id = ["id", "tool_call_id", "call_id"].iter().find_map(|name| object.text(name)).unwrap_or_default();
    let arguments = ["arguments", "parameters", "input"].iter().find_map(|name| named.field(name));
    let spelled = arguments.and_then(Raw::text);
    let arguments = match &spelled {
        Some(text) => Raw::parse(text.as_bytes()),
        None => arguments,
    };
    parts.object("", |part| {
        part.text("type", "toolCall");
        part.text("id", &id);
        part.text("name", &named.text("name").unwrap_or_default());
        match arguments.filter(|arguments| arguments.shape() == Shape::Object) {
            Some(arguments) => part.raw("arguments", arguments),
            None => part.object("arguments", |_| {}),
        }
    });
}
