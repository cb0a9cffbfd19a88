//! Reading: lines into entries.

mod compaction;
mod result;
mod said;
mod spawned;
mod spill;

use std::borrow::Cow;

use hashbrown::HashMap;
use ramus_model::EntryId;
use ramus_model::json::{Object, Raw};
use ramus_model::time;

use super::AGENT;
use super::answer::Answer;
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::Source;

pub(super) use spawned::read;

/// Names of tools are remembered for calls that have no result yet, so many of them at most.
const MAX_CALLS: usize = 100_000;

/// Which lines of a file are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chain {
    Main,
    Side,
    Any,
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    chain: Chain,
    source: &'s dyn Source,
    limits: Limits,
    names: HashMap<String, String>,
    pending: Pending,
    /// Whether a person has named the session, which counts more than a name that was made up.
    named: bool,
    /// Whether lines of the other chain were met.
    passed_over: bool,
    results: Option<Results>,
}

/// Results of one answer that were met. Claude Code hangs each from the line of its call, side by side; a model is told of
/// all of them, so they are one path here.
struct Results {
    answer: EntryId,
    last: EntryId,
    calls: Vec<String>,
}

/// What waits for the line behind it.
enum Pending {
    Nothing,
    Answer(Answer),
    Boundary(Record<'static>),
}

struct Outcome {
    report: Report,
    session: String,
    passed_over: bool,
}

impl<'s> Reader<'s> {
    fn new(source: &'s dyn Source, limits: Limits, sink: &'s mut dyn Sink, start: Start, chain: Chain) -> Self {
        let emitter = Emitter::new(sink, AGENT, start);
        Self {
            emitter,
            chain,
            source,
            limits,
            names: HashMap::new(),
            pending: Pending::Nothing,
            named: false,
            passed_over: false,
            results: None,
        }
    }

    fn read(mut self, reader: impl std::io::Read) -> Result<Outcome, Error> {
        let mut lines = Lines::new(reader, self.limits);
        while let Some(line) = lines.next()? {
            let taken = match self.chain {
                // The first reading has kept what is no record.
                Chain::Side => line.bytes.map(|bytes| Record::new(line.number, bytes)),
                _ => Record::take(&line, &mut self.emitter)?,
            };
            let Some(record) = taken else { continue };
            let Some(object) = record.object() else { continue };
            let is_side = object.field("isSidechain").and_then(Raw::flag).unwrap_or_default();
            if self.chain != Chain::Any && is_side != (self.chain == Chain::Side) {
                self.passed_over |= is_side;
                continue;
            }
            self.emitter.report.records += 1;
            self.describe(&object);
            self.record(&record, &object)?;
            if self.emitter.is_full() {
                self.settle()?;
                self.emitter.flush()?;
            }
        }
        self.settle()?;
        let session = self.emitter.start.id.clone();
        Ok(Outcome { report: self.emitter.finish()?, session, passed_over: self.passed_over })
    }

    /// Takes from a line what the session begins with.
    fn describe(&mut self, object: &Object<'_>) {
        if self.emitter.is_started() {
            return;
        }
        let text = |name: &str| object.text(name).map(Cow::into_owned).filter(|text| !text.is_empty());
        let start = &mut self.emitter.start;
        if let Some(id) = text("sessionId").filter(|_| start.parent.is_none()) {
            start.id = id;
        }
        if start.cwd.is_empty() {
            start.cwd = text("cwd").unwrap_or_default();
        }
        if start.created.is_empty() {
            start.created = text("timestamp").filter(|text| time::parse(text).is_some()).unwrap_or_default();
        }
        start.version = start.version.take().or_else(|| text("version"));
    }

    fn record(&mut self, record: &Record<'_>, object: &Object<'_>) -> Result<(), Error> {
        let kind = object.text("type").unwrap_or_default();
        let Some(uuid) = object.text("uuid").filter(|uuid| !uuid.is_empty()) else {
            return self.beside(record, object, &kind);
        };
        let message = object.field("message").and_then(Raw::object);
        if let (Some(message), "assistant") = (&message, &*kind) {
            return self.answer(record, object, &uuid, &message.text("id").unwrap_or_default());
        }
        let summary = object.field("isCompactSummary").and_then(Raw::flag).unwrap_or_default();
        if let Pending::Boundary(boundary) = &self.pending
            && summary
            && boundary.object().and_then(|boundary| boundary.text("uuid")) == object.text("parentUuid")
        {
            let boundary = std::mem::replace(&mut self.pending, Pending::Nothing);
            let Pending::Boundary(boundary) = boundary else { return Ok(()) };
            return self.compaction(Some(&boundary), record, object, &uuid);
        }
        self.settle()?;
        match (&*kind, message) {
            ("user", Some(_)) if summary => self.compaction(None, record, object, &uuid),
            ("user", Some(message)) => self.user(record, object, &uuid, &message),
            ("system", _) if object.text("subtype").as_deref() == Some("compact_boundary") => {
                self.emitter.flush()?;
                self.pending = Pending::Boundary(record.clone().into_owned());
                Ok(())
            }
            ("attachment", _) => self.attachment(record, object, &uuid),
            _ => self.other(record, object, &uuid),
        }
    }

