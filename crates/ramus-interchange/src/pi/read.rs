//! Reading: entries of our own dialect, in any of its versions.

mod held;

use std::borrow::Cow;
use std::io::Read as _;

use ramus_model::blob::{self, Restore};
use ramus_model::json::{Checked, Object, Raw, Shape, quote};
use ramus_model::{Draft, EntryId, Header, RAMUS_PREFIX, TitleSlot, derived_entry_id};

use self::held::Held;
use super::Pi;
use crate::emit::{Emitter, Hang, New};
use crate::error::Error;
use crate::format::Format;
use crate::limits::Limits;
use crate::lines::Lines;
use crate::origin::{extend_line, with_members};
use crate::record::Record;
use crate::sink::{ForkPoint, Report, Sink, Start};
use crate::source::{Source, Wanted};

/// Reads a session.
pub(super) fn read(pi: &Pi, source: &dyn Source, limits: Limits, sink: &mut dyn Sink) -> Result<Report, Error> {
    let format = if pi.omp { Format::Omp } else { Format::Pi };
    let stem = source.name().strip_suffix(".jsonl").unwrap_or(source.name());
    let id = stem.split_once('_').map_or(stem, |(_, id)| id).to_owned();
    let start = Start { id, title: source.title(), format: Some(format), ..Start::default() };
    let mut reader = Reader {
        emitter: Emitter::new(sink, pi.agent(), start),
        source,
        limits,
        version: 3,
        index: 0,
        begun: false,
        held: Held::default(),
    };
    let mut lines = Lines::new(source.open()?, limits);
    while let Some(line) = lines.next()? {
        let record = line.bytes.map(|bytes| Record::new(line.number, bytes));
        if let Some(record) = record.filter(|record| record.raw().is_some()) {
            reader.emitter.report.records += 1;
            reader.record(&record)?;
        } else if let Some(pieces) = line.bytes.and_then(pieces) {
            for piece in pieces {
                reader.emitter.report.records += 1;
                reader.record(&Record::new(line.number, piece))?;
            }
        } else if Record::take(&line, &mut reader.emitter)?.is_none() && line.bytes.is_some_and(is_value) {
            reader.index += 1;
        }
        if reader.emitter.is_full() {
            reader.emitter.flush()?;
        }
    }
    reader.release_all()?;
    reader.emitter.finish()
}

/// The records in a line that is not one: a torn newline glues them together. None when the line is anything else.
fn pieces(line: &[u8]) -> Option<Vec<&[u8]>> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while !rest.iter().all(u8::is_ascii_whitespace) {
        let (record, behind) = Raw::prefix(rest).filter(|(record, _)| record.shape() == Shape::Object)?;
        pieces.push(record.bytes());
        rest = behind;
    }
    Some(pieces)
}

fn is_value(line: &[u8]) -> bool {
    Raw::parse(line).is_some()
}

struct Reader<'s> {
    emitter: Emitter<'s>,
    source: &'s dyn Source,
    limits: Limits,
    /// The version that the header names.
    version: u32,
    /// How many values came before, which is what version 1 counts in.
    index: u64,
    /// Whether the header was met.
    begun: bool,
    held: Held,
}

