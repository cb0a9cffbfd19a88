//! Reading: lines that are applied in order, into a tree in which nothing was dropped.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;

use hashbrown::{HashMap, HashSet};
use ramus_model::EntryId;
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::time;

use super::AGENT;
use super::message::{self, Speaker};
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
}

/// A message that was met.
#[derive(Clone)]
struct Known {
    /// The last entry it became; none when it became none and nothing came before.
    entry: Option<EntryId>,
    /// What it hangs from.
    parent: Option<EntryId>,
    content: u64,
    /// The entry it became itself.
    own: Option<EntryId>,
}

struct Pending {
    record: Record<'static>,
    /// Earlier versions, and what stood between them.
    before: Vec<Kept>,
    /// What came behind it.
    behind: Vec<Kept>,
}

struct OpenCall {
    answer: String,
    id: String,
    name: String,
    /// The call with its outcome, as the answer has it.
    bytes: Vec<u8>,
}

impl<'s> Reader<'s> {
    fn new(sink: &'s mut dyn Sink, start: Start) -> Self {
        let emitter = Emitter::new(sink, AGENT, start);
        Self { emitter, messages: HashMap::new(), pending: None, open: Vec::new(), answered: HashSet::new() }
    }

    fn lines(mut self, reader: impl Read, limits: Limits) -> Result<(Report, String), Error> {
        let mut lines = Lines::new(reader, limits);
        while let Some(line) = lines.next()? {
            let Some(record) = Record::take(&line, &mut self.emitter)? else { continue };
            self.emitter.report.records += 1;
            self.record(&record)?;
            if self.emitter.is_full() {
                self.settle()?;
                self.emitter.flush()?;
            }
        }
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
        }
        self.finish()
    }

    fn finish(mut self) -> Result<(Report, String), Error> {
        self.settle()?;
        let session = self.emitter.start.id.clone();
        Ok((self.emitter.finish()?, session))
    }

    fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let Some(object) = record.object() else { return Ok(()) };
        if let Some(set) = object.field("$set").and_then(Raw::object) {
            return self.set(record, &set);
        }
        if let Some(target) = object.field("$rewindTo") {
            return self.rewind(record, &target.text().unwrap_or_default());
        }
        let id = object.text("id").filter(|id| !id.is_empty());
        let (Some(id), Some(_)) = (id, object.field("type")) else { return self.head(record, &object) };
        let same = self.pending.as_ref().is_some_and(|pending| {
            pending.record.object().is_some_and(|earlier| earlier.text("id").as_deref() == Some(&*id))
        });
        if same {
            self.replace(record);
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
        const WAITING: usize = 64;
        if self.pending.as_ref().is_some_and(|pending| pending.behind.len() >= WAITING) {
            self.settle()?;
        }
        match &mut self.pending {
            Some(pending) => pending.behind.push(kept),
            None => self.emitter.keep(kept),
        }
        Ok(())
    }

    /// Puts a later version in the place of the answer that waits.
    fn replace(&mut self, record: &Record<'_>) {
        if let Some(pending) = &mut self.pending {
            pending.before.push(pending.record.whole());
            pending.before.append(&mut pending.behind);
            pending.record = record.clone().into_owned();
        }
    }

    /// A message that was met before and comes again: the same, or a later version of it.
    fn again(&mut self, record: &Record<'_>, object: &Object<'_>, known: &Known) -> Result<(), Error> {
        self.settle()?;
        let content = content_hash(object);
        if let Some(own) = known.own.clone().filter(|_| content != known.content) {
            let (members, _) = composed(object, &[]);
            let time = object.text("timestamp");
            let new = New {
                kind: "message",
                id: own.as_str(),
                timestamp: time.as_deref(),
                members: &members,
                ..New::default()
            };
            self.emitter.supersede(&new, &own, known.parent.clone())?;
            if let Some(known) = object.text("id").and_then(|id| self.messages.get_mut(&*id)) {
                known.content = content;
            }
        }
        self.wait(record.whole())
    }

    fn message(&mut self, record: &Record<'_>, object: &Object<'_>, id: &str) -> Result<(), Error> {
        match Speaker::of(object) {
            Speaker::Model => {
                self.settle()?;
                self.emitter.flush()?;
                self.pending =
                    Some(Pending { record: record.clone().into_owned(), before: Vec::new(), behind: Vec::new() });
                Ok(())
            }
            Speaker::User => {
                self.settle()?;
                let (members, holes) = composed(object, &record.bytes);
                self.give(object, id, &members, &[record.kept(holes)])
            }
            Speaker::Tools => {
                self.settle_answer()?;
                self.tools(record, object, id)
            }
            Speaker::Nobody => {
                let entry = self.emitter.last().cloned();
                let known = Known { entry: entry.clone(), parent: entry, content: content_hash(object), own: None };
                self.messages.insert(id.to_owned(), known);
                self.wait(record.whole())
            }
        }
    }

    fn give(&mut self, object: &Object<'_>, id: &str, members: &[u8], records: &[Kept]) -> Result<(), Error> {
        let time = object.text("timestamp");
        let parent = self.emitter.last().cloned();
        let new = New { kind: "message", id, timestamp: time.as_deref(), members, records, ..New::default() };
        let entry = self.emitter.entry(&new)?;
        let known = Known { entry: Some(entry.clone()), parent, content: content_hash(object), own: Some(entry) };
        // A call that is made again on another branch has its outcome there once more.
        for id in message::call_ids(object) {
            self.answered.remove(&*id);
        }
        self.messages.insert(id.to_owned(), known);
        Ok(())
    }

    /// Outcomes of calls, as the model is told of them. Those that an answer already has are the same.
    fn tools(&mut self, record: &Record<'_>, object: &Object<'_>, id: &str) -> Result<(), Error> {
        let parent = self.emitter.last().cloned();
        let answers: Vec<_> = message::answers(object).collect();
        let alone = answers.len() == 1;
        for (at, answer) in answers.iter().enumerate() {
            let call = answer.text("id").unwrap_or_default();
            self.open.retain(|open| open.id != *call);
            self.answered.insert(call.clone().into_owned());
            let mut composer = Composer::new(if alone { &record.bytes } else { &[] });
            let name = answer.text("name").unwrap_or_default();
            message::result(&mut composer, &call, &name, answer.field("response"), message::millis(object), false);
            let (members, holes) = composer.finish();
            let own = format!("{id}.r{}", at + 1);
            let (time, records) = (object.text("timestamp"), [record.kept(holes)]);
            let new = New {
                kind: "message",
                id: if at == 0 { id } else { &own },
                timestamp: time.as_deref(),
                members: &members,
                records: if at == 0 { &records } else { &[] },
                ..New::default()
            };
            self.emitter.entry(&new)?;
        }
        let entry = self.emitter.last().cloned();
        let known = Known { entry, parent, content: content_hash(object), own: None };
        self.messages.insert(id.to_owned(), known);
        Ok(())
    }

    /// Gives away the answer that waited, without the outcome of its calls.
    fn settle_answer(&mut self) -> Result<(), Error> {
        let Some(Pending { record, mut before, behind }) = self.pending.take() else { return Ok(()) };
        let Some(object) = record.object() else { return Ok(()) };
        let id = object.text("id").unwrap_or_default();
        let (members, holes) = composed(&object, &record.bytes);
        before.push(record.kept(holes));
        self.give(&object, &id, &members, &before)?;
        for call in message::calls(&object) {
            let text = |name: &str| call.text(name).unwrap_or_default().into_owned();
            let bytes = call.field("result").map_or(b"null".to_vec(), |result| result.bytes().to_vec());
            let failed = call.text("status").is_some_and(|status| status == "error");
            let open = OpenCall { answer: id.clone().into_owned(), id: text("id"), name: text("name"), bytes };
            if call.field("result").is_some() || failed {
                self.open.push(open);
            }
        }
        behind.into_iter().for_each(|kept| self.emitter.keep(kept));
        Ok(())
    }

    /// Gives away everything that waited.
    fn settle(&mut self) -> Result<(), Error> {
        self.settle_answer()?;
        let open = std::mem::take(&mut self.open);
        let behind = if open.is_empty() { Vec::new() } else { self.emitter.take_run() };
        for (at, call) in open.iter().enumerate() {
            let result = Raw::parse(&call.bytes);
            let response = result
                .and_then(|result| result.items().find_map(|part| part.field("functionResponse")?.field("response")));
            let mut composer = Composer::new(&[]);
            message::result(&mut composer, &call.id, &call.name, response.or(result), None, false);
            let (members, _) = composer.finish();
            let id = format!("{}.c{}", call.answer, at + 1);
            self.answered.insert(call.id.clone());
            let entry = self.emitter.entry(&New { kind: "message", id: &id, members: &members, ..New::default() })?;
            if let Some(known) = self.messages.get_mut(&call.answer) {
                known.entry = Some(entry);
            }
        }
        behind.into_iter().for_each(|kept| self.emitter.keep(kept));
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
        Ok(())
    }

    /// Goes through the messages that count from now on. Those that are there already are not made again.
    fn rebuild(&mut self, record: &Record<'_>, messages: Raw<'_>) -> Result<(), Error> {
        self.settle()?;
        let left = self.emitter.last().cloned();
        let mut at = None;
        let mut rest = messages.items().peekable();
        while let Some(object) = rest.peek().and_then(|raw| raw.object()) {
            let id = object.text("id").unwrap_or_default();
            if !self.messages.contains_key(&*id) && self.is_answered(&object) {
                rest.next();
                continue;
            }
            let Some(known) = self.messages.get(&*id).filter(|known| known.content == content_hash(&object)) else {
                break;
            };
            if known.own.is_none() && known.entry == known.parent {
                // It became no entry, wherever it stands.
            } else if known.parent == at {
                at.clone_from(&known.entry);
            } else {
                break;
            }
            rest.next();
        }
        match at == left {
            true => self.wait(record.whole())?,
            false => self.move_to(record, at)?,
        }
        for (index, raw) in rest.enumerate() {
            self.rebuilt(raw, record, index)?;
        }
        self.settle()
    }

    /// Says whether a message only brings outcomes that are known.
    fn is_answered(&self, object: &Object<'_>) -> bool {
        let mut answers = message::answers(object).peekable();
        answers.peek().is_some()
            && answers.all(|answer| answer.text("id").is_some_and(|id| self.answered.contains(&*id)))
    }

    /// Makes an entry of a message that stands in a list of them, and nowhere else.
    fn rebuilt(&mut self, raw: Raw<'_>, record: &Record<'_>, index: usize) -> Result<(), Error> {
        let Some(object) = raw.object() else { return Ok(()) };
        let id = object.text("id").map_or_else(|| format!("line-{}.{index}", record.line), |id| id.into_owned());
        match Speaker::of(&object) {
            Speaker::User | Speaker::Model => {
                self.settle()?;
                let (members, _) = composed(&object, &[]);
                self.give(&object, &id, &members, &[])?;
                let calls = message::calls(&object).filter(|call| call.field("result").is_some());
                self.open = calls
                    .map(|call| OpenCall {
                        answer: id.clone(),
                        id: call.text("id").unwrap_or_default().into_owned(),
                        name: call.text("name").unwrap_or_default().into_owned(),
                        bytes: call.field("result").map_or(b"null".to_vec(), |result| result.bytes().to_vec()),
                    })
                    .collect();
                Ok(())
            }
            Speaker::Tools if self.is_answered(&object) => Ok(()),
            Speaker::Tools => self.tools_again(&object, &id),
            Speaker::Nobody => {
                let entry = self.emitter.last().cloned();
                let known = Known { entry: entry.clone(), parent: entry, content: content_hash(&object), own: None };
                self.messages.insert(id, known);
                Ok(())
            }
        }
    }

    fn tools_again(&mut self, object: &Object<'_>, id: &str) -> Result<(), Error> {
        let parent = self.emitter.last().cloned();
        for (at, answer) in message::answers(object).enumerate() {
            let call = answer.text("id").unwrap_or_default();
            self.open.retain(|open| open.id != *call);
            self.answered.insert(call.clone().into_owned());
            let mut composer = Composer::new(&[]);
            let name = answer.text("name").unwrap_or_default();
            message::result(&mut composer, &call, &name, answer.field("response"), message::millis(object), false);
            let (members, _) = composer.finish();
            let own = format!("{id}.r{}", at + 1);
            let id = if at == 0 { id } else { &own };
            self.emitter.entry(&New { kind: "message", id, members: &members, ..New::default() })?;
        }
        let entry = self.emitter.last().cloned();
        let known = Known { entry, parent, content: content_hash(object), own: None };
        self.messages.insert(id.to_owned(), known);
        Ok(())
    }
}

/// The members of the entry that a message becomes, and the holes it leaves in its record.
fn composed(object: &Object<'_>, record: &[u8]) -> (Vec<u8>, Vec<crate::compose::Hole>) {
    let mut composer = Composer::new(record);
    match Speaker::of(object) {
        Speaker::Model => message::answer(&mut composer, object),
        _ => message::user(&mut composer, object),
    }
    composer.finish()
}

/// What tells versions of a message apart. The same message may be spelled in more than one way.
fn content_hash(object: &Object<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.text("type").hash(&mut hasher);
    message::text(object).hash(&mut hasher);
    message::call_ids(object).for_each(|id| id.hash(&mut hasher));
    message::answers(object).for_each(|answer| answer.text("id").hash(&mut hasher));
    hasher.finish()
}
