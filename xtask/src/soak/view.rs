//! The web view at its largest: a session of a hundred thousand entries and a list of ten thousand sessions, in a real browser.

use anyhow::{Result, ensure};

use crate::workspace::Workspace;
use crate::{process, report};

/// The tests that measure, and what they are about.
const TRIALS: [(&str, &str); 2] = [
    (
        "a_hundred_thousand_entries",
        "painted within a second of the click, p95 of frames at most 33.4 ms, less than 300 MB",
    ),
    ("ten_thousand_sessions", "p95 of frames at most 33.4 ms"),
];

/// Runs every trial and returns the section of the report; the first that fails is an error.
pub(super) fn run(workspace: &Workspace) -> Result<String> {
    let mut rows = Vec::new();
    for (test, target) in TRIALS {
        let mut command = workspace.cargo(["test", "--release", "--quiet", "-p", "ramus", "--test", "view", test]);
        let output = process::stdout(command.args(["--", "--ignored", "--nocapture"]))?;
        let said = output.lines().find_map(|line| line.split_once("view: ")).map(|(_, said)| said.trim().to_owned());
        let said = said.unwrap_or_default();
        ensure!(!said.is_empty(), "there is no browser on this machine:\n{output}");
        println!("{said}");
        rows.push([target.to_owned(), said]);
    }
    let table = report::table(["target", "figures"], &rows);
    Ok(format!(
        "## The web view at its largest\n\nRelease build, headless Chromium on the same machine. The memory of the tab is what its \
         process has for itself.\n\n{table}"
    ))
}
