//! How a turn ended.

use ramus_agent::End;
use ramus_engine::run::TurnResult;
use ramus_model::SessionId;
use serde_json::{Map, Value, json};

use crate::members;

/// The last event of a turn.
pub fn end(session: &SessionId, result: &TurnResult) -> Map<String, Value> {
    let usage = result.usage;
    members(json!({
        "type": "turn_end",
        "session": session.as_str(),
        "entry": result.entry.as_ref().map(|id| id.as_str()),
        "finish_reason": result.finish_reason(),
        "error": error(result),
        "usage": {
            "input": usage.input, "output": usage.output,
            "cache_read": usage.cache_read, "cache_write": usage.cache_write,
        },
        "cost_micros": result.cost_micros,
        "snapshot": result.files.snapshot,
        "commit": result.files.git.commit,
        "dirty": result.files.git.dirty,
        "artifacts": result.artifacts,
        "summary": result.files.summary,
    }))
}

/// Why a turn failed, if it did.
pub fn error(result: &TurnResult) -> Option<&str> {
    if let End::Failed(reason) = &result.end { Some(reason) } else { None }
}
