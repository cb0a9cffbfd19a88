//! Replacing a segment: which entries go, which are hung from the replacement.
//!
//! The scope is global: every entry outside that hangs from any replaced one moves, on every branch. The rules are
//! checked here, before anything is written; a segment that breaks one changes nothing.

use crate::id::Seq;
use crate::log::{Log, Record};
use crate::tree::{Node, Scope, Tree};

/// Why a segment cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// There are no entries in it.
    #[error("the segment is empty")]
    Empty,
    /// An entry is in it twice.
    #[error("the segment names {0} twice")]
    Duplicate(String),
    /// Its entries do not follow each other from parent to child.
    #[error("the segment is not contiguous: {child} does not hang from {parent}")]
    NotContiguous {
        /// The entry that should be the parent.
        parent: String,
        /// The entry that does not hang from it.
        child: String,
    },
    /// An entry is not part of the tree.
    #[error("{0} is not part of the conversation tree")]
    NotVisible(String),
}

/// What replacing a segment does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The entries that are replaced, from first to last.
    pub replaced: Vec<Seq>,
    /// What the replacement hangs from.
    pub parent: Option<Seq>,
    /// The entries of the conversation that will hang from the replacement, in log order. Labels and metadata stay where
    /// they are: they hold for the session, and writing them again would make them its last word.
    pub reparented: Vec<Seq>,
    /// Whether the leaf is replaced too and moves to the replacement.
    pub leaf_moves: bool,
}

/// Returns the entries from `first` down to `last` on one path.
pub fn between(log: &Log, first: Seq, last: Seq) -> Result<Vec<Seq>, SegmentError> {
    let mut segment = Vec::new();
    for seq in log.ancestors(Some(last)) {
        if log.record(seq).is_some_and(Record::is_visible) {
            segment.push(seq);
        }
        if seq == first {
            segment.reverse();
            return Ok(segment);
        }
    }
    Err(SegmentError::NotContiguous { parent: log.id(first).to_owned(), child: log.id(last).to_owned() })
}

/// Checks a segment and plans its replacement.
pub fn plan(log: &Log, segment: &[Seq]) -> Result<Plan, SegmentError> {
    let Some(first) = segment.first() else { return Err(SegmentError::Empty) };
    let mut sorted = segment.to_vec();
    sorted.sort_unstable();
    if let Some([twice, _]) = sorted.array_windows::<2>().find(|[a, b]| a == b) {
        return Err(SegmentError::Duplicate(log.id(*twice).to_owned()));
    }
    for seq in segment {
        if !log.record(*seq).is_some_and(Record::is_visible) || !log.belongs(*seq) {
            return Err(SegmentError::NotVisible(log.id(*seq).to_owned()));
        }
    }
    for [parent, child] in segment.array_windows::<2>() {
        if visible_parent(log, *child) != Some(*parent) {
            let (parent, child) = (log.id(*parent).to_owned(), log.id(*child).to_owned());
            return Err(SegmentError::NotContiguous { parent, child });
        }
    }
    let inside = |seq: Seq| sorted.binary_search(&seq).is_ok();
    let tree = Tree::of(log, Scope::Visible);
    let moves = |node: &&Node| !inside(node.seq) && node.parent.is_some_and(inside);
    let reparented = tree.entries.iter().filter(moves).map(|node| node.seq).collect();
    Ok(Plan {
        replaced: segment.to_vec(),
        parent: log.record(*first).and_then(Record::parent),
        reparented,
        leaf_moves: log.leaf().is_some_and(inside),
    })
}

fn visible_parent(log: &Log, seq: Seq) -> Option<Seq> {
    log.ancestors(Some(seq)).skip(1).find(|seq| log.record(*seq).is_some_and(Record::is_visible))
}
