//! Lines as they are compared with those that are here: a later version of an entry counts as the line it would have been, and
//! when it is said to have happened does not count: where an agent notes no times, that is when its file was last saved.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use memchr::memmem;
use ramus_interchange::MEMBER;
use ramus_model::json::Raw;
use serde_json::{Map, Value};

/// What marks a later version, as it is spelled at the front of a body.
const LATER: &[u8] = b"\"ramusSupersedes\":true,";
/// How the type of what stands where something was erased begins.
const PURGED: &[u8] = b"\"customType\":\"ramus.purged";

/// Says whether a line is a later version of an entry that came before.
pub(super) fn is_later(line: &[u8]) -> bool {
    memmem::find(line, LATER).is_some()
        && Raw::parse(line).and_then(|raw| raw.field("ramusSupersedes")?.flag()) == Some(true)
}

/// The line as a later version of the entry that has its id. Nothing else of it changes, so that it is known again.
pub(super) fn later(line: &[u8]) -> Option<Vec<u8>> {
    Some([b"{", LATER, line.strip_prefix(b"{")?].concat())
}

/// The line without what makes it a later version.
fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    match memmem::find(line, LATER).filter(|_| is_later(line)).and_then(|at| line.split_at_checked(at)) {
        Some((front, back)) => [front, back.get(LATER.len()..).unwrap_or_default()].concat().into(),
        None => line.into(),
    }
}

/// Says whether two versions of an entry say the same, however their records are spelled: an agent may keep a session in more
/// than one form.
pub(super) fn says_same(one: &[u8], other: &[u8]) -> bool {
    let said = |line: &[u8]| {
        let mut entry: Map<String, Value> = serde_json::from_slice(line).ok()?;
        for name in [MEMBER, "ramusSupersedes", "timestamp"] {
            entry.remove(name);
        }
        // What an answer cost, and what tools tell beside their output, is no part of what was said.
        if let Some(Value::Object(message)) = entry.get_mut("message") {
            message.retain(|name, _| matches!(&**name, "role" | "content"));
        }
        Some(entry)
    };
    matches!((said(one), said(other)), (Some(one), Some(other)) if one == other)
}

/// Says whether one of two versions of a message only says more than the other, as one does that was being written.
pub(super) fn says_more(one: &[u8], other: &[u8]) -> bool {
    let said = |line: &[u8]| {
        let mut entry: Value = serde_json::from_slice(line).ok()?;
        let message = entry.get_mut("message")?;
        let content = match message.get_mut("content").map(Value::take)? {
            Value::Array(parts) => parts,
            text => vec![text],
        };
        Some((message.get("role").cloned(), content))
    };
    let (Some((role, short)), Some((other_role, long))) = (said(one), said(other)) else { return false };
    let (short, long) = if short.len() <= long.len() { (short, long) } else { (long, short) };
    let last = short.len().saturating_sub(1);
    let is_same = |(at, (one, other)): (usize, (&Value, &Value))| one == other || at == last && goes_on(one, other);
    role == other_role && short.iter().zip(&long).enumerate().all(is_same)
}

/// Says whether one of two parts is the beginning of the other, or a call whose arguments came later.
fn goes_on(one: &Value, other: &Value) -> bool {
    let text =
        |part: &Value| part.as_str().or_else(|| part.get("text").or(part.get("thinking"))?.as_str()).map(str::to_owned);
    let call = |part: &Value| (part.get("type")? == "toolCall").then(|| part.get("id").cloned());
    match (text(one), text(other)) {
        (Some(one), Some(other)) => one.starts_with(&other) || other.starts_with(&one),
        _ => call(one).is_some() && call(one) == call(other),
    }
}

/// A line around the time of its entry; the whole line where codecs do not put one.
fn around_time(line: &[u8]) -> (&[u8], &[u8]) {
    const TIME: &[u8] = b",\"timestamp\":\"";
    // Codecs spell type, id, parent and time first, and no id has quotes in it.
    const ENVELOPE: usize = 512;
    let front = line.get(..ENVELOPE).unwrap_or(line);
    let at = memmem::find(front, TIME).filter(|at| {
        let before = front.get(..*at).unwrap_or_default();
        before.starts_with(b"{\"type\":\"") && memmem::find(before, b"\"parentId\":").is_some()
    });
    let Some((front, back)) = at.and_then(|at| line.split_at_checked(at + TIME.len())) else { return (line, &[]) };
    let end = memchr::memchr(b'"', back).unwrap_or(back.len());
    (front, back.get(end..).unwrap_or_default())
}

