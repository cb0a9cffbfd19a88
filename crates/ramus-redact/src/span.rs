//! What was found where.

/// A secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// Where it starts.
    pub(crate) start: usize,
    /// Where it ends.
    pub(crate) end: usize,
    /// What it is.
    pub(crate) kind: &'static str,
}

impl Span {
    /// Makes one; none when it is empty.
    pub(crate) fn new(start: usize, end: usize, kind: &'static str) -> Option<Self> {
        (start < end).then_some(Self { start, end, kind })
    }
}

/// The part of a text from `start` to `end`, as far as it goes.
pub(crate) fn part(text: &[u8], start: usize, end: usize) -> &[u8] {
    text.get(start..end.min(text.len())).unwrap_or_default()
}

/// What follows `start`.
pub(crate) fn rest(text: &[u8], start: usize) -> &[u8] {
    text.get(start..).unwrap_or_default()
}

/// The byte in front of `at`.
pub(crate) fn before(text: &[u8], at: usize) -> Option<u8> {
    at.checked_sub(1).and_then(|at| text.get(at)).copied()
}
