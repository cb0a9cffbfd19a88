//! The real file system.

use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{Access, DirEntry, FileHandle, FileSystem, Lock};

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFs;

impl FileSystem for RealFs {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            self.create_dir(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            Err(error) => Err(error),
            Ok(()) => path.parent().map_or(Ok(()), |parent| self.sync_dir(parent)),
        }
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)?;
        Ok(Box::new(RealFile(file)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>> {
        // Opening a pipe waits for its other end, for ever perhaps, unless told not to; to files it makes no difference.
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).append(access == Access::Append).custom_flags(flags).open(path)?;
        // A directory opens but cannot be read; a pipe is no log.
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(RealFile(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            // Not every file system can.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => rename_by_link(from, to),
            result => Ok(result?),
        }
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::hard_link(from, to)
    }

    fn same_file(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let (one, other) = (std::fs::symlink_metadata(one)?, std::fs::symlink_metadata(other)?);
        Ok((one.dev(), one.ino()) == (other.dev(), other.ino()))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        File::open(path)?.sync_all()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            entries.push(DirEntry { name: entry.file_name(), is_dir: kind.is_dir(), is_file: kind.is_file() });
        }
        entries.sort_unstable();
        Ok(entries)
    }

    fn lock(&self, path: &Path, patience: Duration) -> io::Result<Option<Box<dyn Lock>>> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_micros(50);
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Box::new(RealLock(file)))),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    wait(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
}

/// Renames in two steps, of which the first fails when the name is taken.
fn rename_by_link(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::hard_link(from, to)?;
    std::fs::remove_file(from).inspect_err(|_| {
        // The old name stays, so the new one must not.
        let _ = std::fs::remove_file(to);
    })
}

struct RealFile(File);

impl FileHandle for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        loop {
            match self.0.read_at(buffer, offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}

/// The system has no lock with a deadline, so a contended one is asked for again and again.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for with a deadline")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

/// Held for its lifetime: the system frees the lock with the descriptor.
struct RealLock(#[expect(dead_code, reason = "dropping it frees the lock")] File);

impl Lock for RealLock {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_is_never_replaced() {
        let renames: [fn(&Path, &Path) -> io::Result<()>; 2] = [|from, to| RealFs.rename_new(from, to), rename_by_link];
        for rename in renames {
            let directory = tempfile::tempdir().unwrap();
            let [from, to] = ["from", "to"].map(|name| directory.path().join(name));
            std::fs::write(&from, "new").unwrap();
            std::fs::write(&to, "old").unwrap();
            assert_eq!(rename(&from, &to).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            assert_eq!([&from, &to].map(|path| std::fs::read(path).unwrap()), [b"new", b"old"]);
            std::fs::remove_file(&to).unwrap();
            rename(&from, &to).unwrap();
            assert_eq!(std::fs::read(&to).unwrap(), b"new");
            assert_eq!(rename(&from, &to).unwrap_err().kind(), io::ErrorKind::NotFound);
        }
    }
}
