//! The library in processes that are killed, stopped, cut off and raced: the slice of `cargo xtask soak` that continuous
//! integration runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr, missing_docs, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_store::planted::Bug;
use ramus_testkit::torture::child::{Flushing, Program};
use ramus_testkit::torture::cut::{Cuts, Scene};
use ramus_testkit::torture::full::FullDisks;
use ramus_testkit::torture::kill::Kills;
use ramus_testkit::torture::lines::Sizes;
use ramus_testkit::torture::race::Race;
use ramus_testkit::torture::repair::Repairs;
use ramus_testkit::torture::{Tally, disk, lease, tail};

fn crashbox() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_crashbox"))
}

fn library(flushing: Flushing) -> Program {
    Program::Crashbox(PathBuf::from(crashbox()), flushing)
}

fn intact(tally: Tally) -> Tally {
    eprintln!("{tally:?}");
    assert_eq!(tally.violations, 0, "{:?}", tally.first);
    tally
}

/// Says why a test cannot run here. Skipped is not passed: `cargo xtask test` says so too.
fn cannot_mount() -> bool {
    let reason = disk::unavailable();
    if let Some(reason) = &reason {
        eprintln!("SKIPPED, which is not passed: {reason}");
    }
    reason.is_some()
}

#[test]
fn a_kill_loses_nothing_that_was_acknowledged() {
    let kills = Kills { program: library(Flushing::Os), sizes: Sizes::Usual, kills: 800, seed: 1, planted: None };
    let tally = intact(kills.run().unwrap());
    assert!(tally.acknowledged > 10_000, "{} entries are too few to show anything", tally.acknowledged);
}

#[test]
fn a_kill_inside_a_huge_write_leaves_a_tail_that_is_repaired() {
    let mut tally = Tally::default();
    // How many kills fall inside the write is up to the machine.
    for seed in 0..10 {
        let kills = Kills { program: library(Flushing::Os), sizes: Sizes::Huge, kills: 30, seed, planted: None };
        tally.add(intact(kills.run().unwrap()));
        if tally.torn > 0 {
            break;
        }
    }
    assert!(tally.torn > 0, "no kill tore a line");
    assert_eq!(tally.repaired, tally.torn);
}

#[test]
fn a_repair_that_is_killed_is_done_by_the_next_one() {
    let repairs = Repairs { program: library(Flushing::Full), kills: 200, seed: 3, planted: None };
    let tally = intact(repairs.run().unwrap());
    assert!(tally.torn > 0 && tally.repaired > 0, "no kill fell before a repair, or none after: {tally:?}");
}

#[test]
fn an_acknowledgement_before_the_write_is_noticed() {
    let planted = Some(Bug::AckBeforeWrite);
    let kills = Kills { program: library(Flushing::Os), sizes: Sizes::Usual, kills: 20, seed: 4, planted };
    assert!(kills.run().unwrap().violations > 0);
}

#[test]
fn cutting_a_tail_before_it_is_kept_is_noticed() {
    let planted = Some(Bug::TruncateBeforeQuarantine);
    let repairs = Repairs { program: library(Flushing::Full), kills: 400, seed: 5, planted };
    assert!(repairs.run().unwrap().violations > 0);
}

#[test]
fn a_power_cut_loses_nothing_that_was_acknowledged() {
    if cannot_mount() {
        return;
    }
    let scene = Scene::Appending(library(Flushing::Full));
    intact(Cuts { scene, cuts: 40, seed: 6, planted: None }.run().unwrap());
}

#[test]
fn a_power_cut_loses_nothing_before_the_last_flush() {
    if cannot_mount() {
        return;
    }
    let scene = Scene::Appending(library(Flushing::Turn));
    intact(Cuts { scene, cuts: 20, seed: 12, planted: None }.run().unwrap());
}

#[test]
fn without_fsync_a_power_cut_loses_entries() {
    if cannot_mount() {
        return;
    }
    let scene = Scene::Appending(library(Flushing::Full));
    let tally = Cuts { scene, cuts: 24, seed: 7, planted: Some(Bug::NoFsync) }.run().unwrap();
    eprintln!("{tally:?}");
    assert!(tally.violations > 12, "only {} of {} cuts lost something", tally.violations, tally.runs);
}

#[test]
fn two_processes_make_one_chain() {
    let race = Race { program: library(Flushing::Os), writers: 2, appends: 10_000, seed: 8, planted: None };
    assert_eq!(race.run().unwrap(), 20_000);
}

#[test]
fn without_the_gate_two_processes_do_not() {
    let caught = (0..10).any(|seed| {
        let planted = Some(Bug::NoGate);
        Race { program: library(Flushing::Os), writers: 2, appends: 2_000, seed, planted }.run().is_err()
    });
    assert!(caught, "ten races without a gate, and nothing to see");
}

#[test]
fn a_stopped_runner_keeps_its_lease() {
    let times = lease::stopped(crashbox(), 5, Duration::from_millis(500)).unwrap();
    assert!(times.median() < Duration::from_millis(100), "{times:?}");
}

#[test]
fn the_lease_of_a_killed_runner_is_free_although_its_children_live() {
    let times = lease::killed(crashbox(), 50).unwrap();
    // A machine with too much to do takes its time to end a process, so the worst one says nothing.
    assert!(times.median() < Duration::from_millis(50), "{times:?}");
}

#[test]
fn a_full_disk_takes_nothing_with_it() {
    if cannot_mount() {
        return;
    }
    intact(FullDisks { ramus: None, cycles: 20, seed: 9 }.run().unwrap());
}

#[test]
fn readers_that_follow_see_every_line_once() {
    let followed = tail::follow(crashbox(), 4, 25_000, Sizes::Short, 10).unwrap();
    assert_eq!(followed.lines, 100_000);
}

#[test]
fn readers_that_follow_never_take_half_a_line() {
    // Whether a reader meets half a line is a matter of luck: some rounds may go by without.
    let waited = (11..31).any(|seed| {
        let followed = tail::follow(crashbox(), 4, 16, Sizes::Huge, seed).unwrap();
        assert_eq!(followed.lines, 64);
        followed.waited > 0
    });
    assert!(waited, "no reader met half a line, so this shows nothing");
}
