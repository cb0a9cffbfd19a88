//! Secrets that the caller knows: found wherever they are, in base64, in hexadecimal, or broken over lines.

use std::sync::Arc;

use aho_corasick::automaton::Automaton as _;
use aho_corasick::nfa::noncontiguous::NFA;
use aho_corasick::{AhoCorasick, AhoCorasickKind, Anchored, BuildError, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use crate::span::{Span, part, rest};
use crate::view::line_break;

/// What they are called when they are taken out.
pub(crate) const KIND: &str = "own-secret";

/// Shorter values are words that stand in any text.
const SHORTEST: usize = 6;

/// Of a spelling that is longer this much is looked for; the rest is compared where that was found. So what is kept in memory
/// grows with the number of secrets and not with their length.
const LOOKED_FOR: usize = 1_024;

/// Finds known secrets.
#[derive(Clone)]
pub(crate) struct Own {
    exact: AhoCorasick,
    /// The same patterns without white space, stepped by hand over a text without white space.
    joined: NFA,
    patterns: Patterns,
    broken: Patterns,
    longest: usize,
}

/// What belongs to each pattern.
#[derive(Clone, Default)]
struct Patterns {
    /// Which secret it is a spelling of.
    secrets: Vec<Arc<[u8]>>,
    /// What of it was not looked for, without white space.
    tails: Vec<Vec<u8>>,
}

impl Own {
    /// Makes a finder; none when there is nothing to find.
    pub(crate) fn new(values: &[String]) -> Result<Option<Self>, BuildError> {
        let (mut exact, mut joined) = (Vec::new(), Vec::new());
        let (mut patterns, mut broken) = (Patterns::default(), Patterns::default());
        for value in values.iter().map(|value| value.trim().as_bytes()).filter(|value| value.len() >= SHORTEST) {
            let secret: Arc<[u8]> = value.into();
            for spelling in spellings(value) {
                exact.push(part(&spelling, 0, LOOKED_FOR).to_vec());
                patterns.secrets.push(Arc::clone(&secret));
                patterns.tails.push(without_space(rest(&spelling, LOOKED_FOR)));
                let dense = without_space(&spelling);
                if dense.len() >= SHORTEST {
                    joined.push(part(&dense, 0, LOOKED_FOR).to_vec());
                    broken.secrets.push(Arc::clone(&secret));
                    broken.tails.push(rest(&dense, LOOKED_FOR).to_vec());
                }
            }
        }
        if exact.is_empty() {
            return Ok(None);
        }
        let longest = joined.iter().map(Vec::len).max().unwrap_or(1);
        let exact = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(&exact)?;
        Ok(Some(Self { exact, joined: NFA::new(&joined)?, patterns, broken, longest }))
    }

    /// Calls `found` for each occurrence, with the secret it is one of.
    pub(crate) fn find<'o>(&'o self, text: &[u8], mut found: impl FnMut(Span, &'o [u8])) {
        let mut covered = (0, 0);
        for hit in self.exact.find_overlapping_iter(text) {
            self.patterns.tell(text, (hit.start(), hit.end(), hit.pattern().as_usize()), &mut covered, &mut found);
        }
        if memchr::memchr2(b'\n', b'\r', text).is_some() {
            self.find_broken(text, &mut found);
        }
    }

    /// Steps over the text and leaves white space out. What stands on one line is not broken: that was looked for exactly.
    fn find_broken<'o>(&'o self, text: &[u8], found: &mut impl FnMut(Span, &'o [u8])) {
        let Ok(mut state) = self.joined.start_state(Anchored::No) else { return };
        // Where the last bytes were that were stepped over, as many as the longest pattern has.
        let mut recent = vec![0_usize; self.longest.max(1)];
        let (mut at, mut count, mut covered, mut last_break) = (0, 0_usize, (0, 0), None);
        while let Some(byte) = text.get(at) {
            if let Some(gap) = space(rest(text, at)) {
                if matches!(byte, b'\n' | b'\r') {
                    last_break = Some(at);
                }
                at += gap;
                continue;
            }
            let turn = count % recent.len();
            if let Some(place) = recent.get_mut(turn) {
                *place = at;
            }
            count += 1;
            state = self.joined.next_state(Anchored::No, state, *byte);
            at += 1;
            if !self.joined.is_match(state) {
                continue;
            }
            for index in 0..self.joined.match_len(state) {
                let pattern = self.joined.match_pattern(state, index);
                let first = count.saturating_sub(self.joined.pattern_len(pattern)) % recent.len();
                let start = recent.get(first).copied().unwrap_or(at);
                let is_cut = self.broken.tails.get(pattern.as_usize()).is_some_and(|tail| !tail.is_empty());
                if is_cut || last_break.is_some_and(|last| last > start) {
                    self.broken.tell(text, (start, at, pattern.as_usize()), &mut covered, found);
                }
            }
        }
    }
}

impl Patterns {
    /// Tells of one occurrence, as far as the text goes on as the secret does. `covered` is where the last long one was: what lies
    /// in it is neither compared nor told again.
    fn tell<'o>(
        &'o self,
        text: &[u8],
        (start, end, pattern): (usize, usize, usize),
        covered: &mut (usize, usize),
        found: &mut impl FnMut(Span, &'o [u8]),
    ) {
        let tail = self.tails.get(pattern).map_or(&[][..], Vec::as_slice);
        let (from, to) = *covered;
        if !tail.is_empty() && start >= from && end <= to {
            return;
        }
        let end = go_on(text, end, tail);
        if !tail.is_empty() {
            *covered = (start, end);
        }
        if let (Some(span), Some(secret)) = (Span::new(start, end, KIND), self.secrets.get(pattern)) {
            found(span, secret);
        }
    }
}

/// Returns how far a text goes on from `at` as `tail` does, whatever white space it has.
fn go_on(text: &[u8], mut at: usize, tail: &[u8]) -> usize {
    let mut end = at;
    for wanted in tail {
        while let Some(gap) = space(rest(text, at)) {
            at += gap;
        }
        if text.get(at) != Some(wanted) {
            break;
        }
        at += 1;
        end = at;
    }
    end
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

/// White space that a text begins with, the marks that go with a line break included. Returns its length.
fn space(text: &[u8]) -> Option<usize> {
    line_break(text).or_else(|| matches!(text.first(), Some(b' ' | b'\t')).then_some(1))
}

fn without_space(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut at = 0;
    while let Some(byte) = pattern.get(at) {
        match space(rest(pattern, at)) {
            Some(gap) => at += gap,
            None => {
                out.push(*byte);
                at += 1;
            }
        }
    }
    out
}
