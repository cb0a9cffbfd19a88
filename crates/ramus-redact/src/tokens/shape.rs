//! What a token looks like, and how long one is that stands at a place.

use crate::alphabet::{Alphabet, Runs};
use crate::judge;
use crate::span::{part, rest};
use crate::view::line_break;

/// A part of a token behind its prefix.
#[derive(Clone, Copy)]
pub enum Piece {
    /// That many characters of an alphabet, and none more of it behind them.
    Run(&'static Alphabet, usize, usize),
    /// Exactly this.
    Text(&'static str),
}

/// What a token must have in it, besides its form, where the form alone could be a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// Digits and letters.
    Digits,
    /// Capitals and small letters.
    BothCases,
}

/// A kind of key.
#[derive(Clone, Copy)]
pub struct Token {
    /// What it is called when it is taken out.
    pub kind: &'static str,
    /// How it begins.
    pub prefix: &'static str,
    /// What follows.
    pub pieces: &'static [Piece],
    /// What must be in it.
    pub needs: Needs,
}

impl Token {
    pub(super) const fn new(kind: &'static str, prefix: &'static str, pieces: &'static [Piece]) -> Self {
        Self { kind, prefix, pieces, needs: Needs::Nothing }
    }

    pub(super) const fn needing(self, needs: Needs) -> Self {
        Self { needs, ..self }
    }

    /// Returns where the token ends that starts at `start`.
    pub(crate) fn end(&self, runs: &mut Runs<'_>, start: usize) -> Option<usize> {
        let body = start + self.prefix.len();
        let mut at = body;
        for piece in self.pieces {
            at = match piece {
                Piece::Text(expected) => {
                    rest(runs.text, at).starts_with(expected.as_bytes()).then_some(at + expected.len())?
                }
                Piece::Run(alphabet, least, most) => run(alphabet, runs, at, *least, *most)?,
            };
        }
        let body = part(runs.text, body, at);
        let has = |test: fn(&u8) -> bool| body.iter().any(test);
        let is_met = match self.needs {
            Needs::Nothing => true,
            Needs::Digits => has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic),
            Needs::BothCases => has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase),
        };
        is_met.then_some(at)
    }
}

/// Where a run ends, which a terminal or an editor may have broken once.
fn run(alphabet: &'static Alphabet, runs: &mut Runs<'_>, at: usize, least: usize, most: usize) -> Option<usize> {
    let first = runs.end(alphabet, at);
    if first - at > most {
        return None;
    }
    let is_enough = first - at >= least;
    let broken = line_break(rest(runs.text, first)).and_then(|gap| {
        let next = first + gap;
        let end = next + alphabet.run(rest(runs.text, next), most + 1);
        let whole = end - next + first - at;
        let is_one = if is_enough {
            end - next >= 12 && judge::continues(part(runs.text, next, end))
        } else {
            first > at && whole >= least
        };
        (is_one && whole <= most).then_some(end)
    });
    broken.or(is_enough.then_some(first))
}
