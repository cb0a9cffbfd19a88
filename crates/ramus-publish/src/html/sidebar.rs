//! The tree beside the conversation: one row an entry, a step to the right for every branch that is not the path.

use super::text::{escape, fragment};
use crate::outline::{Outline, Row};
use crate::transcript::Speaker;

/// How far rows move to the right at most.
const DEEPEST: usize = 9;

/// Writes the tree.
pub(super) fn write(outline: &Outline, on_path: &[bool], out: &mut String) {
    out.push_str("<nav id=\"tree\" aria-label=\"Tree\">\n<ol>\n");
    let depths = depths(outline, on_path);
    for at in order(outline, on_path) {
        let Some(row) = outline.rows.get(at) else { continue };
        let depth = depths.get(at).copied().unwrap_or_default().min(DEEPEST);
        let leaf = if outline.leaf == Some(at) { " leaf" } else { "" };
        out.push_str(&format!(
            "<li class=\"row d{depth} {}{leaf}\" data-at=\"{at}\"><a href=\"{}\">{}</a></li>\n",
            row.speaker.name(),
            escape(&fragment(&row.id)),
            shown(row)
        ));
    }
    out.push_str("</ol>\n</nav>\n");
}

/// The entries as they are listed: each branch in one piece, those that leave the path before the path goes on.
fn order(outline: &Outline, on_path: &[bool]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); outline.rows.len()];
    let mut waiting = Vec::new();
    for (at, row) in outline.rows.iter().enumerate() {
        match row.parent.filter(|parent| *parent < at).and_then(|parent| children.get_mut(parent)) {
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
    let mut order = Vec::with_capacity(outline.rows.len());
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
fn depths(outline: &Outline, on_path: &[bool]) -> Vec<usize> {
    let mut heirs: Vec<Option<usize>> = vec![None; outline.rows.len()];
    let mut depths = vec![0; outline.rows.len()];
    for (at, row) in outline.rows.iter().enumerate() {
        let is_main = on_path.get(at).copied().unwrap_or_default();
        let Some(parent) = row.parent.filter(|parent| *parent < at) else {
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

fn shown(row: &Row) -> String {
    let label = row.label.as_ref().map_or(String::new(), |label| format!("<b>{}</b> ", escape(label)));
    let mark = match row.speaker {
        Speaker::User => "●",
        Speaker::Assistant => "○",
        Speaker::Tool => "·",
        Speaker::Summary => "~",
        Speaker::System | Speaker::Other => "–",
    };
    format!("<i>{mark}</i>{label}{}", escape(&row.preview))
}
