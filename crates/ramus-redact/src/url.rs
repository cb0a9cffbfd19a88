//! Passwords in addresses: `postgres://user:password@host`.

use crate::judge;
use crate::span::{Span, part, rest};

/// How long a user and password can be together.
const LONGEST: usize = 320;

/// Finds the password of the address whose `://` ends at `end`.
pub(crate) fn find(text: &[u8], end: usize) -> Option<Span> {
    let ends = |byte: &&u8| {
        byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | b')')
    };
    let len = rest(text, end).iter().take(LONGEST).take_while(|byte| !ends(byte)).count();
    let address = part(text, end, end + len);
    let authority = address.split(|byte| *byte == b'/').next().unwrap_or_default();
    let user = authority.get(..memchr::memrchr(b'@', authority)?)?;
    let (start, password) = match memchr::memchr(b':', user) {
        Some(colon) => (end + colon + 1, rest(user, colon + 1)),
        // `https://TOKEN@host`.
        None if judge::is_random(user) => (end, user),
        None => return None,
    };
    let is_told = |word: &&str| password.eq_ignore_ascii_case(word.as_bytes());
    let is_example = ["password", "pass", "passwd", "pwd", "pw", "secret", "token", "user"].iter().any(is_told);
    let has_query = memchr::memchr(b'?', password).is_some();
    let is_secret = password.len() >= 4
        && !is_example
        && !judge::is_placeholder(password)
        && (!has_query || judge::is_random(password) || judge::is_chosen(password));
    Span::new(start, start + password.len(), "url-password").filter(|_| is_secret)
}
