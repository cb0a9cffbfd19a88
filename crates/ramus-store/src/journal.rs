//! Journals: what of a turn came in and is not stored yet, so that a process that is killed leaves it behind.
//!
//! A journal survives the process at once and a power cut when the system gets to it. Only who has the lease of a session
//! writes or removes its journal, so there is never more than one writer.

use crate::error::StoreError;
use crate::store::Location;

/// A place for journals.
pub trait Journals: Send + Sync {
    /// Starts the journal of a session over.
    fn start_journal(&self, at: &Location) -> Result<Box<dyn Journal>, StoreError>;

    /// Reads the journal that a turn left; none when there is none.
    fn left_journal(&self, at: &Location) -> Result<Option<Vec<u8>>, StoreError>;

    /// Removes the journal of a session, if there is one.
    fn remove_journal(&self, at: &Location) -> Result<(), StoreError>;
}

/// A journal that is being written.
pub trait Journal: Send {
    /// Adds whole lines.
    fn append(&mut self, bytes: &[u8]) -> Result<(), StoreError>;

    /// Drops everything behind `len`.
    fn cut(&mut self, len: u64) -> Result<(), StoreError>;
}
