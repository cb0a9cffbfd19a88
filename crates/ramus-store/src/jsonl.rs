//! The default home: one JSONL file per session.
//!
//! Every write happens under the session's gate, a lock file of its own that outlives renames of the log. One batch is
//! one `write`; on error the tail is cut back to where it was, so a failed append leaves no trace; `fdatasync` comes
//! before success is reported, and directories are synced when names in them change. A log gets its name when it is
//! complete, and never takes one that another file has. Directories belong to the user alone; links are not followed.

mod base;
mod blobs;
mod breadcrumb;
mod collect;
mod delete;
mod find;
mod gate;
mod guard;
mod journal;
mod layout;
mod lease;
mod leftover;
mod list;
mod make;
mod omp_lock;
mod quarantine;
mod settle;
mod sidecar;
mod staging;
mod stamp;
mod vigil;
mod writer;

use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use ramus_model::{BlobHash, SessionId};
use sha2::{Digest as _, Sha256};

use find::Places;
pub use layout::Layout;
use vigil::Vigil;

use crate::blobs::BlobStore;
use crate::error::StoreError;
use crate::fs::{Access, FileId, FileSystem, RealFs};
use crate::journal::Journals;
use crate::planted::{Bug, is_planted};
use crate::sidecar::Sidecars;
use crate::store::{
    Incarnation, Lease, Leftover, Location, LogStore, LogWriter, NewLog, Placement, Position, Removed, Residence,
    Runner, SetAside, Stamped,
};

/// How much is read at a time.
const CHUNK: usize = 1 << 18;

/// Logs as files under one directory.
#[derive(Clone, Debug)]
pub struct JsonlStore {
    root: PathBuf,
    layout: Layout,
    fs: Arc<dyn FileSystem>,
    /// Directories that were found to be safe.
    known_dirs: Arc<Mutex<HashSet<PathBuf>>>,
    notices: Arc<Mutex<Vec<String>>>,
    /// Blobs whose content was seen to be right.
    known_blobs: Arc<Mutex<KnownBlobs>>,
    /// Directories whose names the disk did not confirm when it was last asked.
    unconfirmed_dirs: Arc<Mutex<HashSet<PathBuf>>>,
    /// What the files looked like when they were last asked about.
    vigil: Arc<Mutex<Vigil>>,
    /// Where logs were when they were last looked for.
    places: Arc<Mutex<Places>>,
}

type KnownBlobs = HashSet<(BlobHash, FileId)>;

impl JsonlStore {
    /// Names a home on the real file system. Nothing is made before something is written.
    pub fn new(root: impl Into<PathBuf>, layout: Layout) -> Self {
        Self::with_fs(root, layout, Arc::new(RealFs))
    }

    /// Names a home on any file system.
    pub fn with_fs(root: impl Into<PathBuf>, layout: Layout, fs: Arc<dyn FileSystem>) -> Self {
        Self {
            root: root.into(),
            layout,
            fs,
            known_dirs: Arc::default(),
            notices: Arc::default(),
            known_blobs: Arc::default(),
            unconfirmed_dirs: Arc::default(),
            vigil: Arc::default(),
            places: Arc::default(),
        }
    }

    /// Returns the directory of this home.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Makes sure that what is there of this home is this user's and nobody else's to enter. Nothing is made.
    pub fn check(&self) -> Result<(), StoreError> {
        self.check_home()
    }

