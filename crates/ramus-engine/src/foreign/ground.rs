//! A directory that belongs to another agent, looked into without leaving a trace: what is in it is opened for reading only,
//! links are never followed, nothing but regular files is opened, and no time of access changes where the system allows that.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

/// The longest list of names that one directory may have.
const MOST_NAMES: usize = 500_000;

/// A directory beneath which files are opened.
#[derive(Debug)]
pub(crate) struct Ground {
    directory: OwnedFd,
    path: PathBuf,
}

/// What tells whether a file is still the one that was read: as long as it is the same, so is the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Stamp {
    /// The length; of a directory, nothing.
    pub(crate) size: u64,
    seconds: i64,
    nanos: i64,
    inode: u64,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    pub(crate) name: String,
    pub(crate) is_directory: bool,
    pub(crate) is_file: bool,
    pub(crate) is_link: bool,
}

/// A file that is open.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) stamp: Stamp,
}

impl Ground {
    /// Opens a directory. How it is reached is the user's business: links on the way to it are followed.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let path = path.canonicalize()?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok(Self { directory, path })
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file; none when there is no such file.
    pub(crate) fn file(&self, name: &str) -> io::Result<Option<Opened>> {
        let Some(seen) = self.stat(name)? else { return Ok(None) };
        if FileType::from_raw_mode(seen.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        // It may have become something else since: a pipe must not be waited for.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let Some(opened) = self.reach(name, flags)? else { return Ok(None) };
        let file = File::from(opened);
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Some(Opened { file, stamp: Stamp::of(&stat) }))
    }

    /// Returns the stamp of a file or directory; none when nothing of that name is there.
    pub(crate) fn stamp(&self, name: &str) -> io::Result<Option<Stamp>> {
        Ok(self.stat(name)?.as_ref().map(Stamp::of))
    }

    /// Lists a directory, sorted by name, with its stamp from before; none when there is no such directory. Names that are no
    /// text are left out: no agent makes such names.
    pub(crate) fn list(&self, name: &str) -> io::Result<Option<(Vec<Listed>, Stamp)>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Some(directory) = self.reach(name, flags)? else { return Ok(None) };
        let stamp = Stamp::of(&rustix::fs::fstat(&directory)?);
        let mut found = Vec::new();
        for entry in Dir::new(directory.try_clone()?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let Ok(text) = std::str::from_utf8(name) else { continue };
            if matches!(name, b"." | b"..") {
                continue;
            }
            if found.len() >= MOST_NAMES {
                let message = format!("a directory has more than {MOST_NAMES} names");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            // What was removed meanwhile is not there.
            let Some(kind) = kind_of(directory.as_fd(), text, entry.file_type())? else { continue };
            found.push(Listed {
                name: text.to_owned(),
                is_directory: kind == FileType::Directory,
                is_file: kind == FileType::RegularFile,
                is_link: kind == FileType::Symlink,
            });
        }
        found.sort_unstable();
        Ok(Some((found, stamp)))
    }

    /// Says whether a link leads to a directory that is not in this one. Nothing in it is looked at.
    pub(crate) fn leads_out(&self, name: &str, within: &str) -> bool {
        let target = self.path.join(name).canonicalize();
        target.is_ok_and(|target| !target.starts_with(self.path.join(within)) && target.is_dir())
    }

    fn stat(&self, name: &str) -> io::Result<Option<Stat>> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match self.reach(name, flags)? {
            Some(found) => Ok(Some(rustix::fs::statat(found, "", AtFlags::EMPTY_PATH)?)),
            None => Ok(None),
        }
    }

    /// Opens what has a name, without following links and without leaving the directory.
    fn reach(&self, name: &str, flags: OFlags) -> io::Result<Option<OwnedFd>> {
        let is_plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || name.as_bytes().contains(&0) {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the name leads out of the store"));
        }
        let name = if name.is_empty() { Path::new(".") } else { Path::new(name) };
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let open = |flags| rustix::fs::openat2(&self.directory, name, flags, Mode::empty(), resolve);
        let quiet = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NOATIME };
        let opened = match open(flags | quiet) {
            // Only the owner of a file may keep its time of access.
            Err(Errno::PERM) => open(flags),
            opened => opened,
        };
        match opened {
            Ok(opened) => Ok(Some(opened)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(Errno::LOOP | Errno::XDEV) => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is a symbolic link, which is not followed"))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What a name in a directory is. Not every file system says it with the name.
fn kind_of(directory: BorrowedFd<'_>, name: &str, told: FileType) -> io::Result<Option<FileType>> {
    if told != FileType::Unknown {
        return Ok(Some(told));
    }
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        Self {
            size: if is_file { u64::try_from(stat.st_size).unwrap_or_default() } else { 0 },
            seconds: stat.st_mtime,
            nanos: i64::try_from(stat.st_mtime_nsec).unwrap_or_default(),
            inode: stat.st_ino,
        }
    }

    /// Says whether it changed so recently that another change might not show.
    pub(crate) fn is_fresh(&self, now: i64) -> bool {
        const TICK: i64 = 2_000;
        now.saturating_sub(self.milliseconds()) < TICK
    }

    /// Returns when it changed, in milliseconds since 1970.
    pub(crate) fn milliseconds(&self) -> i64 {
        self.seconds.saturating_mul(1000).saturating_add(self.nanos / 1_000_000)
    }
}

/// The name of a path relative to a directory above it, with `/` between its parts; none when it is no text.
pub(crate) fn relative(path: &Path, above: &Path) -> Option<String> {
    let rest = path.strip_prefix(above).ok()?;
    std::str::from_utf8(rest.as_os_str().as_bytes()).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_listing_does_not_say_is_looked_up_without_following_links() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("inner")).unwrap();
        std::fs::write(directory.path().join("file"), "").unwrap();
        std::os::unix::fs::symlink("inner", directory.path().join("link")).unwrap();
        let ground = Ground::open(directory.path()).unwrap();
        let kind = |name: &str| kind_of(ground.directory.as_fd(), name, FileType::Unknown).unwrap();
        assert_eq!(kind("inner"), Some(FileType::Directory));
        assert_eq!(kind("file"), Some(FileType::RegularFile));
        assert_eq!(kind("link"), Some(FileType::Symlink));
        assert_eq!(kind("none"), None);
        let told = kind_of(ground.directory.as_fd(), "none", FileType::Directory).unwrap();
        assert_eq!(told, Some(FileType::Directory));
    }
}
