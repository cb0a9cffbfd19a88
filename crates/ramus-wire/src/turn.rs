//! How a turn ended.

use ramus_agent::End;
use ramus_engine::run::{PastTurn, TurnResult};
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
        "without_snapshots": result.files.without,
        "unheard": result.unheard,
    }))
}

/// The last event of a turn that is in the log. What the log does not know is null.
pub fn past(session: &SessionId, turn: &PastTurn) -> Map<String, Value> {
    let noted = |name: &str| turn.end.as_ref().and_then(|end| end.get(name)).cloned();
    members(json!({
        "type": "turn_end",
        "session": session.as_str(),
        "entry": turn.entry.as_str(),
        "finish_reason": noted("end"),
        "error": null,
        "usage": noted("usage"),
        "cost_micros": noted("cost_micros"),
        "snapshot": noted("snapshot"),
        "commit": noted("git").and_then(|git| git.get("commit").cloned()),
        "dirty": noted("git").and_then(|git| git.get("dirty").cloned()),
        "artifacts": [],
        "summary": noted("summary"),
        "without_snapshots": noted("without_snapshots"),
    }))
}

/// Why a turn failed, if it did.
pub fn error(result: &TurnResult) -> Option<&str> {
    if let End::Failed(reason) = &result.end { Some(reason) } else { None }
}
