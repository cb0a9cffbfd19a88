//! Going through bytes that were lexed before. Nothing is checked again: a string ends at the first quote that is not
//! escaped, and a container where its brackets are balanced, so that long texts are passed over at the speed of memory.
//! Bytes that are no JSON give nonsense, and nothing worse.

/// A position in a value that the lexer has accepted.
#[derive(Clone, Copy)]
pub(super) struct Skipper<'a> {
    bytes: &'a [u8],
    pos: usize,
}

impl<'a> Skipper<'a> {
    pub(super) fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = *self.bytes.get(self.pos)?;
            if byte > b' ' {
                return Some(byte);
            }
            self.pos += 1;
        }
    }

    /// Passes over `byte` (after whitespace) and says whether it was there.
    pub(super) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.pos += usize::from(found);
        found
    }

    /// Passes over `"key":` and returns the key with its quotes.
    pub(super) fn key(&mut self) -> Option<&'a [u8]> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.pos;
        self.string()?;
        let key = self.bytes.get(start..self.pos);
        self.eat(b':').then_some(key).flatten()
    }

    /// Passes over one value and returns its bytes.
    pub(super) fn value(&mut self) -> Option<&'a [u8]> {
        let first = self.peek()?;
        let start = self.pos;
        match first {
            b'"' => self.string()?,
            b'{' | b'[' => self.container()?,
            _ => self.word(),
        }
        self.bytes.get(start..self.pos)
    }

    fn string(&mut self) -> Option<()> {
        let start = self.pos + 1;
        let mut from = start;
        loop {
            let rest = self.bytes.get(from..)?;
            let quote = from + memchr::memchr(b'"', rest)?;
            let text = self.bytes.get(start..quote)?;
            let escapes = text.iter().rev().take_while(|byte| **byte == b'\\').count();
            from = quote + 1;
            if escapes.is_multiple_of(2) {
                self.pos = from;
                return Some(());
            }
        }
    }

    fn container(&mut self) -> Option<()> {
        let mut depth = 0usize;
        loop {
            match self.bytes.get(self.pos)? {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn word(&mut self) {
        while let Some(b'0'..=b'9' | b'a'..=b'z' | b'E' | b'+' | b'-' | b'.') = self.bytes.get(self.pos) {
            self.pos += 1;
        }
    }
}