    fn answer(&mut self, record: &Record<'_>, object: &Object<'_>, uuid: &str, message: &str) -> Result<(), Error> {
        let parent = object.text("parentUuid");
        let continues = match &self.pending {
            Pending::Answer(answer) => answer.continues(message, parent.as_deref()) && !self.emitter.knows(uuid),
            _ => false,
        };
        if !continues {
            self.settle()?;
            self.emitter.flush()?;
            self.pending = Pending::Answer(Answer::new(message));
        }
        let between = self.emitter.take_run();
        if let Pending::Answer(answer) = &mut self.pending {
            answer.between(between);
            answer.push(record.clone().into_owned(), uuid);
        }
        self.remember_calls(object);
        Ok(())
    }

    /// Remembers which tool a call is for: results do not say.
    fn remember_calls(&mut self, object: &Object<'_>) {
        let blocks =
            object.field("message").and_then(|message| message.field("content")).into_iter().flat_map(Raw::items);
        for block in blocks.filter_map(Raw::object).filter(|block| block.text("type").as_deref() == Some("tool_use")) {
            if let (Some(id), Some(name)) = (block.text("id"), block.text("name"))
                && self.names.len() < MAX_CALLS
            {
                self.names.insert(id.into_owned(), name.into_owned());
            }
        }
    }

    /// Gives away what waited for another line.
    fn settle(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.pending, Pending::Nothing) {
            Pending::Nothing => Ok(()),
            Pending::Boundary(record) => {
                let Some(object) = record.object() else { return Ok(()) };
                let uuid = object.text("uuid").unwrap_or_default();
                let behind = self.emitter.take_run();
                self.other(&record, &object, &uuid)?;
                behind.into_iter().for_each(|kept| self.emitter.keep(kept));
                Ok(())
            }
            Pending::Answer(answer) => {
                let Some(object) = answer.first().and_then(Record::object) else { return Ok(()) };
                let (members, records) = answer.compose();
                let uuid = object.text("uuid").unwrap_or_default();
                let (parent, time) = (object.text("parentUuid"), object.text("timestamp"));
                // What came behind the last line stays behind it.
                let behind = self.emitter.take_run();
                let new = New {
                    kind: "message",
                    id: &uuid,
                    parent: hang(parent.as_deref()),
                    timestamp: time.as_deref(),
                    members: &members,
                    records: &records,
                    inert: false,
                };
                let entry = self.emitter.entry(&new)?;
                answer.uuids().for_each(|uuid| self.emitter.alias(uuid, &entry));
                behind.into_iter().for_each(|kept| self.emitter.keep(kept));
                Ok(())
            }
        }
    }

    fn give(
        &mut self,
        kind: &'static str,
        record: &Record<'_>,
        object: &Object<'_>,
        uuid: &str,
        composer: Composer<'_>,
        inert: bool,
    ) -> Result<(), Error> {
        let (members, holes) = composer.finish();
        let (parent, logical) = (object.text("parentUuid"), object.text("logicalParentUuid"));
        let time = object.text("timestamp");
        let records = [record.kept(holes)];
        let new = New {
            kind,
            id: uuid,
            parent: hang(parent.as_deref().or(logical.as_deref())),
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            inert,
        };
        self.emitter.entry(&new).map(drop)
    }
}

fn hang(parent: Option<&str>) -> Hang<'_> {
    parent.map_or(Hang::Root, Hang::From)
}

/// Writes when a message was said.
fn stamp(message: &mut Composer<'_>, object: &Object<'_>) {
    if let Some(millis) = object.text("timestamp").and_then(|text| time::parse(&text)) {
        message.number("timestamp", millis);
    }
}
