//! The locks omp takes around every write to a session file of its own: a system lock on `.NAME.lock.os`, and inside it
//! the file `.NAME.lock`, which says who holds it. A program that writes to such a file beside a running omp takes both.
//!
//! The record is what keeps the two programs apart everywhere. The system lock is a `flock` on macOS; on Linux omp
//! replaces it by an abstract socket, so there it keeps only our own processes apart.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::{Pid, test_kill_process};

use crate::fs::{Access, FileHandle, FileSystem, Hold, LockFile};

/// How long a lock file without a readable owner is left alone: its maker may be about to write it.
const ORPHAN_AGE: Duration = Duration::from_millis(500);

/// How long to wait before looking again whether the record is gone; omp holds it for well under a millisecond.
const PAUSE: Duration = Duration::from_micros(500);

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
        let deadline = Instant::now() + patience;
        if !self.system.acquire(Hold::Exclusive, patience)? {
            return Ok(false);
        }
        let claimed = self.claim(deadline);
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

    /// Makes the record, as soon as nobody else's is there.
    fn claim(&self, deadline: Instant) -> io::Result<bool> {
        loop {
            match self.fs.create_file(&self.record) {
                Ok(file) => return self.sign(file).map(|()| true),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if self.remove_abandoned()? {
                continue;
            }
            if Instant::now() >= deadline {
                return Ok(false);
            }
            pause();
        }
    }

    /// Says in the record who holds it. One that says nothing would be in everybody's way for a while.
    fn sign(&self, mut file: Box<dyn FileHandle>) -> io::Result<()> {
        let millis = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let record = format!("{}:{millis}\n", std::process::id());
        file.append(record.as_bytes()).map(drop).inspect_err(|_| {
            let _ = self.fs.remove(&self.record);
        })
    }

    /// Removes a record whose maker is dead, or that has been unreadable for long. Says whether there is none now.
    fn remove_abandoned(&self) -> io::Result<bool> {
        let Some((text, age)) = self.read_record()? else { return Ok(true) };
        let pid = text.split(':').next().and_then(|pid| pid.trim().parse::<i32>().ok()).and_then(Pid::from_raw);
        let is_abandoned = match pid {
            Some(pid) => matches!(test_kill_process(pid), Err(rustix::io::Errno::SRCH)),
            None => age.is_some_and(|age| age > ORPHAN_AGE),
        };
        // Somebody else may have removed it meanwhile and made one of their own, which must stay.
        if !is_abandoned || self.read_record()?.is_some_and(|(now, _)| now != text) {
            return Ok(false);
        }
        match self.fs.remove(&self.record) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(true),
        }
    }

    /// What the record says and how old it is, if there is one.
    fn read_record(&self) -> io::Result<Option<(String, Option<Duration>)>> {
        let file = match self.fs.open(&self.record, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut text = [0; 64];
        let read = file.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(text.get(..read).unwrap_or_default()).into_owned();
        Ok(Some((text, file.stat()?.changed.elapsed().ok())))
    }
}

/// The record is only a file, so nobody can be woken when it goes.
#[expect(clippy::disallowed_methods, reason = "there is no event to wait for")]
fn pause() {
    std::thread::sleep(PAUSE);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::RealFs;

    fn lock(folder: &Path) -> OmpLock {
        let fs: Arc<dyn FileSystem> = Arc::new(RealFs);
        OmpLock::open(&fs, &folder.join("log.jsonl")).unwrap()
    }

    #[test]
    fn a_record_of_a_live_process_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock(folder.path());
        std::fs::write(&lock.record, format!("{}:1\n", std::process::id())).unwrap();
        assert!(!lock.acquire(Duration::ZERO).unwrap());
        let record = lock.record.clone();
        let other = std::thread::spawn(move || {
            pause();
            std::fs::remove_file(record)
        });
        assert!(lock.acquire(Duration::from_secs(60)).unwrap());
        other.join().unwrap().unwrap();
        assert!(std::fs::read_to_string(&lock.record).unwrap().starts_with(&format!("{}:", std::process::id())));
        lock.release();
        assert!(!lock.record.exists());
    }

    #[test]
    fn a_record_of_a_dead_process_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let lock = lock(folder.path());
        let mut dead = std::process::Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        std::fs::write(&lock.record, format!("{}:1\n", dead.id())).unwrap();
        assert!(lock.acquire(Duration::ZERO).unwrap());
    }
}
