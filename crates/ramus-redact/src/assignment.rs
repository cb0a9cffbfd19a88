//! Values under names that say what they are: `DB_PASSWORD=…`, `"apiKey": "…"`, `--token …`, `ENV NAME …`.

use crate::alphabet::Alphabet;
use crate::judge::{self, SAMPLE};
use crate::span::{Span, before, part, rest};
use crate::view::line_break;

/// How much a word in a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    /// What people choose themselves.
    Password,
    /// What machines hand out.
    Token,
    /// What may be anything: only a value that is surely random counts.
    Weak,
}

/// The words, in small letters.
pub(crate) const WORDS: &[(&str, Strength)] = &[
    ("password", Strength::Password),
    ("passwd", Strength::Password),
    ("passphrase", Strength::Password),
    ("pwd", Strength::Password),
    ("secret", Strength::Token),
    ("token", Strength::Token),
    ("apikey", Strength::Token),
    ("api_key", Strength::Token),
    ("api-key", Strength::Token),
    ("api.key", Strength::Token),
    ("accesskey", Strength::Token),
    ("access_key", Strength::Token),
    ("access-key", Strength::Token),
    ("private_key", Strength::Token),
    ("privatekey", Strength::Token),
    ("credential", Strength::Token),
    ("accountkey", Strength::Token),
    ("key", Strength::Weak),
    ("auth", Strength::Weak),
    ("pat", Strength::Weak),
    ("sig", Strength::Weak),
    ("signature", Strength::Weak),
];

/// What a name may consist of.
const NAME: &Alphabet = &Alphabet::word_and(b"_-.");
/// What the second line of a value may consist of.
const BROKEN: &Alphabet = &Alphabet::word_and(b"-_.+/~");
/// How far a name goes from the word in it.
const REACH: usize = 48;
/// How long a value can be.
const LONGEST: usize = 4096;

/// What names end with that are about a secret and hold none.
const ABOUT: &[&str] = &[
    "count",
    "limit",
    "type",
    "url",
    "uri",
    "endpoint",
    "name",
    "path",
    "file",
    "length",
    "size",
    "ttl",
    "seconds",
    "expiry",
    "expires",
    "expiration",
    "ref",
    "label",
    "placeholder",
    "hint",
    "field",
    "error",
    "message",
    "policy",
    "regex",
    "pattern",
    "keyref",
    "s",
    "izer",
    "ize",
    "hash",
    "algorithm",
    "issuer",
    "version",
    "id",
];
/// What says that a key opens nothing.
const HARMLESS: &[&str] = &[
    "cache",
    "public",
    "publishable",
    "primary",
    "foreign",
    "partition",
    "sort",
    "idempotency",
    "object",
    "dedup",
    "query",
    "etag",
    "hash",
    "integrity",
    "checksum",
];

/// Finds the value of the name that has a word from `start` to `end` in it.
pub(crate) fn find(text: &[u8], start: usize, end: usize, strength: Strength) -> Option<Span> {
    let name = Name::around(text, start, end);
    if name.is_reference() || name.is_about() || (strength == Strength::Weak && !name.ends_there(end)) {
        return None;
    }
    let kind = match strength {
        Strength::Password => "password",
        Strength::Token => "named-secret",
        Strength::Weak => "named-key",
    };
    let mut from = name.value_at()?;
    // `const TOKEN: &str = "…"`: what follows the colon may be a type.
    for _ in 0..2 {
        if let Some(value) = Value::at(text, from).filter(|value| value.is_secret(text, &name, strength)) {
            return Span::new(value.start, value.whole_end(text), kind);
        }
        let line = part(text, from, from + 48);
        let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
        from += memchr::memmem::find(line, b"= ").filter(|at| *at > 0)? + 2;
    }
    None
}

/// The name around a word.
struct Name<'t> {
    text: &'t [u8],
    start: usize,
    end: usize,
}

impl<'t> Name<'t> {
    fn around(text: &'t [u8], start: usize, end: usize) -> Self {
        let left = part(text, start.saturating_sub(REACH), start);
        let left = left.iter().rev().take_while(|byte| NAME.has(**byte)).count();
        Self { text, start: start - left, end: end + NAME.run(rest(text, end), REACH) }
    }

