//! Sessions of other agents: how fast they come in, in how much memory, and how fast it is seen that nothing changed.

use std::fs;

use anyhow::{Context, Result};

use super::figure::{Figure, Lines, Outcome, figure};
use super::peers::Peers;
use crate::workspace::Workspace;

/// What an import has to reach: megabytes a second, megabytes of memory, and milliseconds when nothing changed.
const RATE: f64 = 80.0;
const MEMORY: f64 = 300.0;
const UNCHANGED: f64 = 5_000.0;

pub(super) fn run(workspace: &Workspace, _: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("import");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    let mut lines = Lines::default();
    for size in ["small", "large"] {
        println!("==> {size}");
        lines.run(workspace, "import", size, &directory)?;
    }
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    let figures: Vec<Figure> = [1_000, 10_000].into_iter().flat_map(|sessions| of(&lines, sessions)).collect();
    Ok(Outcome::of(&figures))
}

fn of(lines: &Lines, sessions: u64) -> Vec<Figure> {
    let number = |operation: &str, name: &str| lines.number(operation, Some(sessions), name);
    let gigabytes = number("import", "bytes").unwrap_or_default() / 1e9;
    let what = |label: &str| format!("{label}, {sessions} sessions, {gigabytes:.1} GB");
    let told =
        |value: Option<f64>, unit: &str| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0} {unit}"));
    let row = |label: &str, value: Option<f64>, unit: &str, target: f64, at_least: bool| {
        let ratio = value.map(|value| value / target);
        figure(&what(label), told(value, unit), &format!("{target} {unit}"), ratio, Some((at_least, 1.0)))
    };
    vec![
        row("import, durable", number("import", "mb_per_s"), "MB/s", RATE, true),
        row("import, memory", number("import", "peak_mb"), "MB", MEMORY, false),
        row("import again, nothing changed", number("unchanged", "ms"), "ms", UNCHANGED, false),
    ]
}
