//! The blob store trait: bytes by their hash, shared by all logs of a home.
//!
//! Blobs are never changed and never removed while anything refers to them. A blob is durable before the line that refers
//! to it is written; whoever writes such lines holds collection off from the first [`BlobStore::put`] until the line is
//! in the log.

use std::collections::BTreeSet;
use std::time::SystemTime;

use ramus_model::{Blob, BlobHash};

use crate::error::StoreError;

/// A home of blobs.
pub trait BlobStore: Send + Sync {
    /// Keeps a blob, durably. One that is there already is not written again.
    fn put(&self, blob: &Blob) -> Result<(), StoreError>;

    /// Returns the bytes of a blob; none when it is missing. Bytes that are not what their name says are set aside and
    /// count as missing.
    fn fetch(&self, hash: BlobHash) -> Result<Option<Vec<u8>>, StoreError>;

    /// Keeps collection away until the hold is dropped.
    fn hold(&self) -> Result<Box<dyn BlobHold>, StoreError>;

    /// Removes those of these blobs for good that nothing refers to, however young they are. Fails, and removes nothing,
    /// when any log cannot be read.
    fn erase(&self, hashes: &BTreeSet<BlobHash>) -> Result<Tally, StoreError>;

    /// Removes blobs that nothing refers to. Fails, and removes nothing, when any log cannot be read.
    fn collect(&self, collection: Collection) -> Result<Collected, StoreError>;

    /// Returns how many bytes a blob has; none when it is missing.
    fn blob_size(&self, hash: BlobHash) -> Result<Option<u64>, StoreError>;
}

/// Keeps collection away while it lives.
pub trait BlobHold: Send {}

/// How garbage is collected.
#[derive(Clone, Copy, Debug)]
pub struct Collection {
    /// What time it is.
    pub now: SystemTime,
    /// Whether to count only.
    pub dry_run: bool,
}

/// A number of files and how large they are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many.
    pub count: u64,
    /// How many bytes.
    pub bytes: u64,
}

impl Tally {
    /// Counts one more.
    pub fn add(&mut self, bytes: u64) {
        self.count += 1;
        self.bytes += bytes;
    }
}

/// What a collection did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Blobs that are gone for good.
    pub removed: Tally,
    /// Blobs that nothing refers to and that were put in the trash.
    pub trashed: Tally,
    /// Blobs that came back from the trash because something refers to them again.
    pub restored: Tally,
    /// Blobs that stay: something refers to them, or they are too young to tell.
    pub kept: Tally,
    /// Files of interrupted writes that were removed.
    pub leftovers: Tally,
}
