//! A walk over the objects of a line in which something may have to change, and the splicing of those changes.
//!
//! It goes forward once, keeps its own stack, and takes what lies deeper than [`MAX_DEPTH`] as one opaque value, so
//! neither nesting nor length of the input can hurt it. What a model passes to a tool is never looked into.

use std::ops::Range;

use super::BLOB_MEMBER;
use crate::json::{Lexer, Raw};

/// How deep objects are looked into.
const MAX_DEPTH: usize = 128;

/// Members that only matter while an answer streams in.
const TRANSIENT: [&[u8]; 2] = [b"\"partialJson\"", b"\"jsonlEvents\""];

/// Members whose content belongs to someone else.
const OPAQUE: [&[u8]; 3] = [b"\"arguments\"", b"\"input\"", b"\"ramusBlob\""];

/// What an object is to the line it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The entry itself.
    Entry,
    /// The message of a message entry.
    Message,
    /// An element of an array called `content`.
    Part,
    /// The object behind a member `image_url`.
    ImageUrl,
    /// Any other.
    Other,
}

macro_rules! members {
    ($($field:ident = $name:literal,)*) => {
        /// The members of an object that decide what must change in it, as ranges of the line; of several with one name,
        /// the last.
        #[derive(Clone, Debug, Default)]
        pub(super) struct Members {
            $(pub(super) $field: Option<Range<usize>>,)*
            /// What must go for the member that names blobs to be gone.
            pub(super) blob_and_comma: Option<Range<usize>>,
        }

        impl Members {
            fn note(&mut self, key: &[u8], value: Range<usize>) {
                match key {
                    $(key if key == $name => self.$field = Some(value),)*
                    _ => {}
                }
            }
        }
    };
}

members! {
    kind = b"\"type\"",
    role = b"\"role\"",
    text = b"\"text\"",
    text_signature = b"\"textSignature\"",
    content = b"\"content\"",
    output = b"\"output\"",
    line_count = b"\"lineCount\"",
    data = b"\"data\"",
    image_url = b"\"image_url\"",
    url = b"\"url\"",
    blob = b"\"ramusBlob\"",
}

/// An object that was walked over.
#[derive(Debug)]
pub(super) struct Visited {
    pub(super) place: Place,
    pub(super) members: Members,
    /// From its opening to its closing brace.
    pub(super) range: Range<usize>,
}

/// What should be at a range of the line instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) with: Vec<u8>,
}

struct Frame {
    place: Place,
    is_object: bool,
    start: usize,
    members: Members,
    /// Where the last member ended, when one was kept.
    kept_end: Option<usize>,
    /// Where the members at the front that go started.
    going_from: Option<usize>,
    /// The member whose value is being walked.
    member: Range<usize>,
}

impl Frame {
    fn new(place: Place, is_object: bool, start: usize) -> Self {
        let members = Members::default();
        Self { place, is_object, start, members, kept_end: None, going_from: None, member: 0..0 }
    }
}

/// Walks over a line that is one JSON object. `visit` sees every object when it ends; with `drop_transient`, edits that
/// take transient members out are added.
pub(super) fn walk(
    line: &[u8],
    drop_transient: bool,
    edits: &mut Vec<Edit>,
    visit: &mut dyn FnMut(&Visited, &mut Vec<Edit>),
) {
    Walk { line, lexer: Lexer::new(line, 0), stack: Vec::new(), drop_transient, edits }.run(visit);
}

struct Walk<'a, 'e> {
    line: &'a [u8],
    lexer: Lexer<'a>,
    stack: Vec<Frame>,
    drop_transient: bool,
    edits: &'e mut Vec<Edit>,
}

impl Walk<'_, '_> {
    fn run(mut self, visit: &mut dyn FnMut(&Visited, &mut Vec<Edit>)) {
        if self.lexer.peek() == Some(b'{') {
            self.open(Place::Entry, true);
            // A line that is not JSON ends the walk wherever it stops being JSON.
            while !self.stack.is_empty() && self.step(visit).is_some() {}
        }
    }

    fn open(&mut self, place: Place, is_object: bool) {
        let start = self.lexer.pos();
        self.lexer.eat(if is_object { b'{' } else { b'[' });
        self.stack.push(Frame::new(place, is_object, start));
    }

