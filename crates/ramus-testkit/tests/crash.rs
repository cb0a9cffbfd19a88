//! Crashes at every moment of every short workload.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use ramus_testkit::sim::Limits;
use ramus_testkit::trial::{Report, explore, workloads};

fn explore_all(length: usize, part: usize, parts: usize) -> Report {
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
    assert_sound(&explore_all(1, 0, 1), 2_000);
}

#[test]
fn nothing_is_lost_in_a_crash_during_the_second_verb() {
    assert_sound(&explore_all(2, 0, 1), 30_000);
}
