//! `rewrite_call`: other arguments for a tool call that was already recorded, as a later version of its message.

use ramus_model::json::{Raw, Shape, quote};
use ramus_model::{Body, EntryId, Seq};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::create::new_entry_id;
use crate::verb::replace_segment::close_tail;

impl Engine {
    /// Gives the call `call` of the assistant message `entry` other arguments. The old version stays in the log.
    pub fn rewrite_call(
        &self,
        session: &mut Session,
        entry: Seq,
        call: &str,
        arguments: &Value,
    ) -> Result<(), EngineError> {
        self.rewriting(session, |engine, session| {
            let line = session.line(entry)?;
            let id = session.entry_id(entry);
            let missing = || EngineError::Invalid(format!("entry {id} makes no tool call {call:?}"));
            let raw = Raw::parse(&line).ok_or_else(missing)?;
            let message = raw.field("message").ok_or_else(missing)?;
            let changed = with_arguments(message, call, arguments).ok_or_else(missing)?;
            let again = replace_member(raw, "message", &changed);
            let body = Raw::parse(&again).and_then(Body::of_record).ok_or_else(missing)?.superseding();
            let stored = |name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
            let log = session.log();
            let parent = log.record(entry).and_then(|record| record.parent()).map(|parent| session.entry_id(parent));
            let mut bytes = close_tail(session);
            let mut doing = Doing::several("rewrite_call", engine, session);
            bytes.extend(doing.mark(body).to_line(&id, parent.as_ref(), &stored("timestamp").unwrap_or_default()));
            // The later version stands at the end of the log; the leaf stays where it is.
            let pointer = new_entry_id(|id| log.seq_of(id).is_some());
            let leaf = session.leaf();
            let target = leaf.as_ref().map(EntryId::as_str);
            let record = doing.mark(Body::ramus("leaf", json!({"target": target})));
            bytes.extend(record.to_line(&pointer, leaf.as_ref(), &engine.timestamp()));
            Ok((bytes, ()))
        })
    }
}

/// The message with the arguments of one call replaced and everything else as it was spelled.
fn with_arguments(message: Raw<'_>, call: &str, arguments: &Value) -> Option<Vec<u8>> {
    let content = message.field("content").filter(|content| content.shape() == Shape::Array)?;
    let mut found = false;
    let mut out = b"[".to_vec();
    for (at, part) in content.items().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        let text = |name| part.field(name).and_then(Raw::text);
        if !found && text("type").as_deref() == Some("toolCall") && text("id").as_deref() == Some(call) {
            found = true;
            out.extend(replace_member(part, "arguments", arguments.to_string().as_bytes()));
        } else {
            out.extend_from_slice(part.bytes());
        }
    }
    out.push(b']');
    found.then(|| replace_member(message, "content", &out))
}

/// The object with one member replaced, or added at the end.
fn replace_member(object: Raw<'_>, name: &str, value: &[u8]) -> Vec<u8> {
    let mut out = b"{".to_vec();
    let mut member = |key: &str, value: &[u8]| {
        if out.len() > 1 {
            out.push(b',');
        }
        quote(key, &mut out);
        out.push(b':');
        out.extend_from_slice(value);
    };
    let mut found = false;
    for (key, old) in object.fields() {
        let replaced = key == name;
        found |= replaced;
        member(&key, if replaced { value } else { old.bytes() });
    }
    if !found {
        member(name, value);
    }
    out.push(b'}');
    out
}
