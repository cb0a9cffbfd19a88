//! Two ways a conversation went, and what one of them tells the other.

use ramus_engine::{Comparison, Merged, Pair, Session, Side, View};
use ramus_model::EntryId;
use ramus_model::message::Part;
use ramus_model::usage::{Prices, Tokens};
use ramus_snapshot::FileDiff;
use serde_json::{Map, Value, json};

use crate::members;

/// How much of a prompt names a side.
const NAME: usize = 200;

/// A comparison.
pub fn comparison(comparison: &Comparison, prices: &Prices) -> Map<String, Value> {
    let view = |view: &Option<View>| {
        view.as_ref().map(|view| {
            let result = view.message.result.as_ref();
            json!({
                "id": view.id.as_str(), "seq": view.seq.number(), "role": view.message.role_name,
                "text": view.message.text(), "tokens": view.tokens, "timestamp": view.timestamp,
                "calls": view.message.parts.iter().filter_map(call).collect::<Vec<_>>(),
                "name": result.map(|result| &*result.name), "error": result.map(|result| result.is_error),
            })
        })
    };
    let pair = |pair: &Pair| json!({"a": view(&pair.left), "b": view(&pair.right), "same": pair.is_same});
    members(json!({
        "ancestor": comparison.ancestor.as_ref().map(EntryId::as_str),
        "shared_messages": comparison.shared,
        "a": side(&comparison.left, prices),
        "b": side(&comparison.right, prices),
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

/// What a message calls.
fn call(part: &Part) -> Option<Value> {
    let Part::ToolCall { name, arguments, .. } = part else { return None };
    Some(json!({"name": name, "arguments": arguments}))
}

fn side(side: &Side, prices: &Prices) -> Value {
    let cost = side.totals.cost(prices);
    let prompt = side.prompt.as_ref().map(|prompt| prompt.chars().take(NAME).collect::<String>());
    json!({
        "session": side.session.as_str(),
        "leaf": side.leaf.as_ref().map(EntryId::as_str),
        "messages": side.messages,
        "usage": Tokens::from(&side.usage),
        "cost_micros": cost.micros,
        "unpriced": cost.unpriced,
        "title": side.title,
        "label": side.label,
        "prompt": prompt,
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
