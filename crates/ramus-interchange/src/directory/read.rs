//! Reading: files into entries.

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::AGENT;
use super::message::{self, Block};
use crate::compose::Composer;
use crate::emit::{Emitter, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::document;
use crate::order::{by_time, natural};
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::{Source, Wanted};
use crate::todo;

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let bytes = document(source.open()?, limits)?;
    let meta = Record::new(1, &bytes);
    let Some(facts) = meta.object().filter(|facts| facts.text("id").is_some_and(|id| !id.is_empty())) else {
        return Err(Error::NotThisFormat { agent: AGENT, why: "meta.json has no id".into() });
    };
    let mut messages = source.list("message")?;
    // Many programs have a file of this name.
    if messages.is_empty() && !is_about_session(&facts) {
        return Err(Error::NotThisFormat {
            agent: AGENT,
            why: "meta.json tells of no session, and no messages are beside it".into(),
        });
    }
    let mut reader =
        Reader { emitter: Emitter::new(sink, AGENT, start(&facts)), names: HashMap::new(), todo: None, line: 1 };
    reader.emitter.report.records = 1;
    reader.emitter.keep(meta.whole().in_file("meta.json"));
    let mut names = vec!["todo.json".to_owned()];
    let mut snapshots = source.list("snapshot")?;
    snapshots.sort();
    names.extend(snapshots.into_iter().map(|name| format!("snapshot/{name}")));
    messages.sort_by(|one, other| natural(one, other));
    let messages = by_time(messages, |name| {
        let file = source.other(Wanted::Beside(&format!("message/{name}")))?;
        let bytes = file.map(|file| document(file, limits)).transpose()?.unwrap_or_default();
        Ok(Raw::parse(&bytes).and_then(|message| message.field("time")?.field("created")?.float()))
    })?;
    names.extend(messages.into_iter().map(|name| format!("message/{name}")));
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
    if let Some(list) = reader.todo.take()
        && let Some(list) = Raw::parse(&list)
    {
        todo::give(&mut reader.emitter, list)?;
    }
    reader.emitter.finish()
}

/// Says whether a `meta.json` has what that of a session has.
fn is_about_session(meta: &Object<'_>) -> bool {
    let has = |name: &str| meta.text(name).is_some();
    (has("projectID") || has("directory")) && meta.field("time").is_some_and(|time| time.field("created").is_some())
}

fn start(meta: &Object<'_>) -> Start {
    let text = |name: &str| meta.text(name).map(|text| text.into_owned()).filter(|text| !text.is_empty());
    let created = meta.field("time").and_then(|time| time.field("created")?.float());
    Start {
        former_id: None,
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
    /// What is to be done.
    todo: Option<Vec<u8>>,
    line: u64,
}

impl Reader<'_> {
    fn file(&mut self, record: &Record<'_>, name: &str) -> Result<(), Error> {
        let message = record.object().filter(|message| name.starts_with("message/") && message.field("role").is_some());
        let Some(message) = message else {
            let list = Raw::parse(&record.bytes).filter(|list| list.shape() == Shape::Array);
            if record.raw().is_none() && Raw::parse(&record.bytes).is_none() {
                self.emitter.lose(Some(record.line), format!("{name} is not JSON; its bytes are kept"))?;
            } else if name == "todo.json" && list.is_some() {
                self.todo = Some(record.bytes.to_vec());
            } else if name.starts_with("snapshot/") {
                let why = "snapshots: their files are kept as they are, and no snapshot here has them";
                self.emitter.lose(Some(record.line), why)?;
            }
            self.emitter.keep(record.whole().in_file(name));
            return Ok(());
        };
        let stem = name.trim_start_matches("message/").trim_end_matches(".json");
        let id = message.text("id").filter(|id| !id.is_empty()).unwrap_or_else(|| stem.into()).into_owned();
        let blocks = message::outcomes(&message);
        if blocks.is_empty() {
            let mut composer = Composer::new(&record.bytes);
            match message.text("role").as_deref() {
                Some("assistant") => message::answer(&mut composer, &message, &mut self.names),
                role => message::said(&mut composer, role == Some("system"), &message),
            }
            return self.give(record, name, &message, &id, composer, true);
        }
        for (at, block) in blocks.iter().enumerate() {
            let mut composer = Composer::new(if at == 0 { &record.bytes } else { &[] });
            match block {
                Block::Outcome(result, beside) => message::outcome(&mut composer, result, beside, &mut self.names),
                Block::Said(beside) => message::beside(&mut composer, beside),
            }
            let own = format!("{id}.r{}", at + 1);
            self.give(record, name, &message, if at == 0 { &id } else { &own }, composer, at == 0)?;
        }
        Ok(())
    }

    /// Gives an entry. The first of a file keeps the file.
    fn give(
        &mut self,
        record: &Record<'_>,
        name: &str,
        message: &Object<'_>,
        id: &str,
        composer: Composer<'_>,
        keeps: bool,
    ) -> Result<(), Error> {
        let time = message
            .field("time")
            .and_then(|time| time.field("created")?.float())
            .map(|millis| time::format(millis as i64));
        let (members, holes) = composer.finish();
        let kept = keeps.then(|| record.kept(holes).in_file(name));
        let new = New {
            kind: "message",
            id,
            timestamp: time.as_deref(),
            members: &members,
            records: kept.as_slice(),
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }
}
