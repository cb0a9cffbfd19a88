//! Writing bytes so that a failure leaves no trace.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::fs::{Access, FileHandle};
use crate::jsonl::JsonlStore;

/// How many backups with one suffix a log can have.
const BACKUPS: usize = 100;

/// Writes all of `bytes` at `end`, durably. On error the file is cut back to `end`.
pub(super) fn write_whole(file: &mut dyn FileHandle, bytes: &[u8], end: u64, path: &Path) -> Result<(), StoreError> {
    if let Err(source) = write_all(file, bytes) {
        // When even this fails, the next writer finds a torn tail and closes it before writing.
        let _ = file.truncate(end);
        return Err(StoreError::io("write", path, source));
    }
    file.sync().map_err(|source| StoreError::Unconfirmed { path: path.to_owned(), source })
}

fn write_all(file: &mut dyn FileHandle, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.append(bytes)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

/// The path of a file in the same directory whose name is longer by `suffix`.
fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// A name for a file that is not complete yet: nobody else's, and not that of a log.
fn unfinished() -> String {
    format!(".new-{}", uuid::Uuid::new_v4().simple())
}

impl JsonlStore {
    /// Makes a file: it is complete and durable before it takes the name, which nothing else may have.
    pub(super) fn make(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let new = path.with_file_name(unfinished());
        let mut file = self.fs.create_file(&new).map_err(|error| StoreError::io("create", path, error))?;
        let made = write_whole(file.as_mut(), bytes, 0, path)
            .and_then(|()| self.fs.rename_new(&new, path).map_err(|error| StoreError::io("create", path, error)));
        if made.is_err() {
            let _ = self.fs.remove(&new);
        }
        made?;
        self.sync_dir_of(path)
    }

    /// Replaces a file by one with other content: the new one is complete and durable before it takes the name, and the
    /// old one keeps a name of its own if it is to be backed up.
    pub(super) fn replace(
        &self,
        path: &Path,
        expected: u64,
        bytes: &[u8],
        backup: Option<&str>,
    ) -> Result<(), StoreError> {
        let old = self.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let actual = old.size().map_err(|error| StoreError::io("inspect", path, error))?;
        if actual != expected {
            return Err(StoreError::Moved { expected, actual });
        }
        let new = beside(path, &unfinished());
        let mut file = self.fs.create_file(&new).map_err(|error| StoreError::io("create", &new, error))?;
        let replaced = write_whole(file.as_mut(), bytes, 0, &new)
            .and_then(|()| backup.map_or(Ok(()), |backup| self.back_up(path, backup)))
            .and_then(|()| self.fs.rename(&new, path).map_err(|error| StoreError::io("replace", path, error)));
        if replaced.is_err() {
            let _ = self.fs.remove(&new);
        }
        replaced?;
        self.sync_dir_of(path)
    }

    /// Gives a file a second name: its own and `suffix`, and a number when that is the name of another file.
    fn back_up(&self, path: &Path, suffix: &str) -> Result<(), StoreError> {
        let first = beside(path, suffix);
        let numbered = (2..=BACKUPS).map(|number| beside(path, &format!("{suffix}.{number}")));
        for backup in std::iter::once(first.clone()).chain(numbered) {
            match self.fs.link(path, &backup) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                result => return result.map_err(|error| StoreError::io("back up", path, error)),
            }
            // An earlier attempt may have come this far; any other file that has the name is not ours to trust.
            if self.fs.same_file(path, &backup).map_err(|error| StoreError::io("inspect", &backup, error))? {
                return Ok(());
            }
        }
        Err(StoreError::Exists { path: first })
    }
}
