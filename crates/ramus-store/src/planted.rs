//! Bugs that tests plant to see that they are caught. Without the test-only feature `planted` none of this is compiled in.

/// A bug that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bug {
    /// An append is acknowledged without being made durable.
    NoFsync,
    /// New names are not made durable.
    NoDirectoryFsync,
    /// A failed write is not taken back.
    NoRollback,
    /// An append is acknowledged before it is written: the next one writes it.
    AckBeforeWrite,
    /// Writers do not exclude each other.
    NoGate,
    /// Damaged bytes are dropped instead of being set aside.
    DropBadLines,
    /// A new file takes its name before its content is durable.
    RenameBeforeFsync,
    /// An entry is written before the blob it refers to.
    LineBeforeBlob,
    /// A failed fsync is tried again and believed.
    RetryAfterFailedFsync,
    /// A torn tail is cut before it was set aside.
    TruncateBeforeQuarantine,
    /// A writer does not notice that another file has its log's name.
    NoIdentityCheck,
    /// A torn tail is left in front of the next entry.
    NoTailRepair,
    /// A sidecar is believed without being checked.
    TrustSidecar,
    /// Garbage collection does not look at drafts.
    CollectIgnoresDrafts,
    /// What a model says is not journalled while it does.
    NoJournal,
    /// A journal that was kept as an answer is kept again.
    ForgetJournalId,
    /// Calls that were interrupted get no result.
    LeaveCallsOpen,
}

impl Bug {
    /// Every bug.
    pub const ALL: [Self; 17] = [
        Self::NoFsync,
        Self::NoDirectoryFsync,
        Self::NoRollback,
        Self::AckBeforeWrite,
        Self::NoGate,
        Self::DropBadLines,
        Self::RenameBeforeFsync,
        Self::LineBeforeBlob,
        Self::RetryAfterFailedFsync,
        Self::TruncateBeforeQuarantine,
        Self::NoIdentityCheck,
        Self::NoTailRepair,
        Self::TrustSidecar,
        Self::CollectIgnoresDrafts,
        Self::NoJournal,
        Self::ForgetJournalId,
        Self::LeaveCallsOpen,
    ];
}

/// Says whether this bug is planted here.
#[cfg(not(feature = "planted"))]
#[inline]
pub const fn is_planted(_: Bug) -> bool {
    false
}

#[cfg(feature = "planted")]
pub use switch::{is_planted, plant};

#[cfg(feature = "planted")]
mod switch {
    use std::cell::Cell;
    use std::sync::LazyLock;

    use super::Bug;

    thread_local!(static HERE: Cell<Option<Bug>> = const { Cell::new(None) });

    /// What the environment plants, for processes that a test starts.
    static EVERYWHERE: LazyLock<Option<Bug>> = LazyLock::new(|| {
        let name = std::env::var("RAMUS_PLANTED_BUG").ok()?;
        Bug::ALL.into_iter().find(|bug| format!("{bug:?}") == name)
    });

    /// Plants a bug in this thread, or removes it.
    pub fn plant(bug: Option<Bug>) {
        HERE.set(bug);
    }

    /// Says whether this bug is planted here.
    pub fn is_planted(bug: Bug) -> bool {
        HERE.get() == Some(bug) || *EVERYWHERE == Some(bug)
    }
}
