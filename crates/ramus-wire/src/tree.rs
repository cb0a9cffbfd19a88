//! The tree of a session, entry by entry.

use ramus_engine::{EngineError, Session};
use ramus_model::{Lines as _, Scope, Seq, Tree};
use serde_json::{Map, Value, json};

use crate::members;
use crate::preview::{Preview, Signs};

/// How much of an entry is shown.
const PREVIEW: usize = 120;

/// What is said once about a tree.
pub fn head(session: &Session, tree: &Tree, scope: Scope) -> Map<String, Value> {
    let log = session.log();
    let id = |seq: Seq| log.id(seq).to_owned();
    let ids = |seqs: &[Seq]| seqs.iter().map(|seq| id(*seq)).collect::<Vec<_>>();
    // Labels and pointer moves are in the raw log, but they never count as leaves.
    let leaves = if scope == Scope::All { session.tree(Scope::Visible).leaves } else { tree.leaves.clone() };
    members(json!({"leaf": tree.leaf.map(id), "roots": ids(&tree.roots), "leaves": ids(&leaves)}))
}

/// Makes the entries of a tree one by one: a long session need not fit in memory twice.
pub fn entries<'s>(
    session: &'s Session,
    tree: &'s Tree,
    signs: &'s Signs,
) -> impl Iterator<Item = Result<Value, EngineError>> + 's {
    let log = session.log();
    let id = |seq: Seq| log.id(seq).to_owned();
    tree.entries.iter().filter_map(move |node| {
        let (record, place) = (log.record(node.seq)?, log.place(node.seq)?);
        let lines = session.lines();
        let preview = match lines.line(place) {
            Ok(line) => Preview::of_entry(&line, record, PREVIEW, signs),
            Err(error) => return Some(Err(error.into())),
        };
        Some(Ok(json!({
            "id": id(node.seq),
            "parent": node.parent.map(id),
            "seq": node.seq.number(),
            "type": preview.type_name,
            "role": preview.role,
            "preview": preview.text,
            "label": log.facts().label(log.id(node.seq)),
            "on_path": node.on_path,
        })))
    })
}
