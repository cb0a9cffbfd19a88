//! Repositories that want to run something, be read from outside, or hang whoever looks at them: matrix rows P5 and P6.
//!
//! Each is built anew; a small program does with it everything that snapshots do, under strace. No program may be run, no
//! byte of any `.git` and nothing outside may change, and nothing from outside may get into the store.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may fail loudly"
)]

mod arena;
mod config;
mod links;
mod nested;
mod rules;

use arena::{Arena, Repository};

/// Plays every repository of a list.
fn play(repositories: &[Repository]) {
    if let Some(reason) = arena::unavailable() {
        eprintln!("SKIPPED, which is not passed: {reason}");
        return;
    }
    let mut failures = Vec::new();
    for (name, build) in repositories {
        let arena = Arena::new();
        build(&arena);
        if let Err(reason) = arena.tour() {
            failures.push(format!("{name}: {reason}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn there_are_enough_of_them() {
    let all = [config::ALL.len(), config::MORE.len(), nested::ALL.len(), links::ALL.len(), rules::ALL.len()];
    assert!(all.iter().sum::<usize>() >= 45, "{all:?}");
}

#[test]
fn settings_run_nothing() {
    play(config::ALL);
}

#[test]
fn more_settings_run_nothing() {
    play(config::MORE);
}

#[test]
fn repositories_within_repositories_run_nothing() {
    play(nested::ALL);
}

#[test]
fn links_lead_nowhere() {
    play(links::ALL);
}

#[test]
fn ignore_files_hang_nobody() {
    play(rules::ALL);
}

#[test]
fn a_link_that_comes_and_goes_leads_nowhere() {
    if arena::unavailable().is_some() {
        return;
    }
    let arena = Arena::new();
    links::ordinary(&arena);
    arena.tour_while(|| links::flip(&arena)).unwrap();
}

/// The traps are real: git walks into them.
#[test]
fn git_itself_runs_what_it_finds() {
    if arena::unavailable().is_some() {
        return;
    }
    let sprung = |build: fn(&Arena)| {
        let arena = Arena::new();
        build(&arena);
        arena.git_add();
        arena.canary().exists()
    };
    assert!(sprung(config::fsmonitor), "core.fsmonitor");
    assert!(sprung(config::clean_filter), "filter.clean");
    assert!(sprung(nested::fsmonitor), "core.fsmonitor of a nested repository");
}
