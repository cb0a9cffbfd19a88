//! Making room: what was left out of what a model is sent, and what stands in its place.

use ramus_engine::{Compacted, Evicted, Replaced, Session};
use ramus_model::EntryId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// The older part of a path, which became a summary, or would.
#[derive(Serialize, ToSchema)]
pub struct CompactedPath<'c> {
    /// The entry; null when nothing was written.
    #[schema(required)]
    compaction: Option<&'c str>,
    /// The first entry that is kept; null when there is nothing to summarise.
    #[schema(required)]
    first_kept: Option<&'c str>,
    tokens_before: u64,
    tokens_after: u64,
    messages_before: usize,
    messages_after: usize,
    summary: &'c str,
}

/// The older part of a path, which became a summary, or would.
pub fn compacted(compacted: &Compacted) -> Map<String, Value> {
    object_of(&CompactedPath {
        compaction: compacted.entry.as_ref().map(EntryId::as_str),
        first_kept: compacted.first_kept.as_ref().map(EntryId::as_str),
        tokens_before: compacted.tokens.0,
        tokens_after: compacted.tokens.1,
        messages_before: compacted.messages.0,
        messages_after: compacted.messages.1,
        summary: &compacted.summary,
    })
}

/// Messages that were left out, or would be.
#[derive(Serialize, ToSchema)]
pub struct EvictedMessages<'e> {
    /// Their entries.
    evicted: Vec<&'e str>,
    /// How many tokens that frees.
    freed: u64,
    /// How many were to be freed.
    needed: u64,
    /// Whether that is enough.
    enough: bool,
    dry_run: bool,
}

/// Messages that were left out, or would be.
pub fn evicted(evicted: &Evicted, dry_run: bool) -> Map<String, Value> {
    object_of(&EvictedMessages {
        evicted: ids(&evicted.entries),
        freed: evicted.freed,
        needed: evicted.needed,
        enough: evicted.is_enough(),
        dry_run,
    })
}

/// One entry in the place of several.
#[derive(Serialize, ToSchema)]
pub struct ReplacedSegment<'r> {
    /// The entry that stands there now.
    replacement: &'r str,
    replaced: Vec<&'r str>,
    /// The entries that hang from it now.
    reparented: Vec<&'r str>,
    /// The entry that it goes on from; null when the next entry is a root.
    #[schema(required)]
    leaf: Option<String>,
}

/// One entry in the place of several.
pub fn replaced(replaced: &Replaced, session: &Session) -> Map<String, Value> {
    object_of(&ReplacedSegment {
        replacement: replaced.replacement.as_str(),
        replaced: ids(&replaced.replaced),
        reparented: ids(&replaced.reparented),
        leaf: session.leaf().map(|leaf| leaf.to_string()),
    })
}

fn ids(ids: &[EntryId]) -> Vec<&str> {
    ids.iter().map(EntryId::as_str).collect()
}
