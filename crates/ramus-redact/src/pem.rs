//! Private keys between `-----BEGIN …-----` and `-----END …-----`, whole or cut off.

use memchr::memmem;

use crate::alphabet::Alphabet;
use crate::span::{Span, part, rest};

/// What stands in a block, escaped line ends and the marks of diffs and quotes included.
const BODY: &Alphabet = &Alphabet::word_and(b"+/=\\ \r\n\t:,.\"'|>()");
/// How much of a block is taken out when its end is missing.
const LONGEST: usize = 1 << 14;

/// Knows where the next block ends, so that the text is searched once however many blocks begin.
pub(crate) struct Ends {
    next: Option<usize>,
    searched: bool,
}

impl Ends {
    pub(crate) fn new() -> Self {
        Self { next: None, searched: false }
    }

    fn after(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let is_stale = self.next.is_some_and(|next| next < at);
        if !self.searched || is_stale {
            self.next = memmem::find(rest(text, at), b"-----END").map(|found| at + found);
            self.searched = true;
        }
        self.next
    }
}

/// Finds the block whose `-----BEGIN ` is from `start` to `end`.
pub(crate) fn find(text: &[u8], start: usize, end: usize, ends: &mut Ends) -> Option<Span> {
    let label = part(text, end, end + 48);
    let label = label.get(..memmem::find(label, b"-----")?)?;
    let is_private = memmem::find(label, b"PRIVATE").is_some() || memmem::find(label, b"SECRET").is_some();
    let body = end + label.len() + 5;
    if !is_private || body > text.len() {
        return None;
    }
    let run = BODY.run(rest(text, body), LONGEST);
    let close = ends.after(text, body).filter(|close| *close <= body + run.max(LONGEST));
    let stop = match close {
        Some(close) => {
            let tail = part(text, close, close + 64);
            let dashes = memmem::find(rest(tail, 8), b"-----").map(|at| at + 13);
            close + dashes.unwrap_or(8)
        }
        None => body + run,
    };
    Span::new(start, stop.min(text.len()), "private-key")
}
