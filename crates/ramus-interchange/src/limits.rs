//! What a hostile source may ask for. Memory follows the longest line, so that line has a limit.

/// Bounds on what is read from one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest line, or document, that is held in memory. Longer lines are passed over and reported.
    pub line: usize,
    /// How many objects and arrays a line or a document may hold. What is made of each takes many times its own bytes.
    pub values: usize,
    /// How many records one source may have.
    pub records: u64,
    /// How many bytes one source may expand to.
    pub expanded: u64,
    /// How many times larger than its file an expanded source may be, once it is larger than 64 MiB.
    pub ratio: u64,
    /// How many sources may stand behind one another, each the base of the next.
    pub bases: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 32 << 20, values: 200_000, records: 750_000, expanded: 64 << 30, ratio: 500, bases: 64 }
    }
}

/// How long a text becomes when it is quoted, without the quotes: of a control character six bytes are made.
pub(crate) fn quoted_len(text: &[u8]) -> usize {
    let more = |byte: &u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..0x20 => 5,
        _ => 0,
    };
    text.iter().map(more).sum::<usize>() + text.len()
}

/// From this size on the ratio counts: small files of repeated text are no attack.
pub(crate) const RATIO_FROM: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_long_as_it_is_when_it_is_quoted() {
        for text in ["", "plain", "\u{1}\u{0}\u{1f}\u{7f}", "\"quoted\\\n\r\t", "ä\u{feff}漢"] {
            let mut out = Vec::new();
            ramus_model::json::quote(text, &mut out);
            assert_eq!(quoted_len(text.as_bytes()) + 2, out.len(), "{text:?}");
        }
    }
}
