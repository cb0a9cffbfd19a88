//! The version 3 dialect: the messages that `buildSessionContext` of the real programs yields, from the stored bytes.

use super::{Context, Item, body};
use crate::json::{Lexer, Object, Raw, Shape, quote};
use crate::log::{Lines, Log};
use crate::time;

/// Writes the messages of a context as a JSON array, stored messages byte for byte.
pub fn messages<L: Lines + ?Sized>(log: &Log, context: &Context, lines: &L, out: &mut Vec<u8>) -> Result<(), L::Error> {
    out.push(b'[');
    for (at, item) in context.items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        message(log, *item, lines, out)?;
    }
    out.push(b']');
    Ok(())
}

/// Writes one message of a context.
pub fn message<L: Lines + ?Sized>(log: &Log, item: Item, lines: &L, out: &mut Vec<u8>) -> Result<(), L::Error> {
    let line = body(log, item.seq(), lines)?;
    let Some(entry) = Object::parse(&line) else {
        out.extend_from_slice(b"{\"role\":\"damaged\",\"content\":[]}");
        return Ok(());
    };
    match item {
        Item::Message(_) => stored(entry.field("message"), None, out),
        Item::Edited { edit, .. } => {
            let edit = body(log, edit, lines)?;
            let content = Raw::parse(&edit).and_then(|raw| raw.field("replacement")?.field("content"));
            stored(entry.field("message"), content, out);
        }
        Item::CompactionSystem(_) => stored(entry.field("systemMessage"), None, out),
        Item::CustomMessage(_) => {
            let mut object = Rendering::open("custom", out);
            object.copy(&entry, "customType");
            match entry.field("content").filter(|content| !content.is_null()) {
                Some(content) => object.raw("content", content.bytes()),
                None => object.raw("content", b"[]"),
            }
            object.copy(&entry, "display");
            object.copy(&entry, "details");
            object.copy(&entry, "attribution");
            object.close(&entry);
        }
        Item::BranchSummary(_) => {
            let mut object = Rendering::open("branchSummary", out);
            object.copy(&entry, "summary");
            object.copy(&entry, "fromId");
            object.close(&entry);
        }
        Item::CompactionSummary(_) => {
            let mut object = Rendering::open("compactionSummary", out);
            object.copy(&entry, "summary");
            object.copy(&entry, "shortSummary");
            object.copy(&entry, "tokensBefore");
            if let Some((provider, items)) = entry.field("preserveData").and_then(remote_history) {
                let mut payload = b"{\"type\":\"openaiResponsesHistory\",\"provider\":".to_vec();
                payload.extend_from_slice(provider.bytes());
                payload.extend_from_slice(b",\"items\":");
                payload.extend_from_slice(items.bytes());
                payload.push(b'}');
                object.raw("providerPayload", &payload);
            }
            object.close(&entry);
        }
    }
    Ok(())
}

/// The history that a provider keeps on its side, which stands for the kept entries too.
pub(super) fn remote_history(preserved: Raw<'_>) -> Option<(Raw<'_>, Raw<'_>)> {
    let remote = preserved.field("openaiRemoteCompaction")?;
    let provider = remote.field("provider").filter(|raw| raw.text().is_some_and(|text| !text.is_empty()))?;
    let items = remote.field("replacementHistory").filter(|raw| raw.shape() == Shape::Array)?;
    Some((provider, items))
}

/// Copies a stored message. Two things read differently from what they are: the role of version 2 hooks, and content
/// that is null or missing, which is empty. `content` replaces the stored one when an edit gives another.
fn stored(message: Option<Raw<'_>>, content: Option<Raw<'_>>, out: &mut Vec<u8>) {
    let Some(message) = message.filter(|raw| raw.shape() == Shape::Object) else {
        out.extend_from_slice(b"{\"role\":\"damaged\",\"content\":[]}");
        return;
    };
    if content.is_none() && reads_as_stored(message) == Some(true) {
        out.extend_from_slice(message.bytes());
        return;
    }
    let role = message.field("role").and_then(Raw::text).unwrap_or_default();
    let stored_content = message.field("content");
    let speaks = matches!(&*role, "user" | "assistant" | "toolResult" | "system");
    let is_empty = speaks && stored_content.is_none_or(Raw::is_null);
    if role != "hookMessage" && content.is_none() && !is_empty {
        out.extend_from_slice(message.bytes());
        return;
    }
    let role = if role == "hookMessage" { "custom" } else { &*role };
    let mut object = Rendering::open(role, out);
    for (name, value) in message.fields().filter(|(name, _)| name != "role" && name != "content") {
        object.raw(&name, value.bytes());
    }
    match content.or(stored_content.filter(|_| !is_empty)) {
        Some(content) => object.raw("content", content.bytes()),
        None if is_empty => object.raw("content", b"[]"),
        None => {}
    }
    object.out.push(b'}');
}

/// Sees from its first members that a message needs no change: a role that is spelled as it reads, and content that is
/// there. Nearly every message shows this before its content starts, so nothing long is looked at.
fn reads_as_stored(message: Raw<'_>) -> Option<bool> {
    let mut lexer = Lexer::new(message.bytes(), 0);
    lexer.eat(b'{').then_some(())?;
    (lexer.key()? == b"\"role\"").then_some(())?;
    let role = lexer.string()?;
    lexer.eat(b',').then_some(())?;
    (lexer.key()? == b"\"content\"").then_some(())?;
    let has_content = lexer.peek()? != b'n';
    Some(has_content && role != b"\"hookMessage\"" && !role.contains(&b'\\'))
}

/// An object being written; the role comes first.
struct Rendering<'o> {
    out: &'o mut Vec<u8>,
}

impl<'o> Rendering<'o> {
    fn open(role: &str, out: &'o mut Vec<u8>) -> Self {
        out.extend_from_slice(b"{\"role\":");
        quote(role, out);
        Self { out }
    }

    fn raw(&mut self, name: &str, value: &[u8]) {
        self.out.push(b',');
        quote(name, self.out);
        self.out.push(b':');
        self.out.extend_from_slice(value);
    }

    fn copy(&mut self, entry: &Object<'_>, name: &str) {
        if let Some(value) = entry.field(name) {
            self.raw(name, value.bytes());
        }
    }

    /// Ends the object with the entry's time in milliseconds.
    fn close(mut self, entry: &Object<'_>) {
        let millis = entry.field("timestamp").and_then(Raw::text).and_then(|text| time::parse(&text));
        let millis = millis.map_or_else(|| "null".to_owned(), |millis| millis.to_string());
        self.raw("timestamp", millis.as_bytes());
        self.out.push(b'}');
    }
}
