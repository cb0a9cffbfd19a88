//! Making room: what was left out of what a model is sent, and what stands in its place.

use ramus_engine::{Evicted, Replaced, Session};
use ramus_model::EntryId;
use serde_json::{Map, Value, json};

use crate::members;

/// Messages that were left out, or would be.
pub fn evicted(evicted: &Evicted, dry_run: bool) -> Map<String, Value> {
    members(json!({
        "evicted": ids(&evicted.entries),
        "freed": evicted.freed,
        "needed": evicted.needed,
        "enough": evicted.is_enough(),
        "dry_run": dry_run,
    }))
}

/// One entry in the place of several.
pub fn replaced(replaced: &Replaced, session: &Session) -> Map<String, Value> {
    members(json!({
        "replacement": replaced.replacement.as_str(),
        "replaced": ids(&replaced.replaced),
        "reparented": ids(&replaced.reparented),
        "leaf": session.leaf().map(|leaf| leaf.to_string()),
    }))
}

fn ids(ids: &[EntryId]) -> Vec<&str> {
    ids.iter().map(EntryId::as_str).collect()
}
