//! Reading: lines that are applied in order, into a tree in which nothing was dropped.

mod outcome;
mod pending;
mod rebuild;
mod said;

use std::collections::VecDeque;
use std::io::Read;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use ramus_model::EntryId;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::AGENT;
use super::message;
use crate::compose::Composer;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::{Lines, document};
use crate::origin::{Kept, with_members};
use crate::record::Record;
use crate::sink::{Report, Sink, Start};
use crate::source::{Source, Wanted};

use pending::Pending;

/// Reads a session and those of the agents it spawned.
pub(super) fn read(source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let start = |id: &str, parent| Start {
        id: id.to_owned(),
        cwd: source.directory().unwrap_or_default(),
        format: Some(Format::Gemini),
        parent,
        ..Start::default()
    };
    let main = Reader::new(sink, start(source.name(), None));
    let (mut report, session) = match source.name().ends_with(".json") {
        true => main.document(source.open()?, limits)?,
        false => main.lines(source.open()?, limits)?,
    };
    for name in source.children()? {
        let Some(reader) = source.other(Wanted::Child(&name))? else { continue };
        let (more, _) = Reader::new(sink, start(&name, Some(session.clone()))).lines(reader, limits)?;
        report.add(more);
    }
    Ok(report)
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    /// The messages of the file, by id.
    messages: HashMap<String, Known>,
    /// An answer that may be replaced by the next line.
    pending: Option<Pending>,
    /// Calls of the last answer whose outcome was not met yet.
    open: Vec<OpenCall>,
    /// Calls whose outcome is in the path.
    answered: HashSet<String>,
    /// The message that came last.
    latest: Option<String>,
    /// The messages whose records are held, oldest first, and how much that is.
    held: VecDeque<(String, usize)>,
    held_bytes: usize,
    /// How much of what is held may be written once more, with later versions.
    copies: usize,
}

/// How many messages, and how many bytes of them, are held for later versions of them.
const HELD: usize = 256;
const HELD_BYTES: usize = 8 << 20;
/// How much of what messages keep is written again with their later versions, besides as much as was read: a short line must not
/// have a long one written once more, again and again.
const COPIES: usize = 16 << 20;

/// A message that was met.
#[derive(Clone)]
struct Known {
    /// The last entry it became; none when it became none and nothing came before.
    entry: Option<EntryId>,
    /// What it hangs from.
    parent: Option<EntryId>,
    content: u64,
    /// What tells its versions apart.
    version: u64,
    /// The entry it became itself.
    own: Option<EntryId>,
    /// The records that this entry keeps, as long as they are held: a later version of the entry keeps them too.
    kept: Option<Rc<[Kept]>>,
}

struct OpenCall {
    answer: String,
    id: String,
    name: String,
    /// The call with its outcome, as the answer has it.
    bytes: Vec<u8>,
}

impl OpenCall {
    /// A call of an answer that says what it gave, or that it failed; none when it says neither.
    fn of(answer: &str, call: &Object<'_>, bytes: &[u8]) -> Option<Self> {
        let failed = call.text("status").is_some_and(|status| status == "error");
        let text = |name: &str| call.text(name).unwrap_or_default().into_owned();
        let is_known = call.field("result").is_some() || failed;
        is_known.then(|| Self { answer: answer.to_owned(), id: text("id"), name: text("name"), bytes: bytes.to_vec() })
    }
}

impl<'s> Reader<'s> {
    fn new(sink: &'s mut dyn Sink, start: Start) -> Self {
        let emitter = Emitter::new(sink, AGENT, start);
        Self {
            emitter,
            messages: HashMap::new(),
            pending: None,
            open: Vec::new(),
            answered: HashSet::new(),
            latest: None,
            held: VecDeque::new(),
            held_bytes: 0,
            copies: COPIES,
        }
    }

    fn lines(mut self, reader: impl Read, limits: Limits) -> Result<(Report, String), Error> {
        let mut lines = Lines::new(reader, limits);
        while let Some(line) = lines.next()? {
            let Some(record) = Record::take(&line, &mut self.emitter)? else { continue };
            self.emitter.report.records += 1;
            self.record(&record)?;
            self.relieve()?;
        }
        drop(lines);
        self.finish()
    }

    /// Reads a file of an older version: one document, whose messages are lines now.
    fn document(mut self, reader: impl Read, limits: Limits) -> Result<(Report, String), Error> {
        let bytes = document(reader, limits)?;
        let whole = Record::new(1, &bytes);
        let head = with_members(&whole.bytes, &[("messages", None)]);
        let (Some(head), Some(object)) = (head, whole.object()) else {
            return Err(Error::NotThisFormat { agent: AGENT, why: "the document is not a JSON object".into() });
        };
        let messages = object.field("messages").into_iter().flat_map(Raw::items);
        for (at, bytes) in (1..).zip(std::iter::once(head.as_slice()).chain(messages.map(Raw::bytes))) {
            self.emitter.report.records += 1;
            let record = Record::new(at, bytes);
            match record.object() {
                Some(_) => self.record(&record)?,
                None => self.wait(record.whole())?,
            }
            self.relieve()?;
        }
        self.finish()
    }

