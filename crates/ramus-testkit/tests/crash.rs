//! Crashes at every moment of every short workload.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "the figures are quoted")]

use ramus_testkit::random::Random;
use ramus_testkit::sim::Limits;
use ramus_testkit::trial::{Report, Verb, explore, workloads};

/// Explores every `parts`-th workload of a length, from the `part`-th on.
fn explore_part(length: usize, part: usize, parts: usize) -> Report {
    let mut report = Report::default();
    for workload in workloads(length).skip(part).step_by(parts) {
        report.add(explore(&workload, Limits::default()));
    }
    report
}

fn assert_sound(report: &Report, at_least: usize) {
    println!("crash states: {}, violations: {}", report.states, report.violations.len());
    assert!(report.violations.is_empty(), "{:#?}", report.violations);
    assert!(report.states >= at_least, "only {} states were reached", report.states);
}

#[test]
fn nothing_is_lost_in_a_crash_during_one_verb() {
    assert_sound(&explore_part(1, 0, 1), 3_000);
}

#[test]
fn nothing_is_lost_in_a_crash_during_the_second_verb() {
    assert_sound(&explore_part(2, 0, 2), 10_000);
}

#[test]
fn nothing_is_lost_in_a_crash_during_the_second_verb_of_the_others() {
    assert_sound(&explore_part(2, 1, 2), 10_000);
}

/// One in 47 of the workloads of three verbs of any kind; the soak takes them all.
#[test]
fn nothing_is_lost_in_a_crash_during_the_third_verb() {
    assert_sound(&explore_part(3, 7, 47), 10_000);
}

/// All workloads of three verbs, one of each kind of change, in two halves.
fn explore_kinds(half: usize) -> Report {
    let mut report = Report::default();
    let all = workloads(3).filter(|workload| workload.iter().all(|verb| Verb::KINDS.contains(verb)));
    for workload in all.skip(half).step_by(2) {
        report.add(explore(&workload, Limits::default()));
    }
    report
}

#[test]
fn nothing_is_lost_in_a_crash_during_three_changes() {
    assert_sound(&explore_kinds(0), 30_000);
}

#[test]
fn nothing_is_lost_in_a_crash_during_three_changes_of_the_others() {
    assert_sound(&explore_kinds(1), 30_000);
}

fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Explores workloads of growing length until enough states were judged. `RAMUS_CRASH_LENGTH` is the longest workload,
/// `RAMUS_CRASH_STATES` the least number of states, `RAMUS_CRASH_SEED` decides where among the workloads of the longest
/// length to begin and what is drawn where not everything can be tried.
#[test]
#[ignore = "takes as long as it is asked to; cargo xtask soak runs it"]
fn soak() {
    let longest = setting("RAMUS_CRASH_LENGTH", 4);
    let enough = setting("RAMUS_CRASH_STATES", 1_000_000);
    let seed = setting("RAMUS_CRASH_SEED", 1);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut report = Report::default();
    for length in 1..=longest {
        let all: Vec<_> = workloads(length).collect();
        // The shorter lengths are complete; the longest is walked in an order that the seed decides.
        let mut order: Vec<usize> = (0..all.len()).collect();
        let mut random = Random::new(seed as u64);
        (1..order.len()).for_each(|at| order.swap(at, random.below(at + 1)));
        for part in order.chunks(threads * 8) {
            if length == longest && report.states >= enough {
                break;
            }
            report.add(explore_on(threads, part, &all, seed as u64));
        }
    }
    println!("seed: {seed}, workloads: {}", report.workloads);
    assert_sound(&report, enough);
}

fn explore_on(threads: usize, part: &[usize], all: &[Vec<Verb>], seed: u64) -> Report {
    let limits = Limits { seed, ..Limits::default() };
    let share = |thread: usize| {
        let mut report = Report::default();
        part.iter().skip(thread).step_by(threads).for_each(|at| report.add(explore(&all[*at], limits)));
        report
    };
    let mut report = Report::default();
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        running.into_iter().for_each(|thread| report.add(thread.join().unwrap()));
    });
    report
}
