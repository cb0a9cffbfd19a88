//! Replacing files: the new content goes into a file of its own beside the old one, and takes its name when it is complete.
//! Readers see the old file or the new one, never a part. A link is replaced, never followed, and other names of the old file
//! keep the old content.

use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, fchmod, fstat, fsync, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

use super::{Place, PlaceError, Workspace};

/// What identifies the state of a file: device, inode, size and time of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity(u64, u64, i64, i64, i64);

impl Workspace {
    /// Returns what identifies an open file as it is now.
    pub fn identity(&self, file: &File) -> Option<Identity> {
        fstat(file).ok().map(|stat| identity(&stat))
    }

    /// Replaces or creates the file at a place. `expected` is the file that will be replaced, or none if there must not be one.
    pub fn replace(&self, place: &Place, content: &[u8], expected: Option<Identity>) -> Result<(), PlaceError> {
        let name = place.text();
        let failed = |error: Errno| PlaceError::System(name.clone(), error.to_string());
        let (Some(parent), Some(file)) = (place.path().parent(), place.path().file_name()) else {
            return Err(PlaceError::Kind(name, "a file"));
        };
        let directory = self.directory(parent, &name)?;
        let now = statat(&directory, file, AtFlags::SYMLINK_NOFOLLOW);
        let mode = match (&now, expected) {
            (Ok(stat), Some(expected)) if identity(stat) == expected => Some(Mode::from_raw_mode(stat.st_mode)),
            (Err(Errno::NOENT), None) => None,
            _ => return Err(PlaceError::Moved(name)),
        };
        let hasher = RandomState::new();
        let temporary = format!(".ramus-{:016x}{:016x}", hasher.hash_one(1), hasher.hash_one(2));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let private = Mode::RUSR | Mode::WUSR;
        let shared = private | Mode::RGRP | Mode::ROTH;
        let created = openat(&directory, &temporary, flags, mode.map_or(shared, |_| private)).map_err(failed)?;
        let written =
            fill(created, content, mode).and_then(|()| match statat(&directory, file, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) if Some(identity(&stat)) != expected => Err(PlaceError::Moved(String::new())),
                Err(_) if expected.is_some() => Err(PlaceError::Moved(String::new())),
                _ => renameat(&directory, &temporary, &directory, file).map_err(|error| system(error.into())),
            });
        if let Err(error) = written {
            // The original is untouched; what is left is only ours.
            let _ = unlinkat(&directory, &temporary, AtFlags::empty());
            return Err(match error {
                PlaceError::Moved(_) => PlaceError::Moved(name),
                PlaceError::System(_, reason) => PlaceError::System(name, reason),
                other => other,
            });
        }
        fsync(&directory).map_err(failed)
    }

    /// Opens the directory of a file, and makes what is missing of it, one level at a time.
    fn directory(&self, parent: &Path, name: &str) -> Result<OwnedFd, PlaceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let mut reached = std::path::PathBuf::new();
        let mut directory = self.open_place(Path::new("."), name, flags)?;
        for part in parent.components() {
            reached.push(part);
            directory = match self.open_place(&reached, name, flags) {
                Err(PlaceError::Missing(_)) => {
                    let all = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
                    match mkdirat(&directory, part.as_os_str(), all) {
                        Ok(()) | Err(Errno::EXIST) => self.open_place(&reached, name, flags)?,
                        Err(error) => return Err(PlaceError::System(name.to_owned(), error.to_string())),
                    }
                }
                other => other?,
            };
        }
        Ok(directory)
    }
}

fn fill(created: OwnedFd, content: &[u8], mode: Option<Mode>) -> Result<(), PlaceError> {
    let mut file = File::from(created);
    file.write_all(content).map_err(system)?;
    if let Some(mode) = mode {
        fchmod(&file, mode).map_err(|error| system(error.into()))?;
    }
    file.sync_all().map_err(system)
}

fn system(error: std::io::Error) -> PlaceError {
    PlaceError::System(String::new(), error.to_string())
}

fn identity(stat: &rustix::fs::Stat) -> Identity {
    Identity(stat.st_dev, stat.st_ino, stat.st_size, stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or(0))
}
