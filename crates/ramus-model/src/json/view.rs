//! [`Raw`]: a validated, borrowed JSON value.

use std::borrow::Cow;

use super::lex::{Lexer, skip_whitespace};
use super::skip::Skipper;
use super::text;

/// What a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// `"…"`
    Text,
    /// A number in any spelling.
    Number,
    /// `true` or `false`
    Flag,
    /// `null`
    Null,
}

/// The exact bytes of one JSON value. Only the lexer makes one, so the bytes are known to be well formed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a [u8]);

impl<'a> Raw<'a> {
    /// Reads `bytes` as exactly one value, whitespace around it allowed.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (raw, rest) = Self::prefix(bytes)?;
        (skip_whitespace(rest, 0) == rest.len()).then_some(raw)
    }

    /// Reads one value at the start of `bytes` and returns it with what follows.
    pub fn prefix(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut lexer = Lexer::new(bytes, 0);
        let value = lexer.value()?;
        Some((Self(value), bytes.get(lexer.pos()..).unwrap_or_default()))
    }

    pub(crate) fn lexed(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Returns the bytes as they stand in the log.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Says what kind of value this is.
    pub fn shape(self) -> Shape {
        match self.0.first() {
            Some(b'{') => Shape::Object,
            Some(b'[') => Shape::Array,
            Some(b'"') => Shape::Text,
            Some(b't' | b'f') => Shape::Flag,
            Some(b'n') | None => Shape::Null,
            Some(_) => Shape::Number,
        }
    }

    /// Says whether this is `null`.
    pub fn is_null(self) -> bool {
        self.shape() == Shape::Null
    }

    /// Iterates over the members of an object; empty for anything else.
    pub fn fields(self) -> impl Iterator<Item = (Cow<'a, str>, Raw<'a>)> {
        self.raw_fields().filter_map(|(key, value)| Some((key.text()?, value)))
    }

    /// Iterates over the members of an object with their names as spelled, quotes included.
    pub fn raw_fields(self) -> impl Iterator<Item = (Raw<'a>, Raw<'a>)> {
        let mut skipper = inside(self, b'{');
        std::iter::from_fn(move || {
            let skipper = skipper.as_mut()?;
            skipper.eat(b',');
            let key = skipper.key()?;
            Some((Raw(key), Raw(skipper.value()?)))
        })
    }

    /// Returns the member called `name`; of several, the last, as `JSON.parse` would.
    pub fn field(self, name: &str) -> Option<Raw<'a>> {
        self.raw_fields().filter(|(key, _)| key.spells(name)).last().map(|(_, value)| value)
    }

    /// Iterates over the elements of an array; empty for anything else.
    pub fn items(self) -> Items<'a> {
        Items { skipper: inside(self, b'[') }
    }

    /// Returns the text of a string; lone surrogates and invalid UTF-8 read as U+FFFD.
    pub fn text(self) -> Option<Cow<'a, str>> {
        let inner = self.0.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
        Some(text::decode(inner))
    }

    /// Says whether this is the string `text`.
    pub(crate) fn spells(self, text: &str) -> bool {
        let Some(inner) = self.0.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\"")) else { return false };
        let is_plain = memchr::memchr(b'\\', inner).is_none();
        match inner == text.as_bytes() {
            true if is_plain => true,
            // Other bytes read the same only if they are escaped, or no Unicode, which reads as U+FFFD.
            false if is_plain && inner.is_ascii() => false,
            _ => text::decode(inner) == text,
        }
    }

    /// Says whether this is a text of which nothing can be seen. Providers refuse such text.
    pub fn is_blank(self) -> bool {
        let inner = self.0.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\""));
        inner.is_some_and(text::is_blank)
    }

    /// Returns a non-negative integer; JavaScript spellings such as `1e3` or `5.0` count when they are whole.
    pub fn unsigned(self) -> Option<u64> {
        let spelled = std::str::from_utf8(self.0).ok()?;
        spelled.parse().ok().or_else(|| {
            let float = self.float()?;
            (float >= 0.0 && float.fract() == 0.0 && float < 9_007_199_254_740_992.0).then_some(float as u64)
        })
    }

    /// Returns a number as a float.
    pub fn float(self) -> Option<f64> {
        if self.shape() != Shape::Number {
            return None;
        }
        std::str::from_utf8(self.0).ok()?.parse().ok()
    }

    /// Returns a boolean.
    pub fn flag(self) -> Option<bool> {
        match self.0 {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }
}

/// An object whose members were found in one pass, for code that wants several of them.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    members: Vec<(&'a [u8], Raw<'a>)>,
}

impl<'a> Object<'a> {
    /// Reads `bytes` as exactly one object.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut lexer = Lexer::new(bytes, 0);
        let object = Self::read(&mut lexer)?;
        (skip_whitespace(bytes, lexer.pos()) == bytes.len()).then_some(object)
    }

    pub(super) fn of(members: Vec<(&'a [u8], Raw<'a>)>) -> Self {
        Self { members }
    }

    fn read(lexer: &mut Lexer<'a>) -> Option<Self> {
        let mut members = Vec::with_capacity(8);
        if !lexer.eat(b'{') {
            return None;
        }
        if lexer.eat(b'}') {
            return Some(Self { members });
        }
        loop {
            let key = lexer.key()?;
            members.push((key, Raw(lexer.value()?)));
            if lexer.eat(b'}') {
                return Some(Self { members });
            }
            if !lexer.eat(b',') {
                return None;
            }
        }
    }

    /// Returns the member called `name`; of several, the last, as `JSON.parse` would.
    pub fn field(&self, name: &str) -> Option<Raw<'a>> {
        self.members.iter().rev().find(|(key, _)| Raw(key).spells(name)).map(|(_, value)| *value)
    }

    /// Returns the text of the member called `name`.
    pub fn text(&self, name: &str) -> Option<Cow<'a, str>> {
        self.field(name).and_then(Raw::text)
    }
}

impl<'a> Raw<'a> {
    /// Finds the members of an object in one pass; none for anything else.
    pub fn object(self) -> Option<Object<'a>> {
        (self.shape() == Shape::Object).then(|| {
            let mut members = Vec::with_capacity(8);
            members.extend(self.raw_fields().map(|(key, value)| (key.0, value)));
            Object { members }
        })
    }
}

impl std::fmt::Debug for Raw<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0))
    }
}

/// A position just behind the opening bracket, or none when the value is of another shape.
fn inside(raw: Raw<'_>, open: u8) -> Option<Skipper<'_>> {
    (raw.0.first() == Some(&open)).then(|| Skipper::new(raw.0, 1))
}

/// The elements of an array.
pub struct Items<'a> {
    skipper: Option<Skipper<'a>>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        let skipper = self.skipper.as_mut()?;
        skipper.eat(b',');
        if skipper.peek()? == b']' {
            return None;
        }
        skipper.value().map(Raw)
    }
}
