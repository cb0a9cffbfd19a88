//! The store trait: few verbs over bytes and positions, honest for any home that keeps logs in order.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ramus_model::SessionId;

use crate::base::Bases;
use crate::blobs::BlobStore;
use crate::breadcrumb::Breadcrumbs;
use crate::error::StoreError;
use crate::journal::Journals;
use crate::sidecar::Sidecars;
use crate::staging::Staging;

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
    /// Among the bases: what forks need of a log that was deleted. Not listed, never written to.
    Base,
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

impl Removed {
    /// Adds what else was removed.
    pub fn take_in(&mut self, other: Self) {
        self.files.extend(other.files);
        self.bytes += other.bytes;
    }
}

/// Which incarnation of a log: appending keeps it, replacing the log changes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Incarnation(pub u128);

/// Up to where a log was read, and which incarnation of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Which incarnation.
    pub incarnation: Incarnation,
    /// The offset behind the last byte.
    pub end: u64,
}

/// What a home says about a log without opening it: when it is the same, so is the log, unless it is fresh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Which incarnation.
    pub incarnation: Incarnation,
    /// The offset behind the last byte.
    pub end: u64,
    /// Differs after a change, as far as the clock of the home tells.
    pub changed: u128,
}

impl Stamp {
    /// Returns the stamp as bytes, the same on every machine.
    pub fn to_bytes(self) -> [u8; 40] {
        let mut bytes = [0; 40];
        let (incarnation, rest) = bytes.split_at_mut(16);
        let (end, changed) = rest.split_at_mut(8);
        incarnation.copy_from_slice(&self.incarnation.0.to_le_bytes());
        end.copy_from_slice(&self.end.to_le_bytes());
        changed.copy_from_slice(&self.changed.to_le_bytes());
        bytes
    }
}

/// One log of a home and its stamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// The name of the log in its home, which no other log has at the time. [`LogStore::located`] finds it by that.
    pub name: Arc<str>,
    /// What kind of place it is in.
    pub residence: Residence,
    /// The stamp.
    pub stamp: Stamp,
    /// Whether it changed so recently that another change might not show in the stamp.
    pub is_fresh: bool,
}

/// When written bytes are made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Flush {
    /// Before success is reported.
    #[default]
    Now,
    /// With the next flush, or when the system gets to it.
    Later,
}

/// Who runs a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runner {
    /// The process.
    pub pid: u32,
    /// Since when, in milliseconds since 1970.
    pub since: i64,
}

/// The right to run turns in a session, until it is dropped or its process ends.
pub trait Lease: Send + Sync {}

/// Bytes that were set aside because they are not part of any record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where they were in the log.
    pub offset: u64,
    /// How many.
    pub len: u64,
    /// The file that holds them now, in homes that have files.
    pub path: Option<PathBuf>,
}

/// A file that an interrupted operation left in a home, or that nothing needs any more. It does no harm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// What it is.
    pub kind: LeftoverKind,
    /// The file.
    pub path: PathBuf,
}

/// What a leftover is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftoverKind {
    /// A file that was never finished: nobody was told that it is stored.
    Unfinished,
    /// The lock file of a session that is gone.
    Lock,
    /// A log of an import that was interrupted, which its session had gone past when the import was finished.
    Import,
}

/// A home of logs.
///
/// Positions are byte offsets in one incarnation of a log. A writer names the position it expects to write at; a home
/// checks that under its own lock, so of two writers one is refused and nothing interleaves. A batch is written whole or
/// not at all, and is durable when the append returns, unless the writer said it may come later.
pub trait LogStore: Bases + Breadcrumbs + Staging + Send + Sync {
    /// Makes a log that starts with `bytes`, durably. Nobody sees it before it is complete.
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError>;

    /// Reads from `from` to the end in chunks and returns the position of the end.
    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<Position, StoreError>;

    /// Returns where a log ends.
    fn position(&self, at: &Location) -> Result<Position, StoreError>;

    /// Reads up to `len` bytes at `offset`; fewer only at the end of the log.
    fn read_at(&self, at: &Location, offset: u64, len: usize) -> Result<Vec<u8>, StoreError>;

    /// Opens a log for appending.
    fn writer(&self, at: &Location) -> Result<Box<dyn LogWriter>, StoreError>;

    /// Replaces the whole log atomically, if it still ends at `expected`. With `backup`, a home that has files keeps the
    /// old one beside the new one, under its name and this suffix; a number follows when another file has that name.
    fn rewrite(&self, at: &Location, expected: Position, bytes: &[u8], backup: Option<&str>) -> Result<(), StoreError>;

    /// Moves a log among the sessions of `cwd`: publishes a draft, or follows a moved working directory. Fails when the
    /// name is taken there.
    fn settle(&self, at: &Location, cwd: &str) -> Result<Location, StoreError>;

