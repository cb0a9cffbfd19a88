//! What only files can get wrong: names, modes, failing disks.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ramus_model::SessionId;
use ramus_store::fs::{Access, DirEntry, FileHandle, FileSystem, Hold, LockFile, RealFs, Stat};
use ramus_store::{
    Bases as _, Breadcrumb, Breadcrumbs as _, Flush, JsonlStore, Layout, Location, LogStore, NewLog, Placement,
    Position, Residence, StoreError, Terminal,
};

const HEADER: &[u8] = b"{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

fn append(store: &dyn LogStore, at: &Location, end: u64, bytes: &[u8]) -> Result<u64, StoreError> {
    let read = store.read(at, 0, &mut |_| ())?;
    Ok(store.writer(at)?.append(Position { end, ..read }, bytes, Flush::Now)?.end)
}

fn rewrite(
    store: &dyn LogStore,
    at: &Location,
    end: u64,
    bytes: &[u8],
    backup: Option<&str>,
) -> Result<(), StoreError> {
    let read = store.read(at, 0, &mut |_| ())?;
    store.rewrite(at, Position { end, ..read }, bytes, backup)
}

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
    append(&store, &settled, HEADER.len() as u64, b"x\n").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for directory in [home.clone(), home.join("drafts"), home.join("sessions/--proj-x--"), home.join("locks")] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
    }
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&home.join("locks/abc")), 0o600);
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut path = path.to_owned().into_os_string();
    path.push(suffix);
    path.into()
}

#[test]
fn a_very_long_working_directory_has_a_place() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let cwd = "/pä".repeat(1000);
    let published = NewLog { cwd: &cwd, placement: Placement::Published, ..new("one") };
    let one = store.create(&published, HEADER).unwrap().path.unwrap();
    let draft = store.create(&NewLog { cwd: &cwd, ..new("two") }, HEADER).unwrap();
    let two = store.settle(&draft, &cwd).unwrap().path.unwrap();
    assert_eq!(one.parent(), two.parent());
    assert_eq!(store.list().unwrap().len(), 2);
}

#[test]
fn settling_never_replaces_another_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let published = NewLog { placement: Placement::Published, ..new("abc") };
    let taken = store.create(&published, b"other\n").unwrap().path.unwrap();
    let draft = store.create(&new("abc"), HEADER).unwrap();
    match store.settle(&draft, "/proj/x") {
        Err(StoreError::Exists { path }) => assert_eq!(path, taken),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read(taken).unwrap(), b"other\n");
    assert_eq!(fs::read(draft.path.unwrap()).unwrap(), HEADER);
}

#[test]
fn a_pipe_is_refused_without_waiting_for_its_other_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    store.create(&new("abc"), HEADER).unwrap();
    let pipe = directory.path().join("drafts/2026-02-16T10-20-30-000Z_pipe.jsonl");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for at in store.list().unwrap() {
        let read = store.read(&at, 0, &mut |_| ());
        let refused = matches!(read, Err(StoreError::Io { action: "open", .. }));
        assert_eq!(refused, at.path.as_ref() == Some(&pipe), "{read:?}");
    }
    let at = Location::in_place(SessionId::from("pipe"), &pipe);
    assert!(matches!(append(&store, &at, 0, b"x\n"), Err(StoreError::Io { action: "open", .. })));
}

#[test]
fn the_gate_of_a_file_opened_in_place_is_that_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let store = JsonlStore::new(&home, Layout::Pi);
    let [one, other] = ["one.jsonl", "other.jsonl"].map(|name| directory.path().join(name));
    for file in [&one, &other] {
        fs::write(file, HEADER).unwrap();
    }
    // Whoever holds the gate of the session that the header names is in nobody's way.
    RealFs.create_dir(&home.join("locks")).unwrap();
    let held = RealFs.lock_file(&home.join("locks/s")).unwrap();
    assert!(held.acquire(Hold::Exclusive, Duration::ZERO).unwrap());
    let mut end = HEADER.len() as u64;
    for id in ["s", "t"] {
        end = append(&store, &Location::in_place(SessionId::from(id), &one), end, b"x\n").unwrap();
    }
    let locks = names(&home.join("locks"));
    assert_eq!(locks.len(), 2, "another id, the same gate: {locks:?}");
    assert!(locks[0].len() == 66 && locks[0].starts_with("p-"), "{locks:?}");
    append(&store, &Location::in_place(SessionId::from("s"), &other), HEADER.len() as u64, b"x\n").unwrap();
    assert_eq!(names(&home.join("locks")).len(), 3, "the same id, another gate");
}

