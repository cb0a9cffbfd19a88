//! An answer that the next line may replace: what came of it so far, and what waits behind it.

use crate::origin::Kept;
use crate::record::Record;

/// More than this does not wait.
const MAX_BYTES: usize = 16 << 20;
const MAX_LINES: usize = 512;
/// An answer that has so many records behind it is not replaced any more.
const WAITING: usize = 64;

/// An answer and its earlier versions.
pub(super) struct Pending {
    pub(super) record: Record<'static>,
    /// Earlier versions, and what stood between them.
    pub(super) before: Vec<Kept>,
    /// What came behind it.
    pub(super) behind: Vec<Kept>,
    /// How much is kept beside the answer.
    bytes: usize,
}

impl Pending {
    pub(super) fn of(record: &Record<'_>) -> Self {
        Self { record: record.clone().into_owned(), before: Vec::new(), behind: Vec::new(), bytes: 0 }
    }

    /// Says whether it is an answer with this id.
    pub(super) fn is_of(&self, id: &str) -> bool {
        self.record.object().is_some_and(|earlier| earlier.text("id").as_deref() == Some(id))
    }

    /// Puts a later version in the place of the answer.
    pub(super) fn replace(&mut self, record: &Record<'_>) {
        let earlier = self.record.whole();
        self.bytes += earlier.len();
        self.before.push(earlier);
        self.before.append(&mut self.behind);
        self.record = record.clone().into_owned();
    }

    /// Keeps a record that came behind it.
    pub(super) fn wait(&mut self, kept: Kept) {
        self.bytes += kept.len();
        self.behind.push(kept);
    }

    pub(super) fn is_stale(&self) -> bool {
        self.behind.len() >= WAITING
    }

    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES || self.before.len() + self.behind.len() > MAX_LINES
    }
}
