//! What is said: prompts, answers that come in item by item, outcomes of calls.

use std::borrow::Cow;

use ramus_model::json::{Object, Raw};

use super::super::item::{self, Item};
use super::super::pending::Behind;
use super::{MAX_CALLS, Reader, stamp};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    pub(super) fn item(&mut self, record: &Record<'_>, line: &Object<'_>, payload: &Object<'_>) -> Result<(), Error> {
        match Item::of(payload) {
            Item::Answer => {
                let name = payload.text("name").or_else(|| item::unnamed(payload).map(Cow::Borrowed));
                if let (Some(id), Some(name)) = (payload.text("call_id"), name)
                    && self.names.len() < MAX_CALLS
                {
                    self.names.insert(id.into_owned(), name.into_owned());
                }
                if self.pending.is_empty() || !self.pending.is_open() {
                    self.settle()?;
                    self.emitter.flush()?;
                }
                self.pending.push(record.clone().into_owned());
                Ok(())
            }
            Item::Output if !self.pending.is_empty() => {
                // What the answer used may be said behind the outcome of its calls.
                self.pending.wait(Behind::Output(record.clone().into_owned()));
                Ok(())
            }
            Item::Output => self.output(record),
            Item::User => self.user(record, line, payload),
            Item::Beside => {
                self.wait(record);
                Ok(())
            }
        }
    }

    fn user(&mut self, record: &Record<'_>, line: &Object<'_>, payload: &Object<'_>) -> Result<(), Error> {
        self.settle()?;
        self.turns.push(self.emitter.last().cloned());
        let mut composer = Composer::new(&record.bytes);
        composer.object("message", |message| {
            message.text("role", "user");
            item::content(message, payload.field("content"));
            stamp(message, line);
        });
        self.give("message", record, line, composer)
    }

    fn output(&mut self, record: &Record<'_>) -> Result<(), Error> {
        let Some(line) = record.object() else { return Ok(()) };
        let Some(payload) = record.raw().and_then(item::held).and_then(Raw::object) else { return Ok(()) };
        let call = payload.text("call_id").unwrap_or_default();
        let name = self.names.remove(&*call).unwrap_or_default();
        let output = payload.field("output");
        // Older versions say it in an object.
        let inner = output.and_then(Raw::object);
        let content = inner.as_ref().and_then(|inner| inner.field("content")).or(output);
        let failed = inner.and_then(|inner| inner.field("success")?.flag()) == Some(false);
        let mut composer = Composer::new(&record.bytes);
        composer.object("message", |message| {
            message.text("role", "toolResult");
            message.text("toolCallId", &call);
            message.text("toolName", &name);
            item::content(message, content);
            message.flag("isError", failed);
            stamp(message, &line);
        });
        self.give("message", record, &line, composer)
    }

    /// Gives away the answer that came in, and what waits behind it.
    pub(super) fn settle(&mut self) -> Result<(), Error> {
        let mut pending = std::mem::take(&mut self.pending);
        let behind = std::mem::take(&mut pending.behind);
        if let Some(first) = pending.first() {
            let (members, records) = pending.compose(&self.provider, &self.model);
            let (id, time) =
                (self.id_of(first), first.object().and_then(|line| line.text("timestamp").map(|t| t.into_owned())));
            let new = New {
                kind: "message",
                id: &id,
                timestamp: time.as_deref(),
                members: &members,
                records: &records,
                ..New::default()
            };
            self.emitter.entry(&new)?;
        }
        for behind in behind {
            match behind {
                Behind::Output(record) => self.output(&record)?,
                Behind::Record(kept) => self.emitter.keep(kept),
            }
        }
        Ok(())
    }
}
