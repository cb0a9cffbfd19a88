//! Turns that are killed, with the released binary: two hundred times at any moment, in all four wire formats.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use ramus_testkit::torture::turn::{Killed, Turns};

use crate::workspace::Workspace;
use crate::{process, report};

const KILLS: u64 = 200;

/// How long before a kill something must have been shown to count.
const GRACE: Duration = Duration::from_millis(200);

/// Kills turns and returns the section of the report; something lost, done twice or not gone on with is an error.
pub(super) fn run(workspace: &Workspace, seed: u64) -> Result<String> {
    process::run(&mut workspace.cargo(["build", "--quiet", "--release", "-p", "ramus", "--bin", "ramus"]))?;
    let ramus = workspace.target.join("release").join("ramus");
    let start = Instant::now();
    let Killed { tally, forgetful, forgotten, kept, effects } =
        Turns { ramus, kills: KILLS, seed, grace: GRACE, planted: None }.run()?;
    println!("turns: {tally:?}, {forgetful} forgetful, {kept} kept, {effects} effects");
    if let Some(first) = tally.first.or(forgotten) {
        return Err(anyhow!("{} violations, {forgetful} forgetful: {first}", tally.violations));
    }
    let rows = [
        ("kills", tally.runs),
        ("turns that were interrupted", tally.torn),
        ("of these, told by the next turn", tally.repaired),
        ("answers that were kept in part", kept),
        ("entries that were told of, all there", tally.acknowledged),
        ("effects of calls, each once", effects),
        ("sessions that could not be gone on with, or lost or did something twice", tally.violations),
        ("kills that lost what was shown 200 ms before", forgetful),
    ]
    .map(|(name, count)| [name.to_owned(), count.to_string()]);
    let seconds = start.elapsed().as_secs();
    let table = report::table(["what", "count"], &rows);
    Ok(format!("## Turns that are killed\n\nSeed {seed}, release build, {seconds} s.\n\n{table}"))
}
