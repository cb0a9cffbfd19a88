//! Which operations fail, and how. The invariant: an operation that fails because of a fault has no effect, except that a
//! short write leaves what it wrote.

use std::path::PathBuf;

use rustix::io::Errno;

/// What kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// Appending to a file.
    Write,
    /// Making content durable.
    Sync,
    /// Making the names in a directory durable.
    SyncDirectory,
    /// Renaming a file.
    Rename,
    /// Opening a file.
    Open,
    /// Making a file or a directory.
    Create,
    /// Cutting a file.
    Truncate,
    /// Giving a file a second name.
    Link,
    /// Removing a name.
    Remove,
    /// Listing a directory.
    List,
    /// Reading.
    Read,
    /// Asking about a file, or changing what is known about it.
    Inspect,
    /// Opening, taking, freeing or labelling a lock.
    Lock,
}

/// One operation of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What kind.
    pub kind: OperationKind,
    /// On what.
    pub path: PathBuf,
    /// Whether a fault made it fail.
    pub failed: bool,
}

/// How long a fault lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lasts {
    /// One operation.
    Once,
    /// Every matching operation from then on, until faults are cleared.
    On,
}

/// How much a failing write writes first. The system reports it as a short write; the error comes with the next one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Short {
    /// Nothing.
    #[default]
    Nothing,
    /// One byte.
    One,
    /// All bytes but one.
    AllButOne,
}

impl Short {
    fn of(self, len: usize) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One => len.min(1),
            Self::AllButOne => len.saturating_sub(1),
        }
    }
}

/// An operation that is to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Which kind counts; none for any.
    pub kind: Option<OperationKind>,
    /// The how-manieth of them, from 1.
    pub at: usize,
    /// What the system says.
    pub errno: Errno,
    /// For how long.
    pub lasts: Lasts,
    /// What a write leaves.
    pub short: Short,
}

impl Fault {
    /// Makes the `at`-th operation of a kind fail once.
    pub fn once(kind: OperationKind, at: usize, errno: Errno) -> Self {
        Self { kind: Some(kind), at, errno, lasts: Lasts::Once, short: Short::Nothing }
    }
}

/// What becomes of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Succeed,
    WriteOnly(usize),
    Fail(Errno),
}

/// A fault and how many operations it has seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Armed {
    fault: Fault,
    seen: usize,
    /// A short write was reported: the next write brings the error.
    owed: bool,
}

impl Armed {
    pub(super) fn new(fault: Fault) -> Self {
        Self { fault, seen: 0, owed: false }
    }

    /// Judges an operation; `len` is how much a write wants to write.
    pub(super) fn judge(&mut self, kind: OperationKind, len: usize) -> Verdict {
        if self.fault.kind.is_some_and(|wanted| wanted != kind) {
            return Verdict::Succeed;
        }
        self.seen += 1;
        let due = match self.fault.lasts {
            Lasts::Once => self.seen == self.fault.at || std::mem::take(&mut self.owed),
            Lasts::On => self.seen >= self.fault.at,
        };
        if !due {
            return Verdict::Succeed;
        }
        let short =
            if kind == OperationKind::Write && self.seen == self.fault.at { self.fault.short.of(len) } else { 0 };
        if short > 0 {
            self.owed = true;
            return Verdict::WriteOnly(short);
        }
        Verdict::Fail(self.fault.errno)
    }
}