    /// Takes what a person should be told about this home.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn notice(&self, notice: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    fn drafts(&self) -> PathBuf {
        self.root.join("drafts")
    }

    fn sessions(&self) -> PathBuf {
        self.root.join("sessions")
    }

    fn directory(&self, placement: Placement, cwd: &str) -> PathBuf {
        match placement {
            Placement::Draft => self.drafts(),
            Placement::Published => self.sessions().join(self.layout.directory_name(cwd)),
        }
    }

    /// Reads a file from `from` to its end; returns which file it was and where it ends.
    fn read_file(&self, path: &Path, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<(FileId, u64), StoreError> {
        let file = self.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let stat = file.stat().map_err(|error| StoreError::io("inspect", path, error))?;
        // No larger than what is there, and one byte to find the end with.
        let rest = usize::try_from(stat.size.saturating_sub(from)).unwrap_or(usize::MAX);
        let mut buffer = vec![0; CHUNK.min(rest.saturating_add(1))];
        let mut position = from;
        loop {
            let read = file.read_at(&mut buffer, position).map_err(|error| StoreError::io("read", path, error))?;
            let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else {
                // A log that was cut ends before where the reading should start.
                let end = if position == from { from.min(stat.size) } else { position };
                return Ok((stat.id, end));
            };
            take(chunk);
            position += read as u64;
        }
    }

    fn known_dirs(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        // A set of paths is never half changed.
        self.known_dirs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to a full disk how full it is.
    fn measured(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Full { path, free: None, source } => {
                let directory = path.parent().unwrap_or(&path);
                StoreError::Full { free: self.fs.free(directory).ok(), path, source }
            }
            error => error,
        }
    }

    fn sync_dir_of(&self, path: &Path) -> Result<(), StoreError> {
        if is_planted(Bug::NoDirectoryFsync) {
            return Ok(());
        }
        let directory = path.parent().unwrap_or(path);
        let synced = self.fs.sync_dir(directory).map_err(|error| StoreError::io("sync", directory, error));
        let mut unconfirmed = self.unconfirmed_dirs.lock().unwrap_or_else(PoisonError::into_inner);
        match &synced {
            Ok(()) => unconfirmed.remove(directory),
            Err(_) => unconfirmed.insert(directory.to_owned()),
        };
        synced
    }

    /// Makes sure that the disk has a log's name before more is written under it: when it could not confirm a new name,
    /// a power cut may give the old file back.
    fn confirm_name(&self, path: &Path) -> Result<(), StoreError> {
        let in_doubt = {
            let in_doubt = self.unconfirmed_dirs.lock().unwrap_or_else(PoisonError::into_inner);
            !in_doubt.is_empty() && in_doubt.contains(path.parent().unwrap_or(path))
        };
        if in_doubt { self.sync_dir_of(path) } else { Ok(()) }
    }
}

/// The name of a log's lock file. A file that is opened in place is its own identity: its header may change, and others
/// may say the same.
fn lock_name(at: &Location) -> String {
    if let (Residence::InPlace, Some(path)) = (at.residence, &at.path) {
        return format!("p-{}", hex::encode(Sha256::digest(path.as_os_str().as_bytes())));
    }
    tame_name(at.id.as_str())
}

/// A name for what belongs to a session. Ids come from files of any origin, so only tame ones become names as they are.
fn tame_name(id: &str) -> String {
    let tame = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if tame { id.to_owned() } else { format!("x-{}", hex::encode(Sha256::digest(id.as_bytes()))) }
}

/// A log that is replaced is another file.
fn incarnation(id: FileId) -> Incarnation {
    Incarnation(u128::from(id.device) << 64 | u128::from(id.inode))
}

fn path_of(at: &Location) -> Result<&Path, StoreError> {
    at.path.as_deref().ok_or_else(|| StoreError::NotFound { what: format!("the file of session {}", at.id) })
}

impl LogStore for JsonlStore {
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError> {
        let directory = self.directory(new.placement, new.cwd);
        self.own_dir(&directory).map_err(|error| self.measured(error))?;
        let path = directory.join(layout::file_name(new.timestamp, &new.id));
        self.make(&path, bytes).map_err(|error| self.measured(error))?;
        let residence = match new.placement {
            Placement::Draft => Residence::Draft,
            Placement::Published => Residence::Published,
        };
        Ok(Location { id: new.id.clone(), residence, path: Some(path) })
    }

    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<Position, StoreError> {
        let (id, end) = self.read_file(path_of(at)?, from, take)?;
        Ok(Position { incarnation: incarnation(id), end })
    }

    fn position(&self, at: &Location) -> Result<Position, StoreError> {
        let path = path_of(at)?;
        let stat = self.fs.stat(path).map_err(|error| StoreError::io("inspect", path, error))?;
        Ok(Position { incarnation: incarnation(stat.id), end: stat.size })
    }