#[test]
fn a_log_takes_its_backups_along_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let at = store.create(&new("abc"), HEADER).unwrap();
    let path = at.path.clone().unwrap();
    for suffix in [".v1.bak", ".v2.bak.2", ".corrupt-0123456789abcdef"] {
        fs::write(beside(&path, suffix), "old\n").unwrap();
    }
    for suffix in [".bak", ".v1.bak.txt", ".notes"] {
        fs::write(beside(&path, suffix), "mine\n").unwrap();
    }
    fs::create_dir(beside(&path, ".v3.bak")).unwrap();
    std::os::unix::fs::symlink("nowhere", beside(&path, ".v4.bak")).unwrap();
    let other = store.create(&new("abcd"), HEADER).unwrap().path.unwrap();
    fs::write(beside(&other, ".v1.bak"), "other\n").unwrap();

    let all = names(path.parent().unwrap());
    let would = store.delete(&at, true).unwrap();
    assert_eq!(names(path.parent().unwrap()), all);
    let going = ["", ".corrupt-0123456789abcdef", ".v1.bak", ".v2.bak.2"].map(|suffix| beside(&path, suffix));
    assert_eq!((&would.files[..], would.bytes), (&going[..], HEADER.len() as u64 + 12));
    assert_eq!(store.delete(&at, false).unwrap(), would);
    let staying = [".bak", ".notes", ".v1.bak.txt", ".v3.bak", ".v4.bak"].map(|suffix| beside(&path, suffix));
    let staying = staying.iter().chain([&other]).map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    let mut staying: Vec<_> = staying.collect();
    staying.push(format!("{}.v1.bak", staying[5]));
    assert_eq!(names(path.parent().unwrap()), staying);
}

#[test]
fn ids_never_become_paths() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let store = JsonlStore::new(&home, Layout::Pi);
    let file = directory.path().join("foreign.jsonl");
    fs::write(&file, HEADER).unwrap();
    for id in ["../../escape", "/etc/passwd", "..", ".", "", "a/b", "nul\0", &"x".repeat(5000)] {
        let at = Location { residence: Residence::Published, ..Location::in_place(SessionId::from(id), &file) };
        let end = fs::metadata(&file).unwrap().len();
        append(&store, &at, end, b"x\n").unwrap();
        drop(store.lease(&at, 0).unwrap());
        store.set_aside(&at, 0, b"x", "a test").unwrap();
        store.put_base(&at.id, HEADER).unwrap();
        if let Some(terminal) = Terminal::new(id) {
            let crumb = Breadcrumb { cwd: "/".into(), session: at.id.clone(), path: at.path.clone() };
            store.leave_breadcrumb(&terminal, &crumb).unwrap();
        }
    }
    let mut seen: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    seen.sort();
    assert_eq!(seen, ["foreign.jsonl", "home"]);
    let count = |name: &str| fs::read_dir(home.join(name)).unwrap().count();
    assert_eq!(["locks", "quarantine", "bases", "terminal-sessions"].map(count), [16, 16, 8, 7]);
}

#[test]
fn a_rewrite_keeps_the_old_file_beside_the_new_one() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let at = store.create(&new("abc"), HEADER).unwrap();
    rewrite(&store, &at, HEADER.len() as u64, b"new\n", Some(".v1.bak")).unwrap();
    let path = at.path.clone().unwrap();
    assert_eq!(fs::read(beside(&path, ".v1.bak")).unwrap(), HEADER);
    assert_eq!(fs::read(&path).unwrap(), b"new\n");
    assert_eq!(names(path.parent().unwrap()).len(), 2, "nothing else stays behind");
    rewrite(&store, &at, 4, b"newer\n", None).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"newer\n");
    assert_eq!(names(path.parent().unwrap()).len(), 2, "no backup was asked for");
}