impl Reader<'_> {
    fn record(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let (Some(raw), Some(object)) = (record.raw(), record.object()) else { return Ok(()) };
        let index = self.index;
        self.index += 1;
        if !self.begun {
            if let Some(slot) = TitleSlot::read(raw) {
                self.emitter.start.title = Some(slot.title).filter(|title| !title.is_empty());
                self.emitter.keep(record.whole());
                // The slot is no line of the log: version 1 counts from the header.
                self.index = 0;
                return Ok(());
            }
            if let Some(header) = Header::read(raw) {
                self.header(&header);
                self.emitter.keep(record.whole());
                return Ok(());
            }
        }
        let kind = object.text("type").unwrap_or_default();
        if kind.is_empty() || matches!(&*kind, "session" | "title") {
            self.emitter.keep(record.whole());
            return Ok(());
        }
        self.begun = true;
        if self.waits(&object)? {
            self.held.keep(record, &object, index);
            return Ok(());
        }
        self.entry(record, &object, index)?;
        self.release(&object)
    }

    /// Takes what a header says about the session, and nothing of what it claims about this home.
    fn header(&mut self, header: &Header) {
        self.begun = true;
        self.version = header.version;
        let start = &mut self.emitter.start;
        start.id = header.id.to_string();
        start.cwd.clone_from(&header.cwd);
        start.created = Some(&header.timestamp)
            .filter(|text| ramus_model::time::parse(text).is_some())
            .cloned()
            .unwrap_or_default();
        start.title = start.title.take().or_else(|| header.title.clone());
        start.forked_from = header.parent_session.clone().map(|session| ForkPoint { session, entry: None });
    }

    fn entry(&mut self, record: &Record<'_>, object: &Object<'_>, index: u64) -> Result<(), Error> {
        let nowhere = object.field("parentId").is_some_and(|parent| !parent.is_null() && !hangs(parent));
        let changed = self.changed(record, object, index, nowhere).map(|line| Checked::new(line.into()));
        let line = changed.as_ref().unwrap_or(&record.bytes);
        let Some(raw) = line.raw() else { return Ok(()) };
        let Some(object) = raw.object() else { return Ok(()) };
        let derived = || derived_entry_id(&self.emitter.start.id, index, 8).to_string().into();
        let id = object.text("id").filter(|id| !id.is_empty()).unwrap_or_else(derived);
        let parent = object.text("parentId").filter(|parent| !parent.is_empty());
        let time = object.text("timestamp");
        let hang = parent.as_deref().map_or(Hang::Root, Hang::From);
        let draft = Draft::of(raw).ok().filter(|_| is_harmless(&object));
        let Some(draft) = draft else { return self.kept(record, &id, hang, time.as_deref()) };
        if is_later(&object) && self.emitter.entry_of(&id).is_some_and(|entry| entry.as_str() == id) {
            let parent = self.emitter.parent(&New { parent: hang, timestamp: time.as_deref(), ..New::default() })?;
            return self.give(record.line, line, &object, EntryId::from(&*id), parent, true);
        }
        if self.version > 1 && (nowhere || object.field("parentId").is_none()) {
            self.emitter.lose(Some(record.line), "an entry does not say what it hangs from; it is a root now")?;
        }
        let known = self.emitter.knows(&id);
        if known {
            self.emitter.lose(Some(record.line), "an id is used twice; the later entry has another one now")?;
        }
        let entry = New { id: &id, parent: hang, timestamp: time.as_deref(), ..New::default() };
        let (id, parent) = self.emitter.place(&entry)?;
        self.give(record.line, line, &object, id, parent, draft.body.is_inert())
    }

    /// Gives an entry where it was placed.
    fn give(
        &mut self,
        number: u64,
        line: &[u8],
        object: &Object<'_>,
        id: EntryId,
        parent: Option<EntryId>,
        inert: bool,
    ) -> Result<(), Error> {
        let line = self.placed(line, object, &id, parent.as_ref());
        let line = self.pictured(line, number)?;
        self.emitter.pass(id, parent, ended(&line), inert)
    }

    /// The line of an entry as version 3 spells it; none when it does already.
    fn changed(&self, record: &Record<'_>, object: &Object<'_>, index: u64, nowhere: bool) -> Option<Vec<u8>> {
        let upgraded = (self.version < 2).then(|| self.upgraded(record, object, index));
        let renamed = (self.version < 3).then(|| renamed(upgraded.as_deref().unwrap_or(&record.bytes))).flatten();
        let line = renamed.or(upgraded);
        if !nowhere {
            return line;
        }
        with_members(line.as_deref().unwrap_or(&record.bytes), &[("parentId", Some(b"null"))]).or(line)
    }

    /// The line with the id and parent that the entry got; the line itself when it says so already.
    fn placed<'l>(&self, line: &'l [u8], object: &Object<'_>, id: &EntryId, parent: Option<&EntryId>) -> Cow<'l, [u8]> {
        let same_id = object.text("id").as_deref() == Some(id.as_str());
        let same_parent = object.field("parentId").is_some_and(|found| match parent {
            Some(parent) => found.text().as_deref() == Some(parent.as_str()),
            None => found.is_null(),
        });
        if same_id && same_parent {
            return line.into();
        }
        let (mut quoted_id, mut quoted_parent) = (Vec::new(), Vec::new());
        quote(id.as_str(), &mut quoted_id);
        match parent {
            Some(parent) => quote(parent.as_str(), &mut quoted_parent),
            None => quoted_parent.extend_from_slice(b"null"),
        }
        if object.field("id").is_some() && object.field("parentId").is_some() {
            let changes = [("id", Some(quoted_id.as_slice())), ("parentId", Some(quoted_parent.as_slice()))];
            return with_members(line, &changes).unwrap_or_default().into();
        }
        let rest = with_members(line, &[("id", None), ("parentId", None)]).unwrap_or_default();
        let mut out = b"{\"id\":".to_vec();
        out.extend(quoted_id);
        out.extend_from_slice(b",\"parentId\":");
        out.extend(quoted_parent);
        out.push(b',');
        out.extend_from_slice(rest.get(1..).unwrap_or_default());
        out.into()
    }

    /// An entry of version 1 with the id, the parent and the references of version 3.
    fn upgraded(&self, record: &Record<'_>, object: &Object<'_>, index: u64) -> Vec<u8> {
        let session = &self.emitter.start.id;
        let mut out = b"{\"id\":".to_vec();
        quote(derived_entry_id(session, index, 8).as_str(), &mut out);
        out.extend_from_slice(b",\"parentId\":");
        match self.emitter.last() {
            Some(parent) => quote(parent.as_str(), &mut out),
            None => out.extend_from_slice(b"null"),
        }
        if let Some(kept) = object.field("firstKeptEntryIndex").and_then(Raw::unsigned) {
            out.extend_from_slice(b",\"firstKeptEntryId\":");
            quote(derived_entry_id(session, kept, 8).as_str(), &mut out);
        }
        out.push(b',');
        let rest = with_members(&record.bytes, &[("id", None), ("parentId", None), ("firstKeptEntryIndex", None)]);
        out.extend_from_slice(rest.unwrap_or_default().get(1..).unwrap_or(b"}"));
        out
    }

    /// Keeps an entry that cannot be one here, in its place in the tree.
    fn kept(&mut self, record: &Record<'_>, id: &str, parent: Hang<'_>, timestamp: Option<&str>) -> Result<(), Error> {
        self.emitter.lose(
            Some(record.line),
            "entries that are malformed, or say something only this home may say, are kept and not obeyed",
        )?;
        let members = br#""customType":"ramus.origin","data":{"op":"import"}"#;
        let records = [record.whole()];
        let new = New { kind: "custom", id, parent, timestamp, members, records: &records, inert: true };
        self.emitter.entry(&new).map(drop)
    }

    /// Puts pictures back that the program keeps beside the log.
    fn pictured<'l>(&mut self, line: Cow<'l, [u8]>, number: u64) -> Result<Cow<'l, [u8]>, Error> {
        if memchr::memmem::find(&line, b"blob:sha256:").is_none() {
            return Ok(line);
        }
        let mut failed = None;
        let mut room = self.limits.line;
        let restored = blob::restore(&line, Restore::Pictures, &mut |hash| {
            let mut reader = match self.source.other(Wanted::Beside(&format!("blobs/{hash}"))) {
                Ok(reader) => reader?.take(room as u64 + 1),
                Err(error) => {
                    failed = Some(error);
                    return None;
                }
            };
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).ok()?;
            room = room.checked_sub(bytes.len())?;
            Some(bytes)
        });
        if let Some(error) = failed {
            return Err(error.into());
        }
        let (missing, line) = (restored.missing.len(), restored.line.into_owned());
        for _ in 0..missing {
            self.emitter.lose(Some(number), "a picture is not in the program's store")?;
        }
        Ok(line.into())
    }
}

