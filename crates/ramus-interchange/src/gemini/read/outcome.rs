//! What calls gave: told to the model by a message, or known from the answer that made them.

use ramus_model::json::{Object, Raw};

use super::said::{composed, content_hash};
use super::{Known, OpenCall, Pending, Reader, message};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// Outcomes of calls, as the model is told of them. Those that an answer already has are the same.
    pub(super) fn tools(&mut self, record: &Record<'_>, object: &Object<'_>, id: &str) -> Result<(), Error> {
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
    pub(super) fn settle_answer(&mut self) -> Result<(), Error> {
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
    pub(super) fn settle(&mut self) -> Result<(), Error> {
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
}
