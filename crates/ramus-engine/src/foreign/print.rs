//! What is remembered of a session so that its copies are known again: how it begins, and which session it says it continues.
//!
//! Most agents fork by copying, and say nowhere that they did. A copy has the first prompt and the first answer of its origin,
//! said at the same moments. A prompt alone proves nothing: people say the same thing twice.

use std::borrow::Cow;

use ramus_model::json::Raw;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// A session that was asked more than this and never answered is nobody's origin.
const MOST_PROMPTS: usize = 32;
/// Shorter ids of calls, and signatures of thoughts, may be counted up instead of drawn.
const SHORTEST_MARK: usize = 12;

/// What is remembered of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Print {
    /// A digest of everything up to the first answer. Sessions that have the same one begin as copies of one another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begins: Option<String>,
    /// The session that it says it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) forked_from: Option<String>,
    /// Whether that session was there, and compared with it.
    #[serde(default)]
    pub(crate) followed: bool,
    /// Whether it was compared with the others that begin so.
    #[serde(default)]
    pub(crate) compared: bool,
}

impl Print {
    /// Says whether anything is known at all.
    pub(crate) fn is_blank(&self) -> bool {
        self.begins.is_none() && self.forked_from.is_none()
    }

    /// Says whether it is about the same beginning as another.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        (&self.begins, &self.forked_from) == (&other.begins, &other.forked_from)
    }
}

/// A print in the making, while the session is read.
#[derive(Default)]
pub(super) struct Printing {
    hash: Option<Sha256>,
    dates: Dates,
    prompts: usize,
    print: Print,
}

impl Printing {
    /// Starts with a session.
    pub(super) fn of(agent: &str, forked_from: Option<String>) -> Self {
        let mut hash = Sha256::new();
        hash.update(agent.as_bytes());
        hash.update([0]);
        let print = Print { forked_from, ..Print::default() };
        Self { hash: Some(hash), dates: Dates::of(agent), prompts: 0, print }
    }

    /// Takes the next entry.
    pub(super) fn take(&mut self, line: &[u8]) {
        let Some(hash) = &mut self.hash else { return };
        let Some(said) = Said::read(line) else { return };
        hash.update((said.role.len() as u64).to_be_bytes());
        hash.update(said.role.as_bytes());
        hash.update((said.content.len() as u64).to_be_bytes());
        hash.update(said.content);
        if self.dates == Dates::Kept {
            hash.update(said.time.as_bytes());
        }
        self.prompts += 1;
        let is_answer = said.is_answer();
        if is_answer || self.prompts >= MOST_PROMPTS {
            let hash = self.hash.take();
            let proves = is_answer && (self.dates == Dates::Kept || said.is_marked());
            self.print.begins = hash.filter(|_| proves).map(|hash| {
                let mut digest = hex::encode(hash.finalize());
                digest.truncate(24);
                digest
            });
        }
    }

    /// Ends with the session.
    pub(super) fn finish(self) -> Print {
        self.print
    }
}

/// What copying does to the moments at which messages were said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dates {
    /// They are copied too.
    #[default]
    Kept,
    /// The copy has those of copying.
    Renewed,
}

impl Dates {
    pub(super) fn of(agent: &str) -> Self {
        if agent == ramus_interchange::Format::Codex.name() { Self::Renewed } else { Self::Kept }
    }
}

/// A message, as far as it tells copies from others.
pub(super) struct Said<'l> {
    pub(super) role: Cow<'l, str>,
    /// When, as written.
    pub(super) time: Cow<'l, str>,
    /// What, as it is spelled.
    pub(super) content: &'l [u8],
    parts: Option<Raw<'l>>,
}

impl<'l> Said<'l> {
    /// Reads an entry; none when it is no message. A later version of one that came before says nothing new.
    pub(super) fn read(line: &'l [u8]) -> Option<Self> {
        // Most lines say first what they are, and those that only keep records are long.
        if line.strip_prefix(b"{\"type\":\"").is_some_and(|rest| !rest.starts_with(b"message\"")) {
            return None;
        }
        let entry = Raw::parse(line)?.object()?;
        if entry.text("type")? != "message" || entry.field("ramusSupersedes").is_some() {
            return None;
        }
        Self::of_message(entry.field("message")?, entry.text("timestamp").unwrap_or_default())
    }

    /// Reads the newest version of an entry, whether it is the first or not.
    pub(super) fn latest(line: &'l [u8]) -> Option<Self> {
        let entry = Raw::parse(line)?.object()?;
        Self::of_message(entry.field("message")?, entry.text("timestamp").unwrap_or_default())
    }

    fn of_message(message: Raw<'l>, time: Cow<'l, str>) -> Option<Self> {
        let message = message.object()?;
        let parts = message.field("content");
        let content = parts.map(Raw::bytes).unwrap_or_default();
        Some(Self { role: message.text("role")?, time, content, parts })
    }

    pub(super) fn is_answer(&self) -> bool {
        self.role == "assistant"
    }

    /// Says whether it bears something that a provider drew for it alone.
    fn is_marked(&self) -> bool {
        self.parts.into_iter().flat_map(Raw::items).any(|part| {
            let marks = ["id", "thinkingSignature"].iter().filter_map(|name| part.field(name)?.text());
            marks.into_iter().any(|mark| mark.len() >= SHORTEST_MARK)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(agent: &str, lines: &[&str]) -> Option<String> {
        let mut printing = Printing::of(agent, None);
        lines.iter().for_each(|line| printing.take(line.as_bytes()));
        printing.finish().begins
    }

    fn said(role: &str, text: &str, second: u8) -> String {
        format!(
            r#"{{"type":"message","id":"x","parentId":null,"timestamp":"2026-11-01T10:00:{second:02}.000Z","message":{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}"#
        )
    }

    #[test]
    fn a_prompt_alone_proves_nothing() {
        let prompt = said("user", "hi", 1);
        assert_eq!(print("claude", &[&prompt]), None);
        assert_eq!(print("claude", &[&*prompt; 100]), None);
        assert!(print("claude", &[&prompt, &said("assistant", "hello", 2)]).is_some());
    }

    #[test]
    fn the_same_words_at_another_time_are_another_session() {
        let [first, second] = [2, 3].map(|second| said("assistant", "hello", second));
        let prompt = said("user", "hi", 1);
        assert_eq!(print("claude", &[&prompt, &first]), print("claude", &[&prompt, &first, &second]));
        assert_ne!(print("claude", &[&prompt, &first]), print("claude", &[&prompt, &second]));
        assert_ne!(print("claude", &[&prompt, &first]), print("pi", &[&prompt, &first]));
    }

    #[test]
    fn where_copying_renews_times_only_what_a_provider_drew_proves_anything() {
        let call = |second: u8, id: &str| {
            said("assistant", "x", second)
                .replace(r#"{"type":"text","text":"x"}"#, &format!(r#"{{"type":"toolCall","id":"{id}","name":"t"}}"#))
        };
        let begins = |answer: &str| print("codex", &[&said("user", "hi", 1), answer]);
        assert_eq!(begins(&said("assistant", "hello", 2)), None);
        assert_eq!(begins(&call(2, "call_1")), None);
        assert!(begins(&call(2, "call_9f2c41aa77")).is_some());
        assert_eq!(begins(&call(2, "call_9f2c41aa77")), begins(&call(30, "call_9f2c41aa77")));
    }
}
