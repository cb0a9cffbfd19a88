//! Staging: logs that come from elsewhere appear together or not at all.
//!
//! A stage collects whole logs where nobody looks for them. Publishing writes down what will happen, durably, and then does
//! it: before that moment a crash leaves nothing, after it the rest is done by whoever comes next
//! ([`Staging::settle_staged`]). What came from elsewhere is marked before it appears, so that nothing in it is ever taken
//! for the user's own word.

use ramus_model::SessionId;

use crate::error::StoreError;
use crate::store::{Location, NewLog, Position};

/// What a staged log becomes.
#[derive(Clone, Debug)]
pub enum Destination<'a> {
    /// A log of its own.
    New(NewLog<'a>),
    /// The next version of one that is there, which begins with all of its bytes.
    Extends(&'a Location, Position),
}

/// The part of a home that takes logs in from elsewhere.
pub trait Staging {
    /// Starts to collect logs. One stage is open at a time.
    fn stage(&self) -> Result<Box<dyn Stage + '_>, StoreError>;

    /// Finishes what an interrupted publication had written down and removes what was never published. Returns how many
    /// logs appeared.
    fn settle_staged(&self) -> Result<usize, StoreError>;

    /// Says whether a session came from elsewhere.
    fn is_imported(&self, id: &SessionId) -> Result<bool, StoreError>;
}

/// Collects logs.
pub trait Stage {
    /// Starts the next log.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Writes to the log that was started last.
    fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Reads of the log that was started last, up to `len` bytes at `offset`; fewer only at its end.
    fn read_at(&self, offset: u64, len: usize) -> Result<Vec<u8>, StoreError>;

    /// Ends the log that was started last: it will be published as this, or not at all when there is no destination.
    fn end(&mut self, destination: Option<Destination<'_>>) -> Result<(), StoreError>;

    /// Lets everything appear. A stage that is dropped instead leaves nothing.
    fn publish(self: Box<Self>) -> Result<Vec<Location>, StoreError>;
}
