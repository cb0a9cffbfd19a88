//! Deleting a log, and with it the old files that rewriting left beside it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::JsonlStore;
use crate::error::StoreError;
use crate::store::{Location, Removed};

impl JsonlStore {
    /// Removes a file and its backups; with `dry_run` only says which and how large they are.
    pub(super) fn delete_files(&self, path: &Path, dry_run: bool) -> Result<Removed, StoreError> {
        let mut removed = Removed { files: vec![path.to_owned()], bytes: self.size_of(path)? };
        for backup in self.backups_of(path)? {
            removed.bytes += self.size_of(&backup)?;
            removed.files.push(backup);
        }
        if !dry_run {
            // The log goes last: as long as it is there, a deletion that failed half-way can be repeated.
            for file in removed.files.iter().rev() {
                self.fs.remove(file).map_err(|error| StoreError::io("remove", file, error))?;
            }
            self.sync_dir_of(path)?;
        }
        Ok(removed)
    }

    /// Removes the old files beside a log, and damage of it in the quarantine.
    pub(super) fn delete_copies(&self, at: &Location, dry_run: bool) -> Result<Removed, StoreError> {
        let mut removed = self.delete_damage(at, dry_run)?;
        let backups = at.path.as_ref().map(|path| self.backups_of(path)).transpose()?.unwrap_or_default();
        for file in backups {
            removed.bytes += self.size_of(&file)?;
            if !dry_run {
                self.fs.remove(&file).map_err(|error| StoreError::io("remove", &file, error))?;
                self.sync_dir_of(&file)?;
            }
            removed.files.push(file);
        }
        Ok(removed)
    }

    /// Removes what has been in the quarantine since before a moment.
    pub(super) fn delete_old_damage(&self, before: SystemTime, dry_run: bool) -> Result<Removed, StoreError> {
        let quarantine = self.root.join("quarantine");
        let mut removed = Removed::default();
        for entry in self.entries(&quarantine)?.into_iter().filter(|entry| entry.is_file) {
            let path = quarantine.join(entry.name);
            let stat = self.fs.stat(&path).map_err(|error| StoreError::io("inspect", &path, error))?;
            if stat.changed >= before {
                continue;
            }
            if !dry_run {
                self.fs.remove(&path).map_err(|error| StoreError::io("remove", &path, error))?;
                self.sync_dir_of(&path)?;
            }
            removed.bytes += stat.size;
            removed.files.push(path);
        }
        Ok(removed)
    }

    pub(super) fn size_of(&self, path: &Path) -> Result<u64, StoreError> {
        Ok(self.fs.stat(path).map_err(|error| StoreError::io("inspect", path, error))?.size)
    }

    fn backups_of(&self, path: &Path) -> Result<Vec<PathBuf>, StoreError> {
        let Some(log) = path.file_name() else { return Ok(Vec::new()) };
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let entries = self.fs.list(directory).map_err(|error| StoreError::io("list", directory, error))?;
        let backups = entries.into_iter().filter(|entry| entry.is_file && is_backup(&entry.name, log));
        Ok(backups.map(|entry| path.with_file_name(entry.name)).collect())
    }
}

/// Says whether a name is that of a backup of `log`: `.v1.bak` and `.v1.bak.2` after an upgrade, `.corrupt-…` of what
/// was no log.
fn is_backup(name: &OsStr, log: &OsStr) -> bool {
    let suffix = name.as_encoded_bytes().strip_prefix(log.as_encoded_bytes());
    let Some(suffix) = suffix.and_then(|suffix| str::from_utf8(suffix).ok()) else { return false };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let upgraded = suffix.strip_prefix(".v").and_then(|rest| rest.split_once(".bak")).is_some_and(|(version, rest)| {
        is_number(version) && (rest.is_empty() || rest.strip_prefix('.').is_some_and(is_number))
    });
    upgraded || suffix.strip_prefix(".corrupt-").is_some_and(|rest| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backups_are_told_from_other_files() {
        let is_backup = |name: &str| is_backup(name.as_ref(), "a.jsonl".as_ref());
        for name in [".v1.bak", ".v2.bak", ".v10.bak.100", ".corrupt-0123456789abcdef", ".corrupt-00.2"] {
            assert!(is_backup(&format!("a.jsonl{name}")), "{name}");
        }
        for name in
            ["", ".v.bak", ".v1", ".v1.bak.", ".v1.bak.x", ".v1.bakery", ".vx.bak", ".bak", ".new-00", ".corrupt-"]
        {
            assert!(!is_backup(&format!("a.jsonl{name}")), "{name}");
        }
        for name in ["b.jsonl.v1.bak", "a.json.v1.bak", ".v1.bak", "xa.jsonl.v1.bak", "a.jsonl2.v1.bak"] {
            assert!(!is_backup(name), "{name}");
        }
    }
}
