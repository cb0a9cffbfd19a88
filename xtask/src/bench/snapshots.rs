//! Snapshots beside git's own commands and beside opencode's sequence of them: taken cold, unchanged and changed, put back,
//! and what they take on disk.

use std::fs;

use anyhow::{Context, Result};

use super::figure::{Figure, Lines, Outcome, figure, milliseconds};
use super::peers::Peers;
use crate::workspace::{self, Workspace};

/// How much an unchanged snapshot may take beside looking at every file, and a small change beside that.
const UNCHANGED: f64 = 15.0;
const CHANGED: f64 = 30.0;

pub(super) fn run(workspace: &Workspace, _: Option<&Peers>) -> Result<Outcome> {
    if !workspace::installed("git") {
        println!("snapshots are not measured: git is not installed");
        return Ok(Outcome::of(&[]));
    }
    let directory = workspace.target.join("bench-data").join("snapshots");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    let mut lines = Lines::default();
    for operation in ["small", "large", "growth"] {
        println!("==> {operation}");
        lines.run(workspace, "snapshots", operation, &directory)?;
    }
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    let mut figures: Vec<Figure> = [10_000, 100_000].into_iter().flat_map(|files| timed(&lines, files)).collect();
    figures.extend(growth(&lines));
    Ok(Outcome::of(&figures))
}

fn timed(lines: &Lines, files: u64) -> Vec<Figure> {
    let number = |operation: &str, name: &str| lines.number(operation, Some(files), name);
    let against = |operation: &str, label: &str, peer: &str, bound: Option<(bool, f64)>| {
        let (ours, theirs) = (number(operation, "ms"), number(operation, "their_ms"));
        let ratio = ours.zip(theirs).map(|(ours, theirs)| ours / theirs);
        let peer = format!("{peer}: {}", milliseconds(theirs));
        figure(&format!("{label}, {files} files"), milliseconds(ours), &peer, ratio, bound)
    };
    let (unchanged, walk, changed) = (number("unchanged", "ms"), number("walk", "ms"), number("changed", "ms"));
    let beyond =
        |time: Option<f64>, base: Option<f64>, room: f64| time.zip(base).map(|(time, base)| (time - base) / room);
    let (ours, theirs) = (number("unchanged", "cpu_ms"), number("unchanged", "their_cpu_ms"));
    vec![
        against("cold", "first snapshot, durable", "git add -A && git write-tree", Some((false, 0.7))),
        figure(
            &format!("unchanged, beyond looking at every file, {files} files"),
            milliseconds(unchanged),
            &format!("looking: {}, and {UNCHANGED} ms", milliseconds(walk)),
            beyond(unchanged, walk, UNCHANGED),
            Some((false, 1.0)),
        ),
        figure(
            &format!("unchanged, processor time, {files} files"),
            milliseconds(ours),
            &format!("opencode's sequence, once: {}", milliseconds(theirs)),
            ours.zip(theirs).map(|(ours, theirs)| ours / theirs),
            Some((false, 1.0)),
        ),
        figure(
            &format!("10 files changed, beyond unchanged, {files} files"),
            milliseconds(changed),
            &format!("unchanged, and {CHANGED} ms; opencode's: {}", milliseconds(number("changed", "their_ms"))),
            beyond(changed, unchanged, CHANGED),
            Some((false, 1.0)),
        ),
        against("restore", "restore 100 files, durable", "git checkout", Some((false, 1.0))),
        against(
            "restore_with_snapshots",
            "the same as a command does it, with snapshots before and after",
            "opencode's sequence, git checkout, and the sequence again",
            None,
        ),
    ]
}

fn growth(lines: &Lines) -> Vec<Figure> {
    let number = |name: &str| lines.number("growth", None, name);
    let megabytes = |bytes: Option<f64>| bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{:.1} MB", bytes / 1e6));
    let peer = format!("the changed content, compressed: {}", megabytes(number("compressed")));
    let ratio = |bytes: Option<f64>| bytes.zip(number("compressed")).map(|(bytes, compressed)| bytes / compressed);
    let packs = |name: &str| number(name).map_or_else(String::new, |packs| format!(" in {packs} packs"));
    let taken = format!("{}{}", megabytes(number("grown")), packs("packs"));
    let collected = format!("{}{}", megabytes(number("collected")), packs("collected_packs"));
    vec![
        figure(
            "1000 snapshots, 5 of 10000 files changed each",
            taken,
            &peer,
            ratio(number("grown")),
            Some((false, 3.0)),
        ),
        figure("the same, collected", collected, &peer, ratio(number("collected")), Some((false, 3.0))),
        figure("the slowest of them", milliseconds(number("slowest_ms")), "", None, None),
        figure("collecting them", milliseconds(number("collect_ms")), "", None, None),
    ]
}
