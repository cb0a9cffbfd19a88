//! Snapshots and restores in processes that are killed: the slice of `cargo xtask soak` that continuous integration runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, missing_docs, reason = "a test may fail loudly")]

use std::path::Path;
use std::time::Duration;

use ramus_testkit::torture::disk;
use ramus_testkit::torture::snapshot::cut::Cuts;
use ramus_testkit::torture::snapshot::worker::Manner;
use ramus_testkit::torture::snapshot::{Kills, crowd};

fn kills(kills: u64, seed: u64, manner: Manner) -> Kills {
    Kills { crashbox: env!("CARGO_BIN_EXE_crashbox").into(), kills, seed, manner }
}

#[test]
fn a_kill_leaves_one_state_or_the_other() {
    let tally = kills(16, 1, Manner::Whole).run().unwrap();
    eprintln!("{tally:?}");
    assert_eq!(tally.violations, 0, "{:?}", tally.first);
    assert!(tally.acknowledged > 0, "no snapshot was taken, so this shows nothing");
}

#[test]
fn a_kill_in_a_reset_leaves_one_state_or_the_other_and_what_came_since() {
    let tally = kills(16, 4, Manner::Exact).run().unwrap();
    eprintln!("{tally:?}");
    assert_eq!(tally.violations, 0, "{:?}", tally.first);
    assert!(tally.repaired > 0, "no reset was killed, so this shows nothing");
}

#[test]
fn a_restore_without_care_is_noticed() {
    let found = (0..8).any(|seed| kills(8, seed, Manner::Naive).run().unwrap().violations > 0);
    assert!(found, "restores in place were killed, and nothing is to be seen");
}

#[test]
fn several_processes_take_snapshots_at_once() {
    let told = crowd(Path::new(env!("CARGO_BIN_EXE_crashbox")), 3, Duration::from_millis(1_500), 2).unwrap();
    assert!(told > 6, "{told} snapshots are too few to show anything");
}

#[test]
fn a_power_cut_takes_no_snapshot_that_was_told_of_and_leaves_one_state() {
    if let Some(reason) = disk::unavailable() {
        eprintln!("skipped: {reason}");
        return;
    }
    let tally = Cuts { crashbox: env!("CARGO_BIN_EXE_crashbox").into(), cuts: 5, seed: 3 }.run().unwrap();
    eprintln!("{tally:?}");
    assert_eq!(tally.violations, 0, "{:?}", tally.first);
    assert!(tally.acknowledged > 0, "no snapshot was taken, so this shows nothing");
}
