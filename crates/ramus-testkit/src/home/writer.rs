//! The lines of a session as they are written: envelopes, their chain, and text in which the markers are remembered.

use std::fmt::Write as _;

use ramus_model::time;

use super::vocabulary::Vocabulary;
use super::{COMMON, Place, RARE};
use crate::random::Random;

/// A session that is being written.
pub(super) struct Writer<'a> {
    pub(super) words: &'a Vocabulary,
    pub(super) random: &'a mut Random,
    pub(super) out: String,
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) entries: usize,
    pub(super) messages: usize,
    pub(super) clock: i64,
    pub(super) salt: u32,
    pub(super) marks: (Vec<Place>, Vec<Place>),
}

impl Writer<'_> {
    /// A message entry; `content` writes the message without its time and closing brace.
    pub(super) fn message(&mut self, content: impl FnOnce(&mut Self)) {
        self.envelope("message");
        self.out.push_str(r#""message":"#);
        content(self);
        let clock = self.clock;
        self.push(format_args!(r#","timestamp":{clock}}}}}"#));
        self.out.push('\n');
        self.messages += 1;
    }

    /// Any other entry; `rest` is what follows the envelope, with the closing brace.
    pub(super) fn entry(&mut self, kind: &str, rest: std::fmt::Arguments<'_>) {
        self.envelope(kind);
        self.push(rest);
        self.out.push('\n');
    }

    fn envelope(&mut self, kind: &str) {
        self.clock += 500 + self.random.below(30_000) as i64;
        // An odd factor permutes the numbers: every entry of a session has another id.
        let id = (self.entries as u32 + 1).wrapping_mul(0x9e37_79b1) ^ self.salt.wrapping_mul(0x85eb_ca6b);
        let (id, time) = (format!("{id:08x}"), time::format(self.clock));
        match self.parent.replace(id) {
            Some(parent) => self.push_envelope(kind, format_args!("\"{parent}\""), &time),
            None => self.push_envelope(kind, format_args!("null"), &time),
        }
        self.entries += 1;
    }

    fn push_envelope(&mut self, kind: &str, parent: std::fmt::Arguments<'_>, time: &str) {
        let id = self.parent.clone().unwrap_or_default();
        self.push(format_args!(r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"{time}","#));
    }

    /// Text that may hold the markers; remembers when it does.
    pub(super) fn marked_text(&mut self, length: usize) {
        self.text(length);
        let place =
            |writer: &Self| Place { session: writer.id.clone(), entry: writer.parent.clone().unwrap_or_default() };
        if self.random.below(1_000) == 0 {
            self.push(format_args!(" {RARE}"));
            let place = place(self);
            self.marks.0.push(place);
        }
        if self.random.below(100) == 0 {
            self.push(format_args!(" {COMMON}"));
            let place = place(self);
            self.marks.1.push(place);
        }
    }

    /// Text for somewhere else than the end.
    pub(super) fn aside(&mut self, length: usize) -> String {
        let before = self.out.len();
        self.text(length);
        self.out.split_off(before)
    }

    /// About so many characters of words, as the inside of a JSON string.
    pub(super) fn text(&mut self, length: usize) {
        let words = self.words;
        let end = self.out.len() + length;
        loop {
            let mut bits = self.random.bits();
            for _ in 0..4 {
                self.out.push_str(words.word(bits as u16));
                if self.out.len() >= end {
                    return;
                }
                bits >>= 16;
                self.out.push_str(match bits & 31 {
                    0 => "\\n",
                    1 | 2 => ", ",
                    3 => ". ",
                    _ => " ",
                });
            }
        }
    }

    /// A length below `most`, short ones far more often.
    pub(super) fn skewed(&mut self, most: usize) -> usize {
        let fraction = self.random.below(1_000);
        most * fraction * fraction / 1_000_000
    }

    pub(super) fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.out.write_fmt(text);
    }
}