    fn bytes(&self) -> &'t [u8] {
        part(self.text, self.start, self.end)
    }

    /// Whether a value is taken from it, as in `${NAME:-}`.
    fn is_reference(&self) -> bool {
        part(self.text, 0, self.start).ends_with(b"${") || before(self.text, self.start) == Some(b'$')
    }

    /// Whether the name ends with the word.
    fn ends_there(&self, end: usize) -> bool {
        let is_harmless = |word: &&str| contains(self.bytes(), word);
        self.end == end && !HARMLESS.iter().any(is_harmless)
    }

    /// Whether the name is that of a property of a secret.
    fn is_about(&self) -> bool {
        let name = self.bytes();
        let ends = |word: &&str| {
            let at = name.len().checked_sub(word.len());
            at.and_then(|at| name.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(word.as_bytes()))
        };
        // An id of a key is found by its own form, and `pass` ends in an s.
        let ends_about = ABOUT.iter().any(ends);
        let is_plural_of_secret =
            name.ends_with(b"credentials") || name.ends_with(b"CREDENTIALS") || name.ends_with(b"Credentials");
        ends_about && !is_plural_of_secret && !name.ends_with(b"pass")
    }

    /// Whether it is spelled as variables of the environment are.
    fn is_variable(&self) -> bool {
        let name = self.bytes();
        name.len() > 2 && name.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    }

    /// Where the value starts.
    fn value_at(&self) -> Option<usize> {
        let mut at = self.end;
        let quotes =
            rest(self.text, at).iter().take(2).take_while(|byte| matches!(byte, b'"' | b'\'' | b'`' | b']')).count();
        at += quotes;
        let blank =
            |at: usize| rest(self.text, at).iter().take(24).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let spaces = blank(at);
        let separator = match rest(self.text, at + spaces) {
            // A path in code.
            [b':', b':', ..] => return None,
            [b':', b'=', ..] | [b'=', b'>', ..] | [b'?', b'=', ..] => 2,
            // A comparison, unless the value begins with the second one.
            [b'=', b'=', b' ', ..] => return None,
            [b'=' | b':', ..] => 1,
            other => return self.value_apart(at, spaces, other),
        };
        at += spaces + separator;
        Some(at + blank(at))
    }

    /// The value of a name that no `=` or `:` follows.
    fn value_apart(&self, at: usize, spaces: usize, follows: &[u8]) -> Option<usize> {
        // `key="NAME" value="…"`, and `name: NAME` over `value: …`.
        let gap = follows.iter().take(32).take_while(|byte| byte.is_ascii_whitespace()).count();
        if let Some(value) = rest(follows, gap).strip_prefix(b"value")
            && matches!(value.first(), Some(b'=' | b':'))
        {
            let blank = rest(value, 1).iter().take_while(|byte| **byte == b' ').count();
            return Some(at + spaces + gap + 6 + blank);
        }
        let line = part(self.text, self.start.saturating_sub(4), self.start);
        let takes_space = self.bytes().starts_with(b"--") || line.eq_ignore_ascii_case(b"env ");
        (takes_space && spaces > 0).then_some(at + spaces)
    }
}

fn contains(name: &[u8], word: &str) -> bool {
    name.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
}

/// A value: where it starts, and what ends it.
struct Value {
    start: usize,
    /// The quote it is in.
    quote: Option<u8>,
    /// Where the part of it ends that was looked at.
    seen: usize,
}

impl Value {
    fn at(text: &[u8], at: usize) -> Option<Self> {
        let first = *text.get(at)?;
        let quote = matches!(first, b'"' | b'\'' | b'`').then_some(first);
        let start = at + usize::from(quote.is_some());
        let mut value = Self { start, quote, seen: start };
        value.seen = value.end(text, SAMPLE);
        (value.seen > start).then_some(value)
    }

    /// Where it ends, looking no further than that.
    fn end(&self, text: &[u8], most: usize) -> usize {
        let ends = |byte: &u8| match self.quote {
            Some(quote) => *byte == quote || *byte == b'\n',
            None => {
                byte.is_ascii_whitespace()
                    || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'<' | b'>' | b'\\' | b'|')
            }
        };
        let value = rest(text, self.start);
        self.start + value.iter().take(most).take_while(|byte| !ends(byte)).count()
    }

    fn whole_end(&self, text: &[u8]) -> usize {
        let end = self.end(text, LONGEST);
        if self.quote.is_some() {
            return end;
        }
        // A terminal breaks long values; what follows is one run to the end of its line.
        if let Some(gap) = line_break(rest(text, end)) {
            let run = BROKEN.run(rest(text, end + gap), LONGEST);
            let next = part(text, end + gap, end + gap + run);
            let is_whole_line = text.get(end + gap + run).is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
            if run >= 12 && is_whole_line && judge::continues(next) && judge::is_random(part(text, self.start, end)) {
                return end + gap + run;
            }
        }
        // The bracket behind a value is not its own.
        let closes = matches!(before(text, end), Some(b')' | b']' | b'}'));
        if closes { end - 1 } else { end }
    }

    fn is_secret(&self, text: &[u8], name: &Name<'_>, strength: Strength) -> bool {
        let value = part(text, self.start, self.seen);
        if judge::is_placeholder(value) || value.contains(&b' ') || value.starts_with(b"//") {
            return false;
        }
        match strength {
            Strength::Password if name.is_variable() => value.len() >= 6 && !is_path(value),
            Strength::Password => judge::is_chosen(value) && !is_code(value, self.quote),
            Strength::Token => {
                judge::is_random(value) && !is_path(value) && !is_code(value, self.quote)
                    || (name.is_variable() && judge::is_chosen(value) && value.len() >= 16 && !is_path(value))
            }
            Strength::Weak => judge::is_surely_random(value) && !is_path(value),
        }
    }
}

/// Whether a value without quotes is a place in code: `self.tokens[0]`, `call(1)`.
fn is_code(value: &[u8], quote: Option<u8>) -> bool {
    quote.is_none() && !judge::is_random(value) && memchr::memchr3(b'.', b'(', b'[', value).is_some()
}

/// Whether a value is a place in a file system or on the network.
fn is_path(value: &[u8]) -> bool {
    let is_rooted = matches!(value, [b'/' | b'~', ..] | [b'.', b'/', ..] | [b'.', b'.', b'/', ..]);
    let slashes = memchr::memchr_iter(b'/', value).count();
    (is_rooted && slashes >= 2 && !judge::is_random(value)) || memchr::memmem::find(value, b"://").is_some()
}
