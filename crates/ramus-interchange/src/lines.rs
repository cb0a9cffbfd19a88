//! Lines of any reader, one at a time, none longer than the limit.

use std::io::{self, Read};

use crate::error::Error;
use crate::limits::Limits;

const CHUNK: usize = 1 << 18;
/// A buffer that became larger than this is given back.
const LONG: usize = 8 << 20;

/// A line without its newline.
pub(crate) struct Line<'a> {
    /// Its number, from 1. Blank lines count.
    pub(crate) number: u64,
    /// Its bytes; none when it was too long to hold, or has too much in it.
    pub(crate) bytes: Option<&'a [u8]>,
    /// Whether it has too much in it.
    pub(crate) is_crowded: bool,
}

/// Cuts what a reader gives into lines.
pub(crate) struct Lines<R> {
    reader: R,
    limits: Limits,
    buffer: Vec<u8>,
    /// The part of the buffer that was not handed out yet.
    start: usize,
    filled: usize,
    number: u64,
    ended: bool,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(reader: R, limits: Limits) -> Self {
        Self { reader, limits, buffer: Vec::new(), start: 0, filled: 0, number: 0, ended: false }
    }

    /// Returns the next line that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>, Error> {
        loop {
            let Some(end) = self.find_end()? else { return Ok(None) };
            self.number += 1;
            if self.number > self.limits.records {
                return Err(Error::Limit(format!("the source has more than {} lines", self.limits.records)));
            }
            let number = self.number;
            let End::At(start, end) = end else { return Ok(Some(Line { number, bytes: None, is_crowded: false })) };
            if !self.slice(start, end).iter().all(u8::is_ascii_whitespace) {
                let bytes = trimmed(self.slice(start, end));
                let is_crowded = is_crowded(bytes, self.limits);
                let is_held = !is_crowded && !is_swollen(bytes, self.limits);
                return Ok(Some(Line { number, bytes: Some(bytes).filter(|_| is_held), is_crowded }));
            }
        }
    }

    fn slice(&self, start: usize, end: usize) -> &[u8] {
        self.buffer.get(start..end).unwrap_or_default()
    }

    /// Finds where the next line ends, reading on as long as it does not, and steps behind it.
    fn find_end(&mut self) -> Result<Option<End>, Error> {
        let mut searched = self.start;
        loop {
            if let Some(found) = memchr::memchr(b'\n', self.slice(searched, self.filled)) {
                let (start, end) = (self.start, searched + found);
                self.start = end + 1;
                return Ok(Some(End::At(start, end)));
            }
            if self.ended {
                let (start, end) = (self.start, self.filled);
                self.start = end;
                return Ok((start < end).then_some(End::At(start, end)));
            }
            if self.filled - self.start > self.limits.line {
                return self.pass_over().map(Some);
            }
            self.buffer.copy_within(self.start..self.filled, 0);
            self.filled -= self.start;
            self.start = 0;
            searched = self.filled;
            if self.buffer.len() > LONG && self.filled <= CHUNK {
                // A long line was handed out, and whoever took it may still hold what came of it.
                self.buffer.truncate(2 * CHUNK);
                self.buffer.shrink_to_fit();
            }
            self.fill()?;
        }
    }

    /// Reads to the end of a line that is too long, keeping nothing of it.
    fn pass_over(&mut self) -> Result<End, Error> {
        (self.start, self.filled) = (0, 0);
        self.buffer.truncate(CHUNK);
        loop {
            self.filled = 0;
            self.fill()?;
            if let Some(found) = memchr::memchr(b'\n', self.slice(0, self.filled)) {
                self.start = found + 1;
                return Ok(End::TooLong);
            }
            if self.ended {
                self.start = self.filled;
                return Ok(End::TooLong);
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.buffer.len() < self.filled + CHUNK {
            // Twice as much each time, but not much more than the longest line takes.
            let most = self.limits.line.saturating_add(2 * CHUNK);
            self.buffer.resize((self.filled * 2).min(most).max(self.filled + CHUNK), 0);
        }
        loop {
            match self.reader.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Ok(0) => self.ended = true,
                Ok(read) => self.filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}

enum End {
    At(usize, usize),
    TooLong,
}

/// A line without a byte order mark and a carriage return, which are no part of a record.
fn trimmed(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.strip_suffix(b"\r").unwrap_or(bytes)
}

/// Reads a whole document, which must fit into the limit of a line.
pub(crate) fn document(reader: impl Read, limits: Limits) -> Result<Vec<u8>, Error> {
    let bytes = whole(reader, limits.line)?;
    let Some(bytes) = bytes else {
        return Err(Error::Limit(format!("the document is larger than {} MiB", limits.line >> 20)));
    };
    let (compact, values) = compact(&bytes);
    if values > limits.values {
        return Err(Error::Limit(format!("the document has more than {} objects and arrays", limits.values)));
    }
    Ok(compact)
}

/// Reads everything, with little room to spare; none when it is more than so many bytes.
pub(crate) fn whole(mut reader: impl Read, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    loop {
        let step = (bytes.len() / 4).max(CHUNK).min((most + 1).saturating_sub(bytes.len()));
        bytes.reserve_exact(step);
        let read = reader.by_ref().take(step as u64).read_to_end(&mut bytes)?;
        if bytes.len() > most {
            return Ok(None);
        }
        if read < step {
            return Ok(Some(bytes));
        }
    }
}

/// Says whether a line holds more objects and arrays than it may.
fn is_crowded(line: &[u8], limits: Limits) -> bool {
    // Short ones cannot.
    line.len() / 2 > limits.values && count_values(line) > limits.values
}

/// Says whether a line is no UTF-8 and may take too much when it is read as what it resembles: three times its bytes.
fn is_swollen(line: &[u8], limits: Limits) -> bool {
    line.len() > limits.line / 3 && std::str::from_utf8(line).is_err()
}

/// Counts objects and arrays.
fn count_values(mut rest: &[u8]) -> usize {
    let mut values = 0;
    while let Some(quote) = memchr::memchr(b'"', rest) {
        let (plain, text) = rest.split_at(quote);
        values += memchr::memchr2_iter(b'{', b'[', plain).count();
        rest = behind_text(text);
    }
    values + memchr::memchr2_iter(b'{', b'[', rest).count()
}

/// What stands behind the text that this begins with.
fn behind_text(text: &[u8]) -> &[u8] {
    let mut at = 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        let stop = at + found;
        if text.get(stop) == Some(&b'"') {
            return text.get(stop + 1..).unwrap_or_default();
        }
        // What is escaped ends no text.
        at = stop + 2;
    }
    &[]
}

/// A document without the whitespace between its tokens, as most are printed for people, and entries are not; and how many
/// objects and arrays it has.
fn compact(bytes: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(bytes.len());
    let (mut in_text, mut escaped, mut values) = (false, false, 0);
    for byte in bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) {
        if in_text || !matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            out.push(*byte);
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => values += 1,
            _ => {}
        }
    }
    (out, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8], line: usize) -> Vec<(u64, Option<Vec<u8>>)> {
        let mut lines = Lines::new(bytes, Limits { line, ..Limits::default() });
        let mut found = Vec::new();
        while let Ok(Some(line)) = lines.next() {
            found.push((line.number, line.bytes.map(<[u8]>::to_vec)));
        }
        found
    }

    #[test]
    fn lines_are_cut_whatever_ends_them() {
        let lines = all(b"\xef\xbb\xbfone\r\n\n  \ntwo\nthree", 1 << 20);
        let text = |line: &(u64, Option<Vec<u8>>)| (line.0, String::from_utf8(line.1.clone().unwrap()).unwrap());
        let seen: Vec<_> = lines.iter().map(text).collect();
        assert_eq!(seen, [(1, "one".into()), (4, "two".into()), (5, "three".into())]);
    }

    #[test]
    fn objects_and_arrays_are_counted_wherever_texts_end() {
        let text = br#"{"a":["{","\\","[\"{",{}],"b":"\\\"[","c":[1,[]]}"#;
        assert_eq!(count_values(text), 5);
        assert_eq!(compact(text).1, 5);
        assert_eq!(count_values(br#"[{"never ends [{"#), 2);
        let limits = Limits { values: 4, ..Limits::default() };
        assert!(is_crowded(text, limits) && document(&text[..], limits).is_err());
        assert!(!is_crowded(text, Limits::default()) && document(&text[..], Limits::default()).is_ok());
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_over() {
        let mut bytes = b"a\n".to_vec();
        bytes.extend(vec![b'x'; 3 * CHUNK]);
        bytes.extend(b"\nb\n");
        bytes.extend(vec![b'y'; 3 * CHUNK]);
        let seen: Vec<_> =
            all(&bytes, CHUNK).into_iter().map(|(number, bytes)| (number, bytes.map(|b| b.len()))).collect();
        assert_eq!(seen, [(1, Some(1)), (2, None), (3, Some(1)), (4, None)]);
    }

    #[test]
    fn everything_is_read_unless_it_is_too_much() {
        let bytes: Vec<u8> = (0..3 * CHUNK + 7).map(|at| at as u8).collect();
        for most in [bytes.len(), bytes.len() + 1, 4 * bytes.len()] {
            assert!(whole(&bytes[..], most).unwrap().unwrap() == bytes);
        }
        for most in [bytes.len() - 1, CHUNK, 0] {
            assert!(whole(&bytes[..], most).unwrap().is_none());
        }
        assert_eq!(whole(&b""[..], 0).unwrap(), Some(Vec::new()));
    }

    #[test]
    fn a_line_that_would_swell_is_passed_over() {
        let bytes = [&[0xff; 40][..], b"\n", &[b'x'; 40], b"\n", &[0xff; 30], b"\n"].concat();
        let seen: Vec<_> = all(&bytes, 100).into_iter().map(|(_, bytes)| bytes.map(|bytes| bytes.len())).collect();
        assert_eq!(seen, [None, Some(40), Some(30)]);
    }
}
