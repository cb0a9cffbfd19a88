//! `clear`: a model starts afresh in the same session. It is sent the system messages of the path and nothing else of it.
//!
//! A clear is a compaction that says nothing and keeps nothing, so every program of this format sees the same empty
//! context, and going back to before it brings everything back.

use ramus_model::json::Raw;
use ramus_model::message::Message;
use ramus_model::{Body, Draft, EntryId, Role, context::Item, tokens};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::create::new_entry_id;

/// What was cleared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cleared {
    /// The entry that says so; none when there was nothing to clear.
    pub entry: Option<EntryId>,
    /// How many messages a model is no longer sent.
    pub messages: usize,
    /// How many system messages it still is.
    pub kept: usize,
    /// The tokens of the context before.
    pub tokens_before: u64,
}

impl Engine {
    /// Clears the context of the leaf. With `dry_run`, says what would go.
    pub fn clear(&self, session: &mut Session, dry_run: bool) -> Result<Cleared, EngineError> {
        let context = session.context(session.log().leaf())?;
        let tokens_before = tokens::count_context(session.log(), &context, &session.lines(), &*self.counter)?;
        let (mut system, mut kept, mut messages) = (Vec::new(), 0, 0);
        for item in &context.items {
            match session.system_text(*item)? {
                Some(text) => {
                    system.push(text);
                    kept += 1;
                }
                None if matches!(item, Item::CompactionSummary(_)) && session.is_clear(item.seq())? => {}
                None => messages += 1,
            }
        }
        if messages == 0 || dry_run {
            return Ok(Cleared { entry: None, messages, kept, tokens_before });
        }
        let id = new_entry_id(|id| session.log().seq_of(id).is_some());
        let mut body = Body::new(
            "compaction",
            [
                ("summary", Value::from("")),
                ("firstKeptEntryId", Value::from(id.as_str())),
                ("tokensBefore", Value::from(tokens_before)),
            ],
        );
        if !system.is_empty() {
            let content = json!([{"type": "text", "text": system.join("\n\n")}]);
            let message = json!({"role": "system", "content": content, "timestamp": self.now()});
            body = body.with("systemMessage", &message);
        }
        let draft = Draft { id: Some(id.clone()), ..Draft::new(body) };
        self.record(session, &mut Doing::one("clear", self), vec![draft])?;
        Ok(Cleared { entry: Some(id), messages, kept, tokens_before })
    }
}

impl Session {
    /// What a system message of the context says; none when an item is none.
    fn system_text(&self, item: Item) -> Result<Option<String>, EngineError> {
        let line = self.line(item.seq())?;
        let raw = Raw::parse(&line);
        let message = match item {
            Item::CompactionSystem(_) => raw.and_then(|raw| raw.field("systemMessage")).map(Raw::bytes),
            Item::Message(seq) if self.log().record(seq).is_some_and(|record| record.role == Role::System) => {
                raw.and_then(|raw| raw.field("message")).map(Raw::bytes)
            }
            _ => None,
        };
        let Some(message) = message else { return Ok(None) };
        let entry = [b"{\"type\":\"message\",\"message\":".as_slice(), message, b"}"].concat();
        Ok(Raw::parse(&entry).and_then(Message::of_entry).map(|message| message.text()))
    }

    /// Says whether a compaction says nothing.
    fn is_clear(&self, compaction: ramus_model::Seq) -> Result<bool, EngineError> {
        let line = self.line(compaction)?;
        let summary = Raw::parse(&line).and_then(|raw| raw.field("summary")).and_then(Raw::text);
        Ok(summary.is_none_or(|summary| summary.is_empty()))
    }
}
