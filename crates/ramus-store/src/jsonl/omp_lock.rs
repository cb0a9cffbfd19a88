//! The locks omp takes around every write to a session file of its own: a system lock on `.NAME.lock.os`, and inside it
//! the file `.NAME.lock`, which says who holds it. A program that writes to such a file beside a running omp takes both.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};

use crate::fs::{Access, FileSystem, Hold, LockFile};

/// How long a lock file without a readable owner is left alone: its maker may be about to write it.
const ORPHAN_AGE: Duration = Duration::from_millis(500);

pub(super) struct OmpLock {
    fs: Arc<dyn FileSystem>,
    system: Box<dyn LockFile>,
    record: PathBuf,
}

impl OmpLock {
    /// Says whether omp may be writing to this file: it lies where omp keeps sessions, or omp's lock lies beside it.
    pub(super) fn guards(fs: &dyn FileSystem, file: &Path) -> bool {
        let mut parents = file.ancestors().skip(2).filter_map(Path::file_name);
        let is_omp_root = parents.next() == Some("sessions".as_ref()) && parents.next() == Some("agent".as_ref());
        is_omp_root || fs.stat(&system_lock(file)).is_ok()
    }

    pub(super) fn open(fs: &Arc<dyn FileSystem>, file: &Path) -> io::Result<Self> {
        let system = fs.lock_file(&system_lock(file))?;
        Ok(Self { fs: Arc::clone(fs), system, record: sibling(file, ".lock") })
    }

    pub(super) fn acquire(&self, patience: Duration) -> io::Result<bool> {
        if !self.system.acquire(Hold::Exclusive, patience)? {
            return Ok(false);
        }
        let claimed = self.claim();
        if !matches!(claimed, Ok(true)) {
            let _ = self.system.release();
        }
        claimed
    }

    pub(super) fn release(&self) {
        // Whoever comes next sees from the record that its owner is gone.
        let _ = self.fs.remove(&self.record);
        let _ = self.system.release();
    }

    /// Under the system lock only a writer of an older omp can be in the way.
    fn claim(&self) -> io::Result<bool> {
        for _ in 0..2 {
            match self.fs.create_file(&self.record) {
                Ok(mut file) => {
                    let millis =
                        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
                    let record = format!("{}:{millis}\n", std::process::id());
                    return match file.append(record.as_bytes()) {
                        Ok(_) => Ok(true),
                        Err(error) => {
                            let _ = self.fs.remove(&self.record);
                            Err(error)
                        }
                    };
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if !self.is_abandoned()? {
                return Ok(false);
            }
            match self.fs.remove(&self.record) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(false)
    }

    /// Says whether the process that made the record is dead, or the record has been unreadable for long.
    fn is_abandoned(&self) -> io::Result<bool> {
        let gone = |error: io::Error| if error.kind() == io::ErrorKind::NotFound { Ok(true) } else { Err(error) };
        let file = match self.fs.open(&self.record, Access::Read) {
            Ok(file) => file,
            Err(error) => return gone(error),
        };
        let mut text = [0; 64];
        let read = file.read_at(&mut text, 0)?;
        let text = std::str::from_utf8(text.get(..read).unwrap_or_default()).unwrap_or_default();
        let pid = text.split(':').next().and_then(|pid| pid.trim().parse::<i32>().ok()).and_then(Pid::from_raw);
        match pid {
            Some(pid) => Ok(matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH))),
            None => Ok(file.stat()?.changed.elapsed().is_ok_and(|age| age > ORPHAN_AGE)),
        }
    }
}

fn system_lock(file: &Path) -> PathBuf {
    sibling(file, ".lock.os")
}

fn sibling(file: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or_default());
    name.push(suffix);
    file.with_file_name(name)
}
