//! Reading: files into entries.

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::AGENT;
use crate::compose::Composer;
use crate::emit::{Emitter, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::document;
use crate::mapping::Tokens;
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::{Source, Wanted};

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let bytes = document(source.open()?, limits)?;
    let meta = Record::new(1, &bytes);
    let Some(facts) = meta.object().filter(|facts| facts.field("id").is_some()) else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "meta.json has no id".into() });
    };
    let mut reader = Reader { emitter: Emitter::new(sink, AGENT, start(&facts)), names: HashMap::new(), line: 1 };
    reader.emitter.report.records = 1;
    reader.emitter.keep(meta.whole().in_file("meta.json"));
    let mut names = vec!["todo.json".to_owned()];
    for directory in ["snapshot", "message"] {
        let mut files = source.list(directory)?;
        files.sort();
        names.extend(files.into_iter().map(|name| format!("{directory}/{name}")));
    }
    for name in names {
        let Some(file) = source.other(Wanted::Beside(&name))? else { continue };
        let bytes = document(file, limits)?;
        reader.line += 1;
        reader.emitter.report.records += 1;
        if reader.line > limits.records {
            return Err(Error::Limit(format!("the session has more than {} files", limits.records)));
        }
        reader.file(&Record::new(reader.line, &bytes), &name)?;
        if reader.emitter.is_full() {
            reader.emitter.flush()?;
        }
    }
    reader.emitter.finish()
}

fn start(meta: &Object<'_>) -> Start {
    let text = |name: &str| meta.text(name).map(|text| text.into_owned()).filter(|text| !text.is_empty());
    let created = meta.field("time").and_then(|time| time.field("created")?.float());
    Start {
        id: text("id").unwrap_or_default(),
        cwd: text("directory").unwrap_or_default(),
        created: created.map(|millis| time::format(millis as i64)).unwrap_or_default(),
        title: text("title"),
        parent: text("parentID"),
        forked_from: None,
        format: Some(Format::Directory),
        version: text("version"),
    }
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    /// The tools that were called, by call.
    names: HashMap<String, String>,
    line: u64,
}

impl Reader<'_> {
    fn file(&mut self, record: &Record<'_>, name: &str) -> Result<(), Error> {
        let message = record.object().filter(|message| name.starts_with("message/") && message.field("role").is_some());
        let Some(message) = message else {
            if record.raw().is_none() && Raw::parse(&record.bytes).is_none() {
                self.emitter.lose(Some(record.line), format!("{name} is not JSON; its bytes are kept"))?;
            }
            self.emitter.keep(record.whole().in_file(name));
            return Ok(());
        };
        let mut composer = Composer::new(&record.bytes);
        self.compose(&mut composer, &message);
        let (members, holes) = composer.finish();
        let stem = name.trim_start_matches("message/").trim_end_matches(".json");
        let id = message.text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| stem.into());
        let time = message
            .field("time")
            .and_then(|time| time.field("created")?.float())
            .map(|millis| time::format(millis as i64));
        let records = [record.kept(holes).in_file(name)];
        let new = New {
            kind: "message",
            id: &id,
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }

    fn compose(&mut self, composer: &mut Composer<'_>, message: &Object<'_>) {
        let blocks = || message.field("content").into_iter().flat_map(Raw::items);
        let result = blocks()
            .find_map(|block| block.object().filter(|block| block.text("type").as_deref() == Some("tool_result")));
        composer.object("message", |said| match (&*message.text("role").unwrap_or_default(), result) {
            ("assistant", _) => {
                said.text("role", "assistant");
                said.array("content", |parts| {
                    text_part(parts, message.field("content"));
                    blocks().for_each(|block| self.block(parts, block));
                });
                said.text("api", "directory");
                said.text("provider", &message.text("provider").unwrap_or_default());
                said.text("model", &message.text("model").unwrap_or_default());
                usage(message).compose(said);
                let finish = message.text("finish_reason").unwrap_or_default();
                said.text("stopReason", if finish == "tool_use" { "toolUse" } else { "stop" });
            }
            (_, Some(result)) => {
                let call = result.text("toolUseId").unwrap_or_default();
                said.text("role", "toolResult");
                said.text("toolCallId", &call);
                said.text("toolName", &self.names.remove(&*call).unwrap_or_default());
                said.array("content", |parts| text_part(parts, result.field("result")));
                said.flag("isError", result.field("isError").and_then(Raw::flag).unwrap_or_default());
            }
            (role, None) => {
                said.text("role", if role == "system" { "system" } else { "user" });
                said.array("content", |parts| {
                    text_part(parts, message.field("content"));
                    blocks().for_each(|block| self.block(parts, block));
                });
            }
        });
    }

    fn block(&mut self, parts: &mut Composer<'_>, block: Raw<'_>) {
        let Some(object) = block.object() else { return };
        match &*object.text("type").unwrap_or_default() {
            "text" => text_part(parts, object.field("text")),
            "tool_use" => {
                let text = |name: &str| object.text(name).unwrap_or_default().into_owned();
                self.names.insert(text("id"), text("name"));
                parts.object("", |part| {
                    part.text("type", "toolCall");
                    part.text("id", &text("id"));
                    part.text("name", &text("name"));
                    match object.field("input").filter(|input| input.shape() == Shape::Object) {
                        Some(input) => part.raw("arguments", input),
                        None => part.object("arguments", |_| {}),
                    }
                });
            }
            _ => parts.raw("", block),
        }
    }
}

fn text_part(parts: &mut Composer<'_>, text: Option<Raw<'_>>) {
    if let Some(text) = text.filter(|text| text.shape() == Shape::Text) {
        parts.object("", |part| {
            part.text("type", "text");
            part.raw("text", text);
        });
    }
}

fn usage(message: &Object<'_>) -> Tokens {
    let usage = message.field("usage").and_then(Raw::object).unwrap_or_default();
    let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    Tokens { input: count("promptTokens"), output: count("completionTokens"), ..Tokens::default() }
}
