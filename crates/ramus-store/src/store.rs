//! The store trait: eight verbs over bytes and positions, honest for any home that keeps logs in order.

use std::path::{Path, PathBuf};

use ramus_model::SessionId;

use crate::error::StoreError;

/// Where a log is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The session whose log it is.
    pub id: SessionId,
    /// What kind of place it is in.
    pub residence: Residence,
    /// The file, in homes that have files.
    pub path: Option<PathBuf>,
}

/// What kind of place a log is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residence {
    /// Among the drafts: durable, not listed, until it is published.
    Draft,
    /// Among the sessions.
    Published,
    /// A file somewhere else, opened where it is; it belongs to another program.
    InPlace,
    /// In memory only.
    Memory,
}

/// Where a log should be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Among the drafts.
    Draft,
    /// Among the sessions.
    Published,
}

/// What a new log is called.
#[derive(Clone, Debug)]
pub struct NewLog<'a> {
    /// The session.
    pub id: SessionId,
    /// The working directory, which groups sessions.
    pub cwd: &'a str,
    /// The time of creation, ISO-8601.
    pub timestamp: &'a str,
    /// Where to put it.
    pub placement: Placement,
}

impl<'a> NewLog<'a> {
    /// Names a draft.
    pub fn draft(id: SessionId, cwd: &'a str, timestamp: &'a str) -> Self {
        Self { id, cwd, timestamp, placement: Placement::Draft }
    }
}

/// What deleting a log removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The files.
    pub files: Vec<PathBuf>,
    /// How many bytes they had.
    pub bytes: u64,
}

/// A home of logs.
///
/// Positions are byte offsets in the log. An append names the position it expects to write at; a home checks that under
/// its own lock, so of two writers one is refused and nothing interleaves. A batch is written whole or not at all, and is
/// durable when `append` returns.
pub trait LogStore: Send + Sync {
    /// Makes a log that starts with `bytes`, durably. Nobody sees it before it is complete.
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError>;

    /// Reads from `from` to the end in chunks and returns the position of the end.
    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<u64, StoreError>;

    /// Reads up to `len` bytes at `offset`; fewer only at the end of the log.
    fn read_at(&self, at: &Location, offset: u64, len: usize) -> Result<Vec<u8>, StoreError>;

    /// Appends whole lines at `expected` and returns the new end.
    fn append(&self, at: &Location, expected: u64, bytes: &[u8]) -> Result<u64, StoreError>;

    /// Replaces the whole log atomically, if it still ends at `expected`. With `backup`, a home that has files keeps the
    /// old one beside the new one, under its name and this suffix; a number follows when another file has that name.
    fn rewrite(&self, at: &Location, expected: u64, bytes: &[u8], backup: Option<&str>) -> Result<(), StoreError>;

    /// Moves a log among the sessions of `cwd`: publishes a draft, or follows a moved working directory. Fails when the
    /// name is taken there.
    fn settle(&self, at: &Location, cwd: &str) -> Result<Location, StoreError>;

    /// Removes a log and the old files that were kept beside it. With `dry_run`, says what would go.
    fn delete(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError>;

    /// Lists all logs of this home without opening them.
    fn list(&self) -> Result<Vec<Location>, StoreError>;
}

impl Location {
    /// Names a file that is opened where it is.
    pub fn in_place(id: SessionId, path: &Path) -> Self {
        Self { id, residence: Residence::InPlace, path: Some(path.to_owned()) }
    }
}
