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
        Self { line: 48 << 20, values: 200_000, records: 20_000_000, expanded: 64 << 30, ratio: 500, bases: 64 }
    }
}

/// From this size on the ratio counts: small files of repeated text are no attack.
pub(crate) const RATIO_FROM: u64 = 64 << 20;
