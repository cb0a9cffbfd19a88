//! Bases: what forks need of a log that was deleted, and the lock that keeps making forks and deleting origins apart.
//!
//! A base is read and deleted like a log. It is never listed and never appended to, and as long as the log it was made
//! from is there, nobody reads it: deleting writes the base first, so a crash leaves the log or the base or both.

use ramus_model::SessionId;

use crate::error::StoreError;
use crate::fs::Hold;
use crate::store::Location;

/// Something that is held until it is dropped or the process ends.
pub trait Guard: Send {}

/// The part of a home that keeps bases.
pub trait Bases {
    /// Takes the lock on forks: whoever makes one shares it, whoever deletes has it alone. No origin goes while a fork of
    /// it is being made.
    fn hold_forks(&self, hold: Hold) -> Result<Box<dyn Guard>, StoreError>;

    /// Keeps `bytes` as the base of a session, durably, in place of one that an unfinished deletion left.
    fn put_base(&self, id: &SessionId, bytes: &[u8]) -> Result<Location, StoreError>;

    /// Finds the base of a session.
    fn find_base(&self, id: &SessionId) -> Result<Option<Location>, StoreError>;

    /// Lists all bases without opening them. An id that cannot be a name is given by the name that stands for it: the
    /// header of the base knows better.
    fn bases(&self) -> Result<Vec<Location>, StoreError>;
}
