//! What calls gave: told to the model by a message, or known from the answer that made them.

use hashbrown::HashSet;
use ramus_model::EntryId;
use ramus_model::json::{Object, Raw};

use super::pending::Pending;
use super::said::{composed, content_hash, version_hash};
use super::{Known, OpenCall, Reader, message};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// Outcomes of calls, as the model is told of them. Those that an answer already has are the same. What is said beside them
    /// is a message of its own.
    pub(super) fn tools(&mut self, object: &Object<'_>, id: &str, record: Option<&Record<'_>>) -> Result<(), Error> {
        let parent = self.emitter.last().cloned();
        let (outcomes, said) = message::outcomes(object);
        let (time, millis) = (object.text("timestamp"), message::millis(object));
        let alone = outcomes.len() == 1 && said.is_empty();
        let source = record.filter(|_| alone).map_or(&[][..], |record| &record.bytes);
        let mut records = record.map(|record| vec![record.whole()]).unwrap_or_default();
        for (at, outcome) in outcomes.iter().enumerate() {
            self.answered.insert(outcome.id.clone());
            let mut composer = Composer::new(source);
            message::result(&mut composer, outcome, millis);
            let (members, holes) = composer.finish();
            if let Some(record) = record.filter(|_| alone) {
                records = vec![record.kept(holes)];
            }
            let own = format!("{id}.r{}", at + 1);
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
        if !said.is_empty() {
            let mut composer = Composer::new(&[]);
            message::beside(&mut composer, &said, millis);
            let (members, _) = composer.finish();
            let own = format!("{id}.said");
            let new =
                New { kind: "message", id: &own, timestamp: time.as_deref(), members: &members, ..New::default() };
            self.emitter.entry(&new)?;
        }
        let entry = self.emitter.last().cloned();
        let (content, version) = (content_hash(object), version_hash(object));
        self.know(id, Known { entry, parent, content, version, own: None, kept: None });
        Ok(())
    }

    /// Gives away the answer that waited, without the outcome of its calls.
    pub(super) fn settle_answer(&mut self) -> Result<(), Error> {
        let Some(Pending { record, mut before, behind, .. }) = self.pending.take() else { return Ok(()) };
        let Some(object) = record.object() else { return Ok(()) };
        let id = object.text("id").unwrap_or_default();
        let (members, holes) = composed(&object, &record.bytes);
        before.push(record.kept(holes));
        self.give(&object, &id, &members, &before)?;
        before.pop();
        self.hold(&id, &before, &record);
        self.open(&object, &id);
        behind.into_iter().for_each(|kept| self.emitter.keep(kept));
        Ok(())
    }

    /// Takes the calls of an answer that say what they gave, as long as nothing else did.
    pub(super) fn open(&mut self, object: &Object<'_>, id: &str) {
        let mut known: HashSet<String> = self.open.iter().map(|open| open.id.clone()).collect();
        for raw in object.field("toolCalls").into_iter().flat_map(Raw::items) {
            let Some(open) = raw.object().and_then(|call| OpenCall::of(id, &call, raw.bytes())) else { continue };
            let is_new = known.insert(open.id.clone()) || open.id.is_empty();
            if is_new && !self.answered.contains(&open.id) {
                self.open.push(open);
            }
        }
    }

    /// Gives away everything that waited.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        self.settle_answer()?;
        let mut open = std::mem::take(&mut self.open);
        // A message may have told of some of them meanwhile.
        open.retain(|open| !self.answered.contains(&open.id));
        let behind = if open.is_empty() { Vec::new() } else { self.emitter.take_run() };
        for (at, call) in open.iter().enumerate() {
            let Some(raw) = Raw::parse(&call.bytes) else { continue };
            let mut composer = Composer::new(&[]);
            message::result(&mut composer, &message::Outcome::of_call(&call.id, &call.name, raw), None);
            let (members, _) = composer.finish();
            let id = format!("{}.c{}", call.answer, at + 1);
            self.answered.insert(call.id.clone());
            let parent = self.emitter.last().cloned();
            let entry = self.emitter.entry(&New { kind: "message", id: &id, members: &members, ..New::default() })?;
            self.extend(&call.answer, parent.as_ref(), &entry);
        }
        behind.into_iter().for_each(|kept| self.emitter.keep(kept));
        Ok(())
    }

    /// Notes that an outcome is the end of the message that it hangs from: of its answer, or of what came last.
    fn extend(&mut self, answer: &str, parent: Option<&EntryId>, entry: &EntryId) {
        for id in [Some(answer), self.latest.as_deref()].into_iter().flatten() {
            if let Some(known) = self.messages.get_mut(id).filter(|known| known.entry.as_ref() == parent) {
                known.entry = Some(entry.clone());
            }
        }
    }
}
