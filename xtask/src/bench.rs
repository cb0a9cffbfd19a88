//! Speed as ratios: `cargo xtask bench`. The method is described in `docs/benchmarks.md`.
//!
//! All figures of a table come from one machine in one go, each the best of several repetitions, so that the ratios mean
//! something where the milliseconds do not.

mod catalogue;
mod figure;
mod http;
mod import;
mod opencode;
mod peers;
mod requests;
mod server;
mod snapshots;
mod storage;
mod timed;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use ramus_testkit::corpus;
use serde_json::Value;

use self::figure::Outcome;
use self::opencode::Opencode;
use self::peers::Peers;
use crate::arguments::Arguments;
use crate::workspace::Workspace;
use crate::{process, report};

/// Sizes of the generated sessions, in entries. Targets are judged on the largest.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const SEED: u64 = 42;
const HEADS: [&str; 7] = ["operation", "entries", "ramus", "compared with", "its time", "ratio", "verdict"];

/// One comparison: how many times faster than `peer` our `operation` is, and how many times it has to be.
struct Comparison {
    label: &'static str,
    operation: &'static str,
    peer: &'static str,
    target: Option<f64>,
}

const COMPARISONS: [Comparison; 6] = [
    Comparison { label: "envelope scan", operation: "envelope_scan", peer: "memchr scan", target: Some(0.5) },
    Comparison { label: "context in memory", operation: "context", peer: "pi87 ctx", target: Some(20.0) },
    Comparison { label: "context in memory", operation: "context", peer: "omp18 ctx", target: None },
    Comparison { label: "open, whole history is context", operation: "open", peer: "omp18 open", target: Some(5.0) },
    Comparison { label: "open, whole history is context", operation: "open", peer: "pi87 open", target: None },
    Comparison {
        label: "open and render every message",
        operation: "open_and_render",
        peer: "omp18 open",
        target: None,
    },
];

/// The best time of each operation, in milliseconds.
type Times = BTreeMap<String, f64>;

/// What is measured, one table each.
type Section = (&'static str, fn(&Workspace, Option<&Peers>) -> Result<Outcome>);

const SECTIONS: [Section; 7] = [
    ("sessions", sessions),
    ("storage", storage::run),
    ("catalogue", catalogue::run),
    ("requests", requests::run),
    ("snapshots", snapshots::run),
    ("import", import::run),
    ("server", server::run),
];

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let record = arguments.flag("--record");
    let only: Option<String> = arguments.value("--only")?;
    arguments.finish()?;
    let peers = match Peers::find(workspace) {
        Ok(peers) => Some(peers),
        Err(reason) => {
            println!("other programs are not measured: {reason}");
            None
        }
    };
    let wanted = SECTIONS.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name));
    let (mut count, mut missed) = (0, Vec::new());
    for (name, section) in wanted {
        let outcome = section(workspace, peers.as_ref())?;
        println!("\n{}", outcome.table);
        if record {
            let body = format!("{}\n\n{}", beside(workspace, peers.as_ref()), outcome.table);
            report::record_as(workspace, &format!("bench-{name}"), "bench", &format!("Benchmarks: {name}"), &body)?;
        }
        missed.extend(outcome.missed);
        count += 1;
    }
    ensure!(count > 0, "there is no such section; there are {}", SECTIONS.map(|(name, _)| name).join(", "));
    if !missed.is_empty() {
        bail!("target missed: {}", missed.join(", "));
    }
    Ok(())
}

/// Which other programs were measured.
fn beside(workspace: &Workspace, peers: Option<&Peers>) -> String {
    let versions = peers.map_or_else(|| "not measured".to_owned(), Peers::versions);
    let opencode = Opencode::find(workspace).map_or_else(|_| String::new(), |_| format!(", {}", Opencode::version()));
    format!("Other programs: {versions}{opencode}. Method: [benchmarks.md](../benchmarks.md).")
}

