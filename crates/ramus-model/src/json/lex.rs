//! The lexer: finds where a JSON value ends and rejects what is not JSON.
//!
//! It accepts what `JSON.parse` accepts, byte for byte, with one deliberate difference: invalid UTF-8 inside strings is
//! let through, because the programs that write session files read it leniently and no record may be lost over it.

/// A position in a byte slice that only moves forward over valid JSON.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    bytes: &'a [u8],
    pos: usize,
}

/// Returns the first position at or after `pos` that is not JSON whitespace.
pub(crate) fn skip_whitespace(bytes: &[u8], mut pos: usize) -> usize {
    while let Some(b' ' | b'\t' | b'\r' | b'\n') = bytes.get(pos) {
        pos += 1;
    }
    pos
}

/// Finds the first quote, backslash or control character at or after `pos`, eight bytes at a time.
///
/// Subtracting a byte's target from it borrows into its top bit exactly when it is smaller; a borrow out of an earlier
/// byte can only mark a byte behind a true match, and the first match is all that is asked for.
pub(crate) fn next_special(bytes: &[u8], mut pos: usize) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const TOPS: u64 = ONES * 0x80;
    while let Some(block) = bytes.get(pos..).and_then(<[u8]>::first_chunk::<8>) {
        let word = u64::from_le_bytes(*block);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (quote.wrapping_sub(ONES) & !quote | backslash.wrapping_sub(ONES) & !backslash | control) & TOPS;
        if found != 0 {
            return Some(pos + found.trailing_zeros() as usize / 8);
        }
        pos += 8;
    }
    let rest = bytes.get(pos..)?;
    rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)).map(|at| pos + at)
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(bytes: &'a [u8], pos: usize) -> Self {
        Self { bytes, pos }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn peek(&mut self) -> Option<u8> {
        let byte = *self.bytes.get(self.pos)?;
        if byte > b' ' {
            return Some(byte);
        }
        self.pos = skip_whitespace(self.bytes, self.pos);
        self.bytes.get(self.pos).copied()
    }

    /// Consumes `byte` (after whitespace) and says whether it was there.
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        if found {
            self.pos += 1;
        }
        found
    }

    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a [u8] {
        self.bytes.get(from..to).unwrap_or_default()
    }

    /// Consumes a string and returns its bytes including the quotes.
    pub(crate) fn string(&mut self) -> Option<&'a [u8]> {
        if self.peek()? != b'"' {
            return None;
        }
        let start = self.pos;
        let mut pos = start + 1;
        loop {
            pos = next_special(self.bytes, pos)?;
            match self.bytes.get(pos)? {
                b'"' => {
                    self.pos = pos + 1;
                    return Some(self.slice(start, pos + 1));
                }
                b'\\' => pos = self.after_escape(pos)?,
                _ => return None,
            }
        }
    }

    /// The position behind the escape at `pos`.
    fn after_escape(&self, pos: usize) -> Option<usize> {
        match self.bytes.get(pos + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(pos + 2),
            b'u' => {
                let digits = self.bytes.get(pos + 2..pos + 6)?;
                digits.iter().all(u8::is_ascii_hexdigit).then_some(pos + 6)
            }
            _ => None,
        }
    }

    fn number(&mut self) -> Option<()> {
        self.eat_byte(b'-');
        match self.bytes.get(self.pos)? {
            b'0' => self.pos += 1,
            b'1'..=b'9' => self.digits()?,
            _ => return None,
        }
        if self.eat_byte(b'.') {
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.pos) {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.pos) {
                self.pos += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        let found = self.bytes.get(self.pos) == Some(&byte);
        self.pos += usize::from(found);
        found
    }

    fn digits(&mut self) -> Option<()> {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.bytes.get(self.pos) {
            self.pos += 1;
        }
        (self.pos > start).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes.get(self.pos..)?.starts_with(word).then(|| self.pos += word.len())
    }

    /// Consumes the opening bracket it stands at, and `close` if that is all, and says whether it was.
    pub(crate) fn opens_empty(&mut self, close: u8) -> bool {
        self.pos += 1;
        self.eat(close)
    }

    /// Consumes a value that holds no others.
    pub(crate) fn plain(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    /// Consumes one value of any kind and returns its bytes.
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        self.peek()?;
        let start = self.pos;
        let mut open = Nesting::default();
        loop {
            // A value starts here.
            match self.peek()? {
                b'{' if !self.opens_empty(b'}') => {
                    open.push(true);
                    self.key()?;
                    continue;
                }
                b'[' if !self.opens_empty(b']') => {
                    open.push(false);
                    continue;
                }
                b'{' | b'[' => {}
                _ => self.plain()?,
            }
            // A value has just ended: close what it completes.
            loop {
                let Some(in_object) = open.top() else {
                    return Some(self.slice(start, self.pos));
                };
                match (self.peek()?, in_object) {
                    (b',', true) => {
                        self.pos += 1;
                        self.key()?;
                        break;
                    }
                    (b',', false) => {
                        self.pos += 1;
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.pos += 1;
                        open.pop();
                    }
                    _ => return None,
                }
            }
        }
    }

    /// Consumes `"key":` and returns the key with its quotes.
    pub(crate) fn key(&mut self) -> Option<&'a [u8]> {
        let key = self.string()?;
        self.eat(b':').then_some(key)
    }
}

/// Which containers are open, innermost last; `true` is an object. The first 64 levels need no allocation.
#[derive(Default)]
struct Nesting {
    bits: u64,
    depth: usize,
    deeper: Vec<u64>,
}

impl Nesting {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.deeper.push(self.bits);
            self.bits = 0;
        }
        self.bits = (self.bits << 1) | u64::from(object);
        self.depth += 1;
    }

    fn top(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.bits & 1 == 1)
    }

    fn pop(&mut self) {
        self.bits >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.bits = self.deeper.pop().unwrap_or_default();
        }
    }
}
