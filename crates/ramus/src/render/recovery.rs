//! What people and programs are told about the health of a session: the same report for `doctor` and `recover`.

use ramus_engine::{EngineError, RecoveryReport, RecoveryStatus};
use ramus_model::{Finding, Severity};

use super::{Text, quantity, style};

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
