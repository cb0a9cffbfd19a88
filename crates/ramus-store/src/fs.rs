//! The file system as the store sees it: few operations, each of which can fail, so that a fault-injecting one slides
//! underneath without the store noticing.

mod real;

use std::fmt;
use std::io;
use std::path::Path;
use std::time::Duration;

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
    pub name: std::ffi::OsString,
    /// Whether it is a directory (links are not followed).
    pub is_dir: bool,
    /// Whether it is a regular file (links are not followed).
    pub is_file: bool,
}

/// A file system.
pub trait FileSystem: fmt::Debug + Send + Sync {
    /// Makes a directory and its missing ancestors, private to the user, durably.
    fn create_dir(&self, path: &Path) -> io::Result<()>;

    /// Makes a new file, private to the user; fails when the name is taken.
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>>;

    /// Opens a file.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>>;

    /// Renames a file, replacing what has the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Renames a file; fails when the name is taken.
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Gives a file a second name; fails when the name is taken.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Says whether two names are names of one file (links are not followed).
    fn same_file(&self, one: &Path, other: &Path) -> io::Result<bool>;

    /// Removes a name.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Makes the names in a directory durable.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;

    /// Lists a directory, sorted by name.
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>>;

    /// Waits for the exclusive lock of a file, making the file if need be; none when it stays taken for `patience`.
    fn lock(&self, path: &Path, patience: Duration) -> io::Result<Option<Box<dyn Lock>>>;
}

/// An open file.
pub trait FileHandle: Send {
    /// Returns the length in bytes.
    fn size(&self) -> io::Result<u64>;

    /// Reads at an offset; 0 at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes at the end, once; returns how much was written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Cuts the file.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Makes the content durable.
    fn sync(&mut self) -> io::Result<()>;
}

/// A lock, freed when it is dropped or its process ends.
pub trait Lock: Send {}
