//! The tree: which entries show, what they hang from, where it branches.
//!
//! Inert, replaced and superseding records do not show; what hung from them hangs from their nearest visible ancestor.
//! Children are in insertion order. Everything here takes time linear in the log, whatever its shape, and no recursion.

use crate::id::Seq;
use crate::log::{Log, Record};

/// The visible tree of a log.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// The visible entries in insertion order.
    pub entries: Vec<Node>,
    /// The visible roots.
    pub roots: Vec<Seq>,
    /// The visible entries without children.
    pub leaves: Vec<Seq>,
    /// The entry the next append hangs from.
    pub leaf: Option<Seq>,
}

/// One entry of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The entry.
    pub seq: Seq,
    /// The nearest visible ancestor.
    pub parent: Option<Seq>,
    /// Whether it is on the path to the leaf.
    pub on_path: bool,
    /// How many visible children it has.
    pub children: u32,
}

/// Which entries a tree shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The conversation.
    Visible,
    /// Every physical entry of the session, as it hangs in the log.
    All,
}

impl Tree {
    /// Builds the tree of `log`.
    pub fn of(log: &Log, scope: Scope) -> Self {
        match scope {
            Scope::Visible => Self::showing(log, log.visible().collect()),
            Scope::All => Self::showing(log, log.seqs().filter(|seq| log.belongs(*seq)).collect()),
        }
    }

    /// Builds the conversation tree without some entries. When the leaf is one of them, its nearest ancestor that shows
    /// stands for it.
    pub fn without(log: &Log, is_hidden: impl Fn(Seq) -> bool) -> Self {
        let mut tree = Self::showing(log, log.visible().filter(|seq| !is_hidden(*seq)).collect());
        tree.leaf = log.ancestors(tree.leaf).find(|seq| !is_hidden(*seq));
        tree
    }

    fn showing(log: &Log, shown: Vec<Seq>) -> Self {
        let leaf = log.leaf();
        let mut at = vec![None; log.len()];
        for (position, seq) in shown.iter().enumerate() {
            if let Some(slot) = at.get_mut(seq.index()) {
                *slot = Some(position);
            }
        }
        let parents = shown_parents(log, &at);
        let mut tree = Self { leaf, ..Self::default() };
        tree.entries = shown
            .iter()
            .map(|&seq| Node { seq, parent: parents.get(seq.index()).copied().flatten(), on_path: false, children: 0 })
            .collect();
        for node in 0..tree.entries.len() {
            let Some(parent) = tree.entries.get(node).map(|node| node.parent) else { continue };
            let parent = parent.and_then(|parent| at.get(parent.index()).copied().flatten());
            match parent.and_then(|parent| tree.entries.get_mut(parent)) {
                Some(parent) => parent.children += 1,
                None => tree.roots.extend(shown.get(node)),
            }
        }
        tree.leaves = tree.entries.iter().filter(|node| node.children == 0).map(|node| node.seq).collect();
        for seq in log.ancestors(leaf) {
            if let Some(node) = at.get(seq.index()).copied().flatten().and_then(|at| tree.entries.get_mut(at)) {
                node.on_path = true;
            }
        }
        tree
    }
}

/// The nearest shown ancestor of every record. Chains of hidden records are walked once.
fn shown_parents(log: &Log, at: &[Option<usize>]) -> Vec<Option<Seq>> {
    let is_shown = |seq: Seq| at.get(seq.index()).copied().flatten().is_some();
    let mut nearest: Vec<Option<Option<Seq>>> = vec![None; log.len()];
    let mut trail = Vec::new();
    for start in log.seqs() {
        let mut current = start;
        let answer = loop {
            if let Some(Some(known)) = nearest.get(current.index()) {
                break *known;
            }
            trail.push(current);
            match log.record(current).and_then(Record::parent) {
                Some(parent) if is_shown(parent) => break Some(parent),
                Some(parent) => current = parent,
                None => break None,
            }
        };
        for seq in trail.drain(..) {
            if let Some(slot) = nearest.get_mut(seq.index()) {
                *slot = Some(answer);
            }
        }
    }
    nearest.into_iter().map(Option::flatten).collect()
}
