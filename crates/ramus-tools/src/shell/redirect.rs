//! Redirections: which files a command writes, and which words behind a redirection are words of the command after all.

use tree_sitter::Node;

use super::Pending;
use super::check::{are_apart, children};
use super::tree::Walk;
use super::word::Word;

/// Files that keep nothing of what is written to them.
const SINKS: &[&str] = &["/dev/null", "/dev/stdout", "/dev/stderr"];

/// Reads a statement with redirections. The grammar counts words behind a redirection to it; to bash they are arguments, or
/// the command itself when there is no other.
pub(super) fn statement<'t>(walk: &mut Walk<'_, 't, '_>, node: Node<'t>) {
    let mut more = Vec::new();
    let mut body = None;
    for child in children(node) {
        match child.kind() {
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => more.extend(redirection(walk, child)),
            _ if child.is_named() && body.is_none() => body = Some(child),
            _ => walk.stack.push(child),
        }
    }
    match body {
        Some(command) if command.kind() == "command" => walk.command(command, &more),
        Some(other) => {
            if !more.is_empty() {
                walk.reading.doubt("words behind a redirection");
                walk.pending.push(Pending::Words(more));
            }
            walk.stack.push(other);
        }
        None if more.is_empty() => {}
        None => walk.pending.push(Pending::Words(more)),
    }
}

/// Reads one redirection and returns the words behind it that belong to the command.
pub(super) fn redirection<'t>(walk: &mut Walk<'_, 't, '_>, node: Node<'t>) -> Vec<Word> {
    match node.kind() {
        "heredoc_redirect" => here_document(walk, node),
        "herestring_redirect" => {
            for child in children(node).into_iter().filter(Node::is_named) {
                if child.kind() != "file_descriptor" {
                    drop(walk.word(child));
                }
            }
            Vec::new()
        }
        _ => file(walk, node),
    }
}

fn file<'t>(walk: &mut Walk<'_, 't, '_>, node: Node<'t>) -> Vec<Word> {
    let mut operator = "";
    let mut words: Vec<Word> = Vec::new();
    let mut end = None;
    for child in children(node) {
        match child.kind() {
            "file_descriptor" if walk.text(child).bytes().all(|byte| byte.is_ascii_digit()) => {}
            "file_descriptor" => walk.reading.doubt("a descriptor by name"),
            kind if !child.is_named() => operator = kind,
            _ => {
                if end.is_some_and(|end| !are_apart(walk.source, end, child.start_byte())) {
                    walk.reading.doubt("words that touch or are on different lines");
                }
                end = Some(child.end_byte());
                words.push(walk.word(child));
            }
        }
    }
    if matches!(operator, "<&-" | ">&-") {
        return words;
    }
    if words.is_empty() {
        walk.reading.doubt("a redirection to nothing");
        return words;
    }
    let target = words.remove(0);
    target_of(walk, operator, &target);
    words
}

/// Judges where a redirection leads.
fn target_of(walk: &mut Walk<'_, '_, '_>, operator: &str, target: &Word) {
    let Some(path) = target.known() else {
        return walk.reading.doubt("a redirection to a name that is not known");
    };
    if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") {
        return walk.reading.doubt("a redirection to the network");
    }
    let descriptor = path.strip_suffix('-').unwrap_or(path).bytes().all(|byte| byte.is_ascii_digit());
    match operator {
        "<" => {}
        "<&" if descriptor => {}
        ">&" if descriptor => {}
        ">" | ">>" | ">|" | "&>" | "&>>" | ">&" => {
            if !SINKS.contains(&path) {
                walk.reading.writes.push(path.to_owned());
            }
        }
        _ => walk.reading.doubt("a redirection that is not understood"),
    }
}

/// Reads `<<END`. Only plain delimiters are followed, and only when the document ends where bash ends it.
fn here_document<'t>(walk: &mut Walk<'_, 't, '_>, node: Node<'t>) -> Vec<Word> {
    let mut words = Vec::new();
    let (mut start, mut body, mut end, mut tabs) = (None, None, None, false);
    for child in children(node) {
        match child.kind() {
            "heredoc_start" => start = Some(child),
            "heredoc_body" => body = Some(child),
            "heredoc_end" => end = Some(child),
            "<<-" => tabs = true,
            "<<" | "\n" | "file_descriptor" | "|" | "|&" | "&&" | "||" => {}
            "file_redirect" | "herestring_redirect" => words.extend(redirection(walk, child)),
            "heredoc_redirect" => {
                walk.reading.doubt("several here-documents");
                walk.stack.push(child);
            }
            "word" | "string" | "raw_string" | "concatenation" | "number" | "simple_expansion" | "expansion" => {
                walk.reading.doubt("words behind a here-document");
                let word = walk.word(child);
                words.push(word);
            }
            _ => walk.stack.push(child),
        }
    }
    let (Some(start), Some(body), Some(end)) = (start, body, end) else {
        walk.reading.doubt("a here-document without an end");
        return words;
    };
    if walk.source.matches("<<").count() > 1 {
        walk.reading.doubt("several here-documents");
    }
    let delimiter = walk.text(start).to_owned();
    let name = delimiter.trim_matches(['\'', '"']);
    let quoted = delimiter != name;
    if quoted && !matches!(delimiter.as_bytes(), [b'\'', .., b'\''] | [b'"', .., b'"'])
        || name.is_empty()
        || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    {
        walk.reading.doubt("a here-document with an unusual delimiter");
    }
    if !ends_where_bash_ends_it(walk.source, start.end_byte(), end.byte_range(), name, tabs) {
        walk.reading.doubt("a here-document that ends elsewhere");
    }
    let text = walk.text(body);
    if !quoted && (text.contains('`') || text.contains("$(") || text.contains("${") || text.contains("$[")) {
        walk.reading.doubt("a here-document with expansions");
        walk.stack.extend(children(body));
    }
    words
}

fn ends_where_bash_ends_it(source: &str, from: usize, end: std::ops::Range<usize>, name: &str, tabs: bool) -> bool {
    let Some(first) = source.get(from..).and_then(|rest| rest.find('\n')).map(|at| from + at + 1) else { return false };
    // A continued line would move the start of the document.
    if source.get(..first).is_none_or(|head| head.ends_with("\\\n")) {
        return false;
    }
    let mut at = first;
    for line in source.get(first..).unwrap_or_default().split_inclusive('\n') {
        let plain = line.strip_suffix('\n').unwrap_or(line);
        let plain = if tabs { plain.trim_start_matches('\t') } else { plain };
        if plain == name {
            return (at..at + line.len()).contains(&end.start) && end.end <= at + line.len();
        }
        at += line.len();
    }
    false
}
