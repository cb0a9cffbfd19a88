//! What people and programs are told about the health of a session: the same report for `doctor` and `recover`.

use serde_json::Value;

use super::{Answer, Text, quantity, style};

/// Says how the session is, what was done, what is wrong, and what was left; of one that could not be read, why.
pub(crate) fn tell(text: &mut Text, report: &impl Answer) {
    let status = report.word("status");
    let colour = if is_sound(status) { style::LEAF } else { style::ERROR };
    text.styled(colour, status).plain("  ").plain(report.word("session"));
    if let Some(error) = report.member("error") {
        text.plain("  ").plain(error.word("message")).end();
        return;
    }
    text.styled(style::DIM, &format!("  {}", quantity::count(report.count("entries"), "entry", "entries"))).end();
    for action in report.items("actions") {
        text.spaces(2).styled(style::LEAF, action.word("kind")).plain("  ").plain(action.word("detail")).end();
    }
    report.items("findings").iter().for_each(|finding| tell_finding(text, finding));
    if report.number("more_findings") > 0 {
        let more = quantity::count(report.count("more_findings"), "more finding", "more findings");
        text.spaces(2).styled(style::DIM, &format!("and {more}")).end();
    }
    for remark in report.words("remarks") {
        text.spaces(2).styled(style::HINT, "left alone").plain("  ").plain(remark).end();
    }
}

/// Says whether nothing is wrong with a session of this status, or not any more.
pub(crate) fn is_sound(status: &str) -> bool {
    matches!(status, "clean" | "repaired")
}

fn tell_finding(text: &mut Text, finding: &Value) {
    let colour = if finding.word("severity") == "damage" { style::WARNING } else { style::DIM };
    text.spaces(2).styled(style::DIM, &format!("line {}", finding.number("line"))).plain("  ");
    text.styled(colour, finding.word("kind")).plain("  ").plain(finding.word("detail")).end();
}
