//! Writing bytes so that a failure leaves no trace.

use std::path::Path;

use crate::error::StoreError;
use crate::fs::{Access, FileHandle};
use crate::jsonl::JsonlStore;

/// Writes all of `bytes` at `end`, durably. On error the file is cut back to `end`.
pub(super) fn write_whole(file: &mut dyn FileHandle, bytes: &[u8], end: u64, path: &Path) -> Result<(), StoreError> {
    if let Err(source) = write_all(file, bytes) {
        // When even this fails, the next writer finds a torn tail and closes it before writing.
        let _ = file.truncate(end);
        return Err(StoreError::io("write", path, source));
    }
    file.sync().map_err(|source| StoreError::Unconfirmed { path: path.to_owned(), source })
}

fn write_all(file: &mut dyn FileHandle, mut bytes: &[u8]) -> std::io::Result<()> {
    while !bytes.is_empty() {
        let written = file.append(bytes)?;
        if written == 0 {
            return Err(std::io::ErrorKind::WriteZero.into());
        }
        bytes = bytes.get(written..).unwrap_or_default();
    }
    Ok(())
}

impl JsonlStore {
    /// Replaces a file by one with other content: the new one is complete and durable before it takes the name, and the
    /// old one keeps a name of its own.
    pub(super) fn replace(&self, path: &Path, expected: u64, bytes: &[u8], backup: &str) -> Result<(), StoreError> {
        let old = self.fs.open(path, Access::Read).map_err(|error| StoreError::io("open", path, error))?;
        let actual = old.size().map_err(|error| StoreError::io("inspect", path, error))?;
        if actual != expected {
            return Err(StoreError::Moved { expected, actual });
        }
        let beside = |suffix: &str| {
            let mut name = path.file_name().unwrap_or_default().to_owned();
            name.push(suffix);
            path.with_file_name(name)
        };
        let new = beside(&format!(".new-{}", uuid::Uuid::new_v4().simple()));
        let mut file = self.fs.create_file(&new).map_err(|error| StoreError::io("create", &new, error))?;
        let backup = beside(backup);
        let replaced = write_whole(file.as_mut(), bytes, 0, &new)
            .and_then(|()| match self.fs.link(path, &backup) {
                // A backup from an earlier attempt holds the same old file.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
                result => result.map_err(|error| StoreError::io("back up", path, error)),
            })
            .and_then(|()| self.fs.rename(&new, path).map_err(|error| StoreError::io("replace", path, error)));
        if replaced.is_err() {
            let _ = self.fs.remove(&new);
        }
        replaced?;
        self.sync_dir_of(path)
    }
}
