//! The file system as the store sees it: few operations, each of which can fail, so that a fault-injecting one slides
//! underneath without the store noticing.

mod real;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use real::RealFs;

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading.
    Read,
    /// Reading and writing at the end.
    Append,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirEntry {
    /// The name.
    pub name: OsString,
    /// Whether it is a directory (links are not followed).
    pub is_dir: bool,
    /// Whether it is a regular file (links are not followed).
    pub is_file: bool,
}

/// Which file a name stands for, or a handle is open on: it stays the same when the file is renamed and changes when
/// another file takes the name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// What the system says about a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Which file it is.
    pub id: FileId,
    /// The length in bytes.
    pub size: u64,
    /// Whether it is a regular file.
    pub is_file: bool,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Whether it belongs to the user this process runs as.
    pub is_ours: bool,
    /// Whether only its owner may use it.
    pub is_private: bool,
    /// The later of when its content and when its inode last changed: the second cannot be set back.
    pub changed: SystemTime,
    /// Differs when the content of the same file differs, as far as the clock of the file system tells.
    pub version: u128,
}

/// The files of a directory. Their names share one piece of memory: there may be ten thousand of them.
#[derive(Clone, Debug, Default)]
pub struct Surveyed {
    names: Vec<u8>,
    /// Where each name ends.
    files: Vec<(usize, Stat)>,
}

impl Surveyed {
    /// Adds a file.
    pub fn push(&mut self, name: &OsStr, stat: Stat) {
        self.names.extend_from_slice(name.as_bytes());
        self.files.push((self.names.len(), stat));
    }

    /// Iterates over the files.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &Stat)> {
        let mut start = 0;
        self.files.iter().map(move |(end, stat)| {
            let name = self.names.get(start..*end).unwrap_or_default();
            start = *end;
            (OsStr::from_bytes(name), stat)
        })
    }

    /// Returns how many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Says whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

/// Says whether a file of that name is wanted.
pub type Wanted = dyn Fn(&OsStr) -> bool + Sync;

/// A file system.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Makes a directory and its missing ancestors, private to the user, durably.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes a new file, private to the user whatever the umask; fails when the name is taken.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>>;

    /// Opens a regular file; links are not followed.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>>;

    /// Returns what the system says about a name; links are not followed.
    fn stat(&self, path: &Path) -> io::Result<Stat>;

    /// Takes a directory's or file's permissions away from everyone but its owner.
    fn make_private(&self, path: &Path) -> io::Result<()>;

    /// Marks a file as changed now.
    fn touch(&self, path: &Path) -> io::Result<()>;

    /// Renames a file, replacing what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file; fails when the name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name; fails when the name is taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a name.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty directory. Who cannot leaves it: an empty directory harms nobody.
    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Lists a directory, sorted by name.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Returns, for each directory, what the system says about every file in it whose name is wanted, in any order. Names
    /// that go meanwhile are left out.
    fn stat_all(&self, directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Surveyed>> {
        let stat_one = |directory: &PathBuf| {
            let mut found = Surveyed::default();
            for entry in self.list(directory)?.into_iter().filter(|entry| !entry.is_dir && wanted(&entry.name)) {
                match self.stat(&directory.join(&entry.name)) {
                    Ok(stat) => found.push(&entry.name, stat),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(found)
        };
        directories.iter().map(stat_one).collect()
    }

    /// Starts to watch the files in `directories`, and whether directories come or go in `around`. None when changes cannot
    /// be noticed reliably here: then everything must be looked at.
    fn watch(&self, directories: &[PathBuf], around: &[PathBuf]) -> Option<Box<dyn Watch>> {
        let _ = (directories, around);
        None
    }

    /// Returns how many bytes of the file system that `path` is on are free to this user.
    fn free(&self, path: &Path) -> io::Result<u64> {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Opens a lock file, making it if need be. Nothing is locked yet.
    fn lock_file(&self, path: &Path) -> io::Result<Box<dyn LockFile>>;
}

/// Directories that are watched.
pub trait Watch: fmt::Debug + Send {
    /// Returns the names that may have changed since it was asked last, each with the number of its directory. None when
    /// track was lost, of now and for ever: directories came, went or moved, or there were too many changes.
    fn changes(&mut self) -> Option<Vec<(usize, OsString)>>;
}

/// An open file.
pub trait FileHandle: Send {
    /// Returns what the system says about the file.
    fn stat(&self) -> io::Result<Stat>;

    /// Reads at an offset; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at the end, once; returns how much was written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;

    /// Has the system begin to write the content out, so that there is less to wait for later. Nothing is promised.
    fn begin_sync(&self) {}

    /// Makes everything durable that was written to this file system since the file was opened, and says whether that failed
    /// for anything. Where that cannot be told, it is [`io::ErrorKind::Unsupported`].
    fn sync_file_system(&mut self) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file that exists to be locked. The lock is freed when it is released, when the handle is dropped, and when the
/// process ends, however it ends.
pub trait LockFile: Send {
    /// Waits for a lock; says whether it was had within `patience`.
    fn acquire(&self, hold: Hold, patience: Duration) -> io::Result<bool>;

    /// Frees the lock.
    fn release(&self) -> io::Result<()>;

    /// Replaces what the file says about who holds it. For people: the lock itself is the only truth.
    fn write_note(&self, note: &[u8]) -> io::Result<()>;

    /// Returns what the file says about who holds it.
    fn read_note(&self) -> io::Result<Vec<u8>>;
}

/// How a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// With others who hold it shared.
    Shared,
    /// Alone.
    Exclusive,
}
