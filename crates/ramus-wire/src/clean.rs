//! Text that others stored, made safe to show.
//!
//! Control characters (C0, C1, DEL), escape sequences, bidirectional overrides and invisible characters can move the
//! cursor, recolour the screen, or make text read as something it is not. None of them gets through.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::iter::Peekable;
use std::str::Chars;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What becomes of line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breaks {
    /// They stay.
    Keep,
    /// They stay, and so do tabs: for text that is kept in a file.
    Layout,
    /// They and all other runs of white space become one space.
    Fold,
}

/// Returns at most `limit` characters of `text`, cleaned.
pub fn clean(text: &str, breaks: Breaks, limit: usize) -> String {
    let mut out = String::with_capacity(text.len().min(limit));
    let mut count = 0;
    let mut space = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_whitespace() {
            match (breaks, c) {
                (Breaks::Fold, _) => space = count > 0,
                (Breaks::Keep | Breaks::Layout, '\n' | '\u{2028}' | '\u{2029}') => out.push('\n'),
                (Breaks::Keep, '\t') => out.push_str("    "),
                (Breaks::Layout, '\t') => out.push('\t'),
                (Breaks::Keep | Breaks::Layout, _) if !is_hidden(c) => out.push(c),
                (Breaks::Keep | Breaks::Layout, _) => {}
            }
            continue;
        }
        if is_hidden(c) {
            skip_sequence(c, &mut chars);
            continue;
        }
        if count >= limit {
            out.push('…');
            break;
        }
        if std::mem::take(&mut space) {
            out.push(' ');
        }
        out.push(c);
        count += 1;
    }
    out
}

/// Returns `text` on one line, cleaned.
pub fn one_line(text: &str) -> String {
    clean(text, Breaks::Fold, usize::MAX)
}

/// Returns a line of a file as it is, white space included; what would not show, or would do something else, is spelled out.
pub fn spelled(line: &str) -> Cow<'_, str> {
    let is_spelled = |c: char| is_hidden(c) && c != '\t';
    if !line.contains(is_spelled) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len() + 16);
    for c in line.chars() {
        match u8::try_from(c) {
            _ if !is_spelled(c) => out.push(c),
            // As `cat -v` does: a carriage return is `^M`.
            Ok(byte @ (0..=0x1f | 0x7f)) => out.extend(['^', char::from(byte ^ 0x40)]),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "<U+{:04X}>", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Says whether a character does something other than being seen.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Passes over the rest of a complete control sequence, so that coloured output of tools stays readable. Of anything else
/// only the control character itself goes.
fn skip_sequence(start: char, chars: &mut Peekable<Chars<'_>>) {
    let mut ahead = chars.clone();
    match start {
        '\u{1b}' if ahead.next() == Some('[') => {}
        '\u{9b}' => {}
        _ => return,
    }
    while ahead.next_if(|c| matches!(c, ' '..='?')).is_some() {}
    if ahead.next_if(|c| matches!(c, '@'..='~')).is_some() {
        *chars = ahead;
    }
}

/// Spells hidden characters as JSON escapes, which means the same wherever JSON allows them.
pub fn escape(json: &str) -> Cow<'_, str> {
    let escaped = |c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r');
    if !json.contains(escaped) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if escaped(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Cuts a clean line to `width` columns; what was cut shows as an ellipsis.
pub fn cut(line: &str, width: usize) -> Cow<'_, str> {
    if line.width() <= width {
        return Cow::Borrowed(line);
    }
    let mut used = 0;
    let mut out = String::new();
    for c in line.chars() {
        used += c.width().unwrap_or_default();
        if used >= width {
            break;
        }
        out.push(c);
    }
    let mut out = out.trim_end().to_owned();
    out.push('…');
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_controls_gets_through() {
        let every: String = (0..=0x10ffff).filter_map(char::from_u32).collect();
        for breaks in [Breaks::Keep, Breaks::Fold] {
            let cleaned = clean(&every, breaks, usize::MAX);
            let bad: Vec<char> = cleaned.chars().filter(|c| is_hidden(*c) && *c != '\n').collect();
            assert_eq!(bad, Vec::<char>::new());
        }
        assert!(!spelled(&every).chars().any(|c| is_hidden(c) && c != '\t'));
        assert!(!escape(&every).chars().any(|c| is_hidden(c) && !matches!(c, '\n' | '\t' | '\r')));
    }

    #[test]
    fn colours_of_tools_leave_no_rubble() {
        assert_eq!(one_line("\u{1b}[1;31mred\u{1b}[0m and \u{9b}32mgreen"), "red and green");
        assert_eq!(one_line("\u{1b}]0;title\u{7}x \u{1b}[unfinished"), "]0;titlex nfinished");
        assert_eq!(one_line("admin\u{202e}nimda\u{200b}"), "adminnimda");
    }

    #[test]
    fn folds_and_keeps_breaks() {
        assert_eq!(one_line("  a\n\n b\tc  "), "a b c");
        assert_eq!(clean("a\r\n\tb", Breaks::Keep, usize::MAX), "a\n    b");
        assert_eq!(clean("a:\r\n\t\u{1b}[2Jb\u{7}", Breaks::Layout, usize::MAX), "a:\n\tb");
        assert_eq!(clean("abcdef", Breaks::Fold, 3), "abc…");
        assert_eq!(clean("abc  ", Breaks::Fold, 3), "abc");
    }

    #[test]
    fn lines_of_files_keep_their_layout() {
        assert_eq!(spelled("+\t a  b \r"), "+\t a  b ^M");
        assert_eq!(spelled("-\u{1b}[31m\u{7f}\u{9b}x\u{200b}\u{202e}"), "-^[[31m^?<U+009B>x<U+200B><U+202E>");
    }

    #[test]
    fn cuts_by_columns() {
        assert_eq!(cut("日本語テキスト", 6), "日本…");
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
    }

    #[test]
    fn escapes_stay_json() {
        assert_eq!(escape("{\"a\":\"\u{9b}x\u{e0001}\"}"), "{\"a\":\"\\u009bx\\udb40\\udc01\"}");
    }
}
