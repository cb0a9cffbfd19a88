//! What a client's tree has that a session has not, and the other way round. Pure: it looks at names and texts.
//!
//! A client sends lists of messages that share their beginnings. Going down a list, a message that hangs where it hung is
//! known; one that hangs further below means that what lies between is left out; one that lies above was moved by the
//! client. Everything else is new, and hangs from where the list has come to.

use std::collections::HashMap;

/// A message of either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    /// What the client calls it.
    pub(super) id: String,
    /// Who said it.
    pub(super) role: String,
    /// The text.
    pub(super) text: String,
    /// When, if the client says so.
    pub(super) timestamp: Option<String>,
}

/// A message in the tree of the session, or that will be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    /// The message above it.
    pub(super) parent: Option<usize>,
    pub(super) said: Said,
}

/// What comes of a client's tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    /// Every message: those of the session, then those that are new.
    pub(super) nodes: Vec<Node>,
    /// How many of them the session has.
    pub(super) known: usize,
    /// Those of the session that the client left out.
    pub(super) hidden: Vec<usize>,
    /// The last message of the list that counts.
    pub(super) leaf: Option<usize>,
    /// The list that counts as the client orders it; none when it is in the order of the tree.
    pub(super) order: Option<Vec<usize>>,
}

/// Compares the messages of a session, parents before children, with lists of a client, of which the last one counts.
pub(super) fn compare(nodes: Vec<Node>, lists: Vec<Vec<Said>>) -> Difference {
    let mut walk = Walk::over(nodes);
    let mut counting = Vec::new();
    for list in lists {
        counting = walk.list(list);
    }
    walk.finish(&counting)
}

/// Which messages lie below which, without looking at each of them.
struct Spans(Vec<(usize, usize)>);

impl Spans {
    /// Numbers messages from top to bottom, so that those below one have the numbers behind it.
    fn of(nodes: &[Node]) -> Self {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
        let mut open = Vec::new();
        for (at, node) in nodes.iter().enumerate().rev() {
            match node.parent.and_then(|parent| children.get_mut(parent)) {
                Some(siblings) => siblings.push(at),
                None => open.push((at, false)),
            }
        }
        let (mut spans, mut number) = (vec![(0, 0); nodes.len()], 0);
        while let Some((at, is_done)) = open.pop() {
            let Some(span) = spans.get_mut(at) else { continue };
            if is_done {
                span.1 = number;
                continue;
            }
            span.0 = number;
            number += 1;
            open.push((at, true));
            open.extend(children.get_mut(at).map(std::mem::take).into_iter().flatten().map(|child| (child, false)));
        }
        Self(spans)
    }

    fn is_below(&self, one: usize, other: Option<usize>) -> bool {
        let Some(other) = other else { return true };
        match (self.0.get(one), self.0.get(other)) {
            (Some((first, _)), Some((start, end))) => one != other && (*start..*end).contains(first),
            _ => false,
        }
    }
}

struct Walk {
    nodes: Vec<Node>,
    known: usize,
    spans: Spans,
    /// Messages by where they hang, what they are called and what they say.
    placed: HashMap<(Option<usize>, String, String), usize>,
    /// Those of the session by name and text; of several, the newest.
    anywhere: HashMap<(String, String), usize>,
    is_shown: Vec<bool>,
}

impl Walk {
    fn over(nodes: Vec<Node>) -> Self {
        let (mut placed, mut anywhere) = (HashMap::new(), HashMap::new());
        for (at, Node { parent, said }) in nodes.iter().enumerate() {
            placed.entry((*parent, said.id.clone(), said.text.clone())).or_insert(at);
            anywhere.insert((said.id.clone(), said.text.clone()), at);
        }
        let (known, spans) = (nodes.len(), Spans::of(&nodes));
        Self { is_shown: vec![false; known], nodes, known, spans, placed, anywhere }
    }

    /// Goes down a list and returns what its messages are.
    fn list(&mut self, list: Vec<Said>) -> Vec<usize> {
        let mut met = Vec::with_capacity(list.len());
        // Where the list has come to, and the last message of the session on the way.
        let (mut at, mut last_known): (Option<usize>, Option<usize>) = (None, None);
        for said in list {
            let found = self.placed.get(&(at, said.id.clone(), said.text.clone())).copied();
            let elsewhere = || self.anywhere.get(&(said.id.clone(), said.text.clone())).copied();
            let is_new_place = at.is_some_and(|at| at >= self.known);
            let node = match found.or_else(elsewhere) {
                Some(node) if found.is_some() => self.go(node, &mut at, &mut last_known),
                Some(node) if !is_new_place && self.spans.is_below(node, at) => self.go(node, &mut at, &mut last_known),
                // It was passed already, or comes along: where it hangs stays as it is.
                Some(node) if last_known.is_some_and(|last| last == node || self.spans.is_below(last, Some(node))) => {
                    node
                }
                _ => {
                    let node = self.add(at, said);
                    at = Some(node);
                    node
                }
            };
            if let Some(shown) = self.is_shown.get_mut(node) {
                *shown = true;
            }
            met.push(node);
        }
        met
    }

