//! What only files can get wrong: names, modes, failing disks.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ramus_model::SessionId;
use ramus_store::fs::{Access, DirEntry, FileHandle, FileSystem, Lock, RealFs};
use ramus_store::{JsonlStore, Layout, Location, LogStore as _, NewLog, StoreError};

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

fn new(id: &str) -> NewLog<'_> {
    NewLog::draft(SessionId::from(id), "/proj/x", "2026-02-16T10:20:30.000Z")
}

#[test]
fn files_are_private_and_named_as_the_format_says() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("deep/home");
    let store = JsonlStore::new(&home, Layout::Pi);
    let draft = store.create(&new("abc"), HEADER).unwrap();
    assert_eq!(draft.path.as_deref(), Some(&*home.join("drafts/2026-02-16T10-20-30-000Z_abc.jsonl")));
    let settled = store.settle(&draft, "/proj/x").unwrap();
    let path = home.join("sessions/--proj-x--/2026-02-16T10-20-30-000Z_abc.jsonl");
    assert_eq!(settled.path.as_deref(), Some(&*path));
    store.append(&settled, HEADER.len() as u64, b"x\n").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for directory in [home.clone(), home.join("drafts"), home.join("sessions/--proj-x--"), home.join("locks")] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
    }
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&home.join("locks/abc")), 0o600);
}

#[test]
fn ids_never_become_paths() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let store = JsonlStore::new(&home, Layout::Pi);
    let file = directory.path().join("foreign.jsonl");
    fs::write(&file, HEADER).unwrap();
    for id in ["../../escape", "/etc/passwd", "..", ".", "", "a/b", "nul\0", &"x".repeat(5000)] {
        let at = Location::in_place(SessionId::from(id), &file);
        let end = fs::metadata(&file).unwrap().len();
        store.append(&at, end, b"x\n").unwrap();
    }
    let mut seen: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    seen.sort();
    assert_eq!(seen, ["foreign.jsonl", "home"]);
    assert!(fs::read_dir(home.join("locks")).unwrap().count() == 8);
}

#[test]
fn a_rewrite_keeps_the_old_file_beside_the_new_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let at = store.create(&new("abc"), HEADER).unwrap();
    store.rewrite(&at, HEADER.len() as u64, b"new\n", ".v1.bak").unwrap();
    let path = at.path.unwrap();
    let mut backup = path.clone().into_os_string();
    backup.push(".v1.bak");
    assert_eq!(fs::read(backup).unwrap(), HEADER);
    assert_eq!(fs::read(&path).unwrap(), b"new\n");
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "nothing else stays behind");
}

/// Fails the n-th operation that writes, as a full disk would: after some of the bytes.
#[derive(Debug)]
struct FullDisk {
    left: Arc<AtomicUsize>,
    partial: usize,
    truncations: Arc<Mutex<Vec<u64>>>,
}

impl FullDisk {
    fn fails(left: &AtomicUsize) -> bool {
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_err()
    }
}

impl FileSystem for FullDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.create_dir(path)
    }
    fn create_file(&self, path: &Path) -> io::Result<Box<dyn FileHandle>> {
        self.wrap(RealFs.create_file(path)?)
    }
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn FileHandle>> {
        self.wrap(RealFs.open(path, access)?)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename(from, to)
    }
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealFs.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.sync_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        RealFs.list(path)
    }
    fn lock(&self, path: &Path, patience: Duration) -> io::Result<Option<Box<dyn Lock>>> {
        RealFs.lock(path, patience)
    }
}

impl FullDisk {
    fn wrap(&self, file: Box<dyn FileHandle>) -> io::Result<Box<dyn FileHandle>> {
        let (left, truncations) = (Arc::clone(&self.left), Arc::clone(&self.truncations));
        Ok(Box::new(FullFile { file, left, partial: self.partial, truncations, failing: false }))
    }
}

struct FullFile {
    file: Box<dyn FileHandle>,
    left: Arc<AtomicUsize>,
    partial: usize,
    truncations: Arc<Mutex<Vec<u64>>>,
    failing: bool,
}

impl FileHandle for FullFile {
    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failing {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if FullDisk::fails(&self.left) {
            self.failing = true;
            let partial = self.partial.min(bytes.len().saturating_sub(1));
            if partial == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            return self.file.append(&bytes[..partial]);
        }
        self.file.append(bytes)
    }
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.truncations.lock().unwrap().push(len);
        self.file.truncate(len)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

#[test]
fn a_full_disk_leaves_no_trace_of_the_failed_batch() {
    for partial in [0, 1, 5] {
        let directory = tempfile::tempdir().unwrap();
        let left = Arc::new(AtomicUsize::new(2));
        let truncations = Arc::new(Mutex::new(Vec::new()));
        let disk = FullDisk { left: Arc::clone(&left), partial, truncations: Arc::clone(&truncations) };
        let store = JsonlStore::with_fs(directory.path(), Layout::Pi, Arc::new(disk));
        let at = store.create(&new("abc"), HEADER).unwrap();
        let end = store.append(&at, HEADER.len() as u64, b"one\n").unwrap();
        let refused = store.append(&at, end, b"two\nthree\n");
        assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
        assert_eq!(fs::read(at.path.as_ref().unwrap()).unwrap(), [HEADER, b"one\n"].concat());
        assert_eq!(*truncations.lock().unwrap(), [end]);
        left.store(10, Ordering::SeqCst);
        store.append(&at, end, b"two\nthree\n").unwrap();
    }
}

#[test]
fn a_log_that_could_not_be_made_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let disk = FullDisk { left: Arc::default(), partial: 5, truncations: Arc::default() };
    let store = JsonlStore::with_fs(directory.path(), Layout::Pi, Arc::new(disk));
    assert!(matches!(store.create(&new("abc"), HEADER), Err(StoreError::Full { .. })));
    assert_eq!(store.list().unwrap(), []);
}
