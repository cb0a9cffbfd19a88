//! Reading: lines into entries.

mod compaction;
mod front;
mod repeated;
mod result;
mod said;
mod spawned;
mod spill;
mod thread;

use std::borrow::Cow;

use hashbrown::{HashMap, HashSet};
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

use repeated::Seen;
pub(super) use spawned::read;
use thread::Threads;

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
    /// Files with whole outputs that were read.
    spills: HashSet<String>,
    pending: Pending,
    /// Whether a person has named the session, which counts more than a name that was made up.
    named: bool,
    /// Whether lines of the other chain were met.
    passed_over: bool,
    threads: Threads,
    /// Messages that a summary in front of them is about.
    leaves: HashSet<String>,
    seen: Seen,
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
            spills: HashSet::new(),
            pending: Pending::Nothing,
            named: false,
            passed_over: false,
            threads: Threads::default(),
            leaves: HashSet::new(),
            seen: Seen::default(),
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
            let is_side = is_set(&object, "isSidechain");
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
        drop(lines);
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
        if self.seen.is_repeated(record, object, &uuid) {
            self.emitter.keep(record.whole());
            return Ok(());
        }
        let message = object.field("message").and_then(Raw::object);
        if let (Some(message), "assistant") = (&message, &*kind) {
            return self.answer(record, object, &uuid, &message.text("id").unwrap_or_default());
        }
        let summary = is_set(object, "isCompactSummary");
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
            ("user", Some(_)) if is_set(object, "isVisibleInTranscriptOnly") => self.other(record, object, &uuid),
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
            Pending::Answer(answer) => answer.continues(message, uuid, parent.as_deref()) && !self.emitter.knows(uuid),
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
            answer.push(record.clone().into_owned(), uuid, parent.as_deref());
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
                let from = parent.as_deref().and_then(|parent| self.emitter.entry_of(parent));
                let is_new = !self.emitter.knows(&uuid);
                let joined = from.filter(|from| is_new && self.threads.has(from, answer.message()));
                let place = joined.as_ref().and_then(|joined| self.threads.place(joined));
                let new = New {
                    kind: "message",
                    id: &uuid,
                    parent: place.as_ref().map_or_else(|| hang(parent.as_deref()), Hang::Entry),
                    timestamp: time.as_deref(),
                    members: &members,
                    records: &records,
                    inert: false,
                };
                let entry = self.emitter.entry(&new)?;
                answer.uuids().for_each(|uuid| self.emitter.alias(uuid, &entry));
                match joined {
                    Some(joined) => self.threads.go_on(&joined, entry),
                    None => self.threads.start(answer.message(), entry),
                }
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
        let from = parent.as_deref().and_then(|parent| self.emitter.entry_of(parent));
        let entry = self.emitter.entry(&new)?;
        if let Some(from) = from.filter(|_| inert) {
            self.threads.beside(&from, entry);
        }
        Ok(())
    }
}

fn hang(parent: Option<&str>) -> Hang<'_> {
    parent.map_or(Hang::Root, Hang::From)
}

fn is_set(object: &Object<'_>, name: &str) -> bool {
    object.field(name).and_then(Raw::flag).unwrap_or_default()
}

/// Writes when a message was said.
fn stamp(message: &mut Composer<'_>, object: &Object<'_>) {
    if let Some(millis) = object.text("timestamp").and_then(|text| time::parse(&text)) {
        message.number("timestamp", millis);
    }
}
