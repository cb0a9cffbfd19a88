//! Private copies of databases. Opening a database disturbs whoever uses it: even a reader locks, recovers and makes files. So
//! the files are copied to where nobody else looks, and the copy is opened.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

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
}

impl Copy {
    /// Copies a database to a directory of its own in `scratch`, and returns the stamps of what was copied with it.
    pub(crate) fn of(ground: &Ground, name: &str, scratch: &Path) -> io::Result<(Self, Stamps)> {
        DirBuilder::new().recursive(true).mode(0o700).create(scratch)?;
        let directory = scratch.join(uuid::Uuid::new_v4().simple().to_string());
        DirBuilder::new().mode(0o700).create(&directory)?;
        let copy = Self { directory };
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
        io::copy(&mut opened.file, &mut file).map(drop)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // What stays is removed by a later import.
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

fn stamps(ground: &Ground, name: &str) -> io::Result<Stamps> {
    let stamp = |part: &str| {
        let name = format!("{name}{part}");
        let stamp = ground.stamp(&name)?;
        Ok((name, stamp))
    };
    PARTS.iter().map(|part| stamp(part)).collect()
}

/// Removes copies that interrupted imports left behind. Those of imports that run are younger.
pub(crate) fn sweep(scratch: &Path, older_than: std::time::Duration) {
    let Ok(entries) = std::fs::read_dir(scratch) else { return };
    for entry in entries.flatten() {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified.ok().and_then(|modified| modified.elapsed().ok()).unwrap_or_default();
        if age > older_than {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Says whether a file is a database, by its first bytes.
pub(crate) fn is_database(mut file: &File) -> io::Result<bool> {
    use std::io::Read as _;
    let mut front = Vec::new();
    file.by_ref().take(16).read_to_end(&mut front)?;
    Ok(front == b"SQLite format 3\0")
}
