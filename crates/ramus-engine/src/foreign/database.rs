//! Private copies of databases. Opening a database disturbs whoever uses it: even a reader locks, recovers and makes files. So
//! the files are copied to where nobody else looks, and the copy is opened.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use super::ground::{Ground, Stamp};

/// How often a database that is being written is copied again.
const ATTEMPTS: usize = 5;

/// What belongs to a database: what was written and not put in its place yet. The shared memory beside it is made anew.
const PARTS: [&str; 3] = ["", "-wal", "-journal"];

/// The stamps of what belongs to a database, by name.
type Stamps = Vec<(String, Option<Stamp>)>;

/// A copy, which is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Copy {
    directory: PathBuf,
    /// Whoever makes a copy holds this until it is removed, or until it ends.
    _lock: File,
}

/// What is locked in the directory of a copy.
const LOCK: &str = "lock";
/// How much room a copy leaves on the disk.
const SPARE: u64 = 64 << 20;

impl Copy {
    /// Copies a database to a directory of its own in `scratch`, and returns the stamps of what was copied with it.
    pub(crate) fn of(ground: &Ground, name: &str, scratch: &Path) -> io::Result<(Self, Stamps)> {
        DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
        let directory = scratch.join(uuid::Uuid::new_v4().simple().to_string());
        DirBuilder::new().mode(0o700).create(&directory)?;
        let lock = OpenOptions::new().write(true).create_new(true).mode(0o600).open(directory.join(LOCK))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        let copy = Self { directory, _lock: lock };
        for _ in 0..ATTEMPTS {
            let before = stamps(ground, name)?;
            for part in PARTS {
                copy.take(ground, name, part)?;
            }
            // Parts of two states are no database.
            if stamps(ground, name)? == before {
                return Ok((copy, before));
            }
        }
        let message = "the database is being written to all the time; try again when its agent rests";
        Err(io::Error::new(io::ErrorKind::ResourceBusy, message))
    }

    /// Returns where the copy is.
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.join("copy.db")
    }

    fn take(&self, ground: &Ground, name: &str, part: &str) -> io::Result<()> {
        let target = self.directory.join(format!("copy.db{part}"));
        match std::fs::remove_file(&target) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let Some(mut opened) = ground.file(&format!("{name}{part}"))? else { return Ok(()) };
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(target)?;
        check_room(&opened.file, &file)?;
        copy_data(&mut opened.file, &mut file)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What stays is removed by a later import.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Refuses to fill the disk.
fn check_room(from: &File, to: &File) -> io::Result<()> {
    let wanted = from.metadata()?.blocks().saturating_mul(512);
    let disk = rustix::fs::fstatvfs(to)?;
    if wanted.saturating_add(SPARE) > disk.f_bavail.saturating_mul(disk.f_frsize) {
        let message = "there is no room on the disk for a copy of the database";
        return Err(io::Error::new(io::ErrorKind::StorageFull, message));
    }
    Ok(())
}

/// Copies what is in a file, and leaves out what was never written to it.
fn copy_data(from: &mut File, to: &mut File) -> io::Result<()> {
    let size = from.metadata()?.len();
    let mut at = 0;
    while at < size {
        let start = match rustix::fs::seek(&*from, rustix::fs::SeekFrom::Data(at)) {
            Ok(start) => start.max(at),
            Err(Errno::NXIO) => break,
            // Not every file system knows.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => at,
            Err(error) => return Err(error.into()),
        };
        let end = rustix::fs::seek(&*from, rustix::fs::SeekFrom::Hole(start)).unwrap_or(size);
        let end = if end > start { end.min(size) } else { size };
        from.seek(SeekFrom::Start(start))?;
        to.seek(SeekFrom::Start(start))?;
        io::copy(&mut from.take(end.saturating_sub(start)), to)?;
        at = end;
    }
    to.set_len(size)
}

fn stamps(ground: &Ground, name: &str) -> io::Result<Stamps> {
    let stamp = |part: &str| {
        let name = format!("{name}{part}");
        let stamp = ground.stamp(&name)?;
        Ok((name, stamp))
    };
    PARTS.iter().map(|part| stamp(part)).collect()
}

/// Removes copies that interrupted imports left behind: nobody holds their locks. What has no lock is removed when it is old.
pub(crate) fn sweep(scratch: &Path, older_than: std::time::Duration) {
    let Ok(entries) = std::fs::read_dir(scratch) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
        let lock = OpenOptions::new().write(true).open(entry.path().join(LOCK)).ok();
        let is_abandoned = match &lock {
            Some(lock) => rustix::fs::flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok(),
            None => age > older_than,
        };
        if is_abandoned {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Says whether a file is a database, by its first bytes.
pub(crate) fn is_database(mut file: &File) -> io::Result<bool> {
    let mut front = Vec::new();
    file.by_ref().take(16).read_to_end(&mut front)?;
    Ok(front == b"SQLite format 3\0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_stay_holes() {
        let directory = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| {
            let path = directory.path().join(name);
            OpenOptions::new().read(true).write(true).create_new(true).open(path).unwrap()
        });
        let (mut from, mut to) = (from, to);
        from.set_len(64 << 20).unwrap();
        for at in [0, 20 << 20] {
            use std::os::unix::fs::FileExt as _;
            from.write_all_at(b"data", at).unwrap();
        }
        copy_data(&mut from, &mut to).unwrap();
        let read = |file: &mut File| {
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(0)).unwrap();
            file.read_to_end(&mut bytes).unwrap();
            bytes
        };
        assert!(read(&mut from) == read(&mut to));
        assert!(to.metadata().unwrap().blocks() <= from.metadata().unwrap().blocks() + 16);
    }

    #[test]
    fn copies_of_imports_that_ended_are_removed_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = directory.path().join("scratch");
        std::fs::write(directory.path().join("a.db"), "SQLite format 3\0").unwrap();
        let ground = Ground::open(directory.path()).unwrap();
        let (copy, _) = Copy::of(&ground, "a.db", &scratch).unwrap();
        std::fs::create_dir(scratch.join("left")).unwrap();
        std::fs::write(scratch.join("left").join(LOCK), "").unwrap();
        std::fs::create_dir(scratch.join("young")).unwrap();
        sweep(&scratch, std::time::Duration::from_secs(3600));
        assert!(copy.path().exists() && scratch.join("young").exists() && !scratch.join("left").exists());
    }
}
