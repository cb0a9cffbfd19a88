//! Any directory, any edits: what a snapshot held comes back, and what it did not hold is not touched.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use world::edit::{Edit, apply, edit};
use world::{Seen, World};

/// Directories that are left and come back to, in each of two places.
const CASES: u32 = 1_000;

/// Says whether something that snapshots do not hold was at a path or above it.
fn was_left_out(state: &Seen, path: &Path) -> bool {
    state.foreign.keys().any(|foreign| path.starts_with(foreign))
}

/// Says whether something that snapshots do not hold stands in the way of a path: at it, above it, or beneath it.
fn is_blocked(state: &Seen, path: &Path) -> bool {
    state.foreign.keys().any(|foreign| foreign.starts_with(path) || path.starts_with(foreign))
}

/// Every path is as it was in `target`, but for those that were left alone, which are as they were in `before`.
fn check(target: &Seen, before: &Seen, after: &Seen, kept: &[PathBuf]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&after.foreign, &before.foreign);
    prop_assert!(after.left_behind.is_empty(), "{:?}", after.left_behind);
    // A directory goes only if it was made on the way, and comes only with what is in it.
    for directory in before.directories.intersection(&target.directories) {
        prop_assert!(after.directories.contains(directory), "{:?} is gone", directory);
    }
    for directory in &after.directories {
        let is_known = before.directories.contains(directory) || target.directories.contains(directory);
        prop_assert!(is_known, "{:?} was in neither", directory);
    }
    let mut paths: Vec<&PathBuf> = target.covered.keys().chain(before.covered.keys()).collect();
    paths.extend(after.covered.keys());
    for path in paths {
        if kept.contains(path) {
            prop_assert!(
                is_blocked(before, path) || was_left_out(target, path),
                "{:?} was left alone for no reason",
                path
            );
            prop_assert_eq!(after.covered.get(path), before.covered.get(path), "{:?}", path);
        } else {
            let is_theirs = was_left_out(target, path) && !target.covered.contains_key(path);
            prop_assert!(!is_theirs || !before.covered.contains_key(path), "{:?} was there, and not covered", path);
            prop_assert_eq!(after.covered.get(path), target.covered.get(path), "{:?}", path);
        }
    }
    Ok(())
}

fn there_and_back(first: &[Edit], second: &[Edit], inside: bool) -> Result<(), TestCaseError> {
    let mut world = World::new(inside);
    apply(&world.root(), first);
    let start = world.see();
    let one = world.take();
    apply(&world.root(), second);
    let end = world.see();
    let two = world.take();
    let restored = world.restore(one, two, false);
    let back = world.see();
    check(&start, &end, &back, &restored.kept)?;
    let again = world.restore(two, one, false);
    let forth = world.see();
    check(&end, &back, &forth, &again.kept)?;
    if restored.kept.is_empty() && again.kept.is_empty() {
        prop_assert_eq!(forth.covered, end.covered);
    }
    world.neighbours_are_untouched();
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_there_comes_back(
        first in prop::collection::vec(edit(), 0..16),
        second in prop::collection::vec(edit(), 0..16),
    ) {
        there_and_back(&first, &second, false)?;
    }

    #[test]
    fn what_was_there_comes_back_in_a_part_of_a_repository(
        first in prop::collection::vec(edit(), 0..16),
        second in prop::collection::vec(edit(), 0..16),
    ) {
        there_and_back(&first, &second, true)?;
    }

}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES / 2, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_others_did_stays(
        first in prop::collection::vec(edit(), 0..12),
        second in prop::collection::vec(edit(), 0..12),
        third in prop::collection::vec(edit(), 0..6),
    ) {
        let mut world = World::new(false);
        apply(&world.root(), &first);
        let one = world.take();
        apply(&world.root(), &second);
        let left = world.see();
        let two = world.take();
        apply(&world.root(), &third);
        let theirs = world.see();
        world.restore(one, two, false);
        let end = world.see();
        prop_assert_eq!(&end.foreign, &theirs.foreign);
        for (path, content) in &theirs.covered {
            if left.covered.get(path) != Some(content) {
                prop_assert_eq!(end.covered.get(path), Some(content), "{:?}", path);
            }
        }
    }

    #[test]
    fn what_is_forced_comes_back_whoever_changed_it(
        first in prop::collection::vec(edit(), 0..12),
        second in prop::collection::vec(edit(), 0..12),
        third in prop::collection::vec(edit(), 0..6),
    ) {
        let mut world = World::new(false);
        apply(&world.root(), &first);
        let start = world.see();
        let one = world.take();
        apply(&world.root(), &second);
        let left = world.see();
        let two = world.take();
        apply(&world.root(), &third);
        let theirs = world.see();
        let restored = world.restore(one, two, true);
        let end = world.see();
        prop_assert_eq!(&end.foreign, &theirs.foreign);
        for (path, content) in &start.covered {
            if !restored.kept.contains(path) {
                prop_assert_eq!(end.covered.get(path), Some(content), "{:?}", path);
            }
        }
        // What neither snapshot held is theirs, force or not.
        for (path, content) in &theirs.covered {
            if !start.covered.contains_key(path) && !left.covered.contains_key(path) {
                prop_assert_eq!(end.covered.get(path), Some(content), "{:?}", path);
            }
        }
    }
}
