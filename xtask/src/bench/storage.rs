//! What storage costs, and what it may cost: opening for the next turn, appending, bytes on disk.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use super::peers::Peers;
use crate::workspace::Workspace;
use crate::{process, report};

const HEADS: [&str; 5] = ["measurement", "ramus", "compared with", "ratio", "verdict"];

/// The sizes that targets speak of.
const SHORT: u64 = 1_000;
const LONG: u64 = 100_000;

/// One line of the table, and whether its target was met when there is one.
struct Figure {
    cells: [String; 5],
    met: Option<bool>,
}

/// The lines our benchmark printed.
struct Lines(Vec<Value>);

pub(super) struct Outcome {
    pub(super) table: String,
    pub(super) missed: Vec<String>,
}

pub(super) fn run(workspace: &Workspace, peers: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("storage");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    println!("==> sessions to resume");
    bench(workspace, "prepare", &directory)?;
    let mut lines = Lines(Vec::new());
    for operation in ["resume", "append", "group", "fork"] {
        println!("==> {operation}");
        lines.0.extend(bench(workspace, operation, &directory)?);
    }
    let mut figures = resuming(&lines);
    if let Some(peers) = peers {
        figures.extend(against_peers(&lines, peers, &directory)?);
    }
    figures.extend(appending(&lines));
    let rows: Vec<_> = figures.iter().map(|figure| figure.cells.clone()).collect();
    let missed = figures.iter().filter(|figure| figure.met == Some(false));
    let missed = missed.map(|figure| figure.cells.first().cloned().unwrap_or_default()).collect();
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    Ok(Outcome { table: report::table(HEADS, &rows), missed })
}

fn bench(workspace: &Workspace, operation: &str, directory: &Path) -> Result<Vec<Value>> {
    let mut bench = workspace.cargo(["bench", "--quiet", "--package", "ramus-testkit", "--bench", "storage", "--"]);
    let output = process::stdout(bench.arg(operation).arg(directory))?;
    let lines = output.lines().filter(|line| line.starts_with('{'));
    let lines = lines.inspect(|line| println!("{line}")).map(serde_json::from_str);
    lines.collect::<Result<_, _>>().context("the benchmark printed a line that is not JSON")
}

impl Lines {
    fn number(&self, operation: &str, entries: Option<u64>, name: &str) -> Option<f64> {
        let same = |line: &&Value| {
            line.get("op").and_then(Value::as_str) == Some(operation)
                && (entries.is_none() || line.get("entries").and_then(Value::as_u64) == entries)
        };
        self.0.iter().find(same)?.get(name)?.as_f64()
    }
}

/// A figure that must be at most, or at least, something.
fn figure(name: &str, ours: String, peer: &str, ratio: Option<f64>, bound: Option<(bool, f64)>) -> Figure {
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

fn milliseconds(time: Option<f64>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{time:.3} ms"))
}

fn resuming(lines: &Lines) -> Vec<Figure> {
    let mut figures = Vec::new();
    let short = lines.number("resume", Some(SHORT), "min_ms");
    for entries in [1_000, 10_000, 100_000, 1_000_000] {
        for (operation, label) in [
            ("resume", "resume for the next turn"),
            ("open_with_sidecar", "open everything, with sidecar"),
            ("open_cold", "open everything, without sidecar"),
        ] {
            let time = lines.number(operation, Some(entries), "min_ms");
            let resumed = operation == "resume" && entries == LONG;
            let ratio = time.zip(short).map(|(time, short)| time / short).filter(|_| operation == "resume");
            let name = format!("{label}, {entries} entries");
            let peer = if operation == "resume" { "1000 entries, same context" } else { "" };
            figures.push(figure(&name, milliseconds(time), peer, ratio, resumed.then_some((false, 1.2))));
        }
    }
    let peak = lines.number("resume_memory", Some(LONG), "peak_kb").map(|peak| peak / 1024.0);
    let text = peak.map_or_else(|| "-".to_owned(), |peak| format!("{peak:.1} MB"));
    figures.push(figure("memory to resume 100000 entries", text, "1 MB", peak, Some((false, 32.0))));
    let disk = |name| lines.number("disk", Some(LONG), name);
    let total = disk("log").zip(disk("sidecar")).map(|(log, sidecar)| log + sidecar);
    let ratio = total.zip(disk("messages")).map(|(total, messages)| total / messages);
    let text = total.map_or_else(|| "-".to_owned(), |total| format!("{:.1} MB", total / 1e6));
    figures.push(figure("log and sidecar on disk", text, "bytes of the messages", ratio, Some((false, 1.2))));
    figures
}

/// How long other programs take to open the very same file.
fn against_peers(lines: &Lines, peers: &Peers, directory: &Path) -> Result<Vec<Figure>> {
    let times = peers.measure(&session_file(directory)?)?;
    let ours = lines.number("resume", Some(LONG), "min_ms");
    let name = format!("resume for the next turn, {LONG} entries");
    let compare = |peer: &str| {
        let theirs = times.get(peer).copied();
        let ratio = ours.zip(theirs).map(|(ours, theirs)| theirs / ours);
        let label = format!("{peer} {}", milliseconds(theirs));
        figure(&name, milliseconds(ours), &label, ratio, Some((true, 50.0)))
    };
    Ok(["omp18 open", "pi87 open"].map(compare).into())
}

fn session_file(directory: &Path) -> Result<PathBuf> {
    let folder = directory.join(format!("home-{LONG}")).join("sessions");
    let mut found = Vec::new();
    for group in fs::read_dir(folder)? {
        for file in fs::read_dir(group?.path())? {
            found.push(file?.path());
        }
    }
    found.into_iter().next().context("the benchmark made no session")
}

fn appending(lines: &Lines) -> Vec<Figure> {
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}/s"));
    let number = |operation: &str, name: &str| lines.number(operation, None, name);
    let against_raw = |operation: &str, name: &str, bound: Option<f64>| {
        let (ours, raw) = (number(operation, "per_second"), number(operation, "raw_per_second"));
        let ratio = ours.zip(raw).map(|(ours, raw)| ours / raw);
        figure(name, rate(ours), &format!("bare: {}", rate(raw)), ratio, bound.map(|bound| (true, bound)))
    };
    let os = number("append_os", "per_second");
    let fork = number("fork", "min_ms");
    let size = number("fork", "bytes");
    vec![
        figure("append 1 KB, os", rate(os), "1000 entries/s", os.map(|os| os / 1000.0), Some((true, 200.0))),
        against_raw("append_full", "append 1 KB, full", Some(0.77)),
        against_raw("group_1", "shared session, 1 writer", None),
        against_raw("group_8", "group commit, 8 writers", Some(0.7)),
        against_raw("group_64", "group commit, 64 writers", Some(0.6)),
        figure("fork of 100000 entries, without fsync", milliseconds(fork), "1 ms", fork, Some((false, 1.0))),
        figure(
            "bytes of that fork",
            size.map_or_else(|| "-".to_owned(), |size| format!("{size:.0} B")),
            "1 KB",
            size.map(|size| size / 1024.0),
            Some((false, 1.0)),
        ),
    ]
}