#[test]
fn a_backup_never_takes_the_place_of_another() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let at = store.create(&new("abc"), b"0\n").unwrap();
    let path = at.path.clone().unwrap();
    let backup = |suffix| fs::read_to_string(beside(&path, suffix)).unwrap();
    rewrite(&store, &at, 2, b"1\n", Some(".v1.bak")).unwrap();
    rewrite(&store, &at, 2, b"2\n", Some(".v1.bak")).unwrap();
    // A link to the log is not a second name of the file: it would show the new content.
    std::os::unix::fs::symlink(&path, beside(&path, ".v1.bak.3")).unwrap();
    // What an interrupted rewrite left behind is.
    fs::hard_link(&path, beside(&path, ".v1.bak.4")).unwrap();
    rewrite(&store, &at, 2, b"3\n", Some(".v1.bak")).unwrap();
    assert_eq!([".v1.bak", ".v1.bak.2", ".v1.bak.4"].map(backup), ["0\n", "1\n", "2\n"]);
    assert_eq!(names(path.parent().unwrap()).len(), 5);

    for number in 5..=100 {
        fs::write(beside(&path, &format!(".v1.bak.{number}")), "").unwrap();
    }
    let full = rewrite(&store, &at, 2, b"4\n", Some(".v1.bak"));
    assert!(matches!(full, Err(StoreError::Exists { .. })), "{full:?}");
    assert_eq!(names(path.parent().unwrap()).len(), 101, "nothing else stays behind");
    assert_eq!(fs::read(&path).unwrap(), b"3\n");
}

/// Fails the n-th operation that writes, as a full disk would: after some of the bytes.
#[derive(Debug)]
struct FullDisk {
    left: Arc<AtomicUsize>,
    partial: usize,
    truncations: Arc<Mutex<Vec<u64>>>,
    /// Whether names cannot be removed either, so that what a failure leaves is what a crash would leave.
    stuck: bool,
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
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.rename_new(from, to)
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
    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealFs.link(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        if self.stuck { Err(io::ErrorKind::Other.into()) } else { RealFs.remove(path) }
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        RealFs.sync_dir(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        RealFs.list(path)
    }
    fn lock_file(&self, path: &Path) -> io::Result<Box<dyn LockFile>> {
        RealFs.lock_file(path)
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
    fn stat(&self) -> io::Result<Stat> {
        self.file.stat()
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
        let disk = FullDisk { left: Arc::clone(&left), partial, truncations: Arc::clone(&truncations), stuck: false };
        let store = JsonlStore::with_fs(directory.path(), Layout::Pi, Arc::new(disk));
        let at = store.create(&new("abc"), HEADER).unwrap();
        let end = append(&store, &at, HEADER.len() as u64, b"one\n").unwrap();
        let refused = append(&store, &at, end, b"two\nthree\n");
        assert!(matches!(refused, Err(StoreError::Full { .. })), "{refused:?}");
        assert_eq!(fs::read(at.path.as_ref().unwrap()).unwrap(), [HEADER, b"one\n"].concat());
        assert_eq!(*truncations.lock().unwrap(), [end]);
        left.store(10, Ordering::SeqCst);
        append(&store, &at, end, b"two\nthree\n").unwrap();
    }
}

#[test]
fn a_log_that_could_not_be_made_is_not_there() {
    for stuck in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let left = Arc::new(AtomicUsize::new(0));
        let disk = FullDisk { left: Arc::clone(&left), partial: 5, truncations: Arc::default(), stuck };
        let store = JsonlStore::with_fs(directory.path(), Layout::Pi, Arc::new(disk));
        assert!(matches!(store.create(&new("abc"), HEADER), Err(StoreError::Full { .. })));
        assert_eq!(store.list().unwrap(), []);
        assert_eq!(names(&directory.path().join("drafts")).len(), usize::from(stuck));
        left.store(1, Ordering::SeqCst);
        store.create(&new("abc"), HEADER).unwrap();
    }
}

#[test]
fn a_log_whose_name_is_taken_leaves_nothing_behind() {
    let directory = tempfile::tempdir().unwrap();
    let store = JsonlStore::new(directory.path(), Layout::Pi);
    let path = store.create(&new("abc"), HEADER).unwrap().path.unwrap();
    match store.create(&new("abc"), b"other\n") {
        Err(StoreError::Exists { path: taken }) => assert_eq!(taken, path),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(path.parent().unwrap()).len(), 1);
    assert_eq!(fs::read(&path).unwrap(), HEADER);
}
