//! What a search found, and prompts that were remembered.

use ramus_catalogue::Prompt;
use ramus_engine::{Hit, Hits};
use ramus_model::time;
use serde_json::{Map, Value, json};

use crate::members;

/// What a search found.
pub fn hits(hits: &Hits) -> Map<String, Value> {
    let unreadable = hits.unreadable.iter().map(|(session, reason)| json!({"session": session, "reason": reason}));
    let index =
        hits.index.map(|index| json!({"ready": index.ready, "indexed": index.indexed, "sessions": index.sessions}));
    members(json!({
        "hits": hits.hits.iter().map(hit).collect::<Vec<_>>(),
        "total": hits.total,
        "total_is_exact": hits.is_counted,
        "damaged": hits.damaged,
        "unreadable": unreadable.collect::<Vec<_>>(),
        "index": index,
    }))
}

fn hit(hit: &Hit) -> Value {
    let segments = hit.snippet.segments.iter();
    let segments: Vec<_> = segments.map(|s| json!({"text": s.text, "match": s.is_match})).collect();
    json!({
        "session": hit.session,
        "entry": hit.entry.as_ref().map(|entry| entry.as_str()),
        "role": hit.role,
        "snippet": hit.snippet.text(),
        "timestamp": hit.timestamp,
        "title": hit.title,
        "cwd": hit.cwd,
        "score": (hit.score * 1000.0).round() / 1000.0,
        "segments": segments,
        "tools": hit.tools,
        "model": hit.model,
        "error": hit.error,
    })
}

/// Something a person asked once.
pub fn prompt(prompt: &Prompt) -> Value {
    json!({"prompt": prompt.text, "created": time::format(prompt.created), "cwd": prompt.cwd})
}