    /// Removes a log and the old files that were kept beside it. With `dry_run`, says what would go.
    fn delete(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError>;

    /// Reads everything in this home that may hold a line of a log, whole or damaged, in chunks; an empty one ends a file.
    /// Those of some logs are left out, as if they were deleted. Fails when anything else cannot be read: whoever looks for
    /// what nothing names must not miss a name.
    fn look_through(&self, without: &[&Location], take: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        for location in self.list()?.into_iter().chain(self.bases()?).filter(|one| !without.contains(&one)) {
            match self.read(&location, 0, &mut |chunk| take(chunk)) {
                Ok(_) | Err(StoreError::NotFound { .. }) => take(&[]),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes what the home keeps of earlier bytes of a log: old files beside it, and damage that was set aside. With
    /// `dry_run`, says what would go.
    fn forget_copies(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let _ = (at, dry_run);
        Ok(Removed::default())
    }

    /// Removes damage that was set aside before a moment. With `dry_run`, says what would go.
    fn sweep_quarantine(&self, before: SystemTime, dry_run: bool) -> Result<Removed, StoreError> {
        let _ = (before, dry_run);
        Ok(Removed::default())
    }

    /// Lists all logs of this home without opening them.
    fn list(&self) -> Result<Vec<Location>, StoreError>;

    /// Finds a log by the whole id of its session without opening any.
    fn find(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        Ok(self.list()?.into_iter().find(|location| location.id == *id))
    }

    /// Returns every log of this home, bases included, with its stamp, in any order. No log is opened.
    fn stamps(&self) -> Result<Arc<Vec<Stamped>>, StoreError>;

    /// Returns where the log of that name is, or would be.
    fn located(&self, name: &str) -> Option<Location>;

    /// Returns the session that the log of that name belongs to.
    fn id_of(&self, name: &str) -> Option<SessionId> {
        self.located(name).map(|location| location.id)
    }

    /// Returns the name of a log of this home: the other way round.
    fn name_of(&self, at: &Location) -> Option<String>;

    /// Returns where this home keeps sidecars, if it does.
    fn sidecars(&self) -> Option<&dyn Sidecars>;

    /// Returns where this home keeps journals. In a home without, what came of an answer ends with the process.
    fn journals(&self) -> Option<&dyn Journals> {
        None
    }

    /// Takes the right to run turns in a session; fails when someone has it.
    fn lease(&self, at: &Location, now: i64) -> Result<Box<dyn Lease>, StoreError>;

    /// Returns who runs a session.
    fn runner(&self, at: &Location) -> Result<Option<Runner>, StoreError>;

    /// Returns who runs each of many sessions.
    fn runners(&self, of: &[Location]) -> Result<Vec<Option<Runner>>, StoreError> {
        of.iter().map(|location| self.runner(location)).collect()
    }

    /// Lists what interrupted operations left behind and has not changed since `before`.
    fn leftovers(&self, before: SystemTime) -> Result<Vec<Leftover>, StoreError> {
        let _ = before;
        Ok(Vec::new())
    }

    /// Keeps damaged bytes of a log, durably, named by their content: the same bytes are kept once.
    fn set_aside(&self, at: &Location, offset: u64, bytes: &[u8], reason: &str) -> Result<SetAside, StoreError>;

    /// Returns where this home keeps blobs. In a home without, lines hold everything themselves.
    fn blobs(&self) -> Option<&dyn BlobStore> {
        None
    }
}

/// Appends to one log. Whoever writes often keeps one.
///
/// After an error that leaves the state of the disk in doubt a writer refuses further work with that first error until it
/// is recovered. A full disk is no such error: what was written was taken back, and the next append may find space.
pub trait LogWriter: Send {
    /// Appends whole lines at `expected` and returns the new end.
    fn append(&mut self, expected: Position, bytes: &[u8], flush: Flush) -> Result<Position, StoreError>;

    /// Makes durable what was appended to be flushed later.
    fn flush(&mut self) -> Result<(), StoreError>;

    /// Sets everything behind `end` aside and cuts the log there. For tails that are no record: nobody was told that they
    /// are stored.
    fn cut(&mut self, expected: Position, end: u64) -> Result<SetAside, StoreError>;

    /// Says how the writer is.
    fn health(&self) -> Health;

    /// Makes a writer that refuses work usable again. When the disk could not confirm what it was given, the log is
    /// copied to a new file first; bytes that were refused with an error are not part of the copy.
    fn recover(&mut self) -> Result<(), StoreError>;
}

/// How a writer is.
#[derive(Clone, Debug, Default)]
pub enum Health {
    /// It writes.
    #[default]
    Healthy,
    /// The last write failed and was taken back. Reading works.
    Degraded(Arc<StoreError>),
    /// The disk failed to confirm what it was given. Reading works; the file is not trusted with more.
    Poisoned(Arc<StoreError>),
}

impl Location {
    /// Names a file that is opened where it is.
    pub fn in_place(id: SessionId, path: &Path) -> Self {
        Self { id, residence: Residence::InPlace, path: Some(path.to_owned()) }
    }
}
