//! The catalogue, harmed five hundred times and used by eight processes for a minute, with the released binary.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use ramus_testkit::torture::catalogue::crowd::Crowd;
use ramus_testkit::torture::catalogue::derived::Harms;

use crate::workspace::Workspace;
use crate::{process, report};

const HARMS: u64 = 500;
const WORKERS: u64 = 8;
const MINUTE: Duration = Duration::from_secs(60);

/// Runs both and returns the section of the report; an answer that is wrong, or an error that a user sees, is an error.
pub(super) fn run(workspace: &Workspace, seed: u64) -> Result<String> {
    process::run(&mut workspace.cargo(["build", "--quiet", "--release", "-p", "ramus", "--bin", "ramus"]))?;
    let ramus = workspace.target.join("release").join("ramus");
    let start = Instant::now();
    let tally = Harms { ramus: ramus.clone(), times: HARMS, seed }.run()?;
    println!("harmed: {tally:?}");
    if let Some(first) = tally.first {
        return Err(anyhow!("{} of {HARMS}: {first}", tally.violations));
    }
    let harmed = format!("{} answers right, {:.0} s", tally.acknowledged, start.elapsed().as_secs_f64());
    let crowded = Crowd { ramus, workers: WORKERS, time: MINUTE, seed }.run()?;
    println!("crowd: {crowded:?}");
    let rows = [
        [format!("deleted, cut, zeroed, scribbled over, swapped, killed: {HARMS} times"), harmed],
        [
            format!("{WORKERS} processes write and ask for {} s", MINUTE.as_secs()),
            format!(
                "{} writes, {} answers, no error; the slowest answer took {:.0} ms",
                crowded.writes,
                crowded.reads,
                crowded.slowest.as_secs_f64() * 1_000.0
            ),
        ],
    ];
    let table = report::table(["what happened", "result"], &rows);
    Ok(format!("## The catalogue under harm and in a crowd\n\nSeed {seed}, release build.\n\n{table}"))
}
