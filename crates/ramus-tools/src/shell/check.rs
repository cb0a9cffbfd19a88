//! Checks of the grammar: whether the pieces it found leave nothing out, and whether words are apart where bash needs them to
//! be.

use tree_sitter::Node;

/// Says what is wrong with the text before it is parsed: characters that bash and the grammar take differently.
pub(super) fn refused(source: &str) -> Option<&'static str> {
    source.chars().find_map(|letter| match letter {
        '\n' | '\t' => None,
        letter if letter.is_control() => Some("a control character"),
        letter if letter.is_whitespace() && letter != ' ' => Some("white space that is not a space"),
        '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
            Some("a character that cannot be seen")
        }
        _ => None,
    })
}

/// Says whether the leaves of a tree cover everything but blanks, newlines and continued lines.
pub(super) fn covers_everything(root: Node<'_>, source: &str) -> bool {
    let mut leaves = Vec::new();
    let mut stack = vec![root];
    while let Some(node) = stack.pop() {
        if node.child_count() == 0 {
            leaves.push(node.byte_range());
        }
        stack.extend(children(node));
    }
    leaves.sort_by_key(|range| range.start);
    let mut covered = 0;
    for range in leaves {
        if range.start > covered && !source.get(covered..range.start).is_some_and(is_space) {
            return false;
        }
        covered = covered.max(range.end);
    }
    source.get(covered..).is_some_and(is_space)
}

fn is_space(gap: &str) -> bool {
    gap.replace("\\\n", "").bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
}

/// Says whether two words are apart and on one line.
pub(super) fn are_apart(source: &str, end: usize, start: usize) -> bool {
    let Some(gap) = source.get(end..start) else { return false };
    let gap = gap.replace("\\\n", "");
    !gap.is_empty() && gap.bytes().all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Says whether a comment starts where bash starts one.
pub(super) fn is_comment(source: &str, start: usize) -> bool {
    let before = source.get(..start).and_then(|text| text.chars().next_back());
    before.is_none_or(|letter| matches!(letter, ' ' | '\t' | '\n' | ';' | '&' | '|' | '(' | ')'))
}

/// Returns the children of a node in order.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).collect()
}
