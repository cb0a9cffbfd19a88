//! Planted bugs: each must be found by the trial that is there to find it, which finds nothing without it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "the figures are quoted")]

use ramus_store::planted::{Bug, plant};
use ramus_testkit::sim::{Fault, Limits, OperationKind, Short};
use ramus_testkit::trial::{
    Verb, calls_of, collect_beside_draft, crash_turns, explore, interleave, replace_behind_sidecar,
    replace_under_writer, run_plan,
};
use rustix::io::Errno;

/// What finds a bug: says what is wrong, if anything.
type Trial = fn() -> Vec<String>;

/// The trial for each bug. A new bug does not compile until it has a line here; none means that the feature it is planted
/// in has tests of its own.
fn trial_for(bug: Bug) -> Option<Trial> {
    match bug {
        Bug::NoFsync | Bug::AckBeforeWrite => Some(|| crash(Verb::Append)),
        Bug::NoDirectoryFsync | Bug::RenameBeforeFsync => Some(|| crash(Verb::Create)),
        Bug::DropBadLines | Bug::TruncateBeforeQuarantine | Bug::NoTailRepair => Some(|| crash(Verb::Mend)),
        Bug::NoRollback => Some(fail_writes),
        Bug::RetryAfterFailedFsync => Some(fail_syncs),
        Bug::NoGate => Some(|| interleave().err().into_iter().collect()),
        Bug::NoIdentityCheck => Some(|| replace_under_writer().err().into_iter().collect()),
        Bug::LineBeforeBlob => Some(|| crash(Verb::Picture)),
        Bug::TrustSidecar => Some(|| replace_behind_sidecar().err().into_iter().collect()),
        Bug::NoJournal | Bug::ForgetJournalId | Bug::LeaveCallsOpen => Some(|| crash_turns().violations),
        Bug::CollectIgnoresDrafts => Some(|| collect_beside_draft().err().into_iter().collect()),
    }
}

fn crash(verb: Verb) -> Vec<String> {
    explore(&[verb], Limits::default()).violations
}

fn fail_writes() -> Vec<String> {
    let fault = |at| Fault { short: Short::AllButOne, ..Fault::once(OperationKind::Write, at, Errno::NOSPC) };
    (1..=10).flat_map(|at| run_plan(&[fault(at)]).violations).collect()
}

fn fail_syncs() -> Vec<String> {
    let count = calls_of(OperationKind::Sync).unwrap().min(10);
    (1..=count).flat_map(|at| run_plan(&[Fault::once(OperationKind::Sync, at, Errno::IO)]).violations).collect()
}

#[test]
fn every_planted_bug_is_found() {
    let mut found = 0;
    for bug in Bug::ALL {
        let Some(trial) = trial_for(bug) else { continue };
        let without = trial();
        assert!(without.is_empty(), "{bug:?} is not planted, and yet: {without:#?}");
        plant(Some(bug));
        let with = trial();
        plant(None);
        assert!(!with.is_empty(), "{bug:?} was planted and not found");
        println!("{bug:?}: {}", with[0]);
        found += 1;
    }
    println!("planted bugs found: {found} of {}", Bug::ALL.len());
    assert_eq!(found, Bug::ALL.len());
}

#[test]
fn two_writers_may_meet_anywhere() {
    let schedules = interleave().unwrap();
    println!("schedules: {schedules}");
    assert!(schedules >= 20, "only {schedules} schedules");
}

#[test]
fn a_replaced_file_is_noticed() {
    replace_under_writer().unwrap();
}
