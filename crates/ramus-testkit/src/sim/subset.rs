//! Which of some operations a crash kept: every choice when they are few, a seeded sample otherwise. Nothing, everything
//! and every prefix are always among the choices.

use std::collections::BTreeSet;

use crate::random::Random;

/// Calls `visit` with each choice; bit `n` says whether the n-th of `count` operations was kept. More than 63 are never
/// in flight at once; those beyond count as lost.
pub(super) fn choices(count: usize, exhaustive: usize, samples: usize, random: &mut Random) -> BTreeSet<u64> {
    let count = count.min(63);
    let all = 1_u64 << count;
    if count <= exhaustive {
        return (0..all).collect();
    }
    let prefixes = (0..=count).map(|kept| (1_u64 << kept) - 1);
    let sampled = (0..samples).map(|_| random.bits() & (all - 1));
    prefixes.chain(sampled).collect()
}

/// Returns the operations that a choice keeps.
pub(super) fn kept<T>(operations: &[T], choice: u64) -> impl Iterator<Item = &T> {
    operations.iter().enumerate().filter(move |(at, _)| *at < 63 && choice >> at & 1 == 1).map(|(_, kept)| kept)
}
