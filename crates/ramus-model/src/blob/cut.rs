//! Texts that are too long for a line: where they are cut, and how the full text is kept.
//!
//! Lengths are counted in UTF-16 units, as the programs that share this format do, on the spelled bytes. A blob holds the
//! text itself, not its spelling; a lone surrogate, which no UTF-8 can hold, is written as its three generalised bytes
//! and comes back as the escape it was.

use std::fmt::Write as _;

/// How many UTF-16 units a text in a line may have.
pub const MAX_TEXT_UNITS: usize = 500_000;

/// How a text that was cut ends.
pub const NOTICE: &str = "\n\n[Session persistence truncated large content]";

/// One character of a spelled string.
struct Step<'a> {
    /// How it is spelled.
    spelled: &'a [u8],
    /// The scalar value or lone surrogate; none for a byte that is no UTF-8.
    code: Option<u32>,
}

impl Step<'_> {
    fn units(&self) -> usize {
        1 + usize::from(self.code.is_some_and(|code| code > 0xffff))
    }
}

/// Takes the first character off the inside of a lexed string. Surrogates that are escaped one by one stay two steps.
fn step<'a>(rest: &mut &'a [u8]) -> Option<Step<'a>> {
    let first = *rest.first()?;
    let (len, code) = match first {
        b'\\' => match rest.get(1) {
            Some(b'u') => (6, Some(hex_value(rest.get(2..6).unwrap_or_default()))),
            Some(escape) => (2, Some(u32::from(plain(*escape)))),
            None => (1, None),
        },
        0..0x80 => (1, Some(u32::from(first))),
        _ => {
            let width = match first {
                0xc2..0xe0 => 2,
                0xe0..0xf0 => 3,
                0xf0..0xf5 => 4,
                _ => 1,
            };
            let scalar = rest.get(..width).and_then(|bytes| str::from_utf8(bytes).ok()?.chars().next());
            scalar.map_or((1, None), |scalar| (width, Some(u32::from(scalar))))
        }
    };
    let (spelled, after) = rest.split_at_checked(len).unwrap_or((rest, &[]));
    *rest = after;
    Some(Step { spelled, code })
}

fn hex_value(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, digit| value * 16 + char::from(*digit).to_digit(16).unwrap_or_default())
}

fn plain(escape: u8) -> u8 {
    match escape {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 0x08,
        b'f' => 0x0c,
        other => other,
    }
}

/// A text that was cut.
pub(super) struct Cut {
    /// The value for the line, quotes included.
    pub(super) value: Vec<u8>,
    /// The full text.
    pub(super) full: Vec<u8>,
    /// How many lines the cut text has.
    pub(super) lines: usize,
}

/// Cuts a string value that is too long; none when it is not.
pub(super) fn cut(value: &[u8]) -> Option<Cut> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    // A unit takes a byte at least.
    if inner.len() <= MAX_TEXT_UNITS {
        return None;
    }
    let keep = MAX_TEXT_UNITS - NOTICE.len();
    let (mut rest, mut units, mut kept, mut lines) = (inner, 0, 0, 1);
    while let Some(step) = step(&mut rest) {
        units += step.units();
        let is_high = matches!(step.code, Some(0xd800..0xdc00));
        if units < keep || units == keep && !is_high {
            kept = inner.len() - rest.len();
            lines += usize::from(step.code == Some(0x0a));
        }
        if units > MAX_TEXT_UNITS {
            let mut value = vec![b'"'];
            value.extend_from_slice(inner.get(..kept).unwrap_or_default());
            let mut notice = Vec::new();
            crate::json::quote(NOTICE, &mut notice);
            value.extend_from_slice(notice.get(1..).unwrap_or_default());
            return Some(Cut { value, full: unspell(inner), lines: lines + NOTICE.matches('\n').count() });
        }
    }
    None
}

/// Returns the text that the inside of a string spells.
pub(super) fn unspell(inner: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    let mut high: Option<u32> = None;
    while let Some(step) = step(&mut rest) {
        let code = match (high.take(), step.code) {
            (Some(high), Some(low @ 0xdc00..0xe000)) => Some(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)),
            (Some(high), code) => {
                push(high, &mut out);
                code
            }
            (None, code) => code,
        };
        match code {
            Some(code @ 0xd800..0xdc00) => high = Some(code),
            Some(code) => push(code, &mut out),
            None => out.extend_from_slice(step.spelled),
        }
    }
    if let Some(high) = high {
        push(high, &mut out);
    }
    out
}