/// An entry with the role that version 3 has for the messages of extensions; none when it is none of those.
fn renamed(line: &[u8]) -> Option<Vec<u8>> {
    let message = Raw::parse(line)?.field("message")?;
    (message.field("role")?.text()? == "hookMessage").then_some(())?;
    let message = with_members(message.bytes(), &[("role", Some(b"\"custom\""))])?;
    with_members(line, &[("message", Some(&message))])
}

fn hangs(parent: Raw<'_>) -> bool {
    parent.text().is_some_and(|parent| !parent.is_empty())
}

fn is_later(object: &Object<'_>) -> bool {
    object.field("ramusSupersedes").and_then(Raw::flag) == Some(true)
}

/// Says whether an entry may be taken over. What ramus records about its own home is not believed of others: grants,
/// snapshots, metadata that moves sessions or allows something.
fn is_harmless(object: &Object<'_>) -> bool {
    if object.text("type").as_deref() != Some("custom") {
        return true;
    }
    let custom = object.text("customType").unwrap_or_default();
    match custom.strip_prefix(RAMUS_PREFIX) {
        None => true,
        Some("leaf") => object
            .field("data")
            .is_none_or(|data| ["snapshot", "safety_snapshot", "diff"].iter().all(|name| data.field(name).is_none())),
        Some("segment" | "missing" | "artifact" | "damaged") => true,
        Some(_) => false,
    }
}

/// A line with a newline behind it, and none in it.
fn ended(line: &[u8]) -> Vec<u8> {
    let mut ended = Vec::with_capacity(line.len() + 1);
    extend_line(&mut ended, line);
    ended.push(b'\n');
    ended
}
