//! Time, as something that can be replaced.

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns milliseconds since 1970.
    fn now(&self) -> i64;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> i64 {
        jiff::Timestamp::now().as_millisecond()
    }
}