/// Writes a scalar value as UTF-8, a surrogate as what UTF-8 would be if it were one.
fn push(code: u32, out: &mut Vec<u8>) {
    match char::from_u32(code) {
        Some(scalar) => out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()),
        None => {
            let [.., high, low] = code.to_be_bytes();
            out.extend([0xe0 | high >> 4, 0x80 | (high & 0x0f) << 2 | low >> 6, 0x80 | low & 0x3f]);
        }
    }
}

/// Spells the text of a blob as a string value, quotes included, and counts its lines.
pub(super) fn spell(text: &[u8]) -> (Vec<u8>, usize) {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    for chunk in text.utf8_chunks() {
        let mut quoted = Vec::with_capacity(chunk.valid().len() + 2);
        crate::json::quote(chunk.valid(), &mut quoted);
        out.extend_from_slice(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        out.extend_from_slice(chunk.invalid());
    }
    out.push(b'"');
    let lines = 1 + memchr::memchr_iter(b'\n', text).count();
    (escape_surrogates(out), lines)
}

/// Replaces the three bytes of a surrogate by its escape.
fn escape_surrogates(spelled: Vec<u8>) -> Vec<u8> {
    if std::str::from_utf8(&spelled).is_ok() {
        return spelled;
    }
    let mut out = Vec::with_capacity(spelled.len() + 16);
    let mut rest = spelled.as_slice();
    while let Some((first, after)) = rest.split_first() {
        if let [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, after @ ..] = rest {
            let code = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
            let mut escape = String::with_capacity(6);
            // Writing to a string cannot fail.
            let _ = write!(escape, "\\u{code:04x}");
            out.extend_from_slice(escape.as_bytes());
            rest = after;
        } else {
            out.push(*first);
            rest = after;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(inner: &str) -> Vec<u8> {
        format!("\"{inner}\"").into_bytes()
    }

    fn units(value: &[u8]) -> Vec<u16> {
        let mut rest = &value[1..value.len() - 1];
        let mut units = Vec::new();
        while let Some(step) = step(&mut rest) {
            match step.code {
                Some(code) if code > 0xffff => units.extend(char::from_u32(code).unwrap().to_string().encode_utf16()),
                code => units.push(u16::try_from(code.unwrap()).unwrap()),
            }
        }
        units
    }

    #[test]
    fn a_text_that_fits_is_left_alone() {
        for unit in ["a", "é", "€", "\\n", "\\u00e9", "\\ud800"] {
            assert!(cut(&quoted(&unit.repeat(MAX_TEXT_UNITS))).is_none(), "{unit}");
        }
        assert!(cut(&quoted(&"😀".repeat(MAX_TEXT_UNITS / 2))).is_none());
        assert!(cut(&quoted(&"\\ud83d\\ude00".repeat(MAX_TEXT_UNITS / 2))).is_none());
    }

    #[test]
    fn a_longer_one_is_cut_to_exactly_the_limit_and_comes_back() {
        for unit in ["a", "é", "€", "\\n", "\\u00e9", "\\/", "😀", "\\ud83d\\ude00", "\\udc00"] {
            for before in ["", "x"] {
                let value = quoted(&format!("{before}{}", unit.repeat(MAX_TEXT_UNITS + 1)));
                let cut = cut(&value).unwrap();
                let short = units(&cut.value);
                let notice: Vec<u16> = NOTICE.encode_utf16().collect();
                assert!(short.ends_with(&notice));
                let last = short[short.len() - notice.len() - 1];
                assert!(!(0xd800..0xdc00).contains(&last), "{unit}: ends on a high surrogate");
                let splits = unit.chars().count() > 6 || unit == "😀";
                let missing = usize::from(splits && (MAX_TEXT_UNITS - notice.len() - before.len()) % 2 == 1);
                assert_eq!(short.len(), MAX_TEXT_UNITS - missing, "{unit} after {before:?}");
                assert_eq!(units(&spell(&cut.full).0), units(&value), "{unit}");
            }
        }
    }

    #[test]
    fn lines_are_counted_in_any_spelling() {
        let value = quoted(&"a\\n\\u000a".repeat(MAX_TEXT_UNITS));
        let cut = cut(&value).unwrap();
        let decoded = String::from_utf16(&units(&cut.value)).unwrap();
        assert_eq!(cut.lines, decoded.split('\n').count());
        assert_eq!(spell(&cut.full).1, 2 * MAX_TEXT_UNITS + 1);
    }

    #[test]
    fn lone_surrogates_survive() {
        let text = "a\\ud800b\\udfff\\ud83d\\ude00\\ud83d".to_owned();
        let full = unspell(text.as_bytes());
        assert_eq!(spell(&full).0, quoted("a\\ud800b\\udfff😀\\ud83d"));
    }
}
