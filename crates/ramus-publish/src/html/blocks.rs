//! Markdown in blocks: paragraphs, headings, lists, quotes, tables, code. One look at each line, and no nesting to get lost
//! in.

use super::{inline, text::escape};

/// What is open.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Paragraph,
    Bullets,
    Numbers,
    Quote,
    Table,
}

impl Open {
    fn tags(self) -> (&'static str, &'static str) {
        match self {
            Self::Nothing => ("", ""),
            Self::Paragraph => ("<p dir=\"auto\">", "</p>\n"),
            Self::Bullets => ("<ul>\n", "</ul>\n"),
            Self::Numbers => ("<ol>\n", "</ol>\n"),
            Self::Quote => ("<blockquote>", "</blockquote>\n"),
            Self::Table => ("<div class=\"table\"><table>\n", "</table></div>\n"),
        }
    }
}

/// Writes a text.
pub(super) fn write(text: &str, out: &mut String) {
    let mut open = Open::Nothing;
    let mut paragraph = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        if let Some((mark, len, language)) = fence(bare) {
            close(&mut open, &mut paragraph, out);
            let closes =
                |line: &&str| fence_length(line.trim(), mark).is_some_and(|(run, rest)| run >= len && rest.is_empty());
            let mut code = String::new();
            for line in lines.by_ref() {
                if closes(&line) {
                    break;
                }
                code.push_str(line);
                code.push('\n');
            }
            write_code(language, &code, out);
            continue;
        }
        let (next, content) = kind(bare, line, open, lines.peek().copied());
        if next != open || next == Open::Nothing {
            close(&mut open, &mut paragraph, out);
            out.push_str(next.tags().0);
            open = next;
        }
        match next {
            Open::Nothing => heading_or_rule(content, out),
            Open::Paragraph | Open::Quote => {
                if !paragraph.is_empty() {
                    paragraph.push('\n');
                }
                paragraph.push_str(content);
            }
            Open::Bullets | Open::Numbers => {
                let depth = (line.len() - bare.len()).min(12) / 2;
                out.push_str(&format!("<li class=\"d{depth}\">"));
                inline::write(content, out);
                out.push_str("</li>\n");
            }
            Open::Table => row(content, out),
        }
    }
    close(&mut open, &mut paragraph, out);
}

fn close(open: &mut Open, paragraph: &mut String, out: &mut String) {
    inline::write(&std::mem::take(paragraph), out);
    out.push_str(open.tags().1);
    *open = Open::Nothing;
}

/// Writes code.
pub(super) fn write_code(language: &str, code: &str, out: &mut String) {
    let title = if language.is_empty() { String::new() } else { format!(" data-language=\"{}\"", escape(language)) };
    out.push_str(&format!("<pre{title} tabindex=\"0\"><code>"));
    if language == "diff" {
        write_diff(code, out);
    } else {
        out.push_str(&escape(code).to_string());
    }
    out.push_str("</code></pre>\n");
}

fn write_diff(code: &str, out: &mut String) {
    for line in code.split_inclusive('\n') {
        let class = match line.as_bytes() {
            [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "file",
            [b'+', ..] => "added",
            [b'-', ..] => "removed",
            [b'@', ..] => "hunk",
            _ => "same",
        };
        out.push_str(&format!("<span class=\"{class}\">{}</span>", escape(line)));
    }
}

/// What a line belongs to, and what of it is shown.
fn kind<'l>(bare: &'l str, line: &'l str, open: Open, next: Option<&str>) -> (Open, &'l str) {
    if bare.is_empty() {
        return (Open::Nothing, "");
    }
    if bare.starts_with('#') && heading(bare).is_some() || is_rule(bare) {
        return (Open::Nothing, bare);
    }
    if let Some(quoted) = bare.strip_prefix('>') {
        return (Open::Quote, quoted.strip_prefix(' ').unwrap_or(quoted));
    }
    for mark in ["- ", "* ", "+ "] {
        if let Some(item) = bare.strip_prefix(mark) {
            return (Open::Bullets, item);
        }
    }
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    if (1..=9).contains(&digits)
        && let Some(item) =
            bare.get(digits..).and_then(|rest| rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")))
    {
        return (Open::Numbers, item);
    }
    let is_table = bare.starts_with('|') && (open == Open::Table || next.is_some_and(is_table_rule));
    if is_table { (Open::Table, bare) } else { (Open::Paragraph, line) }
}

fn heading(bare: &str) -> Option<(usize, &str)> {
    let level = bare.bytes().take_while(|byte| *byte == b'#').count();
    let text = bare.get(level..)?.strip_prefix(' ')?;
    (level <= 6).then_some((level, text))
}

fn heading_or_rule(content: &str, out: &mut String) {
    if let Some((level, text)) = heading(content) {
        // The page has headings of its own.
        let level = (level + 2).min(6);
        out.push_str(&format!("<h{level} dir=\"auto\">"));
        inline::write(text, out);
        out.push_str(&format!("</h{level}>\n"));
    } else if is_rule(content) {
        out.push_str("<hr>\n");
    }
}

fn is_rule(bare: &str) -> bool {
    let mark = bare.bytes().next();
    bare.len() >= 3 && matches!(mark, Some(b'-' | b'*' | b'_')) && bare.bytes().all(|byte| Some(byte) == mark)
}

fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('|') && line.contains('-') && line.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}

fn row(content: &str, out: &mut String) {
    if is_table_rule(content) {
        return;
    }
    out.push_str("<tr>");
    for cell in content.trim().trim_matches('|').split('|') {
        out.push_str("<td>");
        inline::write(cell.trim(), out);
        out.push_str("</td>");
    }
    out.push_str("</tr>\n");
}

fn fence(bare: &str) -> Option<(u8, usize, &str)> {
    let mark = bare.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let (len, rest) = fence_length(bare, mark)?;
    let language = rest.trim();
    (len >= 3 && !language.contains('`')).then_some((mark, len, language.split(' ').next().unwrap_or_default()))
}

fn fence_length(line: &str, mark: u8) -> Option<(usize, &str)> {
    let len = line.bytes().take_while(|byte| *byte == mark).count();
    (len > 0).then(|| (len, line.get(len..).unwrap_or_default()))
}
