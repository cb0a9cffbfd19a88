//! What HTTP carries: `Authorization`, `Bearer`, cookies.

use crate::alphabet::Alphabet;
use crate::judge;
use crate::span::{Span, part, rest};

/// What credentials consist of.
const CREDENTIAL: &Alphabet = &Alphabet::word_and(b"-._~+/=:%");
/// How much of a line is looked at.
const LINE: usize = 4096;

/// Finds the credentials behind `authorization`, which ends at `end`.
pub(crate) fn authorization(text: &[u8], end: usize) -> Option<Span> {
    let mut at = end + rest(text, end).iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    at += separator(rest(text, at))?;
    at += rest(text, at).iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`')).count();
    let scheme =
        rest(text, at).iter().take(24).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'-').count();
    let is_scheme = scheme > 0 && text.get(at + scheme) == Some(&b' ');
    let start = if is_scheme { at + scheme + 1 } else { at };
    let len = CREDENTIAL.run(rest(text, start), LINE);
    let value = part(text, start, start + len);
    let is_enough = if is_scheme { len >= 8 } else { len >= 16 };
    let is_secret = is_enough && !judge::is_placeholder(value) && (judge::is_random(value) || judge::is_chosen(value));
    Span::new(start, start + len, "authorization").filter(|_| is_secret)
}

/// Finds the token behind `bearer`, which ends at `end`.
pub(crate) fn bearer(text: &[u8], end: usize) -> Option<Span> {
    let start = end + 1;
    let len = CREDENTIAL.run(rest(text, start), LINE);
    let value = part(text, start, start + len);
    let is_secret =
        text.get(end) == Some(&b' ') && len >= 16 && judge::is_random(value) && !judge::is_placeholder(value);
    Span::new(start, start + len, "authorization").filter(|_| is_secret)
}

/// Finds the values of cookies behind `cookie`, which ends at `end`; returns where the line was read to.
pub(crate) fn cookies(text: &[u8], end: usize, found: &mut Vec<Span>) -> Option<usize> {
    let quotes = rest(text, end).iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'')).count();
    let from = end + quotes + separator(rest(text, end + quotes))?;
    let line = part(text, from, text.len().min(from + LINE));
    let stop = line.iter().skip(1).position(|byte| matches!(byte, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\'));
    let line = part(line, 0, stop.map_or(line.len(), |stop| stop + 1));
    let mut at = from;
    for pair in line.split(|byte| *byte == b';') {
        if let Some(equals) = memchr::memchr(b'=', pair) {
            let value = rest(pair, equals + 1);
            if value.len() >= 10 && judge::is_random(value) {
                found.extend(Span::new(at + equals + 1, at + pair.len(), "cookie"));
            }
        }
        at += pair.len() + 1;
    }
    Some(from + line.len())
}

/// The length of `: ` or `=`, with blanks.
fn separator(text: &[u8]) -> Option<usize> {
    let blank = |text: &[u8]| text.iter().take(4).take_while(|byte| **byte == b' ').count();
    let first = blank(text);
    matches!(text.get(first), Some(b':' | b'=')).then(|| first + 1 + blank(rest(text, first + 1)))
}
