//! A transcript as Markdown, to read, to paste, to keep.
//!
//! Whatever a text holds, it cannot leave its place: code is fenced by more backticks than it has, and a heading or a
//! block that a text opens is its own.

use std::fmt::Write as _;

use crate::transcript::{Entry, Part, Speaker, Transcript};

/// Writes a transcript: the path to its leaf, and then every other branch as a section of its own.
pub fn write(transcript: &Transcript) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", line(&transcript.title));
    let facts = [("Session", &transcript.session), ("Directory", &transcript.cwd), ("Created", &transcript.created)];
    for (name, value) in facts.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(out, "- {name}: {}", code(value));
    }
    transcript.notes.iter().for_each(|note| {
        let _ = writeln!(out, "- {}", line(note));
    });
    let path = transcript.path();
    entries(transcript, &path, &mut out);
    branches(transcript, &path, &mut out);
    out
}

fn entries(transcript: &Transcript, which: &[usize], out: &mut String) {
    for entry in which.iter().filter_map(|at| transcript.entries.get(*at)) {
        write_entry(entry, out);
    }
}

/// The branches that the path leaves out, each from where it leaves what was told before.
fn branches(transcript: &Transcript, path: &[usize], out: &mut String) {
    let mut told = vec![false; transcript.entries.len()];
    let mut tell = |at: usize| told.get_mut(at).is_some_and(|told| !std::mem::replace(told, true));
    path.iter().for_each(|at| {
        tell(*at);
    });
    let mut has_children = vec![false; transcript.entries.len()];
    for parent in transcript.entries.iter().filter_map(|entry| entry.parent) {
        if let Some(has) = has_children.get_mut(parent) {
            *has = true;
        }
    }
    let leaves = has_children.iter().enumerate().filter(|(_, has)| !**has).map(|(at, _)| at);
    let mut number = 1;
    for leaf in leaves {
        let mut branch = Vec::new();
        let mut next = Some(leaf);
        while let Some(at) = next.filter(|at| tell(*at)) {
            branch.push(at);
            next = transcript.entries.get(at).and_then(|entry| entry.parent);
        }
        if branch.is_empty() {
            continue;
        }
        branch.reverse();
        let from = next
            .and_then(|at| transcript.entries.get(at))
            .map_or_else(String::new, |entry| format!(", from {}", code(&entry.id)));
        let _ = write!(out, "\n---\n\n## Branch {number}{from}\n");
        entries(transcript, &branch, out);
        number += 1;
    }
}

fn write_entry(entry: &Entry, out: &mut String) {
    let speaker = match (entry.speaker, &entry.result) {
        (_, Some((tool, true))) => format!("Result of {}, an error", code(tool)),
        (_, Some((tool, false))) => format!("Result of {}", code(tool)),
        (Speaker::User, _) => "User".to_owned(),
        (Speaker::Assistant, _) => {
            entry.model.as_ref().map_or("Assistant".to_owned(), |model| format!("Assistant · {}", line(model)))
        }
        (Speaker::System, _) => "System".to_owned(),
        (Speaker::Summary, _) => "Summary".to_owned(),
        (Speaker::Tool | Speaker::Other, _) => line(&entry.role),
    };
    let _ = write!(out, "\n## {speaker}\n\n<!-- {} -->\n", comment(&entry.id));
    if let Some(label) = &entry.label {
        let _ = write!(out, "\nLabel: **{}**\n", line(label));
    }
    let is_prose = entry.result.is_none();
    entry.parts.iter().for_each(|part| write_part(part, is_prose, out));
}

fn write_part(part: &Part, is_prose: bool, out: &mut String) {
    match part {
        Part::Text(text) if is_prose => {
            let _ = write!(out, "\n{}\n", closed(text));
        }
        Part::Text(text) => folded("Output", "", text, out),
        Part::Thinking(text) => folded("Thinking", "", text, out),
        Part::Call { name, input } => folded(&format!("Call of {name}"), "json", input, out),
        Part::Image { mime, data } => {
            let _ = write!(out, "\n*[picture: {}, {} bytes]*\n", line(mime), data.len() / 4 * 3);
        }
        Part::Diff { path, diff } => folded(path, "diff", diff, out),
        Part::Other(kind, text) => folded(kind, "", text, out),
    }
}

/// Text that can be opened.
fn folded(title: &str, language: &str, text: &str, out: &mut String) {
    let _ = write!(out, "\n<details><summary>{}</summary>\n\n{}\n</details>\n", html(title), fenced(language, text));
}

/// Code in a fence that is longer than any in it.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text, b'`').max(2) + 1);
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

/// Code within a line.
fn code(text: &str) -> String {
    let text = line_end_free(text);
    let ticks = "`".repeat(longest_run(&text, b'`') + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{space}{text}{space}{ticks}")
}

fn longest_run(text: &str, byte: u8) -> usize {
    text.as_bytes().split(|other| *other != byte).map(<[u8]>::len).max().unwrap_or_default()
}

/// Text whose code blocks and tags cannot reach beyond it.
fn closed(text: &str) -> String {
    let mut open: Option<(u8, usize)> = None;
    let mut out = String::with_capacity(text.len());
    for one in text.split_inclusive('\n') {
        let bare = one.trim_start();
        let mark = bare.bytes().next().filter(|byte| matches!(byte, b'`' | b'~'));
        let run = mark.map_or(0, |mark| bare.bytes().take_while(|byte| *byte == mark).count());
        match (open, mark) {
            (None, Some(mark)) if run >= 3 => open = Some((mark, run)),
            (Some((opened, len)), Some(mark)) if mark == opened && run >= len && bare.trim_end().len() == run => {
                open = None;
            }
            _ => {}
        }
        // A heading would be taken for one of the transcript, and a tag for one of the page.
        let is_heading = open.is_none() && one.starts_with('#');
        if is_heading {
            out.push('\\');
        }
        if open.is_none() { out.push_str(&one.replace('<', "&lt;")) } else { out.push_str(one) }
    }
    if let Some((mark, len)) = open {
        if !out.ends_with('\n') {
            out.push('\n');
        }
        out.extend(std::iter::repeat_n(char::from(mark), len));
    }
    out
}

fn line_end_free(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

/// Text within a line of the transcript's own.
fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in line_end_free(text).chars() {
        if matches!(character, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '!') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

fn html(text: &str) -> String {
    line_end_free(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn comment(text: &str) -> String {
    line_end_free(text).replace("--", "- -").replace('>', "")
}
