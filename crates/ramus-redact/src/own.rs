//! Secrets that the caller knows: found wherever they are, in base64, in hexadecimal, or broken over lines.

use aho_corasick::automaton::Automaton as _;
use aho_corasick::{AhoCorasick, Anchored, MatchKind, dfa::DFA};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::span::{Span, part, rest};
use crate::view::line_break;

/// What they are called when they are taken out.
pub(crate) const KIND: &str = "own-secret";

/// Shorter values are words that stand in any text.
const SHORTEST: usize = 6;

/// Finds known secrets.
#[derive(Clone)]
pub(crate) struct Own {
    exact: AhoCorasick,
    /// The same patterns without line breaks, stepped by hand over a text without line breaks.
    joined: DFA,
    /// Which secret each pattern is a spelling of.
    secrets: Vec<Vec<u8>>,
    longest: usize,
}

impl Own {
    /// Makes a finder; none when there is nothing to find.
    pub(crate) fn new(values: &[String]) -> Option<Self> {
        let mut patterns: Vec<Vec<u8>> = Vec::new();
        let mut secrets: Vec<Vec<u8>> = Vec::new();
        for value in values.iter().map(|value| value.trim().as_bytes()).filter(|value| value.len() >= SHORTEST) {
            for spelling in spellings(value) {
                patterns.push(spelling);
                secrets.push(value.to_vec());
            }
        }
        if patterns.is_empty() {
            return None;
        }
        let exact = AhoCorasick::builder().match_kind(MatchKind::Standard).build(&patterns).ok()?;
        let mut joined: Vec<Vec<u8>> = patterns.iter().map(|pattern| without_breaks(pattern)).collect();
        for (pattern, secret) in patterns.iter().zip(secrets.clone()) {
            for broken in broken_at_spaces(pattern) {
                joined.push(broken);
                secrets.push(secret.clone());
            }
        }
        let longest = joined.iter().map(Vec::len).max().unwrap_or(1);
        Some(Self { exact, joined: DFA::new(&joined).ok()?, secrets, longest })
    }

    /// Calls `found` for each occurrence, with the secret it is one of.
    pub(crate) fn find<'o>(&'o self, text: &[u8], mut found: impl FnMut(Span, &'o [u8])) {
        let mut tell = |start: usize, end: usize, pattern: usize| {
            if let (Some(span), Some(secret)) = (Span::new(start, end, KIND), self.secrets.get(pattern)) {
                found(span, secret);
            }
        };
        for hit in self.exact.find_overlapping_iter(text) {
            tell(hit.start(), hit.end(), hit.pattern().as_usize());
        }
        if memchr::memchr2(b'\n', b'\r', text).is_some() {
            self.find_broken(text, &mut tell);
        }
    }

    /// Steps over the text and leaves line breaks out.
    fn find_broken(&self, text: &[u8], tell: &mut impl FnMut(usize, usize, usize)) {
        let Ok(mut state) = self.joined.start_state(Anchored::No) else { return };
        // Where the last bytes were that were stepped over, as many as the longest pattern has.
        let mut recent = vec![0_usize; self.longest.max(1)];
        let (mut at, mut count) = (0, 0_usize);
        while let Some(byte) = text.get(at) {
            if let Some(gap) = line_break(rest(text, at)) {
                at += gap;
                continue;
            }
            let turn = count % recent.len();
            if let Some(place) = recent.get_mut(turn) {
                *place = at;
            }
            count += 1;
            state = self.joined.next_state(Anchored::No, state, *byte);
            if self.joined.is_match(state) {
                for index in 0..self.joined.match_len(state) {
                    let pattern = self.joined.match_pattern(state, index);
                    let first = count.saturating_sub(self.joined.pattern_len(pattern)) % recent.len();
                    tell(recent.get(first).copied().unwrap_or(at), at + 1, pattern.as_usize());
                }
            }
            at += 1;
        }
    }
}

/// Everything a value may read as: itself, in hexadecimal, in base64 wherever it begins in it.
fn spellings(value: &[u8]) -> Vec<Vec<u8>> {
    let mut all = vec![value.to_vec(), hex(value, b"0123456789abcdef"), hex(value, b"0123456789ABCDEF")];
    for shift in 0..3 {
        let shifted: Vec<u8> = std::iter::repeat_n(0, shift).chain(value.iter().copied()).collect();
        // The first and last characters also hold bits of the neighbours.
        let (from, to) = ((shift * 8_usize).div_ceil(6), shifted.len() * 8 / 6);
        for coded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            all.extend(
                coded
                    .as_bytes()
                    .get(from..to.min(coded.len()))
                    .filter(|coded| coded.len() >= SHORTEST)
                    .map(<[u8]>::to_vec),
            );
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

fn hex(value: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let digit = |index: u8| digits.get(usize::from(index)).copied().unwrap_or_default();
    value.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// What is left when a line was broken at one of the spaces, which the indentation swallows.
fn broken_at_spaces(pattern: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let spaces = pattern.iter().enumerate().filter(|(_, byte)| matches!(byte, b' ' | b'\t'));
    spaces.map(|(at, _)| [part(pattern, 0, at), rest(pattern, at + 1)].concat())
}

fn without_breaks(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        match line_break(rest(pattern, at)) {
            Some(gap) => at += gap,
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}