/// Reading one session, of several sizes.
fn sessions(workspace: &Workspace, peers: Option<&Peers>) -> Result<Outcome> {
    let mut rows = Vec::new();
    let mut missed = Vec::new();
    for entries in SIZES {
        let file = generate(workspace, entries)?;
        let mut times = ours(workspace, &file)?;
        if let Some(peers) = peers {
            times.extend(peers.measure(&file)?);
        }
        let judged = entries == SIZES.into_iter().max().unwrap_or(0);
        for comparison in &COMPARISONS {
            let (row, met) = comparison.row(entries, &times, judged);
            if met == Some(false) {
                missed.push(comparison.label.to_owned());
            }
            rows.push(row);
        }
    }
    Ok(Outcome { table: report::table(HEADS, &rows), missed })
}

impl Comparison {
    /// The row of the table, and whether the target was met when this row is judged and could be measured.
    fn row(&self, entries: usize, times: &Times, judged: bool) -> ([String; 7], Option<bool>) {
        let (ours, theirs) = (times.get(self.operation).copied(), times.get(self.peer).copied());
        let ratio = ours.zip(theirs).map(|(ours, theirs)| theirs / ours);
        let target = self.target.filter(|_| judged);
        let met = ratio.zip(target).map(|(ratio, target)| ratio >= target);
        let verdict = match (met, target) {
            (Some(true), Some(target)) => format!("met (at least {target}x)"),
            (Some(false), Some(target)) => format!("MISSED (at least {target}x)"),
            (None, Some(_)) => "not measured".to_owned(),
            _ => String::new(),
        };
        let time = |time: Option<f64>| time.map_or_else(|| "-".to_owned(), |time| format!("{time:.3} ms"));
        let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}x"));
        let (label, peer) = (self.label.to_owned(), self.peer.to_owned());
        ([label, entries.to_string(), time(ours), peer, time(theirs), ratio, verdict], met)
    }
}

/// Writes the session of this size anew; the bytes are the same every time.
fn generate(workspace: &Workspace, entries: usize) -> Result<PathBuf> {
    let folder = workspace.target.join("bench-data");
    fs::create_dir_all(&folder).context("cannot create the folder for benchmark data")?;
    let file = folder.join(format!("session-{entries}.jsonl"));
    let written = corpus::write_session(&file, entries, SEED).context("cannot write benchmark data")?;
    println!("==> {entries} entries, {:.1} MB", written.bytes as f64 / 1e6);
    Ok(file)
}

/// Runs our own measurements, one JSON line per operation.
fn ours(workspace: &Workspace, file: &Path) -> Result<Times> {
    let mut bench = workspace.cargo(["bench", "--quiet", "--package", "ramus-testkit", "--bench", "session", "--"]);
    let lines = process::stdout(bench.arg(file))?;
    let mut times = Times::new();
    for line in lines.lines().filter(|line| line.starts_with('{')) {
        let line: Value = serde_json::from_str(line).context("the benchmark printed a line that is not JSON")?;
        let name = line.get("op").and_then(Value::as_str).context("a measurement without op")?;
        let time = line.get("min_ms").and_then(Value::as_f64).context("a measurement without min_ms")?;
        println!("ramus {name}: {time:.3} ms");
        // The scan for line ends is ours too, but it is the limit that others are held against.
        times.insert(if name == "memchr_scan" { "memchr scan".to_owned() } else { name.to_owned() }, time);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(pairs: &[(&str, f64)]) -> Times {
        pairs.iter().map(|(name, time)| ((*name).to_owned(), *time)).collect()
    }

    #[test]
    fn a_scan_at_half_the_limit_meets_its_target() {
        let [scan, ..] = &COMPARISONS;
        let judge = |ours| scan.row(9, &times(&[("envelope_scan", ours), ("memchr scan", 10.0)]), true).1;
        assert_eq!((judge(20.0), judge(20.1)), (Some(true), Some(false)));
    }

    #[test]
    fn what_was_not_measured_is_not_judged() {
        let [_, context, ..] = &COMPARISONS;
        let (row, met) = context.row(9, &times(&[("context", 1.0)]), true);
        assert_eq!(met, None);
        assert_eq!(row.last().map(String::as_str), Some("not measured"));
    }
}
