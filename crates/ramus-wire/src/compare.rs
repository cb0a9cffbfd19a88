//! Two ways a conversation went, and what one of them tells the other.

use ramus_engine::{Comparison, Merged, Pair, Session, Side, View};
use ramus_model::EntryId;
use ramus_model::usage::Tokens;
use ramus_snapshot::FileDiff;
use serde_json::{Map, Value, json};

use crate::members;

/// A comparison.
pub fn comparison(comparison: &Comparison) -> Map<String, Value> {
    let view = |view: &Option<View>| {
        view.as_ref().map(|view| {
            json!({
                "id": view.id.as_str(), "seq": view.seq.number(), "role": view.message.role_name,
                "text": view.message.text(), "tokens": view.tokens, "timestamp": view.timestamp,
            })
        })
    };
    let pair = |pair: &Pair| json!({"a": view(&pair.left), "b": view(&pair.right), "same": pair.is_same});
    members(json!({
        "ancestor": comparison.ancestor.as_ref().map(EntryId::as_str),
        "shared_messages": comparison.shared,
        "a": side(&comparison.left),
        "b": side(&comparison.right),
        "messages": comparison.pairs.iter().map(pair).collect::<Vec<_>>(),
        "files": comparison.files.as_ref().map(|files| files.iter().map(file).collect::<Vec<_>>()),
    }))
}

fn file(file: &FileDiff) -> Value {
    json!({
        "path": file.path.to_string_lossy(), "status": file.status.as_str(), "additions": file.additions,
        "deletions": file.deletions, "diff": file.diff,
    })
}

fn side(side: &Side) -> Value {
    json!({
        "session": side.session.as_str(),
        "leaf": side.leaf.as_ref().map(EntryId::as_str),
        "messages": side.messages,
        "usage": Tokens::from(&side.usage),
        "cost_micros": side.cost_micros,
        "snapshot": side.snapshot,
    })
}

/// What was brought back, or would be.
pub fn merged(merged: &Merged, into: &Session, dry_run: bool) -> Map<String, Value> {
    let ids = |ids: &[EntryId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
    members(json!({
        "merged": ids(&merged.entries), "from": merged.from.as_str(), "sources": ids(&merged.sources),
        "text": merged.text, "leaf": into.leaf().as_ref().map(EntryId::as_str), "dry_run": dry_run,
    }))
}
