//! The tree beside the conversation: one row an entry, a step to the right for every branch that is not the path.

use super::text::{escape, fragment};
use crate::transcript::{Entry, Part, Speaker, Transcript};

/// How far rows move to the right at most.
const DEEPEST: usize = 9;

/// Writes the tree.
pub(super) fn write(transcript: &Transcript, out: &mut String) {
    out.push_str("<nav id=\"tree\" aria-label=\"Tree\">\n<ol>\n");
    let mut on_path = vec![false; transcript.entries.len()];
    for at in transcript.path() {
        if let Some(on) = on_path.get_mut(at) {
            *on = true;
        }
    }
    let depths = depths(transcript, &on_path);
    for at in order(transcript, &on_path) {
        let Some(entry) = transcript.entries.get(at) else { continue };
        let depth = depths.get(at).copied().unwrap_or_default().min(DEEPEST);
        let leaf = if transcript.leaf == Some(at) { " leaf" } else { "" };
        out.push_str(&format!(
            "<li class=\"row d{depth} {}{leaf}\" data-at=\"{at}\"><a href=\"{}\">{}</a></li>\n",
            entry.speaker.name(),
            escape(&fragment(&entry.id)),
            preview(entry)
        ));
    }
    out.push_str("</ol>\n</nav>\n");
}

/// The entries as they are listed: each branch in one piece, those that leave the path before the path goes on.
fn order(transcript: &Transcript, on_path: &[bool]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); transcript.entries.len()];
    let mut waiting = Vec::new();
    for (at, entry) in transcript.entries.iter().enumerate() {
        match entry.parent.filter(|parent| *parent < at).and_then(|parent| children.get_mut(parent)) {
            Some(siblings) => siblings.push(at),
            None => waiting.push(at),
        }
    }
    // The path last: it goes on longest.
    let is_main = |at: &usize| on_path.get(*at).copied().unwrap_or_default();
    let place = |next: &mut Vec<usize>| {
        next.sort_by_key(|at| (is_main(at), *at));
        next.reverse();
    };
    place(&mut waiting);
    let mut order = Vec::with_capacity(transcript.entries.len());
    while let Some(at) = waiting.pop() {
        order.push(at);
        if let Some(next) = children.get_mut(at) {
            place(next);
            waiting.append(next);
        }
    }
    order
}

/// How many branches each entry is away from the path.
fn depths(transcript: &Transcript, on_path: &[bool]) -> Vec<usize> {
    let mut heirs: Vec<Option<usize>> = vec![None; transcript.entries.len()];
    let mut depths = vec![0; transcript.entries.len()];
    for (at, entry) in transcript.entries.iter().enumerate() {
        let is_main = on_path.get(at).copied().unwrap_or_default();
        let Some(parent) = entry.parent.filter(|parent| *parent < at) else {
            if let Some(depth) = depths.get_mut(at) {
                *depth = usize::from(!is_main);
            }
            continue;
        };
        let is_parent_main = on_path.get(parent).copied().unwrap_or_default();
        let above = depths.get(parent).copied().unwrap_or_default();
        // Off the path, the first child goes on and its siblings step aside.
        let goes_on = is_main || (!is_parent_main && heirs.get(parent).copied().flatten().is_none());
        if let Some(heir) = heirs.get_mut(parent) {
            heir.get_or_insert(at);
        }
        if let Some(depth) = depths.get_mut(at) {
            *depth = if goes_on { above } else { above + 1 };
        }
    }
    depths
}

fn preview(entry: &Entry) -> String {
    let text = entry.parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(text.as_str()),
        Part::Call { name, .. } => Some(name.as_str()),
        _ => None,
    });
    let line = text.unwrap_or(&entry.role).trim().lines().next().unwrap_or_default();
    let short: String = line.chars().filter(|character| !matches!(character, '*' | '`')).take(80).collect();
    let label = entry.label.as_ref().map_or(String::new(), |label| format!("<b>{}</b> ", escape(label)));
    let mark = match entry.speaker {
        Speaker::User => "●",
        Speaker::Assistant => "○",
        Speaker::Tool => "·",
        Speaker::Summary => "~",
        Speaker::System | Speaker::Other => "–",
    };
    format!("<i>{mark}</i>{label}{}", escape(&short))
}
