//! How a turn ended.

use ramus_agent::End;
use ramus_engine::run::{PastTurn, TurnResult};
use ramus_model::SessionId;
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::object_of;
use crate::session::ChangedLines;
use crate::usage::TokenCounts;
use crate::words;

/// How a turn ended. What the log of one that is over does not know is null.
#[derive(Serialize, ToSchema)]
pub struct TurnEnd<'t> {
    #[serde(rename = "type")]
    #[schema(schema_with = words::turn_end)]
    kind: &'static str,
    session: &'t str,
    /// The last entry that it wrote.
    #[schema(required)]
    entry: Option<&'t str>,
    /// Why it ended, in one word: `stop`, `cancelled`, `error` and others.
    #[schema(value_type = Option<String>, required)]
    finish_reason: Value,
    /// Why it failed; null when it did not.
    #[schema(required)]
    error: Option<&'t str>,
    #[schema(value_type = Option<TokenCounts>, required)]
    usage: Value,
    /// In millionths of a US dollar; null when nobody knows.
    #[schema(value_type = Option<u64>, required)]
    cost_micros: Value,
    /// The snapshot at its end; null when no call may have changed anything.
    #[schema(value_type = Option<String>, required)]
    snapshot: Value,
    /// The commit of the repository that it worked in.
    #[schema(value_type = Option<String>, required)]
    commit: Value,
    /// Whether that repository had changes.
    #[schema(value_type = Option<bool>, required)]
    dirty: Value,
    /// What its tools made, as they describe it.
    artifacts: &'t [Value],
    #[schema(value_type = Option<ChangedLines>, required)]
    summary: Value,
    /// Why no snapshots could be taken.
    #[schema(value_type = Option<String>, required)]
    without_snapshots: Value,
    /// What was said while it ran and came too late. The log does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    unheard: Option<&'t [String]>,
}

/// The last event of a turn.
pub fn end(session: &SessionId, result: &TurnResult) -> Map<String, Value> {
    object_of(&TurnEnd {
        kind: "turn_end",
        session: session.as_str(),
        entry: result.entry.as_ref().map(|id| id.as_str()),
        finish_reason: result.finish_reason().into(),
        error: error(result),
        usage: object_of(&TokenCounts::from(result.usage)).into(),
        cost_micros: json!(result.cost_micros),
        snapshot: json!(result.files.snapshot),
        commit: json!(result.files.git.commit),
        dirty: json!(result.files.git.dirty),
        artifacts: &result.artifacts,
        summary: object_of(&ChangedLines::from(result.files.summary)).into(),
        without_snapshots: json!(result.files.without),
        unheard: Some(&result.unheard),
    })
}

/// The last event of a turn that is in the log. What the log does not know is null.
pub fn past(session: &SessionId, turn: &PastTurn) -> Map<String, Value> {
    let noted = |name: &str| turn.end.as_ref().and_then(|end| end.get(name)).cloned().unwrap_or_default();
    let git = noted("git");
    object_of(&TurnEnd {
        kind: "turn_end",
        session: session.as_str(),
        entry: Some(turn.entry.as_str()),
        finish_reason: noted("end"),
        error: None,
        usage: noted("usage"),
        cost_micros: noted("cost_micros"),
        snapshot: noted("snapshot"),
        commit: git.get("commit").cloned().unwrap_or_default(),
        dirty: git.get("dirty").cloned().unwrap_or_default(),
        artifacts: &[],
        summary: noted("summary"),
        without_snapshots: noted("without_snapshots"),
        unheard: None,
    })
}

/// Why a turn failed, if it did.
pub fn error(result: &TurnResult) -> Option<&str> {
    if let End::Failed(reason) = &result.end { Some(reason) } else { None }
}
