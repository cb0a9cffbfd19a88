//! Every request that is made of a session is legal, whatever the session holds and wherever it was interrupted.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]
#![allow(clippy::print_stdout, reason = "the figures are quoted")]

use std::time::{Duration, Instant};

use ramus_testkit::legality::{Harm, Tally, Trial};

#[test]
fn every_request_of_every_tree_is_legal() {
    let mut trial = Trial::new(None).unwrap();
    let start = Instant::now();
    let mut seed = 0;
    // As many as there is time for, so that a slow machine is not kept; but never only a few.
    while seed < 200 || start.elapsed() < Duration::from_secs(15) {
        let tally = trial.run(seed..seed + 50);
        assert_eq!(tally.first, None, "{} violations", tally.violations);
        seed += 50;
    }
    let tally = trial.run(0..0);
    println!("{tally:?}");
    assert!(tally.evictions > 0 && tally.compactions > 0 && tally.forks > 0, "{tally:?}");
}

#[test]
fn every_harm_is_noticed() {
    for harm in Harm::ALL {
        let mut trial = Trial::new(Some(harm)).unwrap();
        let found = trial.run(0..40);
        println!("{harm:?}: {} violations, first {:?}", found.violations, found.first.as_deref().map(first_line));
        assert_ne!(found.violations, 0, "{harm:?} was not noticed");
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// `RAMUS_TREES` trees, on every core.
#[test]
#[ignore = "takes long; cargo xtask soak runs it"]
fn soak() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let trees: u64 = number("RAMUS_TREES").unwrap_or(100_000);
    let seed = number("RAMUS_TREES_SEED").unwrap_or(1_u64) << 32;
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get()) as u64;
    let shares = (0..cores).map(|core| seed + trees * core / cores..seed + trees * (core + 1) / cores);
    let drivers: Vec<_> =
        shares.map(|share| std::thread::spawn(move || Trial::new(None).unwrap().run(share).clone())).collect();
    let mut tally = Tally::default();
    drivers.into_iter().for_each(|driver| tally.add(driver.join().unwrap()));
    let Tally { trees, contexts, requests, evictions, compactions, forks, violations, .. } = tally;
    println!("trees: {trees}, contexts: {contexts}, requests: {requests}, violations: {violations}");
    println!("evictions: {evictions}, compactions: {compactions}, forks: {forks}");
    assert_eq!(tally.first, None);
}
