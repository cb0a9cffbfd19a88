//! One look at one text: everything that its form or its surroundings give away.

use aho_corasick::{AhoCorasick, BuildError, MatchKind};

use crate::assignment::{self, Strength, WORDS};
use crate::span::{Span, rest};
use crate::tokens::Tokens;
use crate::{dotted, header, pem, url};

/// What a word in a text may announce.
#[derive(Clone, Copy)]
enum Announces {
    Assignment(Strength),
    Authorization,
    Bearer,
    Cookies,
    Address,
    PrivateKey,
}

/// Looks at texts.
#[derive(Clone)]
pub(crate) struct Scanner {
    tokens: Tokens,
    words: AhoCorasick,
    announce: Vec<Announces>,
}

impl Scanner {
    pub(crate) fn new() -> Result<Self, BuildError> {
        let named = WORDS.iter().map(|(word, strength)| (*word, Announces::Assignment(*strength)));
        let others = [
            ("authorization", Announces::Authorization),
            ("bearer", Announces::Bearer),
            ("cookie", Announces::Cookies),
            ("://", Announces::Address),
            ("-----begin ", Announces::PrivateKey),
        ];
        let (words, announce): (Vec<&str>, Vec<Announces>) = named.chain(others).unzip();
        let words =
            AhoCorasick::builder().ascii_case_insensitive(true).match_kind(MatchKind::LeftmostLongest).build(&words)?;
        Ok(Self { tokens: Tokens::new()?, words, announce })
    }

    /// Finds what a text gives away.
    pub(crate) fn scan(&self, text: &[u8], found: &mut Vec<Span>) {
        self.tokens.find(text, found);
        dotted::find(text, found);
        let mut ends = pem::Ends::new();
        let mut at = 0;
        while let Some(hit) = self.words.find(rest(text, at)) {
            let (start, end) = (at + hit.start(), at + hit.end());
            at = end;
            let Some(announces) = self.announce.get(hit.pattern().as_usize()) else { continue };
            let span = match announces {
                Announces::Assignment(strength) => assignment::find(text, start, end, *strength),
                Announces::Authorization => header::authorization(text, end),
                Announces::Bearer => header::bearer(text, end),
                Announces::Address => url::find(text, end),
                Announces::PrivateKey => pem::find(text, start, end, &mut ends),
                Announces::Cookies => {
                    at = header::cookies(text, end, found).unwrap_or(end);
                    None
                }
            };
            if let Some(span) = span {
                at = at.max(span.end);
                found.push(span);
            }
        }
    }
}
