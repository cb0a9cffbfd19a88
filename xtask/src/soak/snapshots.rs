//! Snapshots, restores and collections that are killed, and cut off from power: five hundred times and two hundred times at
//! any moment, with the library as released.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use ramus_testkit::torture::disk;
use ramus_testkit::torture::snapshot::cut::Cuts;
use ramus_testkit::torture::snapshot::worker::Manner;
use ramus_testkit::torture::snapshot::{Kills, crowd};

use crate::workspace::Workspace;
use crate::{process, report};

const KILLS: u64 = 500;
const CUTS: u64 = 200;
const WORKERS: usize = 4;
const TIME: Duration = Duration::from_secs(20);

/// Kills children and returns the section of the report; a state that is neither, or anything lost, is an error.
pub(super) fn run(workspace: &Workspace, seed: u64) -> Result<String> {
    process::run(&mut workspace.cargo(["build", "--quiet", "--release", "-p", "ramus-testkit", "--bin", "crashbox"]))?;
    let crashbox = workspace.target.join("release").join("crashbox");
    let start = Instant::now();
    let tally = Kills { crashbox: crashbox.clone(), kills: KILLS, seed, manner: Manner::Whole }.run()?;
    println!("snapshots: {tally:?}");
    if let Some(first) = tally.first {
        return Err(anyhow!("{} violations: {first}", tally.violations));
    }
    let cuts = match disk::unavailable() {
        Some(reason) => {
            println!("no power cuts: {reason}");
            0
        }
        None => {
            let cut = Cuts { crashbox: crashbox.clone(), cuts: CUTS, seed }.run()?;
            println!("snapshots, power cuts: {cut:?}");
            if let Some(first) = cut.first {
                return Err(anyhow!("{} violations after power cuts: {first}", cut.violations));
            }
            cut.runs
        }
    };
    let crowded = crowd(&crashbox, WORKERS, TIME, seed)?;
    let rows = [
        ("kills".to_owned(), tally.runs),
        ("restores that were interrupted, and ended by the next start".to_owned(), tally.torn),
        ("snapshots that were told of, all readable".to_owned(), tally.acknowledged),
        ("kills that left a state in between, a stale lock or a harmed store, or lost anything".to_owned(), 0),
        ("power cuts that lost no snapshot that was told of and left the directory in one state".to_owned(), cuts),
        (format!("snapshots of {WORKERS} processes at once in {} s, all readable", TIME.as_secs()), crowded as u64),
    ]
    .map(|(name, count)| [name, count.to_string()]);
    let seconds = start.elapsed().as_secs();
    let table = report::table(["what", "count"], &rows);
    Ok(format!("## Snapshots and restores that are killed\n\nSeed {seed}, release build, {seconds} s.\n\n{table}"))
}
