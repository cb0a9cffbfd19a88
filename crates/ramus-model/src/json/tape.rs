//! [`Tape`]: a value with everything in it found in one pass, for code that goes deep into long lines.

use super::lex::{Lexer, skip_whitespace};
use super::view::{Object, Raw, Shape};

/// How deep a tape looks: an entry, its message, the content, a part. What is in the members of a part is one piece, so
/// that no arguments of a call make a tape long.
pub const DEPTH: usize = 4;

/// A value, and where the values and names in it stand, in the order of their first bytes. What lies deeper than [`DEPTH`]
/// is not on it.
pub struct Tape<'a> {
    bytes: &'a [u8],
    spans: Vec<Span>,
}

struct Span {
    start: usize,
    end: usize,
    /// The place on the tape of what follows this value and all that is in it.
    next: usize,
}

/// A value on a tape. The names of an object stand in front of its values.
#[derive(Clone, Copy)]
pub struct Node<'t, 'a> {
    tape: &'t Tape<'a>,
    at: usize,
}

impl<'a> Tape<'a> {
    /// Reads `bytes` as exactly one value, whitespace around it allowed.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut lexer = Lexer::new(bytes, 0);
        let mut tape = Self { bytes, spans: Vec::with_capacity(48) };
        tape.record(&mut lexer)?;
        (skip_whitespace(bytes, lexer.pos()) == bytes.len()).then_some(tape)
    }

    /// Returns the whole value.
    pub fn root(&self) -> Node<'_, 'a> {
        Node { tape: self, at: 0 }
    }

    fn record(&mut self, lexer: &mut Lexer<'a>) -> Option<()> {
        let mut open: Vec<usize> = Vec::with_capacity(DEPTH);
        loop {
            // A value starts here.
            let first = lexer.peek()?;
            let at = self.start(lexer.pos());
            match first {
                b'{' | b'[' if open.len() == DEPTH => drop(lexer.value()?),
                b'{' if !lexer.opens_empty(b'}') => {
                    open.push(at);
                    self.name(lexer)?;
                    continue;
                }
                b'[' if !lexer.opens_empty(b']') => {
                    open.push(at);
                    continue;
                }
                b'{' | b'[' => {}
                _ => lexer.plain()?,
            }
            self.end(at, lexer.pos());
            // A value has just ended: close what it completes.
            loop {
                let Some(&around) = open.last() else { return Some(()) };
                let is_object = self.bytes.get(self.spans.get(around)?.start) == Some(&b'{');
                if lexer.eat(b',') {
                    if is_object {
                        self.name(lexer)?;
                    }
                    break;
                }
                if !lexer.eat(if is_object { b'}' } else { b']' }) {
                    return None;
                }
                open.pop();
                self.end(around, lexer.pos());
            }
        }
    }

    fn name(&mut self, lexer: &mut Lexer<'a>) -> Option<()> {
        lexer.peek()?;
        let at = self.start(lexer.pos());
        let name = lexer.key()?;
        let start = self.spans.get(at)?.start;
        self.end(at, start + name.len());
        Some(())
    }

    fn start(&mut self, start: usize) -> usize {
        self.spans.push(Span { start, end: start, next: self.spans.len() + 1 });
        self.spans.len() - 1
    }

    fn end(&mut self, at: usize, end: usize) {
        let next = self.spans.len();
        if let Some(span) = self.spans.get_mut(at) {
            (span.end, span.next) = (end, next);
        }
    }
}

impl<'t, 'a> Node<'t, 'a> {
    /// Returns the value as it is spelled.
    pub fn raw(self) -> Raw<'a> {
        let bytes = self.tape.spans.get(self.at).and_then(|span| self.tape.bytes.get(span.start..span.end));
        Raw::lexed(bytes.unwrap_or_default())
    }

    /// Says what kind of value this is.
    pub fn shape(self) -> Shape {
        self.raw().shape()
    }

    /// Returns the members of an object; none for anything else.
    pub fn object(self) -> Option<Object<'a>> {
        (self.shape() == Shape::Object).then(|| {
            let members = self.members().map(|(name, value)| (name.raw().bytes(), value.raw()));
            Object::of(members.collect())
        })
    }

    /// Returns the member called `name`; of several, the last, as `JSON.parse` would.
    pub fn field(self, name: &str) -> Option<Self> {
        self.members().filter(|(key, _)| key.raw().spells(name)).last().map(|(_, value)| value)
    }

    /// Iterates over the elements of an array; empty for anything else.
    pub fn items(self) -> impl Iterator<Item = Self> {
        let is_array = self.shape() == Shape::Array;
        self.inside().filter(move |_| is_array)
    }

    fn members(self) -> impl Iterator<Item = (Self, Self)> {
        let is_object = self.shape() == Shape::Object;
        let mut inside = self.inside().filter(move |_| is_object);
        std::iter::from_fn(move || Some((inside.next()?, inside.next()?)))
    }

    /// What stands in this value, but not in anything in it.
    fn inside(self) -> impl Iterator<Item = Self> {
        let tape = self.tape;
        let end = tape.spans.get(self.at).map_or(0, |span| span.next);
        let first = Some(self.at + 1).filter(|at| *at < end);
        let next = move |at: &usize| tape.spans.get(*at).map(|span| span.next).filter(|next| *next < end);
        std::iter::successors(first, next).map(move |at| Self { tape, at })
    }
}
