//! The default home: one JSONL file per session.
//!
//! Every write happens under the session's gate, a lock file of its own that outlives renames of the log. One batch is
//! one `write`; on error the tail is cut back to where it was, so a failed append leaves no trace; `fdatasync` comes
//! before success is reported, and directories are synced when names in them change. A log gets its name when it is
//! complete, and never takes one that another file has.

mod append;
mod delete;
mod layout;
mod list;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest as _, Sha256};

pub use layout::Layout;

use crate::error::StoreError;
use crate::fs::{Access, FileSystem, Lock, RealFs};
use crate::store::{Location, LogStore, NewLog, Placement, Removed, Residence};

/// How long a writer waits for the gate before it gives up.
const PATIENCE: Duration = Duration::from_secs(10);

/// How much is read at a time.
const CHUNK: usize = 1 << 18;

/// Logs as files under one directory.
#[derive(Clone, Debug)]
pub struct JsonlStore {
    root: PathBuf,
    layout: Layout,
    fs: Arc<dyn FileSystem>,
}

impl JsonlStore {
    /// Names a home on the real file system. Nothing is made before something is written.
    pub fn new(root: impl Into<PathBuf>, layout: Layout) -> Self {
        Self::with_fs(root, layout, Arc::new(RealFs))
    }

    /// Names a home on any file system.
    pub fn with_fs(root: impl Into<PathBuf>, layout: Layout, fs: Arc<dyn FileSystem>) -> Self {
        Self { root: root.into(), layout, fs }
    }

    /// Returns the directory of this home.
    pub fn root(&self) -> &Path {
        &self.root
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

    /// Waits for the gate of a log.
    fn gate(&self, at: &Location) -> Result<Box<dyn Lock>, StoreError> {
        let locks = self.root.join("locks");
        self.fs.create_dir(&locks).map_err(|error| StoreError::io("make", &locks, error))?;
        let path = locks.join(lock_name(at));
        let lock = self.fs.lock(&path, PATIENCE).map_err(|error| StoreError::io("lock", &path, error))?;
        lock.ok_or_else(|| StoreError::Busy { session: at.id.to_string(), seconds: PATIENCE.as_secs() })
    }

    fn sync_dir_of(&self, path: &Path) -> Result<(), StoreError> {
        let directory = path.parent().unwrap_or(path);
        self.fs.sync_dir(directory).map_err(|error| StoreError::io("sync", directory, error))
    }
}

/// The name of a log's lock file. A file that is opened in place is its own identity: its header may change, and others
/// may say the same. Ids come from files of any origin, so only tame ones become names as they are.
fn lock_name(at: &Location) -> String {
    if let (Residence::InPlace, Some(path)) = (at.residence, &at.path) {
        return format!("p-{}", hex::encode(Sha256::digest(path.as_os_str().as_bytes())));
    }
    let id = at.id.as_str();
    let tame = (1..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if tame { id.to_owned() } else { format!("x-{}", hex::encode(Sha256::digest(id.as_bytes()))) }
}

fn path_of(at: &Location) -> Result<&Path, StoreError> {
    at.path.as_deref().ok_or_else(|| StoreError::NotFound { what: format!("the file of session {}", at.id) })
}

impl LogStore for JsonlStore {
    fn create(&self, new: &NewLog<'_>, bytes: &[u8]) -> Result<Location, StoreError> {
        let directory = self.directory(new.placement, new.cwd);
        self.fs.create_dir(&directory).map_err(|error| StoreError::io("make", &directory, error))?;
        let path = directory.join(layout::file_name(new.timestamp, &new.id));
        self.make(&path, bytes)?;
        let residence = match new.placement {
            Placement::Draft => Residence::Draft,
            Placement::Published => Residence::Published,
        };
        Ok(Location { id: new.id.clone(), residence, path: Some(path) })
    }

    fn read(&self, at: &Location, from: u64, take: &mut dyn FnMut(&[u8])) -> Result<u64, StoreError> {
        let path = path_of(at)?;
        let file = self.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let mut buffer = vec![0; CHUNK];
        let mut position = from;
        loop {
            let read = file.read_at(&mut buffer, position).map_err(|error| StoreError::io("read", path, error))?;
            let Some(chunk) = buffer.get(..read).filter(|chunk| !chunk.is_empty()) else { return Ok(position) };
            take(chunk);
            position += read as u64;
        }
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

    fn append(&self, at: &Location, expected: u64, bytes: &[u8]) -> Result<u64, StoreError> {
        let path = path_of(at)?;
        let _gate = self.gate(at)?;
        let mut file = self.fs.open(path, Access::Append).map_err(|error| StoreError::io("open", path, error))?;
        let actual = file.size().map_err(|error| StoreError::io("inspect", path, error))?;
        if actual != expected {
            return Err(StoreError::Moved { expected, actual });
        }
        append::write_whole(file.as_mut(), bytes, expected, path)?;
        Ok(expected + bytes.len() as u64)
    }

    fn rewrite(&self, at: &Location, expected: u64, bytes: &[u8], backup: Option<&str>) -> Result<(), StoreError> {
        let path = path_of(at)?;
        let _gate = self.gate(at)?;
        self.replace(path, expected, bytes, backup)
    }

    fn settle(&self, at: &Location, cwd: &str) -> Result<Location, StoreError> {
        let path = path_of(at)?;
        let directory = self.directory(Placement::Published, cwd);
        let name = path.file_name().unwrap_or_default();
        let target = directory.join(name);
        if target != path {
            let _gate = self.gate(at)?;
            self.fs.create_dir(&directory).map_err(|error| StoreError::io("make", &directory, error))?;
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
        let _gate = self.gate(at)?;
        self.delete_files(path, dry_run)
    }

    fn list(&self) -> Result<Vec<Location>, StoreError> {
        self.list_files()
    }
}
