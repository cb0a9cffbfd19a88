//! The messages of a payload as the tree that its lists are, so that what came from it is written as it was.

use hashbrown::HashMap;
use ramus_model::json::Raw;
use sha2::{Digest as _, Sha256};

use crate::emit::hash;

/// What a message hangs from and says; messages that share both are told apart by their ids.
type Key = (usize, [u8; 32]);

/// A message of the payload.
struct Node<'p> {
    id: String,
    bytes: &'p [u8],
    /// Whether one of the versions has it, and not only the list that counts.
    is_kept: bool,
}

/// The tree.
#[derive(Default)]
pub(super) struct Known<'p> {
    nodes: Vec<Node<'p>>,
    children: HashMap<Key, Vec<usize>>,
}

/// The place in front of every list.
pub(super) const ROOT: usize = usize::MAX;

impl<'p> Known<'p> {
    /// Reads a payload: the lists of its versions, and the one that counts.
    pub(super) fn of(payload: Raw<'p>) -> Self {
        let mut known = Self::default();
        let branches = payload.field("branches").into_iter().flat_map(|branches| branches.fields().collect::<Vec<_>>());
        for (_, branch) in branches {
            for version in branch.field("versions").into_iter().flat_map(Raw::items) {
                known.list(version.field("messages"), true);
            }
        }
        known.list(payload.field("messages"), false);
        known
    }

    fn list(&mut self, messages: Option<Raw<'p>>, is_kept: bool) {
        let mut at = ROOT;
        for message in messages.into_iter().flat_map(Raw::items) {
            let id = message.field("id").and_then(Raw::text).unwrap_or_default();
            let children = self.children.entry((at, said(message))).or_default();
            let same = children.iter().find(|node| self.nodes.get(**node).is_some_and(|node| node.id == id)).copied();
            at = same.unwrap_or(self.nodes.len());
            match self.nodes.get_mut(at) {
                Some(node) => node.is_kept |= is_kept,
                None => {
                    children.push(at);
                    self.nodes.push(Node { id: id.into_owned(), bytes: message.bytes(), is_kept });
                }
            }
        }
    }

    /// Finds the message that an entry was read from, behind another one.
    pub(super) fn find(&self, at: usize, entry: &str, message: &[u8]) -> Option<usize> {
        let children = self.children.get(&(at, said(Raw::parse(message)?)))?;
        let is_it = |node: &&usize| self.nodes.get(**node).is_some_and(|node| is_called(&node.id, entry));
        children.iter().find(is_it).copied()
    }

    pub(super) fn bytes(&self, node: usize) -> Option<&'p [u8]> {
        self.nodes.get(node).map(|node| node.bytes)
    }

    /// Says whether a version has a message, and so everything before it.
    pub(super) fn is_kept(&self, node: usize) -> bool {
        self.nodes.get(node).is_some_and(|node| node.is_kept)
    }
}

fn said(message: Raw<'_>) -> [u8; 32] {
    let content = message.field("content").filter(|content| content.text().is_some());
    Sha256::digest(content.map_or(&b"\"\""[..], Raw::bytes)).into()
}

/// Says whether an entry may be a message with this id: one that was there twice has a number behind it.
fn is_called(id: &str, entry: &str) -> bool {
    let is_again = |id: &str| entry.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    is_again(id) || id.is_empty() || is_again(&hash(id))
}
