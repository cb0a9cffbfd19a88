//! What is told about the health of a session: the same report for `doctor` and `recover`.

use ramus_engine::{Action, EngineError, Examined, RecoveryReport, RecoveryStatus};
use ramus_model::{Finding, Severity};
use ramus_store::{Leftover, LeftoverKind};
use serde_json::{Map, Value, json};

use crate::members;

/// The report as an object.
pub fn report(report: &RecoveryReport) -> Map<String, Value> {
    let hash = |pick: fn(&(String, String)) -> &String| report.sha256.as_ref().map(pick);
    members(json!({
        "status": report.status.name(),
        "session": report.session,
        "path": report.path,
        "actions": report.actions.iter().map(action_json).collect::<Vec<_>>(),
        "entries": report.entries,
        "salvaged": report.salvaged,
        "unreadable": report.unreadable,
        "quarantined_bytes": report.quarantined_bytes(),
        "findings": report.findings.iter().map(finding_json).collect::<Vec<_>>(),
        "more_findings": report.more_findings,
        "remarks": report.remarks,
        "sha256_before": hash(|hashes| &hashes.0),
        "sha256_after": hash(|hashes| &hashes.1),
    }))
}

/// A session that could not be read, in the same shape.
pub fn failure(session: &str, error: &EngineError) -> Map<String, Value> {
    members(json!({
        "status": RecoveryStatus::Unreadable.name(),
        "session": session,
        "path": null,
        "actions": [],
        "entries": 0,
        "salvaged": 0,
        "unreadable": 1,
        "quarantined_bytes": 0,
        "findings": [],
        "error": {"kind": error.kind().name(), "message": error.to_string(), "hint": error.hint()},
    }))
}

fn finding_json(finding: &Finding) -> Value {
    let severity = if finding.kind.severity() == Severity::Damage { "damage" } else { "notice" };
    json!({
        "kind": finding.kind.name(),
        "severity": severity,
        "line": finding.line,
        "offset": finding.offset,
        "detail": finding.detail,
    })
}

fn action_json(action: &Action) -> Value {
    json!({
        "kind": action.kind.name(),
        "detail": action.detail,
        "quarantined_bytes": action.quarantined,
        "kept": action.kept,
    })
}

fn one(examined: &Examined) -> Map<String, Value> {
    match &examined.outcome {
        Ok(found) => report(found),
        Err(error) => failure(&examined.session, error),
    }
}

/// The sums over all sessions, and every session as if it had been examined alone.
pub fn many(examined: &[Examined], leftovers: &[Leftover], worst: RecoveryStatus) -> Map<String, Value> {
    let sessions: Vec<Map<String, Value>> = examined.iter().map(one).collect();
    let sum = |name: &str| sessions.iter().filter_map(|session| session.get(name)?.as_u64()).sum::<u64>();
    // What is told of all sessions together says which one it is about.
    let collect = |name: &str| -> Vec<Value> {
        let named = |session: &Map<String, Value>| {
            let id = session.get("session").cloned().unwrap_or_default();
            let items = session.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
            items.into_iter().map(move |item| {
                let mut item = members(item);
                item.insert("session".into(), id.clone());
                Value::Object(item)
            })
        };
        sessions.iter().flat_map(named).collect()
    };
    let unfinished = leftovers.iter().map(|leftover| {
        let kind = match leftover.kind {
            LeftoverKind::Unfinished => "unfinished",
            LeftoverKind::Lock => "lock",
            LeftoverKind::Import => "import",
        };
        json!({"kind": kind, "path": leftover.path})
    });
    members(json!({
        "status": worst.name(),
        "actions": collect("actions"),
        "entries": sum("entries"),
        "salvaged": sum("salvaged"),
        "unreadable": sum("unreadable"),
        "quarantined_bytes": sum("quarantined_bytes"),
        "findings": collect("findings"),
        "leftovers": unfinished.collect::<Vec<_>>(),
        "sessions": sessions,
    }))
}
