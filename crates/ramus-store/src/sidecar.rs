//! Sidecars: what is remembered of a log so that it need not be read. Derived: deleting one at any time changes no answer.

use crate::error::StoreError;
use crate::store::{Location, Position};

/// A checkpoint as it was found, with a mark that tells it from any other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedCheckpoint {
    /// The text.
    pub text: Vec<u8>,
    /// Which one it is.
    pub mark: u32,
    /// Which file it was written about.
    pub subject: Subject,
}

/// Which file a sidecar was written about, among those that say the same session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The one in the place that was asked about.
    Here,
    /// One that is still somewhere else: this is a copy, and may have gone another way.
    Elsewhere,
    /// One whose place is empty now.
    Gone,
}

/// What goes into a sidecar.
#[derive(Clone, Copy, Debug)]
pub struct SidecarUpdate<'a> {
    /// The log it is about, and up to where.
    pub log: Position,
    /// The checkpoint this continues, or none to start over.
    pub based_on: Option<u32>,
    /// How many bytes of rows stay.
    pub keep: u64,
    /// The rows behind them.
    pub rows: &'a [u8],
    /// The checkpoint that counts on all of these rows.
    pub checkpoint: &'a [u8],
}

/// A place for sidecars.
pub trait Sidecars: Send + Sync {
    /// Reads the checkpoint of a log; none when there is none that can be used.
    fn checkpoint(&self, at: &Location) -> Option<SavedCheckpoint>;

    /// Reads `len` bytes of rows from byte `from` on; none when they are not all there.
    fn rows(&self, at: &Location, from: u64, len: u64) -> Option<Vec<u8>>;

    /// Continues a sidecar, unless someone else did meanwhile or is at it, or the log was replaced or cut since it was
    /// read. Returns the mark of the new checkpoint.
    fn save(&self, at: &Location, update: &SidecarUpdate<'_>) -> Result<Option<u32>, StoreError>;

    /// Removes a sidecar, unless it is about a copy that is elsewhere.
    fn discard(&self, at: &Location) -> Result<(), StoreError>;
}
