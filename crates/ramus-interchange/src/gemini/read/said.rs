//! Messages, and what becomes of one that comes again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use ramus_model::json::Object;

use super::super::message::{self, Speaker};
use super::{Known, Pending, Reader};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::origin::Kept;
use crate::record::Record;

impl Reader<'_> {
    /// A message that was met before and comes again: the same, or a later version of it.
    pub(super) fn again(&mut self, record: &Record<'_>, object: &Object<'_>, known: &Known) -> Result<(), Error> {
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

    pub(super) fn message(&mut self, record: &Record<'_>, object: &Object<'_>, id: &str) -> Result<(), Error> {
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
        let known = Known { entry: Some(entry.clone()), parent, content: content_hash(object), own: Some(entry) };
        // A call that is made again on another branch has its outcome there once more.
        for id in message::call_ids(object) {
            self.answered.remove(&*id);
        }
        self.messages.insert(id.to_owned(), known);
        Ok(())
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

/// What tells versions of a message apart. The same message may be spelled in more than one way.
pub(super) fn content_hash(object: &Object<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    object.text("type").hash(&mut hasher);
    message::text(object).hash(&mut hasher);
    message::call_ids(object).for_each(|id| id.hash(&mut hasher));
    message::answers(object).for_each(|answer| answer.text("id").hash(&mut hasher));
    hasher.finish()
}
