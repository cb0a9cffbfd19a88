//! A disk that fails: the session says so, reads go on, writing goes on when it can, and a repair that was cut short is
//! finished by the next one.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ramus_engine::{ActionKind, Engine, ErrorKind, NewSession, Say, SessionStatus};
use ramus_store::fs::{Access, DirEntry, FileHandle, FileSystem, LockFile, RealFs, Stat};
use ramus_store::{JsonlStore, Layout};

use crate::homes::path;

/// What goes wrong: nothing, no space, an error that needs recovering from, or everything from some moment on.
#[derive(Debug, Default)]
struct Trouble {
    is_full: AtomicBool,
    is_broken: AtomicBool,
    /// After so many changes nothing changes any more, as if the process had been killed; zero for never.
    changes: AtomicUsize,
}

impl Trouble {
    fn change(&self) -> io::Result<()> {
        match self.changes.load(Ordering::Relaxed) {
            0 => Ok(()),
            1 => Err(io::Error::other("killed")),
            left => {
                self.changes.store(left - 1, Ordering::Relaxed);
                Ok(())
            }
        }
    }
}

#[derive(Clone, Debug)]
struct TroubledFs(Arc<Trouble>);

struct TroubledFile(Box<dyn FileHandle>, Arc<Trouble>);

impl FileHandle for TroubledFile {
    fn stat(&self) -> io::Result<Stat> {
        self.0.stat()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.1.change()?;
        if self.1.is_full.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if self.1.is_broken.load(Ordering::Relaxed) {
            return Err(io::Error::other("the cable is loose"));
        }
        self.0.append(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.1.change()?;
        self.0.truncate(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.1.change()?;
        self.0.sync()
    }
}

impl FileSystem for TroubledFs {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.create_dir(path)
    }

    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        self.0.change()?;
        Ok(Box::new(TroubledFile(RealFs.create_file(path)?, Arc::clone(&self.0))))
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>> {
        Ok(Box::new(TroubledFile(RealFs.open(path, access)?, Arc::clone(&self.0))))
    }

    fn stat(&self, path: &Path) -> io::Result<Stat> {
        RealFs.stat(path)
    }

    fn make_private(&self, path: &Path) -> io::Result<()> {
        RealFs.make_private(path)
    }

    fn touch(&self, path: &Path) -> io::Result<()> {
        RealFs.touch(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        RealFs.rename(from, to)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        RealFs.rename_new(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.change()?;
        RealFs.link(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.change()?;
        RealFs.remove(path)
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.0.change()?;
        RealFs.sync_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        RealFs.list(path)
    }

    fn free(&self, _path: &Path) -> io::Result<u64> {
        Ok(17)
    }

    fn lock_file(&self, path: &Path) -> io::Result<Box<dyn LockFile>> {
        RealFs.lock_file(path)
    }
}

#[test]
fn a_session_that_cannot_be_written_says_so_until_it_can() {
    let directory = tempfile::tempdir().unwrap();
    let trouble = Arc::new(Trouble::default());
    let fs = Arc::new(TroubledFs(Arc::clone(&trouble)));
    let engine = Engine::new(Arc::new(JsonlStore::with_fs(directory.path(), Layout::Pi, fs)), "test");
    let mut session = engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap();
    engine.say(&mut session, Say::user("1")).unwrap();

    trouble.is_full.store(true, Ordering::Relaxed);
    let full = engine.say(&mut session, Say::user("lost")).unwrap_err();
    assert_eq!(full.kind(), ErrorKind::Full);
    let file = session.location().path.clone().unwrap();
    assert!(full.to_string().contains(file.to_str().unwrap()) && full.to_string().contains("17 bytes free"), "{full}");
    assert_eq!((session.status(), session.info().unwrap().status), (SessionStatus::Degraded, SessionStatus::Degraded));
    assert_eq!(path(&session), ["1"]);
    trouble.is_full.store(false, Ordering::Relaxed);
    engine.say(&mut session, Say::user("2")).unwrap();
    assert_eq!(session.status(), SessionStatus::Idle, "space is all it took");

    trouble.is_broken.store(true, Ordering::Relaxed);
    assert_eq!(engine.say(&mut session, Say::user("lost")).unwrap_err().kind(), ErrorKind::Io);
    trouble.is_broken.store(false, Ordering::Relaxed);
    let latched = engine.say(&mut session, Say::user("lost")).unwrap_err();
    assert_eq!((latched.kind(), session.status()), (ErrorKind::Degraded, SessionStatus::Degraded));
    let first = std::error::Error::source(&latched).unwrap().to_string();
    assert!(first.contains(file.to_str().unwrap()), "{first}");
    assert!(latched.hint().unwrap().contains("ramus recover"));
    let report = engine.recover(&mut session).unwrap();
    assert_eq!(report.actions[0].kind, ActionKind::WriterRecovered);
    assert_eq!(session.status(), SessionStatus::Idle);
    engine.say(&mut session, Say::user("3")).unwrap();
    assert_eq!(path(&engine.open(session.id().as_str(), "/").unwrap()), ["1", "2", "3"]);
}

#[test]
fn a_repair_that_is_killed_anywhere_can_be_run_again() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("theirs.jsonl");
    let entry = |id: &str, parent: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"\",\"message\":{{\"role\":\"user\",\"content\":\"{id}\"}}}}"
        )
    };
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"\",\"cwd\":\"/\"}";
    let (a, b) = (entry("a", "null"), entry("b", "\"a\""));
    let damaged = format!("{header}\n{a}\n\0\0\0{b}\n{{\"torn");
    for moment in 2..200 {
        let home = directory.path().join(format!("home-{moment}"));
        let trouble = Arc::new(Trouble::default());
        let fs = Arc::new(TroubledFs(Arc::clone(&trouble)));
        let engine = Engine::new(Arc::new(JsonlStore::with_fs(&home, Layout::Pi, fs)), "test");
        std::fs::write(&file, &damaged).unwrap();
        trouble.changes.store(moment, Ordering::Relaxed);
        let cut_short = engine.repair(file.to_str().unwrap(), "/").is_err();
        trouble.changes.store(0, Ordering::Relaxed);
        assert_eq!(path(&engine.open(file.to_str().unwrap(), "/").unwrap()), ["a", "b"], "killed at {moment}");
        let report = engine.repair(file.to_str().unwrap(), "/").unwrap();
        assert!(report.status.is_sound(), "killed at {moment}: {report:?}");
        let names = |directory: &Path| {
            let entries = std::fs::read_dir(directory).unwrap();
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<Vec<_>>()
        };
        let backups: Vec<String> =
            names(directory.path()).into_iter().filter(|name| name.contains(".corrupt-")).collect();
        assert_eq!(backups.len(), 1, "killed at {moment}");
        assert_eq!(std::fs::read(directory.path().join(&backups[0])).unwrap(), damaged.as_bytes());
        let kept = names(&home.join("quarantine")).into_iter().filter(|name| !name.starts_with(".new-")).count();
        assert_eq!(kept, 4, "killed at {moment}: two ranges, each with a note");
        for name in names(directory.path()).iter().filter(|name| name.starts_with("theirs.jsonl.")) {
            std::fs::remove_file(directory.path().join(name)).unwrap();
        }
        if !cut_short {
            assert!(moment > 15, "a repair makes more changes than that");
            return;
        }
    }
    panic!("a repair does not make that many changes");
}
