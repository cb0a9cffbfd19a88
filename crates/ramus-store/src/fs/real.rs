//! The real file system.

mod survey;
mod watch;

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{CWD, FileType, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::{Access, DirEntry, FileHandle, FileId, FileSystem, Hold, LockFile, Stat, Surveyed, Wanted, Watch};

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
            Ok(()) => {
                // A strict umask takes from the owner too.
                std::fs::set_permissions(path, Permissions::from_mode(0o700))?;
                path.parent().map_or(Ok(()), |parent| self.sync_dir(parent)).inspect_err(|_| {
                    // Whoever tries again must not take a directory that may vanish for one that stays.
                    let _ = std::fs::remove_dir(path);
                })
            }
        }
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        let file = OpenOptions::new().read(true).append(true).create_new(true).mode(0o600).open(path)?;
        file.set_permissions(Permissions::from_mode(0o600))?;
        Ok(Box::new(RealFile(file)))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>> {
        let file = OpenOptions::new()
            .read(true)
            .append(access == Access::Append)
            // Opening a pipe waits for its other end, for ever perhaps, unless told not to; to files it makes no
            // difference.
            .custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32)
            .open(path)
            .map_err(|error| match Errno::from_io_error(&error) {
                Some(Errno::LOOP) => io::Error::new(io::ErrorKind::PermissionDenied, "it is a symbolic link"),
                _ => error,
            })?;
        // A directory opens but cannot be read; a pipe is no log.
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        Ok(Box::new(RealFile(file)))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        Ok(stat(&std::fs::symlink_metadata(path)?))
    }

    fn make_private(&self, path: &Path) -> io::Result<()> {
        let mode = std::fs::symlink_metadata(path)?.mode() & 0o700;
        std::fs::set_permissions(path, Permissions::from_mode(mode))
    }

    fn touch(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.set_modified(SystemTime::now())
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

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_dir(path)
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

    fn stat_all(&self, directories: &[PathBuf], wanted: &Wanted) -> Vec<io::Result<Surveyed>> {
        survey::stat_all(directories, wanted)
    }

    fn watch(&self, directories: &[PathBuf], around: &[PathBuf]) -> Option<Box<dyn Watch>> {
        watch::watch(directories, around)
    }

    fn free(&self, path: &Path) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn lock_file(&self, path: &Path) -> io::Result<Box<dyn LockFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).mode(0o600).custom_flags(OFlags::NOFOLLOW.bits() as i32);
        let file = options.open(path).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => options.create(true).truncate(false).open(path),
            _ => Err(error),
        })?;
        Ok(Box::new(RealLock(file)))
    }
}

/// Whom this process runs as. Asked once: every append looks at a file.
static USER: LazyLock<u32> = LazyLock::new(|| rustix::process::geteuid().as_raw());

/// A point in time as the system tells it: seconds and nanoseconds.
type Tick = (i64, i64);

fn time((seconds, nanos): Tick) -> SystemTime {
    let nanos = Duration::from_nanos(nanos.unsigned_abs());
    let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    SystemTime::UNIX_EPOCH + seconds + nanos
}

fn version(modified: Tick, changed: Tick) -> u128 {
    let nanos = |(seconds, nanos): Tick| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos).cast_unsigned();
    u128::from(nanos(modified)) << 64 | u128::from(nanos(changed))
}

fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let tick = |seconds: i64, nanos: u64| (seconds, nanos.cast_signed());
    let modified = tick(stat.st_mtime, stat.st_mtime_nsec);
    let changed = tick(stat.st_ctime, stat.st_ctime_nsec);
    Stat {
        id: FileId { device: stat.st_dev, inode: stat.st_ino },
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        is_file: kind == FileType::RegularFile,
        is_dir: kind == FileType::Directory,
        is_ours: stat.st_uid == *USER,
        is_private: stat.st_mode & 0o077 == 0,
        changed: time(modified).max(time(changed)),
        version: version(modified, changed),
    }
}

fn stat(metadata: &Metadata) -> Stat {
    let modified = (metadata.mtime(), metadata.mtime_nsec());
    let changed = (metadata.ctime(), metadata.ctime_nsec());
    Stat {
        id: FileId { device: metadata.dev(), inode: metadata.ino() },
        size: metadata.len(),
        is_file: metadata.is_file(),
        is_dir: metadata.is_dir(),
        is_ours: metadata.uid() == *USER,
        is_private: metadata.mode() & 0o077 == 0,
        changed: time(modified).max(time(changed)),
        version: version(modified, changed),
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
    fn stat(&self) -> io::Result<Stat> {
        Ok(stat(&self.0.metadata()?))
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

    fn begin_sync(&self) {
        // What is not needed in memory is written out at once. A system that does not care does not.
        let _ = rustix::fs::fadvise(&self.0, 0, None, rustix::fs::Advice::DontNeed);
    }

    fn sync_file_system(&mut self) -> io::Result<()> {
        if !*TELLS_FAILURES {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(rustix::fs::syncfs(&self.0)?)
    }
}

/// Whether the system says that it failed to write something when it was asked to write everything. Before Linux 5.8 it did not.
static TELLS_FAILURES: LazyLock<bool> = LazyLock::new(|| {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers =
        release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse::<u32>().unwrap_or_default());
    let version = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    version >= (5, 8)
});

struct RealLock(File);

impl LockFile for RealLock {
    fn acquire(&self, hold: Hold, patience: Duration) -> io::Result<bool> {
        let deadline = Instant::now() + patience;
        let mut pause = Duration::from_micros(20);
        loop {
            let tried = match hold {
                Hold::Shared => self.0.try_lock_shared(),
                Hold::Exclusive => self.0.try_lock(),
            };
            match tried {
                Ok(()) => return Ok(true),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    wait(pause);
                    pause = (pause * 2).min(Duration::from_millis(2));
                }
                Err(TryLockError::WouldBlock) => return Ok(false),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    fn release(&self) -> io::Result<()> {
        self.0.unlock()
    }

    fn write_note(&self, note: &[u8]) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.write_all_at(note, 0)
    }

    fn read_note(&self) -> io::Result<Vec<u8>> {
        let mut note = vec![0; 4096];
        let read = self.0.read_at(&mut note, 0)?;
        note.truncate(read);
        Ok(note)
    }
}

/// The system has no lock with a deadline, so a contended one is asked for again and again.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for with a deadline")]
fn wait(pause: Duration) {
    std::thread::sleep(pause);
}

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
