//! A document: what a search sees of one entry.
//!
//! Its text is in pieces, and no phrase goes from one piece into the next. The streams of an index are made here, so that
//! they hold exactly what [`super::Matcher`] looks at.

use std::ops::Range;

use super::facets::{Facets, Speaker};
use super::words::{BREAK, Splitter};
use super::{extract, paths};
use crate::json::Object;

/// What a search sees of one entry. Whoever reads many keeps one and its memory.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Who speaks, and the like.
    pub facets: Facets,
    /// When it was written, in milliseconds since 1970.
    pub millis: Option<i64>,
    text: String,
    pieces: Vec<Range<usize>>,
    paths: Vec<String>,
}

impl Document {
    /// Reads the stored line of an entry. Says whether it is one that has text.
    pub fn read(&mut self, line: &[u8]) -> bool {
        self.clear();
        Object::parse(line).is_some_and(|entry| extract::entry(&entry, self)) && !self.text.is_empty()
    }

    /// Makes the document of a title.
    pub fn read_title(&mut self, title: &str, millis: Option<i64>) {
        self.clear();
        self.facets.speaker = Speaker::Title;
        self.millis = millis;
        self.add(title);
    }

    /// Returns the text, one line between two pieces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Iterates over the pieces and where each starts in the text.
    pub(super) fn pieces(&self) -> impl Iterator<Item = (usize, &str)> {
        self.pieces.iter().filter_map(|piece| Some((piece.start, self.text.get(piece.clone())?)))
    }

    /// Returns the files that are named.
    pub fn paths(&self) -> &[String] {
        &self.paths
    }

    fn clear(&mut self) {
        self.facets.clear();
        self.millis = None;
        self.text.clear();
        self.pieces.clear();
        self.paths.clear();
    }

    pub(super) fn add(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let start = self.text.len();
        self.text.push_str(piece);
        self.pieces.push(start..self.text.len());
    }

    pub(super) fn add_paths(&mut self, key: &str, value: &str) {
        paths::find(key, value, &mut self.paths);
    }

    pub(super) fn add_command(&mut self, command: &str) {
        paths::in_command(command, &mut self.paths);
    }

    /// Replaces `streams` by what an index stores of this document.
    pub fn index(&self, splitter: &mut Splitter, streams: &mut Streams) {
        streams.clear();
        for (_, piece) in self.pieces() {
            streams.part();
            splitter.split(piece, |word| {
                push(&mut streams.words, word.text);
                let before = streams.parts.len();
                word.parts().for_each(|part| push(&mut streams.parts, part));
                if streams.parts.len() > before {
                    push(&mut streams.parts, BREAK);
                }
            });
        }
        for path in &self.paths {
            splitter.split(path, |word| push(&mut streams.paths, word.text));
            push(&mut streams.paths, BREAK);
        }
    }
}

/// The words of a document as an index stores them, parted by spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Streams {
    /// All words.
    pub words: String,
    /// The parts of words with changes of case.
    pub parts: String,
    /// The words of the files that are named.
    pub paths: String,
}

impl Streams {
    fn clear(&mut self) {
        self.words.clear();
        self.parts.clear();
        self.paths.clear();
    }

    fn part(&mut self) {
        if !self.words.is_empty() {
            push(&mut self.words, BREAK);
        }
    }
}

fn push(stream: &mut String, word: &str) {
    stream.push_str(word);
    stream.push(' ');
}
