//! A text as it reads once escapes are undone: `\n`, `\"`, `\u003d`, `%3D`, colours of a terminal.
//!
//! A view remembers for each of its bytes where it comes from, so what is found in it is found in the text. Undoing can be
//! wrong (a backslash of a Windows path is no escape), which is why the text itself is looked at too.

use memchr::{memchr, memchr2, memchr3, memrchr};

use crate::span::{Span, part, rest};

/// How often escapes are undone: JSON in JSON in JSON is what tools hand around.
const LEVELS: usize = 3;

/// A text with its escapes undone.
pub(crate) struct View {
    /// What it reads.
    pub(crate) text: Vec<u8>,
    /// Where each byte comes from, and where the text ends.
    origins: Vec<u32>,
}

impl View {
    /// Returns the views of a text that differ from it, each with one more level undone.
    pub(crate) fn all(text: &[u8]) -> Vec<Self> {
        let mut views: Vec<Self> = Vec::new();
        while views.len() < LEVELS {
            let next = match views.last() {
                Some(view) => Self::of(&view.text, Some(&view.origins)),
                None => Self::of(text, None),
            };
            match next {
                Some(view) => views.push(view),
                None => break,
            }
        }
        views
    }

    /// Undoes one level; none when there is nothing to undo.
    fn of(text: &[u8], origins: Option<&[u32]>) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let origin = |at: usize| match origins {
            Some(origins) => origins.get(at).copied().unwrap_or_default(),
            None => u32::try_from(at).unwrap_or(u32::MAX),
        };
        let mut view = Self { text: Vec::with_capacity(text.len()), origins: Vec::with_capacity(text.len() + 1) };
        let (mut at, mut changed) = (0, false);
        while let Some(byte) = text.get(at) {
            match escape(rest(text, at)) {
                Some((len, meaning)) => {
                    meaning.write(&mut view.text);
                    view.origins.resize(view.text.len(), origin(at));
                    at += len;
                    changed = true;
                }
                None => {
                    view.text.push(*byte);
                    view.origins.push(origin(at));
                    at += 1;
                }
            }
        }
        view.origins.push(origin(text.len()));
        changed.then_some(view)
    }

    /// Where in the text something of the view is.
    pub(crate) fn in_text(&self, span: Span) -> Span {
        let origin = |at: usize| self.origins.get(at).copied().unwrap_or_default() as usize;
        Span { start: origin(span.start), end: origin(span.end), ..span }
    }
}

/// What an escape stands for.
enum Meaning {
    Nothing,
    Byte(u8),
    Character(char),
}

impl Meaning {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Nothing => {}
            Self::Byte(byte) => out.push(*byte),
            Self::Character(character) => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// What the text begins with, if it is an escape: its length, and what it stands for.
fn escape(text: &[u8]) -> Option<(usize, Meaning)> {
    let byte = |byte: u8| Some((2, Meaning::Byte(byte)));
    match text {
        [b'\\', b'u', ..] => {
            let character = char::from_u32(hex(part(text, 2, 6))?);
            Some((6, character.map_or(Meaning::Nothing, Meaning::Character)))
        }
        [b'\\', b'\r', b'\n', ..] => Some((3, Meaning::Nothing)),
        [b'\\', b'\n', ..] => Some((2, Meaning::Nothing)),
        [b'\\', b'n', ..] => byte(b'\n'),
        [b'\\', b'r', ..] => byte(b'\r'),
        [b'\\', b't', ..] => byte(b'\t'),
        [b'\\', escaped @ (b'"' | b'\'' | b'\\' | b'/' | b'`'), ..] => byte(*escaped),
        [b'%', _, _, ..] => Some((3, Meaning::Byte(u8::try_from(hex(part(text, 1, 3))?).ok()?))),
        [0x1b, b'[', ..] => {
            // Colours are short; a longer sequence is none.
            let end = rest(text, 2).iter().take(24).position(|byte| byte.is_ascii_alphabetic())?;
            Some((end + 3, Meaning::Nothing))
        }
        _ => None,
    }
}

/// Returns the parts of a text that have something to undo: lines with escapes that follow each other.
pub(crate) fn escaped_parts(text: &[u8]) -> Vec<(usize, usize)> {
    let mut parts: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(found) = memchr3(b'\\', b'%', 0x1b, rest(text, at)) {
        let hit = at + found;
        let start = memrchr(b'\n', part(text, at, hit)).map_or(at, |line| at + line + 1);
        let end = memchr(b'\n', rest(text, hit)).map_or(text.len(), |line| hit + line + 1);
        // An escaped line end makes the next line part of this one.
        let end = if part(text, hit, end).ends_with(b"\\\n") {
            memchr(b'\n', rest(text, end)).map_or(text.len(), |line| end + line + 1)
        } else {
            end
        };
        match parts.last_mut() {
            Some((_, last)) if *last == start => *last = end,
            _ => parts.push((start, end)),
        }
        at = end;
    }
    parts
}

fn hex(digits: &[u8]) -> Option<u32> {
    if !digits.iter().all(u8::is_ascii_hexdigit) || digits.is_empty() {
        return None;
    }
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// What continues a line that was broken: the line end, and the indentation or mark that the next line starts with.
/// Returns its length.
pub(crate) fn line_break(text: &[u8]) -> Option<usize> {
    memchr2(b'\n', b'\r', text.get(..1)?)?;
    let ends = text.iter().take(2).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let indent = rest(text, ends).iter().take(16).take_while(|byte| matches!(byte, b' ' | b'\t' | b'>' | b'|')).count();
    Some(ends + indent)
}

#[cfg(test)]
mod tests {
    use super::View;
    use crate::span::Span;

    #[test]
    fn what_is_found_in_a_view_is_found_in_the_text() {
        let text = r#"{"a":"x\\n\"key\"%3Dv"}"#;
        let views = View::all(text.as_bytes());
        assert_eq!(views.first().map(|view| view.text.clone()), Some(br#"{"a":"x\n"key"=v"}"#.to_vec()));
        let deepest = views.last().map(|view| {
            let at = view.text.iter().position(|byte| *byte == b'v').unwrap_or_default();
            view.in_text(Span { start: at, end: at + 1, kind: "" })
        });
        assert_eq!(deepest.and_then(|span| text.get(span.start..span.end)), Some("v"));
    }
}
