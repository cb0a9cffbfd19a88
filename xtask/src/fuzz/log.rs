//! What libFuzzer says about a run: its figures, and where it put a finding.

use std::fmt;
use std::time::Duration;

use anyhow::{Context, Result};

/// The figures of one finished target.
pub(crate) struct Figures {
    pub(crate) target: String,
    pub(crate) executions: u64,
    /// Edges reached by the seeds and what was learned in earlier runs.
    pub(crate) coverage_before: u64,
    /// Edges reached at the end.
    pub(crate) coverage: u64,
    pub(crate) corpus: u64,
    pub(crate) time: Duration,
}

impl Figures {
    pub(crate) const HEADS: [&str; 5] = ["target", "executions", "coverage at start", "coverage at end", "corpus"];

    /// Reads the log of a run that found nothing.
    pub(crate) fn read(target: &str, time: Duration, log: &str) -> Result<Self> {
        let status = |word: &str| {
            log.lines().rev().find(|line| line.split_whitespace().nth(1) == Some(word)).unwrap_or_default()
        };
        let (first, last) = (status("INITED"), status("DONE"));
        let executions = log
            .lines()
            .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))
            .and_then(|figure| figure.trim().parse().ok())
            .context("the fuzzer printed no statistics")?;
        Ok(Self {
            target: target.to_owned(),
            executions,
            coverage_before: after(first, "cov:").unwrap_or(0),
            coverage: after(last, "cov:").unwrap_or(0),
            corpus: after(last, "corp:").unwrap_or(0),
            time,
        })
    }

    pub(crate) fn row(&self) -> [String; 5] {
        let figures = [self.executions, self.coverage_before, self.coverage, self.corpus].map(|n| n.to_string());
        let [executions, before, after, corpus] = figures;
        [self.target.clone(), executions, before, after, corpus]
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (executions, seconds) = (self.executions, self.time.as_secs());
        let (before, after) = (self.coverage_before, self.coverage);
        write!(f, "{executions} executions in {seconds} s, coverage {before} -> {after}, no finding")
    }
}

/// The number that follows `key` in a status line; `corp: 31/8Kb` counts as 31.
fn after(line: &str, key: &str) -> Option<u64> {
    let word = line.split_whitespace().skip_while(|word| *word != key).nth(1)?;
    word.split('/').next()?.parse().ok()
}

/// The file that reproduces the finding.
pub(super) fn artifact(log: &str) -> Option<&str> {
    log.lines().find_map(|line| line.split_once("Test unit written to ")).map(|(_, path)| path.trim())
}

/// The panic or the signal, without the noise around it.
pub(super) fn ending(log: &str) -> String {
    let telling = |line: &&str| line.contains("panicked at") || line.contains("ERROR:") || line.contains("SUMMARY:");
    let lines: Vec<_> = log.lines().collect();
    let panic = lines.iter().position(|line| line.contains("panicked at"));
    let message = panic.and_then(|at| lines.get(at + 1)).copied();
    lines.iter().copied().filter(telling).chain(message).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
#58\tINITED cov: 190 ft: 301 corp: 31/8Kb exec/s: 0 rss: 40Mb
#1024\tNEW    cov: 200 ft: 333 corp: 32/8Kb lim: 4096 exec/s: 0 rss: 41Mb L: 5/999 MS: 1 ChangeBit-
#90000\tDONE   cov: 412 ft: 900 corp: 77/21Kb lim: 4096 exec/s: 9000 rss: 61Mb
stat::number_of_executed_units: 90000
";

    #[test]
    fn figures_of_a_quiet_run() {
        let figures = Figures::read("line", Duration::from_secs(10), LOG).unwrap();
        assert_eq!(figures.row(), ["line", "90000", "190", "412", "77"].map(str::to_owned));
    }

    #[test]
    fn a_finding_names_its_file() {
        let log = "thread panicked at src/x.rs:1:2:\nbad tree\nartifact_prefix='a/'; Test unit written to a/crash-1\n";
        assert_eq!(artifact(log), Some("a/crash-1"));
        assert_eq!(ending(log), "thread panicked at src/x.rs:1:2:\nbad tree");
    }
}
