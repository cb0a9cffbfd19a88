//! Long runs: `cargo xtask soak`. Each part stands on its own and ends with figures for `docs/results/soak-PART.md`:
//! [`torture`] of real processes; a [`catalogue`] that is harmed and crowded; [`turns`] and [`snapshots`] that are killed;
//! crashes of a simulated disk; requests of made-up sessions, every one judged; the [`server`]; the web [`view`]; fuzzing of every target; the test suite with
//! many more cases per property, each round from fresh random seeds.
//!
//! The parts run one after the other, because each uses the whole machine. A further part is one more [`Part`].

mod catalogue;
mod server;
mod snapshots;
mod torture;
mod turns;
mod view;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::arguments::Arguments;
use crate::fuzz::{Figures, Limit};
use crate::steps::Outcome;
use crate::workspace::Workspace;
use crate::{ci, fuzz, process, report};

/// Cases per property in a round; the ordinary suite runs 256.
const CASES: u32 = 4_096;

/// How much is done.
struct Extent {
    torture: torture::Extent,
    /// How many states of a simulated disk after a crash.
    states: u64,
    /// How many made-up sessions requests are made of.
    trees: u64,
    /// For fuzzing and properties together.
    time: Duration,
    /// How many executions of every fuzz target, instead of two thirds of the time.
    executions: Option<u64>,
}

/// What a run consists of.
type Part = (&'static str, fn(&Workspace, &Extent) -> Result<String>);

const PARTS: [Part; 10] = [
    ("torture", torture),
    ("catalogue", catalogue),
    ("turns", turns),
    ("snapshots", snapshots),
    ("crashes", crashes),
    ("requests", requests),
    ("server", server),
    ("view", view),
    ("fuzz", fuzzing),
    ("properties", properties),
];

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let only: Option<String> = arguments.value("--only")?;
    let minutes: u64 = arguments.value("--minutes")?.unwrap_or(30);
    let extent = Extent {
        torture: torture::Extent {
            kills: arguments.value("--kills")?.unwrap_or(10_000),
            cuts: arguments.value("--cuts")?.unwrap_or(1_000),
            seed: arguments.value("--seed")?.unwrap_or(1),
        },
        states: arguments.value("--states")?.unwrap_or(1_000_000),
        trees: arguments.value("--trees")?.unwrap_or(100_000),
        time: Duration::from_secs(minutes * 60),
        executions: arguments.value("--execs")?,
    };
    let record = arguments.flag("--record");
    arguments.finish()?;
    let start = Instant::now();
    let parts: Vec<Part> =
        PARTS.into_iter().filter(|(name, _)| only.as_ref().is_none_or(|only| only == name)).collect();
    if parts.is_empty() {
        bail!("there is no such part; there are {}", PARTS.map(|(name, _)| name).join(", "));
    }
    for (name, part) in parts {
        let start = Instant::now();
        let section = part(workspace, &extent)?;
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        let body = format!("{minutes:.1} minutes.\n\n{section}");
        println!("\n{body}");
        if record {
            report::record_as(workspace, &format!("soak-{name}"), "soak", &format!("Soak: {name}"), &body)?;
        }
    }
    println!("all parts: {:.1} minutes", start.elapsed().as_secs_f64() / 60.0);
    Ok(())
}

/// Crashes of a simulated disk at every moment of workloads of growing length.
fn crashes(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> crashes of a simulated disk");
    let mut command = workspace.cargo(["test", "--release", "--quiet", "-p", "ramus-testkit", "--test", "crash"]);
    command.args(["soak", "--", "--ignored", "--nocapture"]);
    command.env("RAMUS_CRASH_STATES", extent.states.to_string());
    command.env("RAMUS_CRASH_SEED", extent.torture.seed.to_string());
    let output = process::stdout(&mut command)?;
    let said = |word: &str| output.lines().find(|line| line.starts_with(word)).unwrap_or_default().to_owned();
    let (states, workloads) = (said("crash states:"), said("seed:"));
    if states.is_empty() {
        bail!("the crash trial said nothing:\n{output}");
    }
    Ok(format!("{states}\n\n{workloads}\n"))
}

/// Every request of many made-up sessions, judged.
fn requests(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> requests of made-up sessions");
    let mut command = workspace.cargo(["test", "--release", "--quiet", "-p", "ramus-testkit", "--test", "legality"]);
    command.args(["soak", "--", "--ignored", "--nocapture"]);
    command.env("RAMUS_TREES", extent.trees.to_string());
    command.env("RAMUS_TREES_SEED", extent.torture.seed.to_string());
    let output = process::stdout(&mut command)?;
    let mut said = output.lines().filter(|line| line.starts_with("trees:") || line.starts_with("evictions:"));
    match (said.next(), said.next()) {
        (Some(trees), Some(room)) => Ok(format!("Seed {}.\n\n{trees}\n\n{room}\n", extent.torture.seed)),
        _ => bail!("the trial of requests said nothing:\n{output}"),
    }
}

/// A thousand readers, readers that do not read, readers that come and go, and requests that nobody would send.
fn server(workspace: &Workspace, _: &Extent) -> Result<String> {
    println!("\n==> the server");
    server::run(workspace)
}

/// A session and a list of the largest size, in a browser.
fn view(workspace: &Workspace, _: &Extent) -> Result<String> {
    println!("\n==> the web view");
    view::run(workspace)
}

fn torture(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> torture");
    torture::run(workspace, &extent.torture)
}

fn catalogue(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> catalogue");
    catalogue::run(workspace, extent.torture.seed)
}

fn turns(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> turns");
    turns::run(workspace, extent.torture.seed)
}

fn snapshots(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> snapshots");
    snapshots::run(workspace, extent.torture.seed)
}

fn fuzzing(workspace: &Workspace, extent: &Extent) -> Result<String> {
    println!("\n==> fuzzing");
    let seconds = (extent.time.as_secs() * 2 / 3 / fuzz::rounds()).max(1);
    let limit = extent.executions.map_or(Limit::Seconds(seconds), Limit::Executions);
    let (outcome, figures) = fuzz::all(workspace, limit)?;
    Ok(match outcome {
        Outcome::Passed(_) => {
            let rows: Vec<_> = figures.iter().map(Figures::row).collect();
            format!("## Fuzzing\n\n{limit} for each target, no finding.\n\n{}", report::table(Figures::HEADS, &rows))
        }
        Outcome::Skipped(reason) => format!("## Fuzzing\n\nSkipped: {reason}.\n"),
    })
}

fn properties(workspace: &Workspace, extent: &Extent) -> Result<String> {
    let start = Instant::now();
    let mut rounds = 0;
    loop {
        rounds += 1;
        println!("\n==> properties, round {rounds}, {CASES} cases each");
        let mut command = if ci::has(workspace, "nextest") {
            workspace.cargo(["nextest", "run", "--workspace", "--status-level", "fail"])
        } else {
            workspace.cargo(["test", "--workspace", "--lib", "--bins", "--tests"])
        };
        command.env("PROPTEST_CASES", CASES.to_string());
        process::run(&mut command).with_context(|| format!("properties failed in round {rounds}"))?;
        if start.elapsed() >= extent.time / 3 {
            break;
        }
    }
    Ok(format!(
        "## Properties\n\nRounds of the whole test suite with {CASES} cases per property: {rounds}, no failure.\n"
    ))
}
