//! The life of a session: its root, starting afresh, starting over, and what goes when nobody wants it any more.

use ramus_engine::{Booted, Cleared, Purged, Reset, Retained, Session};
use ramus_model::EntryId;
use serde_json::{Map, Value, json};

use crate::members;

/// The root of a session.
pub fn booted(booted: &Booted) -> Map<String, Value> {
    members(json!({
        "entry": booted.entry.as_str(), "welcome": booted.welcome, "workspace": booted.workspace,
        "is_new": booted.is_new,
    }))
}

/// What a model is not sent any more.
pub fn cleared(cleared: &Cleared, session: &Session, dry_run: bool) -> Map<String, Value> {
    members(json!({
        "cleared": cleared.entry.as_ref().map(EntryId::as_str),
        "messages": cleared.messages,
        "kept": cleared.kept,
        "tokens_before": cleared.tokens_before,
        "leaf": session.leaf().as_ref().map(EntryId::as_str),
        "dry_run": dry_run,
    }))
}

/// What was erased.
pub fn reset(reset: &Reset, dry_run: bool) -> Map<String, Value> {
    members(json!({
        "history_cleared": !dry_run,
        "cleared_messages": reset.messages,
        "removed": {
            "entries": reset.entries, "bytes": reset.bytes, "blobs": reset.blobs,
            "copies": reset.copies.files, "shares": reset.shares,
        },
        "workspace": reset.workspace,
        "namespace": reset.namespace,
        "dry_run": dry_run,
    }))
}

/// What was erased of a session, or would be. `prompts` is how many prompts were forgotten with it.
pub fn purged(purged: &Purged, prompts: usize, dry_run: bool) -> Map<String, Value> {
    let ids = |ids: &[EntryId]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
    members(json!({
        "purged": {
            "entries": ids(&purged.entries), "messages": purged.messages, "bytes": purged.bytes,
            "blobs": purged.blobs, "copies": purged.copies.files, "shares": purged.shares,
            "prompts": prompts,
        },
        "mentions": ids(&purged.mentions),
        "leaf": purged.leaf.as_ref().map(EntryId::as_str),
        "dry_run": dry_run,
    }))
}

/// What went by the rules of the settings.
pub fn retained(retained: &Retained, dry_run: bool) -> Map<String, Value> {
    let going = retained.sessions.iter().map(|going| {
        json!({
            "id": going.session.as_str(), "title": going.title, "updated": going.updated, "rule": going.rule,
            "bytes": going.bytes,
        })
    });
    let failed = retained.failed.iter().map(|(id, why)| json!({"id": id.as_str(), "error": why}));
    members(json!({
        "sessions": going.collect::<Vec<_>>(),
        "files": retained.removed.files,
        "bytes": retained.removed.bytes,
        "quarantine": retained.quarantine.files,
        "exempt": retained.exempt,
        "failed": failed.collect::<Vec<_>>(),
        "dry_run": dry_run,
    }))
}
