//! What a home takes on disk, as `doctor` and `gc` show it.

use ramus_engine::{DirectoryUsage, DiskReport};

use super::{Text, clean, quantity, style};

/// The report for people: what takes anything, and of which directories snapshots take most.
pub(crate) fn tell(text: &mut Text, report: &DiskReport) {
    let parts: Vec<String> = report
        .parts
        .iter()
        .filter(|(_, tally)| tally.bytes > 0)
        .map(|(name, tally)| format!("{name} {}", quantity::size(tally.bytes)))
        .collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    text.plain(&format!("the home takes {}{parts}", quantity::size(report.bytes()))).end();
    let mut directories: Vec<&DirectoryUsage> = report.directories.iter().collect();
    directories.sort_by_key(|one| std::cmp::Reverse(one.usage.map_or(0, |usage| usage.bytes)));
    for one in directories {
        let usage = match one.usage {
            Some(usage) => {
                let count = usize::try_from(usage.snapshots).unwrap_or(usize::MAX);
                format!("{}, {}", quantity::count(count, "snapshot", "snapshots"), quantity::size(usage.bytes))
            }
            None => "its snapshots cannot be read".to_owned(),
        };
        let gone = if one.is_there || one.directory.is_none() { "" } else { " (gone)" };
        let name = one.directory.as_ref().unwrap_or(&one.path).to_string_lossy().into_owned();
        text.styled(style::DIM, &format!("  {}{gone}: {usage}", clean::one_line(&name))).end();
    }
    for one in &report.workspaces {
        let path = clean::one_line(&one.path.to_string_lossy());
        text.styled(style::DIM, &format!("  workspace {path}: {}", quantity::size(one.tally.bytes))).end();
    }
}
