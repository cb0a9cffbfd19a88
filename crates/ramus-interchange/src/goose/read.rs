//! Reading: the document that `goose session export` prints, or the lines that older versions wrote.

use std::borrow::Cow;

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::message::{self, Message};
use super::{AGENT, store};
use crate::compose::Composer;
use crate::emit::{Emitter, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::{Lines, document};
use crate::origin::{Kept, with_members};
use crate::record::{Pieced, Record};
use crate::sink::{Report, Sink, Start};
use crate::source::Source;

/// Names of tools are remembered for calls that have no outcome yet, so many of them at most.
const MAX_CALLS: usize = 100_000;

/// What sessions are called until goose has a name for them.
const UNTITLED: [&str; 2] = ["CLI Session", "New Chat"];

/// Reads a session.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    if let Some(path) = source.database()? {
        return store::read(&path, limits, sink);
    }
    if let Some(stem) = source.name().strip_suffix(".jsonl")
        && let Some(report) = lines(source, stem, limits, sink)?
    {
        return Ok(report);
    }
    let bytes = document(source.open()?, limits)?;
    let whole = Record::new(1, &bytes);
    let found = whole.object().and_then(|object| Some((object.text("working_dir")?, object.field("conversation")?)));
    let (Some((_, messages)), Some(info)) = (found, with_members(&whole.bytes, &[("conversation", None)])) else {
        return Err(Error::NotThisFormat {
            agent: AGENT,
            why: "the document has no working_dir and conversation".into(),
        });
    };
    let mut messages = messages.items().map(|message| message.bytes().to_vec().into());
    session(&info.into(), None, &mut || Ok(messages.next()), sink)
}

/// Reads what older versions wrote: a line about the session, then one for each message. The file has the id in its name. None when
/// it is something else.
fn lines(source: &dyn Source, stem: &str, limits: Limits, sink: &mut dyn Sink) -> Result<Option<Report>, Error> {
    let mut lines = Lines::new(source.open()?, limits);
    let info = lines.next()?.and_then(|line| line.bytes.map(<[u8]>::to_vec)).unwrap_or_default();
    let is_info = |info: &Raw<'_>| info.field("working_dir").is_some() && info.field("conversation").is_none();
    if Raw::parse(&info).filter(is_info).is_none() {
        return Ok(None);
    }
    let mut next = || Ok(lines.next()?.map(|line| line.bytes.unwrap_or_default().to_vec().into()));
    session(&info.into(), Some(stem), &mut next, sink).map(Some)
}

/// Reads a session from what is known about it and its messages, whichever store they come from.
pub(super) fn session(
    info: &Pieced,
    named: Option<&str>,
    next: &mut dyn FnMut() -> Result<Option<Pieced>, Error>,
    sink: &mut dyn Sink,
) -> Result<Report, Error> {
    let facts = Raw::parse(&info.bytes).and_then(Raw::object).unwrap_or_default();
    let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::text).unwrap_or_default().into_owned();
    let model = facts.field("model_config").and_then(|config| config.field("model_name"));
    let mut reader = Reader {
        emitter: Emitter::new(sink, AGENT, start(&facts, named)),
        model: (text(facts.field("provider_name")), text(model)),
        names: HashMap::new(),
        unsent: false,
    };
    reader.emitter.report.records += 1;
    reader.emitter.keep(Kept::whole(1, &info.bytes));
    reader.emitter.miss(1, &info.gaps)?;
    let mut line = 1;
    while let Some(message) = next()? {
        line += 1;
        reader.emitter.report.records += 1;
        reader.emitter.miss(line, &message.gaps)?;
        if message.bytes.is_empty() {
            reader.emitter.report.lost += 1;
            reader.emitter.lose(Some(line), "the line is too long to be held in memory")?;
            continue;
        }
        let Some(raw) = Raw::parse(&message.bytes) else {
            reader.emitter.lose(Some(line), "a message is no JSON; its bytes are kept")?;
            reader.emitter.keep(Kept::whole(line, &message.bytes));
            continue;
        };
        reader.message(line, raw)?;
        if reader.emitter.is_full() {
            reader.emitter.flush()?;
        }
    }
    reader.emitter.finish()
}

