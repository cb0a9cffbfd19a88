//! What is kept of a directory, whether the directory is still there or not: its objects, and who may change them.
//!
//! One process at a time changes a vault. Whoever took a snapshot and has not named it anywhere yet keeps the vault open;
//! whoever wants to remove what is not named claims it, which nobody can while another has it open.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gix_hash::ObjectId;
use gix_object::Kind;
use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::about::SnapshotInfo;
use crate::error::SnapshotError;
use crate::known::{Known, path_bytes};
use crate::objects::Objects;
use crate::store::SnapshotId;

/// The longest path of a directory, in bytes.
const PATH: u64 = 1 << 16;

/// The snapshots of a directory.
pub struct Vault {
    path: PathBuf,
    objects: Objects,
    /// A lock that everybody shares who has the vault open.
    open: File,
}

impl Vault {
    /// Opens one that is there.
    pub fn open(path: &Path) -> Result<Self, SnapshotError> {
        let open = lock(path, "open", FlockOperation::LockShared)?;
        Ok(Self { path: path.to_owned(), objects: Objects::open(&path.join("objects").join("pack"))?, open })
    }

    /// Opens one, which is made if need be.
    pub(crate) fn make(path: &Path) -> Result<Self, SnapshotError> {
        let packs = path.join("objects").join("pack");
        let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&packs);
        made.map_err(SnapshotError::io("make", &packs))?;
        Self::open(path)
    }

    /// Lists the vaults in a directory of vaults.
    pub fn list(home: &Path) -> Result<Vec<PathBuf>, SnapshotError> {
        let list = || -> io::Result<Vec<PathBuf>> {
            let mut found: Vec<PathBuf> = fs::read_dir(home)?.map(|one| Ok(one?.path())).collect::<io::Result<_>>()?;
            found.retain(|path| path.join("objects").join("pack").is_dir());
            found.sort();
            Ok(found)
        };
        match list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            result => result.map_err(SnapshotError::io("read", home)),
        }
    }

    /// Claims the vault: until this one is dropped, nobody else opens it. Says whether that worked: it does not while
    /// somebody has it open.
    pub fn claim(&self) -> Result<bool, SnapshotError> {
        match rustix::fs::flock(&self.open, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(true),
            Err(Errno::WOULDBLOCK) => {
                // The attempt gave the shared lock up.
                let shared = rustix::fs::flock(&self.open, FlockOperation::LockShared);
                shared.map_err(io::Error::from).map_err(SnapshotError::io("lock", &self.path))?;
                Ok(false)
            }
            Err(error) => Err(SnapshotError::io("lock", &self.path)(error.into())),
        }
    }

    /// Returns where the vault is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory whose snapshots these are; none when nobody wrote it down.
    pub fn directory(&self) -> Option<PathBuf> {
        let path = self.path.join("directory");
        let is_small = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file() && found.len() <= PATH);
        let bytes = is_small.then(|| fs::read(&path).ok()).flatten()?;
        Some(PathBuf::from(OsStr::from_bytes(&bytes))).filter(|directory| directory.is_absolute())
    }

    /// Writes down which directory it is.
    pub(crate) fn note_directory(&self, directory: &Path) -> Result<(), SnapshotError> {
        if self.directory().as_deref() == Some(directory) {
            return Ok(());
        }
        let path = self.path.join("directory");
        let temporary = self.path.join(format!("directory.{}.new", std::process::id()));
        let write = || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
            file.write_all(path_bytes(directory))?;
            fs::rename(&temporary, &path)
        };
        write().map_err(SnapshotError::io("write", &path))
    }

    /// Says whether a snapshot is there, as far as the vault was looked through.
    pub fn has(&self, id: SnapshotId) -> bool {
        self.objects.has(&id.0)
    }

    /// Lists all snapshots, oldest first.
    pub fn snapshots(&self) -> Result<Vec<SnapshotInfo>, SnapshotError> {
        let mut ids = Vec::new();
        self.objects.refresh()?;
        for pack in self.objects.packs() {
            ids.extend(crate::collect::commits(&pack)?);
        }
        ids.sort_unstable();
        ids.dedup();
        let mut all: Vec<SnapshotInfo> =
            ids.into_iter().map(|id| self.info(SnapshotId(id))).collect::<Result<_, SnapshotError>>()?;
        all.sort_by_key(|one| one.created);
        Ok(all)
    }

    /// Returns what is known about a snapshot.
    pub fn info(&self, id: SnapshotId) -> Result<SnapshotInfo, SnapshotError> {
        let bytes = self.commit(id)?;
        let text = String::from_utf8_lossy(&bytes);
        let (head, label) = text.split_once("\n\n").unwrap_or((&text, ""));
        let parents = head.lines().filter_map(|line| SnapshotId::parse(line.strip_prefix("parent ")?).ok());
        let seconds = head.lines().find_map(|line| line.strip_prefix("committer ")?.rsplit(' ').nth(1)?.parse().ok());
        Ok(SnapshotInfo {
            id,
            label: label.trim_end_matches('\n').to_owned(),
            created: seconds.unwrap_or_default(),
            parents: parents.collect(),
        })
    }

    /// Returns the directory that a snapshot holds.
    pub(crate) fn directory_of(&self, id: SnapshotId) -> Result<ObjectId, SnapshotError> {
        let bytes = self.commit(id)?;
        let tree = bytes.strip_prefix(b"tree ").and_then(|rest| rest.get(..crate::pack::HASH.len_in_hex()));
        let damaged = || SnapshotError::Damaged { reason: format!("snapshot {id} names no directory") };
        tree.and_then(|hex| ObjectId::from_hex(hex).ok()).ok_or_else(damaged)
    }

    pub(crate) fn commit(&self, id: SnapshotId) -> Result<Vec<u8>, SnapshotError> {
        if !self.objects.find(&id.0)? {
            return Err(SnapshotError::NotFound(id.to_string()));
        }
        let mut bytes = Vec::new();
        self.objects.read(&id.0, Kind::Commit, &mut bytes)?;
        Ok(bytes)
    }

    /// Returns what is known of the directory, as far as the vault still holds it.
    pub(crate) fn known(&self) -> Known {
        let known = Known::load(&self.path);
        if known.root.is_some_and(|root| self.objects.has(&root)) { known } else { Known::default() }
    }

    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// Waits until no other process changes the vault, and takes in what they did.
    pub(crate) fn begin(&self) -> Result<File, SnapshotError> {
        let lock = lock(&self.path, "lock", FlockOperation::LockExclusive)?;
        self.objects.sweep()?;
        self.objects.refresh()?;
        Ok(lock)
    }
}

fn lock(vault: &Path, name: &str, how: FlockOperation) -> Result<File, SnapshotError> {
    let path = vault.join(name);
    let lock = || {
        let file = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        rustix::fs::flock(&file, how)?;
        Ok(file)
    };
    lock().map_err(SnapshotError::io("lock", &path))
}
