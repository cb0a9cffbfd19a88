//! What storage costs, and what it may cost: opening for the next turn, appending, bytes on disk.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::figure::{Figure, Lines, Outcome, figure, milliseconds};
use super::peers::Peers;
use crate::workspace::Workspace;

/// The sizes that targets speak of.
const SHORT: u64 = 1_000;
const LONG: u64 = 100_000;

pub(super) fn run(workspace: &Workspace, peers: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("storage");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    println!("==> sessions to resume");
    let mut lines = Lines::default();
    lines.run(workspace, "storage", "prepare", &directory)?;
    for operation in ["resume", "append", "group", "fork"] {
        println!("==> {operation}");
        lines.run(workspace, "storage", operation, &directory)?;
    }
    let mut figures = resuming(&lines);
    if let Some(peers) = peers {
        figures.extend(against_peers(&lines, peers, &directory)?);
    }
    figures.extend(appending(&lines));
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    Ok(Outcome::of(&figures))
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
