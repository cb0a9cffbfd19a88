//! A turn that crashes at every operation of the disk: the next one goes on, nothing is lost, nothing is done twice.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, reason = "a test may fail loudly")]

use ramus_testkit::trial::crash_turns;

#[test]
fn a_turn_that_crashes_anywhere_is_gone_on_with() {
    let crashed = crash_turns();
    println!("crashes of a turn: {}, disks: {}", crashed.crashes, crashed.disks);
    assert!(crashed.violations.is_empty(), "{:#?}", crashed.violations);
    assert!(crashed.crashes > 100, "only {} crashes", crashed.crashes);
}
