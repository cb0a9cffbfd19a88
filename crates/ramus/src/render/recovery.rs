//! What people and programs are told about the health of a session: the same report for `doctor` and `recover`.

use ramus_engine::{Action, EngineError, RecoveryReport, RecoveryStatus};
use ramus_model::{Finding, Severity};
use serde_json::{Map, Value, json};

use super::{Text, json, quantity, style};

/// Says how the session is, what was done, what is wrong, and what was left.
pub(crate) fn tell(text: &mut Text, report: &RecoveryReport) {
    tell_status(text, report.status, &report.session);
    text.styled(style::DIM, &format!("  {}", quantity::count(report.entries, "entry", "entries"))).end();
    for action in &report.actions {
        text.spaces(2).styled(style::LEAF, action.kind.name()).plain("  ").plain(&action.detail).end();
    }
    report.findings.iter().for_each(|finding| tell_finding(text, finding));
    if report.more_findings > 0 {
        let more = quantity::count(report.more_findings, "more finding", "more findings");
        text.spaces(2).styled(style::DIM, &format!("and {more}")).end();
    }
    for remark in &report.remarks {
        text.spaces(2).styled(style::HINT, "left alone").plain("  ").plain(remark).end();
    }
}

/// Says why nothing can be said about a session.
pub(crate) fn tell_failure(text: &mut Text, session: &str, error: &EngineError) {
    tell_status(text, RecoveryStatus::Unreadable, session);
    text.plain("  ").plain(&error.to_string()).end();
}

fn tell_status(text: &mut Text, status: RecoveryStatus, session: &str) {
    let colour = if status.is_sound() { style::LEAF } else { style::ERROR };
    text.styled(colour, status.name()).plain("  ").plain(session);
}

fn tell_finding(text: &mut Text, finding: &Finding) {
    let colour = if finding.kind.severity() == Severity::Damage { style::WARNING } else { style::DIM };
    text.spaces(2).styled(style::DIM, &format!("line {}", finding.line)).plain("  ");
    text.styled(colour, finding.kind.name()).plain("  ").plain(&finding.detail).end();
}

/// The report as an object.
pub(crate) fn to_json(report: &RecoveryReport) -> Map<String, Value> {
    let hash = |pick: fn(&(String, String)) -> &String| report.sha256.as_ref().map(pick);
    json::members(json!({
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
pub(crate) fn failure_json(session: &str, error: &EngineError) -> Map<String, Value> {
    json::members(json!({
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

pub(crate) fn finding_json(finding: &Finding) -> Value {
    let severity = if finding.kind.severity() == Severity::Damage { "damage" } else { "notice" };
    json!({
        "kind": finding.kind.name(),
        "severity": severity,
        "line": finding.line,
        "offset": finding.offset,
        "detail": finding.detail,
    })
}

pub(crate) fn action_json(action: &Action) -> Value {
    json!({
        "kind": action.kind.name(),
        "detail": action.detail,
        "quarantined_bytes": action.quarantined,
        "kept": action.kept,
    })
}
