//! A quick look at a stored line, before it is taken apart: whether it can have the words of a query at all.
//!
//! Words are found in a line as they are spelled, whatever their case, unless the line has escapes or letters that fold, or
//! the rest of a long text is kept elsewhere: such a line may have anything.

use super::operator::Test;
use super::query::Query;

/// Says which lines cannot answer a query.
#[derive(Clone, Debug)]
pub struct Prefilter {
    needles: Vec<Needle>,
    /// Whether a word must occur that no line of plain ASCII has.
    wide: bool,
}

/// A word that must occur, in small letters.
#[derive(Clone, Debug)]
struct Needle {
    word: Vec<u8>,
    /// Its rarest letter in both cases, and where it stands.
    rare: (u8, u8, usize),
}

/// From the most to the least usual in prose and code.
const USUAL: &[u8] = b"etaoinsrlcdumphgfbywvkx01q2jz3456789";

impl Needle {
    fn new(word: &str) -> Option<Self> {
        let word = word.as_bytes().to_vec();
        let rank = |byte: u8| USUAL.iter().position(|usual| *usual == byte).unwrap_or(USUAL.len());
        let (at, byte) = word.iter().copied().enumerate().max_by_key(|(_, byte)| rank(*byte))?;
        word.is_ascii().then_some(Self { word, rare: (byte, byte.to_ascii_uppercase(), at) })
    }

    fn is_in(&self, line: &[u8]) -> bool {
        let (small, capital, offset) = self.rare;
        memchr::memchr2_iter(small, capital, line).any(|at| {
            let start = at.checked_sub(offset);
            let found = start.and_then(|start| line.get(start..start + self.word.len()));
            found.is_some_and(|found| found.eq_ignore_ascii_case(&self.word))
        })
    }
}

impl Prefilter {
    /// Makes the filter of a query.
    pub fn new(query: &Query) -> Self {
        let phrases = query.terms().iter().filter(|term| !term.negated).filter_map(|term| match &term.test {
            Test::Words(phrase) | Test::File(phrase) => Some(phrase),
            _ => None,
        });
        // A phrase that may stand in a text in several ways has the letters of its parts in all of them.
        let words: Vec<&String> = phrases.filter_map(|phrase| phrase.ways().last()).flatten().collect();
        Self {
            needles: words.iter().filter_map(|word| Needle::new(word)).collect(),
            wide: words.iter().any(|word| !word.is_ascii()),
        }
    }

    /// Says whether a stored line may answer the query.
    pub fn may_match(&self, line: &[u8]) -> bool {
        !self.wide && self.needles.iter().all(|needle| needle.is_in(line)) || is_opaque(line)
    }
}

/// Says whether a line may have words that it does not spell.
fn is_opaque(line: &[u8]) -> bool {
    let has = |what: &[u8]| memchr::memmem::find(line, what).is_some();
    !line.is_ascii() || has(b"\\u") || has(b"ramusBlob")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Reading;

    #[test]
    fn only_lines_that_cannot_match_are_passed_over() {
        let may = |query: &str, line: &str| {
            Prefilter::new(&Query::parse(query, Reading::default()).unwrap()).may_match(line.as_bytes())
        };
        assert!(may("header", "a ParseHeader b") && may("httpServer", "http_server") && may("x -header", "x"));
        assert!(may("cafe", "caf\\u00e9") && may("cafe", "café") && may("日本", "\\u65e5") && may("z", "ramusBlob"));
        assert!(!may("header", "heater") && !may("日本", "plain") && !may("a zebra", "a b c"));
    }
}
