//! Long runs: `cargo xtask soak`. Two thirds of the time fuzz every target, the rest repeats the test suite with many
//! more cases per property, each round from fresh random seeds.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use crate::arguments::Arguments;
use crate::fuzz::Figures;
use crate::steps::Outcome;
use crate::workspace::Workspace;
use crate::{ci, fuzz, process, report};

/// Cases per property in a round; the ordinary suite runs 256.
const CASES: u32 = 4_096;

pub(crate) fn run(workspace: &Workspace, mut arguments: Arguments) -> Result<()> {
    let minutes: u64 = arguments.value("--minutes")?.unwrap_or(30);
    let record = arguments.flag("--record");
    arguments.finish()?;
    let start = Instant::now();
    let total = Duration::from_secs(minutes * 60);
    let (outcome, figures) = fuzz::all(workspace, (total.as_secs() * 2 / 3 / fuzz::rounds()).max(1))?;
    let mut rounds = 0;
    loop {
        rounds += 1;
        println!("\n==> properties, round {rounds}, {CASES} cases each");
        properties(workspace).with_context(|| format!("properties failed in round {rounds}"))?;
        if start.elapsed() >= total {
            break;
        }
    }
    let body = summary(&outcome, &figures, rounds, start.elapsed());
    println!("\n{body}");
    if record {
        report::record(workspace, "soak", "Soak", &body)?;
    }
    Ok(())
}

fn properties(workspace: &Workspace) -> Result<()> {
    let mut command = if ci::has(workspace, "nextest") {
        workspace.cargo(["nextest", "run", "--workspace", "--status-level", "fail"])
    } else {
        workspace.cargo(["test", "--workspace", "--lib", "--bins", "--tests"])
    };
    process::run(command.env("PROPTEST_CASES", CASES.to_string()))
}

fn summary(outcome: &Outcome, figures: &[Figures], rounds: u32, time: Duration) -> String {
    let fuzzing = match outcome {
        Outcome::Passed(_) => {
            let rows: Vec<_> = figures.iter().map(Figures::row).collect();
            let seconds = figures.iter().map(|figures| figures.time.as_secs()).max().unwrap_or(0);
            format!("{seconds} s for each target, no finding.\n\n{}", report::table(Figures::HEADS, &rows))
        }
        Outcome::Skipped(reason) => format!("Skipped: {reason}.\n"),
    };
    let minutes = time.as_secs_f64() / 60.0;
    format!(
        "Total: {minutes:.1} minutes.\n\n## Fuzzing\n\n{fuzzing}\n## Properties\n\n\
         Rounds of the whole test suite with {CASES} cases per property: {rounds}, no failure.\n"
    )
}