fn start(info: &Object<'_>, named: Option<&str>) -> Start {
    let text = |name: &str| info.text(name).map(Cow::into_owned).filter(|text| !text.is_empty());
    let created = text("created_at")
        .and_then(|text| time::parse(&text).or_else(|| time::parse(&format!("{}Z", text.replace(' ', "T")))));
    let given = info.field("user_set_name");
    let is_given = given.is_some_and(|given| given.flag() == Some(true) || given.unsigned() == Some(1));
    Start {
        id: text("id").or_else(|| named.map(str::to_owned)).map(|id| format!("goose-{id}")).unwrap_or_default(),
        cwd: text("working_dir").unwrap_or_default(),
        created: created.map(time::format).unwrap_or_default(),
        title: text("name")
            .or_else(|| text("description"))
            .filter(|name| is_given || !UNTITLED.contains(&name.as_str())),
        parent: text("parent_session_id").map(|id| format!("goose-{id}")),
        format: Some(Format::Goose),
        ..Start::default()
    }
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    model: (String, String),
    names: HashMap<String, String>,
    /// Whether the message before is one that no model is sent any more.
    unsent: bool,
}

impl Reader<'_> {
    fn message(&mut self, line: u64, raw: Raw<'_>) -> Result<(), Error> {
        let record = Record::new(line, raw.bytes());
        let Some(message) = Message::read(raw) else {
            self.emitter.keep(record.whole());
            return Ok(());
        };
        // A summary stands behind what it stands for, and only a model sees it.
        let is_summary = self.unsent && message.is_sent() && !message.is_shown() && !message.is_surroundings();
        self.unsent = !message.is_sent();
        if message.is_surroundings() {
            self.emitter.keep(record.whole());
            return Ok(());
        }
        let id = message.object.text("id").map_or_else(|| format!("message-{line}"), Cow::into_owned);
        if is_summary {
            return self.summary(&record, &message, &id);
        }
        self.remember_calls(&message);
        let outcomes = message.outcomes().count();
        if outcomes > 0 {
            return self.outcomes(&record, &message, &id, outcomes == 1 && message.content.len() == 1);
        }
        let mut composer = Composer::new(&record.bytes);
        message.compose(&mut composer, &self.model);
        self.give("message", &record, &message, &id, composer)
    }

    fn remember_calls(&mut self, message: &Message<'_>) {
        for item in message.content.iter().filter_map(|item| item.object()) {
            let name = item.field("toolCall").and_then(|call| call.field("value")?.field("name")?.text());
            if let (Some(id), Some(name)) = (item.text("id"), name)
                && self.names.len() < MAX_CALLS
            {
                self.names.insert(id.into_owned(), name.into_owned());
            }
        }
    }

    fn summary(&mut self, record: &Record<'_>, message: &Message<'_>, id: &str) -> Result<(), Error> {
        let mut composer = Composer::new(&record.bytes);
        let texts: Vec<_> = message.content.iter().filter_map(|item| item.field("text")).collect();
        match texts.as_slice() {
            [one] if one.shape() == Shape::Text => composer.raw("summary", *one),
            _ => composer.text("summary", &message.text()),
        }
        composer.text("firstKeptEntryId", id);
        composer.number("tokensBefore", 0);
        self.give("compaction", record, message, id, composer)
    }

    /// Outcomes of calls: an entry for each, and one for what else the message says.
    fn outcomes(&mut self, record: &Record<'_>, message: &Message<'_>, id: &str, alone: bool) -> Result<(), Error> {
        let time = message.time();
        for (at, item) in message.outcomes().enumerate() {
            let call = item.text("id").unwrap_or_default();
            let name = self.names.remove(&*call).unwrap_or_default();
            let mut composer = Composer::new(if alone { &record.bytes } else { &[] });
            message::outcome(&mut composer, &item, &name, message.millis());
            let (members, holes) = composer.finish();
            // The first of them keeps the record: a copy for each would cost the square of a long one.
            let (own, kept) = (format!("{id}.r{}", at + 1), (at == 0).then(|| record.kept(holes)));
            let new = New {
                kind: "message",
                id: if at == 0 { id } else { &own },
                timestamp: time.as_deref(),
                members: &members,
                records: kept.as_slice(),
                ..New::default()
            };
            self.emitter.entry(&new)?;
        }
        if message.content.len() > message.outcomes().count() {
            let mut composer = Composer::new(&[]);
            message.compose(&mut composer, &self.model);
            let (members, _) = composer.finish();
            let own = format!("{id}.u");
            let new =
                New { kind: "message", id: &own, timestamp: time.as_deref(), members: &members, ..New::default() };
            self.emitter.entry(&new)?;
        }
        Ok(())
    }

    fn give(
        &mut self,
        kind: &'static str,
        record: &Record<'_>,
        message: &Message<'_>,
        id: &str,
        composer: Composer<'_>,
    ) -> Result<(), Error> {
        let (members, holes) = composer.finish();
        let (time, records) = (message.time(), [record.kept(holes)]);
        let new = New { kind, id, timestamp: time.as_deref(), members: &members, records: &records, ..New::default() };
        self.emitter.entry(&new).map(drop)
    }
}