    fn go(&self, node: usize, at: &mut Option<usize>, last_known: &mut Option<usize>) -> usize {
        *at = Some(node);
        if node < self.known {
            *last_known = Some(node);
        }
        node
    }

    fn add(&mut self, parent: Option<usize>, said: Said) -> usize {
        let node = self.nodes.len();
        self.placed.insert((parent, said.id.clone(), said.text.clone()), node);
        self.nodes.push(Node { parent, said });
        node
    }

    fn finish(self, counting: &[usize]) -> Difference {
        // The deepest message counts as the end: the client may show another one last.
        let mut depth: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            depth.push(node.parent.and_then(|parent| depth.get(parent)).map_or(0, |above| above + 1));
        }
        let deep = |node: &usize| depth.get(*node).copied().unwrap_or_default();
        let leaf = counting.iter().copied().max_by_key(deep);
        let is_ordered = counting.windows(2).all(|two| match two {
            [one, other] => deep(one) < deep(other),
            _ => true,
        });
        let hidden = (0..self.known).filter(|at| self.is_shown.get(*at) == Some(&false)).collect();
        let order = (!is_ordered).then(|| counting.to_vec());
        Difference { nodes: self.nodes, known: self.known, hidden, leaf, order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, text: &str) -> Said {
        Said { id: id.into(), role: "user".into(), text: text.into(), timestamp: None }
    }

    /// A chain of messages called after what they say.
    fn chain(names: &[&str]) -> Vec<Node> {
        let node = |(at, name): (usize, &&str)| Node { parent: at.checked_sub(1), said: said(name, name) };
        names.iter().enumerate().map(node).collect()
    }

    fn list(names: &[&str]) -> Vec<Said> {
        names.iter().map(|name| said(name, name)).collect()
    }

    #[test]
    fn the_same_tree_changes_nothing() {
        let difference = compare(chain(&["a", "b", "c"]), vec![list(&["a", "b"]), list(&["a", "b", "c"])]);
        assert_eq!((difference.nodes.len(), difference.leaf, difference.order), (3, Some(2), None));
        assert!(difference.hidden.is_empty());
    }

    #[test]
    fn what_is_new_hangs_from_where_the_list_has_come_to() {
        let mut edited = list(&["a", "b", "c"]);
        edited[1].text = "b, edited".into();
        let difference = compare(chain(&["a", "b", "c"]), vec![list(&["a", "b", "c"]), edited]);
        let new: Vec<(Option<usize>, &str)> =
            difference.nodes[3..].iter().map(|node| (node.parent, node.said.text.as_str())).collect();
        assert_eq!(new, [(Some(0), "b, edited"), (Some(3), "c")]);
        assert_eq!((difference.leaf, difference.hidden.len()), (Some(4), 0));
    }

    #[test]
    fn lists_share_what_is_new() {
        let difference = compare(Vec::new(), vec![list(&["a", "b", "x"]), list(&["a", "b", "y"])]);
        assert_eq!((difference.nodes.len(), difference.leaf), (4, Some(3)));
    }

    #[test]
    fn what_is_missing_is_hidden_wherever_it_was() {
        let difference = compare(chain(&["a", "b", "c", "d"]), vec![list(&["a", "c"])]);
        assert_eq!((difference.hidden, difference.nodes.len(), difference.leaf), (vec![1, 3], 4, Some(2)));
        let nothing = compare(chain(&["a", "b"]), vec![Vec::new()]);
        assert_eq!((nothing.hidden, nothing.leaf), (vec![0, 1], None));
    }

    #[test]
    fn another_order_is_an_order_and_no_new_message() {
        let difference = compare(chain(&["a", "b", "c"]), vec![list(&["a", "c", "b"])]);
        assert_eq!((difference.nodes.len(), difference.leaf), (3, Some(2)));
        assert_eq!((difference.order, difference.hidden), (Some(vec![0, 2, 1]), vec![]));
        let behind = compare(chain(&["a", "b", "c"]), vec![list(&["c", "b", "a", "d"])]);
        assert_eq!(behind.nodes[3].parent, Some(2), "what is new hangs from the deepest");
        assert_eq!(behind.order, Some(vec![2, 1, 0, 3]));
    }

    #[test]
    fn a_message_of_another_branch_is_said_again_here() {
        // b and c both hang from a.
        let mut nodes = chain(&["a", "b"]);
        nodes.push(Node { parent: Some(0), said: said("c", "c") });
        let difference = compare(nodes, vec![list(&["a", "b", "c"])]);
        assert_eq!(difference.nodes[3], Node { parent: Some(1), said: said("c", "c") });
        assert_eq!(difference.hidden, [2]);
    }

    #[test]
    fn long_lists_take_no_longer_than_they_are() {
        let names: Vec<String> = (0..100_000).map(|at| at.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut backwards = list(&names);
        backwards.reverse();
        let difference = compare(chain(&names), vec![list(&names), backwards]);
        assert_eq!((difference.nodes.len(), difference.leaf), (100_000, Some(99_999)));
    }
}
