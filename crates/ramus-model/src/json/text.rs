//! String contents: decoding what a log holds, quoting what we write.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::lex::next_special;

/// Decodes the inside of a lexed string (without quotes). Lone surrogates and invalid UTF-8 read as U+FFFD: this is for
/// showing and comparing; the stored bytes are kept elsewhere.
pub(super) fn decode(inner: &[u8]) -> Cow<'_, str> {
    if memchr::memchr(b'\\', inner).is_none() {
        return match std::str::from_utf8(inner) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(inner),
        };
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (plain, escape) = rest.split_at(at);
        out.extend_from_slice(plain);
        rest = unescape(escape, &mut out);
    }
    out.extend_from_slice(rest);
    match String::from_utf8(out) {
        Ok(text) => Cow::Owned(text),
        Err(error) => Cow::Owned(String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// Decodes one escape at the start of `escape` into `out` and returns what follows it.
fn unescape<'a>(escape: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let plain = match escape.get(1) {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'r') => b'\r',
        Some(b'b') => 0x08,
        Some(b'f') => 0x0c,
        Some(b'u') => return unescape_unicode(escape, out),
        Some(&other) => other,
        None => return &[],
    };
    out.push(plain);
    escape.get(2..).unwrap_or_default()
}

fn unescape_unicode<'a>(escape: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let first = unit(escape);
    let rest = escape.get(6..).unwrap_or_default();
    let (scalar, rest) = match first {
        0xd800..=0xdbff if rest.starts_with(b"\\u") => match unit(rest) {
            second @ 0xdc00..=0xdfff => {
                (0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00), rest.get(6..).unwrap_or_default())
            }
            _ => (0xfffd, rest),
        },
        other => (other, rest),
    };
    let scalar = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
    rest
}

/// Says whether the inside of a string holds nothing that can be seen. Looks only as far as the first thing that can.
pub(super) fn is_blank(mut inner: &[u8]) -> bool {
    loop {
        let (scalar, length) = match inner {
            [] => return true,
            [b'\\', b'n' | b't' | b'r' | b'f', ..] => (u32::from(b' '), 2),
            [b'\\', b'u', ..] => (unit(inner), 6),
            [b'\\', ..] => return false,
            [ascii @ ..=0x7f, ..] => (u32::from(*ascii), 1),
            other => match first_char(other) {
                Some(first) => (u32::from(first), first.len_utf8()),
                None => return false,
            },
        };
        // Separators of files and records are white space to the servers that are written in Python.
        let is_space = matches!(scalar, 0x1c..=0x1f) || char::from_u32(scalar).is_some_and(char::is_whitespace);
        if !is_space {
            return false;
        }
        inner = inner.get(length..).unwrap_or_default();
    }
}

fn first_char(bytes: &[u8]) -> Option<char> {
    (2..=4).find_map(|length| std::str::from_utf8(bytes.get(..length)?).ok()?.chars().next())
}

/// Reads the four digits of `\uXXXX`.
fn unit(escape: &[u8]) -> u32 {
    let digits = escape.get(2..6).unwrap_or_default();
    digits.iter().fold(0, |value, &digit| value * 16 + char::from(digit).to_digit(16).unwrap_or_default())
}

/// Appends `text` to `out` as a JSON string.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut copied = 0;
    while let Some(at) = next_special(bytes, copied) {
        out.extend_from_slice(bytes.get(copied..at).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => out.extend_from_slice(b"\\\""),
            Some(b'\\') => out.extend_from_slice(b"\\\\"),
            Some(b'\n') => out.extend_from_slice(b"\\n"),
            Some(b'\r') => out.extend_from_slice(b"\\r"),
            Some(b'\t') => out.extend_from_slice(b"\\t"),
            Some(control) => {
                let mut escape = String::with_capacity(6);
                // Writing to a string cannot fail.
                let _ = write!(escape, "\\u{control:04x}");
                out.extend_from_slice(escape.as_bytes());
            }
            None => {}
        }
        copied = at + 1;
    }
    out.extend_from_slice(bytes.get(copied..).unwrap_or_default());
    out.push(b'"');
}
