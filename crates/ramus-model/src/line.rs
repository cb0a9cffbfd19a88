//! Splitting bytes into lines and lines into records.
//!
//! Bytes arrive in chunks of any size; a [`Splitter`] hands out whole lines with their offsets. A line normally holds one
//! record. A torn write followed by another one glues records together: [`records_in`] finds every complete record in
//! such a line and the ranges that are none.

use memchr::memmem;

use crate::json::{Lexer, Raw, Shape};

/// Lines longer than this are reported and passed over instead of being held in memory.
pub const MAX_LINE: usize = 1 << 30;

/// Cuts a stream of chunks into lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splitter {
    /// The start of a line whose end has not arrived.
    partial: Vec<u8>,
    /// The length of the partial line, which may exceed what is held.
    partial_len: u64,
    /// Where the next chunk starts.
    position: u64,
}

/// One physical line without its newline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) offset: u64,
    pub(crate) bytes: &'a [u8],
    /// Whether a newline ended it.
    pub(crate) ended: bool,
    /// Whether it holds a zero byte, which no JSON does.
    pub(crate) has_zeros: bool,
    /// The true length, when it was too long to hold.
    pub(crate) oversized: Option<u64>,
}

impl Splitter {
    /// Goes on at `position`, which is the start of a line.
    pub(crate) fn at(position: u64) -> Self {
        Self { position, ..Self::default() }
    }

    /// Where the next chunk must start.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn feed(&mut self, mut chunk: &[u8], mut take: impl FnMut(Line<'_>)) {
        if self.partial_len > 0 {
            let Some(end) = memchr::memchr(b'\n', chunk) else {
                self.keep(chunk);
                return;
            };
            let (head, rest) = chunk.split_at(end);
            self.keep(head);
            self.take_partial(true, &mut take);
            self.position += 1;
            chunk = rest.get(1..).unwrap_or_default();
        }
        let mut start = 0;
        // Looking for zeros on the way costs nothing: the bytes come from memory for the first time.
        while let Some((end, has_zeros)) = line_end(chunk.get(start..).unwrap_or_default()) {
            let end = start + end;
            let bytes = chunk.get(start..end).unwrap_or_default();
            take(Line { offset: self.position + start as u64, bytes, ended: true, has_zeros, oversized: None });
            start = end + 1;
        }
        self.position += start as u64;
        self.keep(chunk.get(start..).unwrap_or_default());
    }

    /// Hands out the last line when no newline ended it.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        if self.partial_len > 0 {
            self.take_partial(false, &mut take);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE.saturating_sub(self.partial.len());
        self.partial.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.partial_len += bytes.len() as u64;
        self.position += bytes.len() as u64;
    }

    fn take_partial(&mut self, ended: bool, take: &mut impl FnMut(Line<'_>)) {
        let whole = self.partial.len() as u64 == self.partial_len;
        let offset = self.position - self.partial_len;
        let oversized = (!whole).then_some(self.partial_len);
        let has_zeros = memchr::memchr(0, &self.partial).is_some();
        take(Line { offset, bytes: &self.partial, ended, has_zeros, oversized });
        self.partial = Vec::new();
        self.partial_len = 0;
    }
}

/// Where the first line ends, and whether there is a zero byte in it.
fn line_end(bytes: &[u8]) -> Option<(usize, bool)> {
    let found = memchr::memchr2(b'\n', 0, bytes)?;
    if bytes.get(found) == Some(&b'\n') {
        return Some((found, false));
    }
    let rest = bytes.get(found..)?;
    memchr::memchr(b'\n', rest).map(|end| (found + end, true))
}

/// A piece of a damaged line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// A complete record and where it starts.
    Record(usize, &'a [u8]),
    /// Bytes that belong to no record and where they start.
    Damage(usize, &'a [u8]),
}

/// Takes a line apart that is not one JSON value: complete records, and the damage between them.
pub(crate) fn records_in(line: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut damage_from = 0;
    let mut search = Search { line, at: 0, budget: line.len() * 8 + (1 << 20) };
    while let Some((found, record)) = search.next_record() {
        push_damage(&mut pieces, line, damage_from, found);
        pieces.push(Piece::Record(found, record));
        damage_from = search.at;
    }
    push_damage(&mut pieces, line, damage_from, line.len());
    pieces
}

fn push_damage<'a>(pieces: &mut Vec<Piece<'a>>, line: &'a [u8], from: usize, to: usize) {
    if let Some(bytes) = line.get(from..to)
        && !is_blank(bytes)
    {
        pieces.push(Piece::Damage(from, bytes));
    }
}

/// A search for records in a damaged line. The budget bounds the bytes that failed attempts may look at, so that a
/// hostile line costs a constant number of passes.
struct Search<'a> {
    line: &'a [u8],
    at: usize,
    budget: usize,
}

impl<'a> Search<'a> {
    /// Finds the next complete record: an object with a textual `type` beside a `timestamp` or an `id`, which tells it
    /// from the content parts of a torn record.
    fn next_record(&mut self) -> Option<(usize, &'a [u8])> {
        loop {
            let rest = self.line.get(self.at..)?;
            let found = self.at + memmem::find(rest, b"{\"")?;
            let mut lexer = Lexer::new(self.line, found);
            if let Some(bytes) = lexer.value()
                && is_record(Raw::lexed(bytes))
            {
                self.at = lexer.pos();
                return Some((found, bytes));
            }
            self.budget = self.budget.checked_sub(lexer.pos() - found)?;
            self.at = found + 1;
        }
    }
}

fn is_record(raw: Raw<'_>) -> bool {
    let text = |name| raw.field(name).is_some_and(|value| value.shape() == Shape::Text);
    raw.shape() == Shape::Object && text("type") && (text("timestamp") || text("id") && raw.field("parentId").is_some())
}

/// Says whether a line holds nothing but whitespace.
pub(crate) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_whitespace)
}