    /// Gives away what waits when it is too much.
    fn relieve(&mut self) -> Result<(), Error> {
        if self.emitter.is_full() || self.pending.as_ref().is_some_and(Pending::is_full) {
            self.settle()?;
            self.emitter.flush()?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(Report, String), Error> {
        self.settle()?;
        let session = self.emitter.start.id.clone();
        Ok((self.emitter.finish()?, session))
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let Some(object) = record.object() else { return Ok(()) };
        self.copies = self.copies.saturating_add(record.bytes.len());
        if let Some(set) = object.field("$set").and_then(Raw::object) {
            return self.set(record, &set);
        }
        if let Some(target) = object.field("$rewindTo") {
            return self.rewind(record, &target.text().unwrap_or_default());
        }
        let id = object.text("id").filter(|id| !id.is_empty());
        let (Some(id), Some(_)) = (id, object.field("type")) else { return self.head(record, &object) };
        if let Some(pending) = self.pending.as_mut().filter(|pending| pending.is_of(&id)) {
            pending.replace(record);
            return Ok(());
        }
        if let Some(known) = self.messages.get(&*id).cloned() {
            return self.again(record, &object, &known);
        }
        self.message(record, &object, &id)
    }

    /// Takes what a line says about the session.
    fn head(&mut self, record: &Record<'_>, object: &Object<'_>) -> Result<(), Error> {
        let text = |name: &str| object.text(name).map(|text| text.into_owned()).filter(|text| !text.is_empty());
        if !self.emitter.is_started() {
            let start = &mut self.emitter.start;
            if let Some(id) = text("sessionId") {
                start.id = id;
            }
            if start.created.is_empty() {
                start.created = text("startTime").filter(|text| time::parse(text).is_some()).unwrap_or_default();
            }
            let directory = object.field("directories").and_then(|list| list.items().next()?.text());
            if let Some(directory) = directory.filter(|_| start.cwd.is_empty()) {
                start.cwd = directory.into_owned();
            }
        }
        self.titled(record, object)
    }

    fn set(&mut self, record: &Record<'_>, set: &Object<'_>) -> Result<(), Error> {
        match set.field("messages").filter(|messages| messages.shape() == Shape::Array) {
            Some(messages) => self.rebuild(record, messages),
            None => self.titled(record, set),
        }
    }

    /// Keeps a record, and the title that it may bring.
    fn titled(&mut self, record: &Record<'_>, object: &Object<'_>) -> Result<(), Error> {
        let Some(title) = object.field("summary").filter(|title| title.shape() == Shape::Text && !title.is_blank())
        else {
            return self.wait(record.whole());
        };
        self.settle()?;
        let mut composer = Composer::new(&record.bytes);
        composer.raw("name", title);
        let (members, holes) = composer.finish();
        let (id, records) = (format!("title-{}", record.line), [record.kept(holes)]);
        let new =
            New { kind: "session_info", id: &id, members: &members, records: &records, inert: true, ..New::default() };
        self.emitter.entry(&new).map(drop)
    }

    /// Keeps a record that is no entry. An answer that waits for long is not replaced any more.
    fn wait(&mut self, kept: Kept) -> Result<(), Error> {
        if self.pending.as_ref().is_some_and(Pending::is_stale) {
            self.settle()?;
        }
        match &mut self.pending {
            Some(pending) => pending.wait(kept),
            None => self.emitter.keep(kept),
        }
        Ok(())
    }

    /// Goes back in front of a message. What is dropped there stays, as a branch.
    fn rewind(&mut self, record: &Record<'_>, id: &str) -> Result<(), Error> {
        self.settle()?;
        let target = self.messages.get(id).and_then(|known| known.parent.clone());
        self.move_to(record, target)
    }

    fn move_to(&mut self, record: &Record<'_>, target: Option<EntryId>) -> Result<(), Error> {
        let members = br#""customType":"ramus.leaf","data":{"op":"import"}"#;
        let (id, records) = (format!("leaf-{}", record.line), [record.whole()]);
        let new = New {
            kind: "custom",
            id: &id,
            parent: target.as_ref().map_or(Hang::Root, Hang::Entry),
            members,
            records: &records,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new)?;
        self.emitter.move_to(target);
        self.latest = None;
        Ok(())
    }
}