    /// Goes to the next value of the innermost container, or out of it.
    fn step(&mut self, visit: &mut dyn FnMut(&Visited, &mut Vec<Edit>)) -> Option<()> {
        self.lexer.eat(b',');
        let is_object = self.stack.last()?.is_object;
        if self.lexer.eat(if is_object { b'}' } else { b']' }) {
            return self.close(visit);
        }
        if is_object { self.member() } else { self.element() }
    }

    fn element(&mut self) -> Option<()> {
        let frame = self.stack.last()?;
        let place = if frame.place == Place::Part { Place::Part } else { Place::Other };
        self.value(place)
    }

    fn member(&mut self) -> Option<()> {
        self.lexer.peek()?;
        let start = self.lexer.pos();
        let key = self.lexer.key()?;
        if self.drop_transient && TRANSIENT.contains(&key) {
            return self.drop_member(start);
        }
        let frame = self.stack.last_mut()?;
        if let Some(from) = frame.going_from.take() {
            self.edits.push(Edit { range: from..start, with: Vec::new() });
        }
        self.lexer.peek()?;
        frame.member = start..self.lexer.pos();
        let place = match (frame.place, key) {
            (Place::Entry, b"\"message\"") => Place::Message,
            (_, b"\"image_url\"") => Place::ImageUrl,
            _ => Place::Other,
        };
        if OPAQUE.contains(&key) {
            self.lexer.value()?;
            return self.end_value();
        }
        // The elements of an array called content are parts; an object of that name is none.
        let is_parts = key == b"\"content\"" && self.lexer.peek() == Some(b'[');
        self.value(if is_parts { Place::Part } else { place })
    }

    fn drop_member(&mut self, start: usize) -> Option<()> {
        self.lexer.value()?;
        let end = self.lexer.pos();
        let frame = self.stack.last_mut()?;
        match &mut frame.kept_end {
            Some(kept) => {
                self.edits.push(Edit { range: *kept..end, with: Vec::new() });
                *kept = end;
            }
            None => {
                frame.going_from.get_or_insert(start);
                frame.member.end = end;
            }
        }
        Some(())
    }

    fn value(&mut self, place: Place) -> Option<()> {
        match self.lexer.peek()? {
            open @ (b'{' | b'[') if self.stack.len() < MAX_DEPTH => {
                self.open(place, open == b'{');
                Some(())
            }
            _ => {
                self.lexer.value()?;
                self.end_value()
            }
        }
    }

    /// Notes the member whose value has just ended.
    fn end_value(&mut self) -> Option<()> {
        let end = self.lexer.pos();
        let frame = self.stack.last_mut()?;
        if frame.is_object {
            let key_and_value = self.line.get(frame.member.start..end)?;
            let key = Lexer::new(key_and_value, 0).string()?;
            frame.members.note(key, frame.member.end..end);
            if key.get(1..key.len() - 1) == Some(BLOB_MEMBER.as_bytes()) {
                frame.members.blob_and_comma = frame.kept_end.map(|kept| kept..end);
            }
            frame.kept_end = Some(end);
        }
        Some(())
    }

    fn close(&mut self, visit: &mut dyn FnMut(&Visited, &mut Vec<Edit>)) -> Option<()> {
        let frame = self.stack.pop()?;
        let range = frame.start..self.lexer.pos();
        if let Some(from) = frame.going_from {
            self.edits.push(Edit { range: from..frame.member.end, with: Vec::new() });
        }
        if frame.is_object {
            visit(&Visited { place: frame.place, members: frame.members, range }, self.edits);
        }
        if self.stack.is_empty() { Some(()) } else { self.end_value() }
    }
}

/// Returns the line with the edits made. Of two that overlap, the one that starts first counts.
pub(super) fn splice(line: &[u8], mut edits: Vec<Edit>) -> Vec<u8> {
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    let mut out = Vec::with_capacity(line.len());
    let mut position = 0;
    for edit in edits {
        if edit.range.start < position {
            continue;
        }
        out.extend_from_slice(line.get(position..edit.range.start).unwrap_or_default());
        out.extend_from_slice(&edit.with);
        position = edit.range.end;
    }
    out.extend_from_slice(line.get(position..).unwrap_or_default());
    out
}

/// The value at a range that the walk found.
pub(super) fn value<'a>(line: &'a [u8], range: &Option<Range<usize>>) -> Option<Raw<'a>> {
    Some(Raw::lexed(line.get(range.clone()?)?))
}
