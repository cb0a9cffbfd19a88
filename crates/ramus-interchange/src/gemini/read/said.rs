//! Messages, and what becomes of one that comes again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;

use ramus_model::json::{Object, Raw};

use super::super::message::{self, Speaker};
use super::pending::Pending;
use super::{HELD, HELD_BYTES, Known, Reader};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::origin::Kept;
use crate::record::Record;

/// What stands around a record that is kept.
const ENVELOPE: usize = 32;

impl Reader<'_> {
    /// A message that was met before and comes again: the same, or a later version of it.
    pub(super) fn again(&mut self, record: &Record<'_>, object: &Object<'_>, known: &Known) -> Result<(), Error> {
        self.settle()?;
        let id = object.text("id").unwrap_or_default();
        let version = version_hash(object);
        let copied = known.kept.iter().flat_map(|kept| kept.iter()).map(|kept| kept.len() + ENVELOPE).sum();
        let room = self.copies.checked_sub(copied);
        match (&known.own, &known.kept) {
            (Some(own), Some(kept)) if version != known.version && room.is_some() => {
                let (members, _) = composed(object, &[]);
                let time = object.text("timestamp");
                let new = New {
                    kind: "message",
                    id: own.as_str(),
                    timestamp: time.as_deref(),
                    members: &members,
                    records: kept,
                    ..New::default()
                };
                self.emitter.supersede(&new, own, known.parent.clone())?;
                // They are the records of the first version, and counted with it.
                self.emitter.report.kept -= kept.len() as u64;
                self.copies = room.unwrap_or_default();
                if let Some(known) = self.messages.get_mut(&*id) {
                    (known.content, known.version) = (content_hash(object), version);
                }
            }
            (Some(_), _) if version != known.version => {
                let why = "later versions of messages that are long, came long before or came too often; they are kept and do not count";
                self.emitter.lose(Some(record.line), why)?;
            }
            _ => {}
        }
        if Speaker::of(object) == Speaker::Model {
            self.open(object, &id);
        }
        self.wait(record.whole())
    }

    pub(super) fn message(&mut self, record: &Record<'_>, object: &Object<'_>, id: &str) -> Result<(), Error> {
        match Speaker::of(object) {
            Speaker::Model => {
                self.settle()?;
                self.emitter.flush()?;
                self.pending = Some(Pending::of(record));
                Ok(())
            }
            Speaker::User => {
                self.settle()?;
                let (members, holes) = composed(object, &record.bytes);
                self.give(object, id, &members, &[record.kept(holes)])?;
                self.hold(id, &[], record);
                Ok(())
            }
            Speaker::Tools => {
                self.settle_answer()?;
                self.tools(object, id, Some(record))
            }
            Speaker::Nobody => {
                self.pass(object, id);
                self.wait(record.whole())
            }
        }
    }

    pub(super) fn give(
        &mut self,
        object: &Object<'_>,
        id: &str,
        members: &[u8],
        records: &[Kept],
    ) -> Result<(), Error> {
        let time = object.text("timestamp");
        let parent = self.emitter.last().cloned();
        let new = New { kind: "message", id, timestamp: time.as_deref(), members, records, ..New::default() };
        let entry = self.emitter.entry(&new)?;
        let (content, version) = (content_hash(object), version_hash(object));
        let known = Known { entry: Some(entry.clone()), parent, content, version, own: Some(entry), kept: None };
        // A call that is made again on another branch has its outcome there once more.
        for id in message::call_ids(object) {
            self.answered.remove(&*id);
        }
        self.know(id, known);
        Ok(())
    }

    /// Remembers a message that is nobody's word.
    pub(super) fn pass(&mut self, object: &Object<'_>, id: &str) {
        let entry = self.emitter.last().cloned();
        let (content, version) = (content_hash(object), version_hash(object));
        let known = Known { entry: entry.clone(), parent: entry, content, version, own: None, kept: None };
        self.messages.insert(id.to_owned(), known);
    }

    /// Remembers a message that became entries.
    pub(super) fn know(&mut self, id: &str, known: Known) {
        self.messages.insert(id.to_owned(), known);
        self.latest = Some(id.to_owned());
    }

    /// Holds the records of a message in case a later version of it comes: earlier ones, and its own. What came long before is let
    /// go, and so is what is too long.
    pub(super) fn hold(&mut self, id: &str, before: &[Kept], record: &Record<'_>) {
        let bytes = before.iter().map(Kept::len).sum::<usize>() + record.bytes.len();
        if bytes > HELD_BYTES {
            return;
        }
        let records = before.iter().cloned().chain([record.whole()]).collect();
        self.hold_records(id, records, bytes);
    }

    /// Holds a message that has no record of its own.
    pub(super) fn hold_bare(&mut self, id: &str) {
        self.hold_records(id, [].into(), 0);
    }

    fn hold_records(&mut self, id: &str, records: Rc<[Kept]>, bytes: usize) {
        let Some(known) = self.messages.get_mut(id) else { return };
        known.kept = Some(records);
        self.held.push_back((id.to_owned(), bytes));
        self.held_bytes += bytes;
        while self.held.len() > HELD || self.held_bytes > HELD_BYTES {
            let Some((oldest, bytes)) = self.held.pop_front() else { return };
            self.held_bytes -= bytes;
            if let Some(known) = self.messages.get_mut(&oldest).filter(|_| oldest != id) {
                known.kept = None;
            }
        }
    }
}

/// The members of the entry that a message becomes, and the holes it leaves in its record.
pub(super) fn composed(object: &Object<'_>, record: &[u8]) -> (Vec<u8>, Vec<crate::compose::Hole>) {
    let mut composer = Composer::new(record);
    match Speaker::of(object) {
        Speaker::Model => message::answer(&mut composer, object),
        _ => message::user(&mut composer, object),
    }
    composer.finish()
}

/// What tells messages apart. The same message may be spelled in more than one way.
pub(super) fn content_hash(object: &Object<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.text("type").hash(&mut hasher);
    message::text(object).hash(&mut hasher);
    message::call_ids(object).for_each(|id| id.hash(&mut hasher));
    message::answers(object).for_each(|answer| answer.text("id").hash(&mut hasher));
    hasher.finish()
}

/// What tells versions of a message apart that is written more than once, but for what its calls gave: all that its entry says.
pub(super) fn version_hash(object: &Object<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    for name in ["type", "content", "thoughts", "tokens", "model"] {
        object.field(name).map(Raw::bytes).hash(&mut hasher);
    }
    for call in message::calls(object) {
        for name in ["id", "name", "args"] {
            call.field(name).map(Raw::bytes).hash(&mut hasher);
        }
    }
    hasher.finish()
}
