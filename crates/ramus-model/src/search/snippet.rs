//! Snippets: the part of a text that shows why it was found.

use std::ops::Range;

use super::document::Document;
use super::matching::Matcher;

/// A part of a text, cut into what was looked for and what is around it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The pieces, in order.
    pub segments: Vec<Segment>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The text: white space is single spaces, control characters may be in it.
    pub text: String,
    /// Whether it is what was looked for.
    pub is_match: bool,
}

impl Snippet {
    /// Cuts about `budget` characters out of a document, where most of what was looked for stands together.
    pub fn of(document: &Document, matcher: &mut Matcher, budget: usize) -> Self {
        let mut found: Vec<(usize, Range<usize>)> = Vec::new();
        matcher.find(document, &mut |term, at| {
            if found.len() < MOST {
                found.push((term, at));
            }
        });
        found.sort_by_key(|(_, at)| (at.start, at.end));
        let text = document.text();
        let window = window(text, &found, budget);
        let mut marks: Vec<Range<usize>> = Vec::new();
        for (_, at) in found.iter().filter(|(_, at)| at.start >= window.start && at.start < window.end) {
            let end = at.end.min(window.end);
            match marks.last_mut() {
                Some(last) if at.start < last.end => last.end = last.end.max(end),
                _ => marks.push(at.start..end),
            }
        }
        let mut out = Writer::default();
        if window.start > 0 {
            out.ellipsis();
        }
        let mut position = window.start;
        for mark in marks {
            out.push(text.get(position..mark.start).unwrap_or_default(), false);
            out.push(text.get(mark.clone()).unwrap_or_default(), true);
            position = mark.end;
        }
        out.push(text.get(position..window.end).unwrap_or_default(), false);
        if window.end < text.len() {
            out.ellipsis();
        }
        Self { segments: out.segments }
    }

    /// Returns the text without marks.
    pub fn text(&self) -> String {
        self.segments.iter().map(|segment| segment.text.as_str()).collect()
    }
}

/// How many occurrences are looked at.
const MOST: usize = 4096;

/// Chooses what to show: from shortly before the first of the occurrences that stand together.
fn window(text: &str, found: &[(usize, Range<usize>)], budget: usize) -> Range<usize> {
    let mut best = (0, 0);
    for (at, (_, first)) in found.iter().enumerate() {
        let near = found.iter().skip(at).take(64).take_while(|(_, other)| other.end <= first.start + budget);
        let mut terms: Vec<usize> = near.map(|(term, _)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        if terms.len() > best.0 {
            best = (terms.len(), first.start);
        }
    }
    // A text that ends soon is shown from further in front.
    let last = back(text, text.len(), budget);
    let wanted = back(text, best.1, budget / 4).min(last);
    let start = if wanted == 0 { 0 } else { word_start(text, wanted, best.1) };
    start..forward(text, start, budget)
}

/// The place `count` characters before `at`.
fn back(text: &str, at: usize, count: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.char_indices().rev().take(count).last().map_or(at, |(start, _)| start)
}

/// The place `count` characters behind `at`.
fn forward(text: &str, at: usize, count: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.char_indices().nth(count).map_or(text.len(), |(end, _)| at + end)
}

/// The first start of a word at or behind `from`, but not behind `limit`.
fn word_start(text: &str, from: usize, limit: usize) -> usize {
    let between = text.get(from..limit).unwrap_or_default();
    match between.char_indices().find(|(_, c)| c.is_whitespace()) {
        Some((space, c)) => from + space + c.len_utf8(),
        None => from,
    }
}

#[derive(Default)]
struct Writer {
    segments: Vec<Segment>,
    space: bool,
}

impl Writer {
    fn push(&mut self, text: &str, is_match: bool) {
        let mut piece = String::with_capacity(text.len());
        for c in text.chars() {
            if c.is_whitespace() {
                self.space = true;
                continue;
            }
            if std::mem::take(&mut self.space) && !(piece.is_empty() && self.segments.is_empty()) {
                // A space in front of what was looked for belongs to what is around it.
                if piece.is_empty() && is_match { self.add(" ".to_owned(), false) } else { piece.push(' ') }
            }
            piece.push(c);
        }
        self.add(piece, is_match);
    }

    fn ellipsis(&mut self) {
        self.space = false;
        self.add("…".to_owned(), false);
    }

    fn add(&mut self, text: String, is_match: bool) {
        if text.is_empty() {
            return;
        }
        match self.segments.last_mut().filter(|last| last.is_match == is_match && !is_match) {
            Some(last) => last.text.push_str(&text),
            None => self.segments.push(Segment { text, is_match }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Query, Reading};

    fn snippet(text: &str, query: &str, budget: usize) -> String {
        let mut document = Document::default();
        document.read_title(text, None);
        let query = Query::parse(query, Reading::default()).unwrap();
        let snippet = Snippet::of(&document, &mut Matcher::new(&query), budget);
        snippet.segments.iter().map(|s| if s.is_match { format!("[{}]", s.text) } else { s.text.clone() }).collect()
    }

    #[test]
    fn what_was_looked_for_is_shown_and_marked() {
        assert_eq!(snippet("one\n\ttwo   three", "two", 100), "one [two] three");
        assert_eq!(snippet("The Borrow Checker says", "\"borrow checker\"", 100), "The [Borrow Checker] says");
        assert_eq!(snippet("new HTTPServer()", "server", 100), "new [HTTPServer]()");
        assert_eq!(snippet("東京へ行く", "京へ", 100), "東[京へ]行く");
        assert_eq!(snippet("no words here", "role:title", 100), "no words here");
        let long = format!("{} needle {}", "hay ".repeat(100), "stack ".repeat(100));
        assert_eq!(snippet(&long, "needle", 40), "…hay hay [needle] stack stack stack stack…");
        assert_eq!(snippet("a text that ends with a needle", "needle", 40), "a text that ends with a [needle]");
    }

    #[test]
    fn the_best_place_is_where_most_of_it_stands() {
        let text = format!("alpha {} alpha beta", "filler ".repeat(50));
        assert!(snippet(&text, "alpha beta", 60).ends_with("[alpha] [beta]"));
    }
}
