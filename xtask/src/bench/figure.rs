//! Measurements as figures, and figures as a table: each beside what it is held against, with a verdict when it has a
//! target.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::workspace::Workspace;
use crate::{process, report};

const HEADS: [&str; 5] = ["measurement", "ramus", "compared with", "ratio", "verdict"];

/// One line of the table, and whether its target was met when there is one.
pub(super) struct Figure {
    cells: [String; 5],
    met: Option<bool>,
}

/// A finished table.
pub(super) struct Outcome {
    pub(super) table: String,
    pub(super) missed: Vec<String>,
}

impl Outcome {
    pub(super) fn of(figures: &[Figure]) -> Self {
        let rows: Vec<_> = figures.iter().map(|figure| figure.cells.clone()).collect();
        let missed = figures.iter().filter(|figure| figure.met == Some(false));
        let missed = missed.map(|figure| figure.cells.first().cloned().unwrap_or_default()).collect();
        Self { table: report::table(HEADS, &rows), missed }
    }
}

/// The lines our benchmarks printed.
#[derive(Default)]
pub(super) struct Lines(Vec<Value>);

impl Lines {
    /// Runs an operation of a benchmark and takes the lines it prints.
    pub(super) fn run(&mut self, workspace: &Workspace, name: &str, operation: &str, directory: &Path) -> Result<()> {
        let mut bench = workspace.cargo(["bench", "--quiet", "--package", "ramus-testkit", "--bench", name, "--"]);
        let output = process::stdout(bench.arg(operation).arg(directory))?;
        for line in output.lines().filter(|line| line.starts_with('{')) {
            println!("{line}");
            self.0.push(serde_json::from_str(line).context("the benchmark printed a line that is not JSON")?);
        }
        Ok(())
    }

    pub(super) fn number(&self, operation: &str, entries: Option<u64>, name: &str) -> Option<f64> {
        let same = |line: &&Value| {
            line.get("op").and_then(Value::as_str) == Some(operation)
                && (entries.is_none() || line.get("entries").and_then(Value::as_u64) == entries)
        };
        self.0.iter().find(same)?.get(name)?.as_f64()
    }
}

/// A figure that must be at most, or at least, something.
pub(super) fn figure(name: &str, ours: String, peer: &str, ratio: Option<f64>, bound: Option<(bool, f64)>) -> Figure {
    let met = ratio.zip(bound).map(|(ratio, (at_least, bound))| if at_least { ratio >= bound } else { ratio <= bound });
    let verdict = match (met, bound) {
        (Some(met), Some((at_least, bound))) => {
            let (word, side) = (if met { "met" } else { "MISSED" }, if at_least { "at least" } else { "at most" });
            format!("{word} ({side} {bound})")
        }
        (None, Some(_)) => "not measured".to_owned(),
        _ => String::new(),
    };
    let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
    Figure { cells: [name.to_owned(), ours, peer.to_owned(), ratio, verdict], met }
}

pub(super) fn milliseconds(time: Option<f64>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{time:.3} ms"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_met_missed_or_not_measured() {
        let verdict = |ratio, bound| figure("a", String::new(), "b", ratio, Some(bound)).met;
        assert_eq!(verdict(Some(2.0), (true, 2.0)), Some(true));
        assert_eq!(verdict(Some(1.9), (true, 2.0)), Some(false));
        assert_eq!(verdict(Some(2.1), (false, 2.0)), Some(false));
        assert_eq!(verdict(None, (false, 2.0)), None);
    }
}
