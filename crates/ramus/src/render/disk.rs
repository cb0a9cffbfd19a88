//! What a home takes on disk, as `doctor` and `gc` show it.

use serde_json::Value;

use super::{Answer as _, Text, clean, quantity, style};

/// The report for people: what takes anything, and of which directories snapshots take most.
pub(crate) fn tell(text: &mut Text, report: &Value) {
    let all = report.get("parts").and_then(Value::as_object).into_iter().flatten();
    let parts: Vec<String> = all
        .filter(|(name, tally)| *name != "trash" && tally.number("bytes") > 0)
        .map(|(name, tally)| format!("{name} {}", quantity::size(tally.number("bytes"))))
        .collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    text.plain(&format!("the home takes {}{parts}", quantity::size(report.number("bytes")))).end();
    let mut directories: Vec<&Value> = report.items("directories").iter().collect();
    directories.sort_by_key(|one| std::cmp::Reverse(one.number("bytes")));
    for one in directories {
        let usage = match one.get("bytes").and_then(Value::as_u64) {
            Some(bytes) => {
                let snapshots = quantity::count(one.count("snapshots"), "snapshot", "snapshots");
                format!("{snapshots}, {}", quantity::size(bytes))
            }
            None => "its snapshots cannot be read".to_owned(),
        };
        let directory = one.maybe("directory");
        let gone = if one.says("exists") || directory.is_none() { "" } else { " (gone)" };
        let name = directory.unwrap_or(one.word("path"));
        text.styled(style::DIM, &format!("  {}{gone}: {usage}", clean::one_line(name))).end();
    }
    for one in report.items("workspaces") {
        let path = clean::one_line(one.word("path"));
        text.styled(style::DIM, &format!("  workspace {path}: {}", quantity::size(one.number("bytes")))).end();
    }
}
