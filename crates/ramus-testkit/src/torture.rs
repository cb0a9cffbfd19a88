//! Drivers that torture the real binary and the real library with real processes, on a real kernel.
//!
//! Every driver is a function from a plan with a seed to figures, so that continuous integration runs a slice of what a
//! soak runs for hours. The oracle is the same everywhere: what was acknowledged is there once, in order, byte for byte;
//! what was never sent is not there; the next append repairs what was left behind, and then nothing is left to repair.
//!
//! A driver counts violations instead of stopping at the first, because with a planted bug the count is the point.

pub mod birth;
pub mod catalogue;
pub mod child;
pub mod cut;
pub mod disk;
pub mod full;
pub mod kill;
pub mod lease;
pub mod lines;
pub mod oracle;
pub mod race;
pub mod refusal;
pub mod repair;
pub mod snapshot;
pub mod tail;
pub mod turn;

use std::time::Duration;

/// What a driver counted.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Kills, cuts or cycles.
    pub runs: u64,
    /// Entries that were acknowledged before that.
    pub acknowledged: u64,
    /// Runs that left a torn last line.
    pub torn: u64,
    /// Torn lines whose bytes were found set aside, exactly, after the next append.
    pub repaired: u64,
    /// Runs after which something was lost, made up, glued or not repaired.
    pub violations: u64,
    /// The first of those, with what it takes to see it again.
    pub first: Option<String>,
}

impl Tally {
    /// Counts one run.
    pub(crate) fn count(&mut self, run: anyhow::Result<Run>, context: impl FnOnce() -> String) {
        self.runs += 1;
        match run {
            Ok(run) => {
                self.acknowledged += run.acknowledged;
                self.torn += u64::from(run.torn);
                self.repaired += u64::from(run.repaired);
            }
            Err(error) => {
                self.violations += 1;
                self.first.get_or_insert_with(|| format!("{}: {error:#}", context()));
            }
        }
    }

    /// Adds what another driver counted.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.acknowledged += other.acknowledged;
        self.torn += other.torn;
        self.repaired += other.repaired;
        self.violations += other.violations;
        self.first = self.first.take().or(other.first);
    }
}

/// What one run without a violation came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Run {
    pub(crate) acknowledged: u64,
    pub(crate) torn: bool,
    pub(crate) repaired: bool,
}

/// Lets time pass. The instant at which a process is stopped is what is being tested, so there is no event to wait for.
#[expect(clippy::disallowed_methods, reason = "random instants are the point of these drivers")]
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}
