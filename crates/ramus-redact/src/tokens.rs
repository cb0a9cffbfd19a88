//! Keys that say whose they are: a prefix, and what may follow it.
//!
//! Issuers make their keys longer now and then and tell nobody, so lengths are wider than what is published, wherever the
//! prefix alone says enough.

mod code;
mod models;
mod services;
mod shape;

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::alphabet::{Runs, is_boundary};
use crate::span::{Span, before, rest};
pub use shape::{Needs, Piece, Token};

/// Returns every known token.
pub fn all() -> impl Iterator<Item = &'static Token> {
    models::TOKENS.iter().chain(code::TOKENS).chain(services::TOKENS)
}

/// Returns the names of all kinds of tokens, each once.
pub fn kinds() -> BTreeSet<&'static str> {
    all().map(|token| token.kind).collect()
}

/// Finds tokens.
#[derive(Clone)]
pub(crate) struct Tokens {
    /// Finds prefixes, the longest first.
    prefixes: AhoCorasick,
    /// For each prefix, the tokens to try there: its own, and those of shorter prefixes that it begins with.
    candidates: Vec<Vec<&'static Token>>,
}

impl Tokens {
    pub(crate) fn new() -> Result<Self, aho_corasick::BuildError> {
        let prefixes: Vec<&str> = all().map(|token| token.prefix).collect::<BTreeSet<_>>().into_iter().collect();
        let candidates = prefixes.iter().map(|prefix| {
            let mut fitting: Vec<&Token> = all().filter(|token| prefix.starts_with(token.prefix)).collect();
            fitting.sort_by_key(|token| std::cmp::Reverse(token.prefix.len()));
            fitting
        });
        let candidates = candidates.collect();
        let prefixes = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&prefixes)?;
        Ok(Self { prefixes, candidates })
    }

    /// Finds all tokens of a text.
    pub(crate) fn find(&self, text: &[u8], found: &mut Vec<Span>) {
        let mut runs = Runs::new(text);
        let mut at = 0;
        while let Some(hit) = self.prefixes.find(rest(text, at)) {
            let start = at + hit.start();
            at = start + 1;
            if !is_boundary(before(text, start)) {
                continue;
            }
            let tried = self.candidates.get(hit.pattern().as_usize()).into_iter().flatten();
            let token = tried.filter_map(|token| Some((token, token.end(&mut runs, start)?))).next();
            if let Some((token, end)) = token {
                found.extend(Span::new(start, end, token.kind));
                at = end;
            }
        }
    }
}
