//! What finding things costs, and what it may cost: listing and searching ten thousand sessions, alone and beside other
//! programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use ramus_testkit::home::{COMMON, RARE};
use serde_json::Value;

use super::figure::{Figure, Lines, Outcome, figure, milliseconds};
use super::opencode::Opencode;
use super::peers::Peers;
use super::timed::{self, Timed};
use crate::process;
use crate::workspace::{self, Workspace};

/// Sessions of the home that targets speak of, and of the one that other programs list too.
const LARGE: u64 = 10_000;
const SMALL: u64 = 1_000;
/// How often a process is started; enough for its processor time to be exact.
const RUNS: usize = 100;

/// The released binary in one of the homes.
struct Ramus {
    program: PathBuf,
    home: PathBuf,
}

pub(super) fn run(workspace: &Workspace, peers: Option<&Peers>) -> Result<Outcome> {
    let directory = workspace.target.join("bench-data").join("catalogue");
    fs::create_dir_all(&directory).context("cannot create the folder for benchmark data")?;
    process::run(&mut workspace.cargo(["build", "--quiet", "--release", "--package", "ramus", "--bin", "ramus"]))?;
    println!("==> a home of {LARGE} sessions, and one of {SMALL}");
    let mut lines = Lines::default();
    lines.run(workspace, "catalogue", "prepare", &directory)?;
    let ramus = |sessions: u64| Ramus {
        program: workspace.target.join("release").join("ramus"),
        home: directory.join(format!("home-{sessions}")),
    };
    for operation in ["rows", "text"] {
        println!("==> {operation}");
        lines.run(workspace, "catalogue", operation, &directory)?;
    }
    let mut figures = making(&lines);
    println!("==> whole processes");
    figures.extend(listing(&ramus(LARGE))?);
    figures.extend(searching(&ramus(LARGE), &lines)?);
    println!("==> other programs");
    figures.extend(beside(workspace, &ramus(SMALL), &lines, peers, &directory)?);
    fs::remove_dir_all(&directory).context("cannot remove the benchmark data")?;
    Ok(Outcome::of(&figures))
}

impl Ramus {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.env_clear().env("RAMUS_HOME", &self.home).env("HOME", "/nonexistent").current_dir("/");
        command.args(arguments).arg("--json");
        command
    }

    /// Times a command and returns its last answer.
    fn time(&self, arguments: &[&str]) -> Result<(Timed, Value)> {
        let (timed, printed) = timed::repeat(RUNS, || self.command(arguments))?;
        println!("ramus {}: {timed:?}", arguments.join(" "));
        Ok((timed, serde_json::from_slice(&printed).context("ramus printed no JSON")?))
    }
}

/// What the catalogue costs to make and to keep current.
fn making(lines: &Lines) -> Vec<Figure> {
    let large = |operation: &str, name: &str| lines.number(operation, Some(LARGE), name);
    let speed = |speed: Option<f64>| speed.map_or_else(|| "-".to_owned(), |speed| format!("{speed:.0} MB/s"));
    let size = |bytes: Option<f64>| bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{:.1} MB", bytes / 1e6));
    let (rows, text) = (large("rebuild_rows", "mb_per_second"), large("rebuild_text", "documents_per_second"));
    let raw = large("raw_fts", "documents_per_second");
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0} texts/s"));
    let share = |part: Option<f64>| part.zip(large("made", "bytes")).map(|(part, whole)| part / whole);
    let (catalogue, index) = (large("rebuild_rows", "bytes"), large("rebuild_text", "bytes"));
    let caught = large("catch_up", "min_ms");
    let listed = lines.number("list_all", Some(SMALL), "min_ms");
    let page = large("list_page", "min_ms");
    let peak = |operation| large(operation, "peak_kb").map(|peak| peak / 1024.0);
    let memory = |peak: Option<f64>| peak.map_or_else(|| "-".to_owned(), |peak| format!("{peak:.1} MB"));
    vec![
        figure("make all rows", speed(rows), "1 MB/s", rows, Some((true, 80.0))),
        figure(
            "make the full text",
            rate(text),
            &format!("bare FTS5 inserts: {}", rate(raw)),
            text.zip(raw).map(|(text, raw)| text / raw),
            Some((true, 0.5)),
        ),
        figure("rows on disk", size(catalogue), "bytes of the sessions", share(catalogue), None),
        figure("rows and full text on disk", size(index), "bytes of the sessions", share(index), None),
        figure(
            "catch up with one append and list, in process",
            milliseconds(caught),
            "1 ms",
            caught,
            Some((false, 5.0)),
        ),
        figure("list 1000 of 1000, in process", milliseconds(listed), "1 ms", listed, Some((false, 2.0))),
        figure("list 50 of 10000, in process", milliseconds(page), "1 ms", page, None),
        figure("memory to list", memory(peak("list_memory")), "1 MB", peak("list_memory"), None),
        figure("memory to search", memory(peak("search_memory")), "1 MB", peak("search_memory"), None),
    ]
}

fn listing(ramus: &Ramus) -> Result<Vec<Figure>> {
    let (timed, answer) = ramus.time(&["list", "--all", "--limit", "50"])?;
    let listed = answer.get("sessions").and_then(Value::as_array).map_or(0, Vec::len);
    ensure!(listed == 50, "{listed} of 50 sessions are listed");
    Ok(vec![whole("`ramus list --all --limit 50` of 10000", timed, 20.0)])
}

