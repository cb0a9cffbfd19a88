//! Making and replacing whole files, so that a failure leaves no trace: a file is complete and durable before it takes
//! its name.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::fs::{Access, FileHandle};
use crate::jsonl::{CHUNK, JsonlStore, incarnation};
use crate::planted::{Bug, is_planted};
use crate::store::Position;

/// How many backups with one suffix a log can have.
const BACKUPS: usize = 100;

pub(super) fn write_all(file: &mut dyn FileHandle, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let written = file.append(bytes)?;
        if written == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

pub(super) fn read_exactly(file: &dyn FileHandle, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => filled += read,
        }
    }
    Ok(())
}

/// The path of a file in the same directory whose name is longer by `suffix`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    path.with_file_name(name)
}

/// What marks a file that is not complete yet.
pub(super) const UNFINISHED: &str = ".new-";

/// A name for a file that is not complete yet: nobody else's, and not that of a log.
pub(super) fn unfinished() -> String {
    format!("{UNFINISHED}{}", uuid::Uuid::new_v4().simple())
}

/// Says whether a name is one of [`unfinished`], alone or behind another.
pub(super) fn is_unfinished(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.rsplit_once(".new-"));
    name.is_some_and(|(_, id)| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl JsonlStore {
    /// Makes a file that nothing else may have the name of.
    pub(super) fn make(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let new = path.with_file_name(unfinished());
        self.publish(&new, path, bytes, || {
            self.fs.rename_new(&new, path).map_err(|error| StoreError::io("create", path, error))
        })
    }

    /// Makes a file, in place of one that has its name.
    pub(super) fn put(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let new = path.with_file_name(unfinished());
        self.publish(&new, path, bytes, || {
            self.fs.rename(&new, path).map_err(|error| StoreError::io("replace", path, error))
        })
    }

    /// Replaces a file by one with other content, if it is still the one that was read; the old one keeps a name of its
    /// own if it is to be backed up.
    pub(super) fn replace(
        &self,
        path: &Path,
        expected: Position,
        bytes: &[u8],
        backup: Option<&str>,
    ) -> Result<(), StoreError> {
        let check = || {
            let stat = self.fs.stat(path).map_err(|error| StoreError::io("inspect", path, error))?;
            if incarnation(stat.id) != expected.incarnation {
                return Err(StoreError::Replaced { path: path.to_owned() });
            }
            if stat.size != expected.end {
                return Err(StoreError::Moved { expected: expected.end, actual: stat.size });
            }
            Ok(())
        };
        check()?;
        let new = beside(path, &unfinished());
        self.publish(&new, path, bytes, || {
            if let Some(backup) = backup {
                self.back_up(path, backup)?;
                // A crash may keep the next rename and lose this name; the old bytes would be gone with it.
                self.sync_dir_of(path)?;
            }
            // Programs that do not know the gate may have written while the new file was.
            check()?;
            self.fs.rename(&new, path).map_err(|error| StoreError::io("replace", path, error))
        })
    }

    /// Writes a new file under a name of its own and lets `publish` give it the right one.
    fn publish(
        &self,
        new: &Path,
        path: &Path,
        bytes: &[u8],
        publish: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut file = self.fs.create_file(new).map_err(|error| StoreError::io("create", path, error))?;
        let mut written = write_all(file.as_mut(), bytes).map_err(|error| StoreError::io("write", path, error));
        if !is_planted(Bug::RenameBeforeFsync) {
            let sync = |()| file.sync().map_err(|source| StoreError::Unconfirmed { path: path.to_owned(), source });
            written = written.and_then(sync);
        }
        let published = written.and_then(|()| publish());
        if published.is_err() {
            let _ = self.fs.remove(new);
        }
        published?;
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
            // An earlier attempt may have come this far, or the same bytes were kept before.
            if self.is_copy(path, &backup).map_err(|error| StoreError::io("inspect", &backup, error))? {
                return Ok(());
            }
        }
        Err(StoreError::Exists { path: first })
    }

    /// Says whether two names stand for the same file, or for two with the same content.
    fn is_copy(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let (first, second) = (self.fs.stat(one)?, self.fs.stat(other)?);
        if first.id == second.id || first.size != second.size || !second.is_file {
            return Ok(first.id == second.id);
        }
        let (one, other) = (self.fs.open(one, Access::Read)?, self.fs.open(other, Access::Read)?);
        let mut buffers = [vec![0; CHUNK], vec![0; CHUNK]];
        let mut position = 0;
        while position < first.size {
            let wanted = usize::try_from(first.size - position).unwrap_or(CHUNK).min(CHUNK);
            let [left, right] = &mut buffers;
            let (left, right) =
                (left.get_mut(..wanted).unwrap_or_default(), right.get_mut(..wanted).unwrap_or_default());
            read_exactly(one.as_ref(), left, position)?;
            read_exactly(other.as_ref(), right, position)?;
            if left != right {
                return Ok(false);
            }
            position += wanted as u64;
        }
        Ok(true)
    }
}
