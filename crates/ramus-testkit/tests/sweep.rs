//! Errors of every operation of a day's work.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "the figures are quoted")]

use ramus_testkit::sim::{Fault, Lasts, OperationKind, Short};
use ramus_testkit::trial::{Sweep, calls_of, run_plan};
use rustix::io::Errno;

const ERRNOS: [Errno; 5] = [Errno::NOSPC, Errno::IO, Errno::DQUOT, Errno::FBIG, Errno::ACCESS];

/// Fails every operation of a kind in turn, in every way.
fn sweep(kind: OperationKind, errnos: &[Errno], shorts: &[Short]) {
    let count = calls_of(kind).unwrap();
    assert!(count > 0);
    let (mut runs, mut failures, mut poisoned) = (0, 0, 0);
    let mut violations = Vec::new();
    for at in 1..=count {
        for errno in errnos {
            for lasts in [Lasts::Once, Lasts::On] {
                for short in shorts {
                    let fault = Fault { kind: Some(kind), at, errno: *errno, lasts, short: *short };
                    let Sweep { failures: failed, poisoned: poison, violations: wrong, .. } = run_plan(&[fault]);
                    runs += 1;
                    failures += failed;
                    poisoned += usize::from(poison);
                    violations.extend(wrong);
                }
            }
        }
    }
    println!("{kind:?}: {count} operations, {runs} runs, {failures} failures, {poisoned} poisoned");
    assert!(violations.is_empty(), "{} violations: {:#?}", violations.len(), &violations[..violations.len().min(10)]);
    assert!(failures >= runs);
}

#[test]
fn every_write_may_fail() {
    sweep(OperationKind::Write, &ERRNOS, &[Short::Nothing, Short::One, Short::AllButOne]);
}

#[test]
fn every_sync_may_fail() {
    sweep(OperationKind::Sync, &ERRNOS, &[Short::Nothing]);
}

#[test]
fn every_directory_sync_may_fail() {
    sweep(OperationKind::SyncDirectory, &ERRNOS, &[Short::Nothing]);
}

#[test]
fn every_rename_may_fail() {
    sweep(OperationKind::Rename, &ERRNOS, &[Short::Nothing]);
}

#[test]
fn every_open_may_fail() {
    sweep(OperationKind::Open, &[Errno::IO, Errno::ACCESS], &[Short::Nothing]);
}

#[test]
fn every_new_file_may_fail() {
    sweep(OperationKind::Create, &ERRNOS, &[Short::Nothing]);
}

#[test]
fn every_cut_may_fail() {
    sweep(OperationKind::Truncate, &ERRNOS, &[Short::Nothing]);
}

/// The rollback of a failed write fails too: the tail is torn, the writer poisoned, and the next one sets the tail aside.
#[test]
fn a_write_and_its_rollback_may_both_fail() {
    let count = calls_of(OperationKind::Write).unwrap().min(30);
    let (mut runs, mut poisoned) = (0, 0);
    let mut violations = Vec::new();
    for first in 1..=count {
        for second in first..=count {
            for short in [Short::Nothing, Short::One, Short::AllButOne] {
                let at = |at| Fault { short, ..Fault::once(OperationKind::Write, at, Errno::NOSPC) };
                let truncate = Fault { lasts: Lasts::On, ..Fault::once(OperationKind::Truncate, 1, Errno::IO) };
                // Two failing writes whose rollbacks fail as well; the same one twice is a single double fault.
                let sweep = run_plan(&[at(first), at(second), truncate]);
                runs += 1;
                poisoned += usize::from(sweep.poisoned);
                violations.extend(sweep.violations);
            }
        }
    }
    println!("double faults: {runs} runs, {poisoned} poisoned");
    assert!(violations.is_empty(), "{} violations: {:#?}", violations.len(), &violations[..violations.len().min(10)]);
    assert!(poisoned > 0);
}

/// What happens to a recovery that fails half-way: it is tried again, and loses nothing.
#[test]
fn a_recovery_may_fail_too() {
    let mut violations = Vec::new();
    let (mut runs, mut poisoned) = (0, 0);
    for sync in (1..=calls_of(OperationKind::Sync).unwrap()).step_by(5) {
        for kind in [OperationKind::SyncDirectory, OperationKind::Rename, OperationKind::Write, OperationKind::Create] {
            for at in 1..=calls_of(kind).unwrap() {
                let faults = [Fault::once(OperationKind::Sync, sync, Errno::IO), Fault::once(kind, at, Errno::IO)];
                let sweep = run_plan(&faults);
                runs += 1;
                poisoned += usize::from(sweep.poisoned);
                violations.extend(sweep.violations);
            }
        }
    }
    println!("failed recoveries: {runs} runs, {poisoned} poisoned");
    assert!(violations.is_empty(), "{} violations: {:#?}", violations.len(), &violations[..violations.len().min(10)]);
    assert!(poisoned > 0);
}
