//! Names that must never be kept or written: git's own directory, in every spelling that some file system takes for it.

/// Code points that one common file system ignores when it compares names.
const IGNORED: [char; 16] = [
    '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
    '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}', '\u{206f}', '\u{feff}',
];

/// Says whether a name means git's directory somewhere.
pub(crate) fn is_git(name: &[u8]) -> bool {
    if name.eq_ignore_ascii_case(b".git") || name.eq_ignore_ascii_case(b"git~1") {
        return true;
    }
    // Others end a name at a colon, and drop dots and spaces at its end.
    let head = name.split(|byte| *byte == b':').next().unwrap_or_default();
    let head = head.trim_ascii_end();
    let last = head.iter().rposition(|byte| !matches!(byte, b'.' | b' '));
    let trimmed = last.and_then(|last| head.get(..=last)).unwrap_or_default();
    if trimmed.eq_ignore_ascii_case(b".git") {
        return true;
    }
    if name.is_ascii() {
        return false;
    }
    let Ok(text) = std::str::from_utf8(name) else { return false };
    text.chars().filter(|letter| !IGNORED.contains(letter)).collect::<String>().eq_ignore_ascii_case(".git")
}