/// A figure about a whole process: the best run is judged, the median and the processor time stand beside it.
fn whole(name: &str, timed: Timed, most: f64) -> Figure {
    let Timed { minimum, median, processor } = timed;
    let ours = format!("{minimum:.1} ms (median {median:.1}, processor {processor:.1})");
    figure(name, ours, "1 ms", Some(minimum), Some((false, most)))
}

fn searching(ramus: &Ramus, lines: &Lines) -> Result<Vec<Figure>> {
    let prefix = format!("{}*", COMMON.get(..5).unwrap_or(COMMON));
    let searches = [
        ("0.1 % of messages", RARE, Some("rare")),
        ("1 % of messages", COMMON, Some("common")),
        ("1 % of messages, by prefix", prefix.as_str(), Some("common")),
        ("two words", "quillwort error", None),
    ];
    let mut figures = Vec::new();
    for (label, query, count) in searches {
        if let Some(expected) = count.and_then(|count| lines.number("made", Some(LARGE), count)) {
            let everything = process::stdout(&mut ramus.command(&["search", query, "--limit", "1000000"]))?;
            let everything: Value = serde_json::from_str(&everything).context("ramus printed no JSON")?;
            let hits = everything.get("hits").and_then(Value::as_array).map_or(0, Vec::len);
            ensure!(hits as f64 == expected, "{query}: {hits} hits for {expected} messages");
        }
        let (timed, _) = ramus.time(&["search", query])?;
        figures.push(whole(&format!("`ramus search`, {label}"), timed, 50.0));
        if !query.contains([' ', '*']) {
            figures.push(beside_rg(ramus, label, query, timed)?);
        }
        let inside = lines.number(&format!("search {query}"), Some(LARGE), "min_ms");
        figures.push(figure(&format!("search, {label}, in process"), milliseconds(inside), "1 ms", inside, None));
    }
    Ok(figures)
}

/// The same word, looked for in all files.
fn beside_rg(ramus: &Ramus, label: &str, word: &str, ours: Timed) -> Result<Figure> {
    let name = format!("`ramus search`, {label}");
    let time = format!("{:.1} ms", ours.minimum);
    if !workspace::installed("rg") {
        println!("rg is not measured: it is not installed (Debian: apt install ripgrep)");
        return Ok(figure(&name, time, "rg (not installed)", None, None));
    }
    let (timed, _) = timed::repeat(5, || {
        let mut command = Command::new("rg");
        command
            .args(["--fixed-strings", "--count", word])
            .args(["sessions", "drafts"].map(|name| ramus.home.join(name)));
        command
    })?;
    println!("rg {word}: {timed:?}");
    let peer = format!("rg over the files: {:.1} ms (processor {:.1})", timed.minimum, timed.processor);
    Ok(figure(&name, time, &peer, Some(timed.minimum / ours.minimum), None))
}

/// The same thousand sessions, listed by everybody.
fn beside(
    workspace: &Workspace,
    ramus: &Ramus,
    lines: &Lines,
    peers: Option<&Peers>,
    directory: &Path,
) -> Result<Vec<Figure>> {
    let (timed, answer) = ramus.time(&["list", "--all", "--archived", "--limit", "1000"])?;
    let published = lines.number("made", Some(SMALL), "published").unwrap_or_default();
    let listed = answer.get("sessions").and_then(Value::as_array).map_or(0, Vec::len);
    ensure!(listed as f64 == published, "{listed} of {published} sessions are listed");
    let name = "`ramus list` of 1000, whole process";
    let ours = format!("{:.1} ms (processor {:.1})", timed.minimum, timed.processor);
    let theirs = match Opencode::find(workspace) {
        Ok(opencode) => Some(opencode.list(&directory.join("opencode"), SMALL as usize)?),
        Err(reason) => {
            println!("opencode is not measured: {reason}");
            None
        }
    };
    let peer = theirs.map_or_else(
        || "opencode session list".to_owned(),
        |theirs| format!("opencode session list, processor {:.0} ms (wall {:.0})", theirs.processor, theirs.minimum),
    );
    let ratio = theirs.map(|theirs| theirs.processor / timed.minimum.max(timed.processor));
    let mut figures = vec![figure(name, ours.clone(), &peer, ratio, Some((true, 50.0)))];
    let folder = ramus.home.join("sessions").join("--home-bench--");
    let times = peers.map(|peers| peers.list(&folder, published as u64)).transpose()?.unwrap_or_default();
    let inside = lines.number("list_all", Some(SMALL), "min_ms");
    for program in ["omp18", "pi87"] {
        let first = times.get(&format!("{program} first")).copied();
        let peer = format!("{program} list, its first call {}", milliseconds(first));
        figures.push(figure(name, ours.clone(), &peer, first.map(|first| first / timed.minimum), Some((true, 10.0))));
        let best = times.get(&format!("{program} min")).copied();
        let peer = format!("{program} list, its best call {}", milliseconds(best));
        let ratio = best.zip(inside).map(|(best, inside)| best / inside);
        figures.push(figure("list 1000, in process", milliseconds(inside), &peer, ratio, None));
    }
    Ok(figures)
}
