//! The tree of a session, entry by entry.

use ramus_engine::{EngineError, Session};
use ramus_model::{Lines as _, Scope, Seq, Tree};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;
use crate::preview::{Preview, Signs};

/// How much of an entry is shown.
const PREVIEW: usize = 120;

/// The tree of a session. Its entries are told one by one, behind what is said once.
#[derive(ToSchema)]
pub struct SessionTree {
    /// What is said once.
    #[serde(flatten)]
    pub head: TreeHead,
    /// The entries, each behind the one it hangs from.
    #[schema(value_type = Vec<TreeEntry>)]
    pub entries: Vec<Value>,
}

/// What is said once about a tree.
#[derive(Serialize, ToSchema)]
pub struct TreeHead {
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
    roots: Vec<String>,
    /// The ends of all branches.
    leaves: Vec<String>,
}

/// What is said once about a tree.
pub fn head(session: &Session, tree: &Tree, scope: Scope) -> Map<String, Value> {
    let log = session.log();
    let id = |seq: Seq| log.id(seq).to_owned();
    let ids = |seqs: &[Seq]| seqs.iter().map(|seq| id(*seq)).collect::<Vec<_>>();
    // Labels and pointer moves are in the raw log, but they never count as leaves.
    let leaves = if scope == Scope::All { session.tree(Scope::Visible).leaves } else { tree.leaves.clone() };
    object_of(&TreeHead { leaf: tree.leaf.map(id), roots: ids(&tree.roots), leaves: ids(&leaves) })
}

/// An entry of a tree.
#[derive(Serialize, ToSchema)]
struct TreeEntry<'t> {
    id: &'t str,
    /// The entry it hangs from; null for a root.
    #[schema(required)]
    parent: Option<&'t str>,
    /// Its position in the log.
    seq: u32,
    #[serde(rename = "type")]
    type_name: String,
    /// Who speaks, as it is stored, in entries that show as messages.
    #[schema(required)]
    role: Option<String>,
    /// What it says, on one line.
    preview: String,
    #[schema(required)]
    label: Option<&'t str>,
    /// Whether it is on the path to the leaf.
    on_path: bool,
}

/// Makes the entries of a tree one by one: a long session need not fit in memory twice.
pub fn entries<'s>(
    session: &'s Session,
    tree: &'s Tree,
    signs: &'s Signs,
) -> impl Iterator<Item = Result<Value, EngineError>> + 's {
    let log = session.log();
    tree.entries.iter().filter_map(move |node| {
        let (record, place) = (log.record(node.seq)?, log.place(node.seq)?);
        let lines = session.lines();
        let preview = match lines.line(place) {
            Ok(line) => Preview::of_entry(&line, record, PREVIEW, signs),
            Err(error) => return Some(Err(error.into())),
        };
        let entry = TreeEntry {
            id: log.id(node.seq),
            parent: node.parent.map(|parent| log.id(parent)),
            seq: node.seq.number(),
            type_name: preview.type_name,
            role: preview.role,
            preview: preview.text,
            label: log.facts().label(log.id(node.seq)),
            on_path: node.on_path,
        };
        Some(Ok(object_of(&entry).into()))
    })
}