    fn read_at(&self, at: &Location, offset: u64, len: usize) -> Result<Vec<u8>, StoreError> {
        let path = path_of(at)?;
        let file = self.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let mut bytes = vec![0; len];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let read = file.read_at(rest, offset + filled as u64);
            match read.map_err(|error| StoreError::io("read", path, error))? {
                0 => break,
                read => filled += read,
            }
        }
        bytes.truncate(filled);
        Ok(bytes)
    }

    fn writer(&self, at: &Location) -> Result<Box<dyn LogWriter>, StoreError> {
        Ok(Box::new(self.open_writer(at)?))
    }

    fn rewrite(&self, at: &Location, expected: Position, bytes: &[u8], backup: Option<&str>) -> Result<(), StoreError> {
        let path = path_of(at)?;
        let gate = self.gate(at)?;
        let _held = gate.hold()?;
        self.replace(path, expected, bytes, backup).map_err(|error| self.measured(error))?;
        // What was remembered of the old file means nothing for the new one.
        self.discard(at)
    }

    fn settle(&self, at: &Location, cwd: &str) -> Result<Location, StoreError> {
        let path = path_of(at)?;
        let directory = self.directory(Placement::Published, cwd);
        let name = path.file_name().unwrap_or_default();
        let target = directory.join(name);
        if target != path {
            let gate = self.gate(at)?;
            let _held = gate.hold()?;
            self.own_dir(&directory)?;
            self.fs.rename_new(path, &target).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => StoreError::Exists { path: target.clone() },
                _ => StoreError::io("move", path, error),
            })?;
            self.sync_dir_of(&target)?;
            self.sync_dir_of(path)?;
        }
        Ok(Location { id: at.id.clone(), residence: Residence::Published, path: Some(target) })
    }

    fn delete(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let path = path_of(at)?;
        let gate = self.gate(at)?;
        let _held = gate.hold()?;
        let beside =
            [self.delete_sidecar(at, dry_run)?, self.delete_journal(at, dry_run)?, self.delete_damage(at, dry_run)?];
        let mut removed = self.delete_files(path, dry_run)?;
        for part in beside {
            removed.take_in(part);
        }
        // Last: as long as anything of the session is there, it came from elsewhere.
        removed.take_in(self.delete_mark(at, dry_run)?);
        Ok(removed)
    }

    fn look_through(&self, without: &[&Location], take: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let mut gone = Vec::new();
        for location in without {
            gone.extend(self.delete_files(path_of(location)?, true)?.files);
        }
        self.read_everything(&|path| gone.iter().any(|gone| gone == path), take)
    }

    fn forget_copies(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let gate = self.gate(at)?;
        let _held = gate.hold()?;
        self.delete_copies(at, dry_run)
    }

    fn sweep_quarantine(&self, before: SystemTime, dry_run: bool) -> Result<Removed, StoreError> {
        self.delete_old_damage(before, dry_run)
    }

    fn list(&self) -> Result<Vec<Location>, StoreError> {
        self.list_files()
    }

    fn find(&self, id: &SessionId) -> Result<Option<Location>, StoreError> {
        self.find_file(id)
    }

    fn stamps(&self) -> Result<Arc<Vec<Stamped>>, StoreError> {
        self.stamp_files()
    }

    fn located(&self, name: &str) -> Option<Location> {
        self.locate_file(name)
    }

    fn id_of(&self, name: &str) -> Option<SessionId> {
        Self::id_in_name(name)
    }

    fn runners(&self, of: &[Location]) -> Result<Vec<Option<Runner>>, StoreError> {
        self.lease_holders(of)
    }

    fn name_of(&self, at: &Location) -> Option<String> {
        self.name_of_file(at)
    }

    fn sidecars(&self) -> Option<&dyn Sidecars> {
        Some(self)
    }

    fn journals(&self) -> Option<&dyn Journals> {
        Some(self)
    }

    fn lease(&self, at: &Location, now: i64) -> Result<Box<dyn Lease>, StoreError> {
        self.take_lease(at, now)
    }

    fn runner(&self, at: &Location) -> Result<Option<Runner>, StoreError> {
        self.lease_holder(at)
    }

    fn leftovers(&self, before: SystemTime) -> Result<Vec<Leftover>, StoreError> {
        self.find_leftovers(before)
    }

    fn set_aside(&self, at: &Location, offset: u64, bytes: &[u8], reason: &str) -> Result<SetAside, StoreError> {
        self.keep_damage(at, offset, bytes, reason).map_err(|error| self.measured(error))
    }

    fn blobs(&self) -> Option<&dyn BlobStore> {
        Some(self)
    }
}