/// The entry that was erased, when a line is what stands in its place.
fn erased(line: &[u8]) -> Option<String> {
    // So they are spelled here, whatever else a line with the same words may be.
    let front = line.get(..512).unwrap_or(line);
    let is_mark = front.starts_with(b"{\"type\":\"custom\",\"id\":") && memmem::find(front, PURGED).is_some();
    let raw = Raw::parse(line).filter(|_| is_mark)?;
    raw.field("customType")?.text().filter(|kind| matches!(&**kind, "ramus.purged" | "ramus.purged-entry"))?;
    Some(raw.field("id")?.text()?.into_owned())
}

/// Which lines a log holds. A later version counts as the line it would have been.
#[derive(Default)]
pub(super) struct Lines {
    seen: HashSet<u128>,
    /// Entries that somebody erased for good.
    erased: HashSet<String>,
    hashers: (RandomState, RandomState),
    rest: Vec<u8>,
}

impl Lines {
    pub(super) fn take(&mut self, mut chunk: &[u8]) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            if self.rest.is_empty() {
                self.add(line);
            } else {
                let mut whole = std::mem::take(&mut self.rest);
                whole.extend_from_slice(line);
                self.add(&whole);
            }
            chunk = rest.get(1..).unwrap_or_default();
        }
        self.rest.extend_from_slice(chunk);
    }

    pub(super) fn add(&mut self, line: &[u8]) {
        let name = self.name(line);
        self.seen.insert(name);
        self.erased.extend(erased(line));
    }

    /// Says whether an entry was here and somebody erased it.
    pub(super) fn is_erased(&self, id: &str) -> bool {
        self.erased.contains(id)
    }

    pub(super) fn has(&self, line: &[u8]) -> bool {
        self.seen.contains(&self.name(line))
    }

    fn name(&self, line: &[u8]) -> u128 {
        let line = plain(line);
        let line = around_time(&line);
        let (first, second) = &self.hashers;
        u128::from(first.hash_one(line)) << 64 | u128::from(second.hash_one(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_counts_and_how_its_record_is_spelled_does_not() {
        let line = |text: &str, record: &str| {
            format!(
                r#"{{"type":"message","id":"x","parentId":null,"timestamp":"2026","message":{{"role":"user","content":[{{"text":{text},"type":"text"}}]}},"ramusOrigin":{{"agent":"opencode","records":[{record}]}}}}"#
            )
        };
        let one = line(r#""a""#, "{\"line\":1}");
        assert!(says_same(one.as_bytes(), line(" \"\\u0061\"", "").as_bytes()));
        assert!(!says_same(one.as_bytes(), line(r#""b""#, "{\"line\":1}").as_bytes()));
        assert!(!says_same(b"no JSON", b"no JSON"));
    }

    #[test]
    fn a_message_that_was_being_written_says_more_and_another_one_something_else() {
        let line =
            |content: &str| format!(r#"{{"type":"message","message":{{"role":"assistant","content":{content}}}}}"#);
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let more = |one: &str, other: &str| says_more(line(one).as_bytes(), line(other).as_bytes());
        let (short, long) = (text("I am"), text("I am here."));
        assert!(more(&format!("[{short}]"), &format!("[{long}]")) && more("[]", &format!("[{long}]")));
        assert!(more(&format!("[{long},{short}]"), &format!("[{long}]")));
        assert!(more(r#""I""#, r#""I am""#));
        assert!(!more(&format!("[{short}]"), &format!("[{}]", text("You are"))));
        assert!(!more(&format!("[{short},{short}]"), &format!("[{long},{short}]")));
        assert!(!says_more(b"no JSON", b"no JSON"));
    }

    #[test]
    fn only_the_time_of_an_entry_does_not_count() {
        let line = |time: &str, text: &str| {
            format!(
                r#"{{"type":"message","id":"x","parentId":null,"timestamp":"{time}","message":{{"timestamp":"{text}"}}}}"#
            )
        };
        let mut lines = Lines::default();
        lines.add(line("2026", "a").as_bytes());
        assert!(lines.has(line("2027", "a").as_bytes()));
        assert!(!lines.has(line("2026", "b").as_bytes()));
        assert!(lines.has(&later(line("2028", "a").as_bytes()).unwrap()));
        let other = |time: &str| format!(r#"{{"type":"message","message":{{"a":1,"timestamp":"{time}"}}}}"#);
        lines.add(other("2026").as_bytes());
        assert!(!lines.has(other("2027").as_bytes()));
    }
}
