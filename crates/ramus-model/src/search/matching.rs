//! Matching: whether a document answers a query, how often it has the words, and where.

use std::ops::Range;

use super::document::Document;
use super::operator::Test;
use super::query::{Phrase, Query, Term};
use super::words::Splitter;

/// Judges documents. Whoever judges many keeps one and its memory.
#[derive(Clone, Debug)]
pub struct Matcher {
    terms: Vec<Term>,
    patterns: Vec<Pattern>,
    splitter: Splitter,
    tally: Tally,
}

/// How often a document has what a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// For each way a phrase may stand in a text, how often it does.
    pub counts: Vec<u32>,
    /// How many words an index has of the document.
    pub length: u32,
}

/// One way a phrase may stand in a text, and how far it was seen to.
#[derive(Clone, Debug)]
struct Pattern {
    term: usize,
    words: Vec<String>,
    prefix: bool,
    of_paths: bool,
    /// How many words were seen, and where the first of them starts.
    begun: Vec<(usize, usize)>,
}

impl Pattern {
    /// Takes the next word of a stream; says where an occurrence that it completes starts.
    fn step(&mut self, word: &str, at: &Range<usize>) -> Option<usize> {
        if let ([only], true) = (self.words.as_slice(), self.begun.is_empty()) {
            return matches(only, word, self.prefix).then_some(at.start);
        }
        let last = self.words.len().saturating_sub(1);
        let mut complete = None;
        let (words, prefix) = (&self.words, self.prefix);
        self.begun.push((0, at.start));
        self.begun.retain_mut(|(seen, start)| {
            let fits = words.get(*seen).is_some_and(|wanted| matches(wanted, word, prefix && *seen == last));
            if fits && *seen == last {
                complete = complete.or(Some(*start));
            }
            *seen += 1;
            fits && *seen <= last
        });
        complete
    }
}

fn matches(wanted: &str, word: &str, prefix: bool) -> bool {
    if prefix { word.starts_with(wanted) } else { word == wanted }
}

impl Matcher {
    /// Makes the matcher of a query.
    pub fn new(query: &Query) -> Self {
        let mut patterns = Vec::new();
        for (term, Term { test, .. }) in query.terms().iter().enumerate() {
            let (phrase, of_paths): (&Phrase, bool) = match test {
                Test::Words(phrase) => (phrase, false),
                Test::File(phrase) => (phrase, true),
                _ => continue,
            };
            for words in phrase.ways().take(if of_paths { 1 } else { usize::MAX }) {
                let (words, prefix) = (words.to_vec(), phrase.is_prefix());
                patterns.push(Pattern { term, words, prefix, of_paths, begun: Vec::new() });
            }
        }
        let tally = Tally { counts: vec![0; patterns.len()], length: 0 };
        Self { terms: query.terms().to_vec(), patterns, splitter: Splitter::default(), tally }
    }

    /// Says for each way a phrase may stand in a text whether it adds to the score: those that must not occur do not.
    pub fn scored(&self) -> impl Iterator<Item = bool> {
        self.patterns.iter().map(|pattern| self.terms.get(pattern.term).is_some_and(|term| !term.negated))
    }

    /// Counts what a document has, and says whether it answers the query as far as that is about entries.
    pub fn judge(&mut self, document: &Document) -> (bool, &Tally) {
        self.look(document, &mut |_, _| ());
        (self.holds(document), &self.tally)
    }

    /// Hands out where the document has what must occur: the term and the place in its text.
    pub(super) fn find(&mut self, document: &Document, take: &mut dyn FnMut(usize, Range<usize>)) {
        let wanted: Vec<bool> = self.terms.iter().map(|term| !term.negated).collect();
        self.look(document, &mut |term, at| {
            if wanted.get(term) == Some(&true) {
                take(term, at);
            }
        });
    }

    fn look(&mut self, document: &Document, found: &mut dyn FnMut(usize, Range<usize>)) {
        self.tally.counts.fill(0);
        self.tally.length = 0;
        let Self { patterns, splitter, tally, .. } = self;
        for (number, (offset, piece)) in document.pieces().enumerate() {
            tally.length += u32::from(number > 0);
            forget(patterns);
            splitter.split(piece, |word| {
                let at = offset + word.at.start..offset + word.at.end;
                tally.length += 1;
                step(patterns, tally, false, word.text, &at, found);
                let mut parts = word.parts().peekable();
                if parts.peek().is_some() {
                    in_parts(patterns, tally, parts, &at, found);
                }
            });
        }
        for path in document.paths() {
            forget(patterns);
            splitter.split(path, |word| {
                tally.length += 1;
                step(patterns, tally, true, word.text, &(0..0), &mut |_, _| ());
            });
            tally.length += 1;
        }
    }

    fn holds(&self, document: &Document) -> bool {
        self.terms.iter().enumerate().all(|(at, term)| {
            let holds = match &term.test {
                Test::Words(_) | Test::File(_) => self.occurs(at),
                // What is about sessions was asked before.
                other => other.of_document(document).unwrap_or(!term.negated),
            };
            holds != term.negated
        })
    }

    fn occurs(&self, term: usize) -> bool {
        self.patterns.iter().zip(&self.tally.counts).any(|(pattern, count)| pattern.term == term && *count > 0)
    }
}

/// The parts of a word are a text of their own beside the one the word stands in.
fn in_parts<'w>(
    patterns: &mut [Pattern],
    tally: &mut Tally,
    parts: impl Iterator<Item = &'w str>,
    at: &Range<usize>,
    found: &mut dyn FnMut(usize, Range<usize>),
) {
    let begun: Vec<_> = patterns.iter_mut().map(|pattern| std::mem::take(&mut pattern.begun)).collect();
    for part in parts {
        tally.length += 1;
        step(patterns, tally, false, part, at, found);
    }
    tally.length += 1;
    for (pattern, begun) in patterns.iter_mut().zip(begun) {
        pattern.begun = begun;
    }
}

fn step(
    patterns: &mut [Pattern],
    tally: &mut Tally,
    of_paths: bool,
    word: &str,
    at: &Range<usize>,
    found: &mut dyn FnMut(usize, Range<usize>),
) {
    for (pattern, count) in
        patterns.iter_mut().zip(&mut tally.counts).filter(|(pattern, _)| pattern.of_paths == of_paths)
    {
        if let Some(start) = pattern.step(word, at) {
            *count += 1;
            found(pattern.term, start..at.end);
        }
    }
}

fn forget(patterns: &mut [Pattern]) {
    patterns.iter_mut().for_each(|pattern| pattern.begun.clear());
}
