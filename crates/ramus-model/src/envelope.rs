//! The envelope of a line: type, id, parent and the role of a message, read without reading the body.
//!
//! Every program that writes this format puts the envelope first, so reading stops as soon as all of it was seen. What
//! lies behind is not looked at: a body is checked when someone asks for it, or by a thorough reading ([`crate::Depth`]).

use crate::json::{Lexer, Raw, next_special};
use crate::kind::{Kind, Marker, Role};

/// What the envelope of a line says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) type_name: &'a [u8],
    pub(crate) kind: Kind,
    pub(crate) role: Role,
    pub(crate) marker: Marker,
    /// The id, or empty when there is none.
    pub(crate) id: Name<'a>,
    pub(crate) parent: Name<'a>,
    /// Where reading stopped; the rest of the line has not been looked at.
    pub(crate) end: usize,
    /// Whether that is the end of the object.
    pub(crate) closed: bool,
}

/// An id as it stands in the line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Name<'a> {
    /// Absent, null, empty, or not a string.
    None,
    /// Text without escapes: the bytes are the id.
    Plain(&'a [u8]),
    /// Text with escapes or invalid UTF-8.
    Escaped(Raw<'a>),
}

/// The length of `2026-02-16T10:20:30.000Z`, which is how all writers spell it.
const TIMESTAMP_LEN: usize = 24;

const TYPE: u8 = 1;
const ID: u8 = 2;
const PARENT: u8 = 4;
const BODY: u8 = 8;
const ALL: u8 = TYPE | ID | PARENT | BODY;
/// More than there is to see: read to the end.
const NEVER: u8 = u8::MAX;

impl<'a> Envelope<'a> {
    /// Reads the envelope of `line`, which must be an object. Returns `None` when what was read is not JSON.
    pub(crate) fn read(line: &'a [u8]) -> Option<Self> {
        Self::read_any(line, ALL)
    }

    /// Reads the envelope of a whole object: of members that stand twice, the last counts, as everywhere else.
    pub(crate) fn of(object: Raw<'a>) -> Option<Self> {
        Self::read_any(object.bytes(), NEVER)
    }

    /// Reads the usual spelling of a message: the members in the order all writers use, no whitespace, no escapes.
    /// Nearly every line is one, and this takes a fraction of the time.
    pub(crate) fn read_usual(line: &'a [u8]) -> Option<Self> {
        let rest = line.strip_prefix(b"{\"type\":\"message\",\"id\":\"")?;
        let (id, rest) = plain_id(rest)?;
        let rest = rest.strip_prefix(b",\"parentId\":")?;
        let (parent, rest) = match rest.strip_prefix(b"\"") {
            Some(rest) => plain_id(rest).map(|(parent, rest)| (Name::Plain(parent), rest))?,
            None => (Name::None, rest.strip_prefix(b"null")?),
        };
        let rest = rest.strip_prefix(b",\"timestamp\":\"")?;
        let rest = rest.get(TIMESTAMP_LEN..).filter(|rest| rest.first() == Some(&b'"'))?.get(1..)?;
        let rest = rest.strip_prefix(b",\"message\":{\"role\":\"")?;
        let (role, rest) = plain_text(rest)?;
        Some(Self {
            type_name: b"message",
            kind: Kind::Message,
            role: Role::from_wire(role),
            marker: Marker::None,
            id: Name::Plain(id),
            parent,
            end: line.len() - rest.len(),
            closed: false,
        })
    }

    /// Reads members until those in `enough` have been seen.
    fn read_any(line: &'a [u8], enough: u8) -> Option<Self> {
        let mut lexer = Lexer::new(line, 0);
        if !lexer.eat(b'{') {
            return None;
        }
        let mut envelope = Self {
            type_name: b"",
            kind: Kind::Unknown,
            role: Role::Other,
            marker: Marker::None,
            id: Name::None,
            parent: Name::None,
            end: 0,
            closed: false,
        };
        if lexer.eat(b'}') {
            envelope.end = lexer.pos();
            envelope.closed = true;
            return Some(envelope);
        }
        let mut seen = 0;
        loop {
            let key = lexer.key()?;
            envelope.member(key, &mut lexer, &mut seen, enough)?;
            if seen == enough {
                break;
            }
            if lexer.eat(b',') {
                continue;
            }
            if lexer.eat(b'}') {
                envelope.closed = true;
                if seen & BODY == 0 {
                    envelope.read_late_body(Raw::lexed(lexer.slice(0, lexer.pos())));
                }
                break;
            }
            return None;
        }
        envelope.end = lexer.pos();
        Some(envelope)
    }

    /// The body stood before the type, so it was passed over.
    fn read_late_body(&mut self, line: Raw<'_>) {
        if let (Kind::Message, Some(message)) = (self.kind, line.field("message")) {
            self.role = role_of(message);
        }
        if let (Kind::Custom, Some(text)) = (self.kind, line.field("customType").and_then(Raw::text)) {
            self.marker = Marker::from_custom_type(&text);
        }
    }

    /// Reads the value of one member.
    fn member(&mut self, key: &[u8], lexer: &mut Lexer<'a>, seen: &mut u8, enough: u8) -> Option<()> {
        match key {
            b"\"type\"" => {
                let value = lexer.value()?;
                self.type_name = unquoted(value).unwrap_or_default();
                self.kind = Kind::from_wire(self.type_name);
                *seen |= TYPE;
                // Only messages and custom entries carry something the tree needs behind the envelope.
                if !matches!(self.kind, Kind::Message | Kind::Custom) {
                    *seen |= BODY;
                }
            }
            b"\"id\"" => {
                self.id = Name::read(lexer.value()?);
                *seen |= ID;
            }
            b"\"parentId\"" => {
                self.parent = Name::read(lexer.value()?);
                *seen |= PARENT;
            }
            b"\"message\"" if self.kind == Kind::Message => {
                *seen |= BODY;
                self.role = match leading_role(lexer).filter(|_| *seen == ALL) {
                    // Nothing more is needed: the message itself need not be passed over.
                    Some(role) if enough == ALL => role,
                    _ => role_of(Raw::lexed(lexer.value()?)),
                };
            }
            b"\"customType\"" if self.kind == Kind::Custom => {
                let text = Raw::lexed(lexer.value()?).text();
                self.marker = text.map_or(Marker::None, |text| Marker::from_custom_type(&text));
                *seen |= BODY;
            }
            _ => drop(lexer.value()?),
        }
        Some(())
    }
}

impl<'a> Name<'a> {
    fn read(value: &'a [u8]) -> Self {
        match unquoted(value) {
            Some(b"") => Self::None,
            Some(inner) if inner.iter().all(|byte| byte.is_ascii() && *byte != b'\\') => Self::Plain(inner),
            Some(_) => Self::Escaped(Raw::lexed(value)),
            None => Self::None,
        }
    }
}

/// Takes text without escapes up to its closing quote; not empty.
fn plain_text(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (text, rest) = bytes.split_at_checked(next_special(bytes, 0)?)?;
    Some((text, rest.strip_prefix(b"\"")?)).filter(|_| !text.is_empty())
}

/// Takes an id the same way. Nearly all have eight letters and digits, which one look tells.
fn plain_id(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some((id, [b'"', rest @ ..])) = bytes.split_at_checked(8)
        && id.iter().fold(true, |all, byte| all & byte.is_ascii_alphanumeric())
    {
        return Some((id, rest));
    }
    plain_text(bytes).filter(|(id, _)| id.is_ascii())
}

fn unquoted(value: &[u8]) -> Option<&[u8]> {
    value.strip_prefix(b"\"")?.strip_suffix(b"\"")
}

/// The role, when it is the first member of the message that starts here.
fn leading_role(lexer: &Lexer<'_>) -> Option<Role> {
    let mut ahead = *lexer;
    if !ahead.eat(b'{') || ahead.key()? != b"\"role\"" {
        return None;
    }
    unquoted(ahead.string()?).map(Role::from_wire)
}

/// The role of a whole message.
pub(crate) fn role_of(message: Raw<'_>) -> Role {
    message.field("role").and_then(Raw::text).map_or(Role::Other, |role| Role::from_wire(role.as_bytes()))
}
