//! Markdown within a line: code, emphasis, links. What is not understood is shown as it is written.

use super::text::escape;

/// How far the end of something is looked for.
const REACH: usize = 2048;

/// Writes one piece of text.
pub(super) fn write(text: &str, out: &mut String) {
    let mut rest = text;
    let mut plain = 0;
    while let Some(at) = rest.get(plain..).and_then(|rest| rest.find(['`', '*', '[', 'h', '\\'])).map(|at| plain + at) {
        let from = rest.get(at..).unwrap_or_default();
        let before = rest.get(..at).and_then(|before| before.chars().next_back());
        match special(from, before, out, rest.get(..at).unwrap_or_default()) {
            Some(len) => {
                rest = from.get(len..).unwrap_or_default();
                plain = 0;
            }
            None => plain = at + 1,
        }
    }
    out.push_str(&escape(rest).to_string());
}

/// Writes what is in front and the special piece that `from` begins with; returns how long that is.
fn special(from: &str, before: Option<char>, out: &mut String, front: &str) -> Option<usize> {
    let (written, len) = match from.as_bytes().first()? {
        b'`' => code(from)?,
        b'*' => emphasis(from)?,
        b'[' => link(from)?,
        b'h' => address(from, before)?,
        _ => {
            let escaped = from.chars().nth(1).filter(char::is_ascii_punctuation)?;
            (escape(escaped.encode_utf8(&mut [0; 4])).to_string(), 2)
        }
    };
    out.push_str(&escape(front).to_string());
    out.push_str(&written);
    Some(len)
}

fn within(text: &str) -> &str {
    let end = (0..=REACH.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

fn code(from: &str) -> Option<(String, usize)> {
    let ticks = from.bytes().take_while(|byte| *byte == b'`').count();
    let fence = from.get(..ticks)?;
    let inside = within(from.get(ticks..)?);
    let end = inside.find(fence)?;
    let shown = inside.get(..end)?;
    let bare = shown.strip_prefix(' ').and_then(|shown| shown.strip_suffix(' ')).unwrap_or(shown);
    Some((format!("<code>{}</code>", escape(bare)), ticks * 2 + end))
}

fn emphasis(from: &str) -> Option<(String, usize)> {
    let (mark, tag) = if from.starts_with("**") { ("**", "strong") } else { ("*", "em") };
    let inside = within(from.get(mark.len()..)?);
    if inside.starts_with([' ', '\n', '*']) {
        return None;
    }
    let end = inside.find(mark)?;
    let shown = inside.get(..end).filter(|shown| !shown.ends_with(' ') && !shown.contains("\n\n"))?;
    Some((format!("<{tag}>{}</{tag}>", escape(shown)), mark.len() * 2 + end))
}

fn link(from: &str) -> Option<(String, usize)> {
    let inside = within(from.get(1..)?);
    let middle = inside.find("](")?;
    let title = inside.get(..middle).filter(|title| !title.contains(['[', '\n']))?;
    let target = inside.get(middle + 2..)?;
    let end = target.find([')', ' ', '\n'])?;
    let target = target.get(..end).filter(|_| target.get(end..end + 1) == Some(")"))?;
    Some((anchor(target, title)?, 1 + middle + 2 + end + 1))
}

fn address(from: &str, before: Option<char>) -> Option<(String, usize)> {
    if !(from.starts_with("https://") || from.starts_with("http://")) || before.is_some_and(char::is_alphanumeric) {
        return None;
    }
    let inside = within(from);
    let end = inside
        .find(|character: char| character.is_whitespace() || "<>\"'`()[]{}|\\".contains(character))
        .unwrap_or(inside.len());
    let target = inside.get(..end)?.trim_end_matches(['.', ',', ';', ':', '!', '?', '*']);
    Some((anchor(target, target)?, target.len()))
}

/// A link, if it leads to where a link may lead.
fn anchor(target: &str, title: &str) -> Option<String> {
    let is_web = target.starts_with("https://") || target.starts_with("http://") || target.starts_with("mailto:");
    let is_plain = target.bytes().all(|byte| byte > b' ' && byte != 0x7f);
    (is_web && is_plain).then(|| {
        format!(
            "<a href=\"{}\" rel=\"noopener noreferrer nofollow\" target=\"_blank\">{}</a>",
            escape(target),
            escape(title)
        )
    })
}
