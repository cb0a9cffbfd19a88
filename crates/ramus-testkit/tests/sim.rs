//! The simulated file system does what a real one does, and what a real one may do at worst.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_store::fs::{Access, FileSystem as _, Hold};
use ramus_testkit::sim::{Fault, Limits, OperationKind, Short, SimFs};
use rustix::io::Errno;

fn at(name: &str) -> PathBuf {
    Path::new("/home").join(name)
}

fn content(fs: &SimFs, name: &str) -> Option<String> {
    let found = fs.files().into_iter().find(|(path, _)| *path == at(name));
    found.map(|(_, content)| String::from_utf8(content.to_vec()).unwrap())
}

/// Every content a name may have at the last moment of what was recorded.
fn outcomes(fs: &SimFs, name: &str) -> BTreeSet<Option<String>> {
    let history = fs.history();
    let mut found = BTreeSet::new();
    history.images(history.len(), Limits::default(), &mut |_, image| {
        found.insert(content(&image.boot(), name));
        true
    });
    found
}

fn set<const N: usize>(texts: [Option<&str>; N]) -> BTreeSet<Option<String>> {
    texts.into_iter().map(|text| text.map(str::to_owned)).collect()
}

#[test]
fn unsynced_writes_are_lost_kept_torn_zeroed_and_reordered() {
    let fs = SimFs::default();
    fs.place(&at("log"), b"a");
    fs.record();
    let mut file = fs.open(&at("log"), Access::Append).unwrap();
    file.append(b"bc").unwrap();
    assert_eq!(outcomes(&fs, "log"), set(["a", "ab", "abc", "a\0\0", "ab\0"].map(Some)));
    file.append(b"d").unwrap();
    let expected = ["a", "abc", "abcd", "a\0\0d", "abc\0"].map(Some);
    assert_eq!(outcomes(&fs, "log"), set(expected));
    file.sync().unwrap();
    assert_eq!(outcomes(&fs, "log"), set([Some("abcd")]));
    file.truncate(1).unwrap();
    assert_eq!(outcomes(&fs, "log"), set([Some("a"), Some("abcd")]));
}

#[test]
fn names_need_their_directory_synced() {
    let fs = SimFs::default();
    fs.place(&at("from"), b"x");
    fs.create_dir(&at("other")).unwrap();
    fs.record();
    fs.rename(&at("from"), &at("other/to")).unwrap();
    for (name, elsewhere) in [("from", "other/to"), ("other/to", "from")] {
        assert_eq!(outcomes(&fs, name), set([None, Some("x")]));
        // One unit: a crash never loses both names nor keeps both.
        let history = fs.history();
        history.images(history.len(), Limits::default(), &mut |_, image| {
            let fs = image.boot();
            assert!(content(&fs, name).is_some() != content(&fs, elsewhere).is_some());
            true
        });
    }
    fs.sync_dir(&at("")).unwrap();
    assert_eq!(outcomes(&fs, "other/to"), set([None, Some("x")]));
    fs.sync_dir(&at("other")).unwrap();
    assert_eq!(outcomes(&fs, "other/to"), set([Some("x")]));
    assert_eq!(outcomes(&fs, "from"), set([None]));
}

#[test]
fn a_failed_sync_is_never_made_good() {
    let fs = SimFs::default();
    fs.place(&at("log"), b"a");
    fs.record();
    fs.arm(Fault::once(OperationKind::Sync, 1, Errno::IO));
    let mut file = fs.open(&at("log"), Access::Append).unwrap();
    file.append(b"b").unwrap();
    assert_eq!(file.sync().unwrap_err().raw_os_error(), Some(Errno::IO.raw_os_error()));
    assert_eq!(content(&fs, "log").as_deref(), Some("ab"));
    file.append(b"c").unwrap();
    file.sync().unwrap();
    assert_eq!(fs.syncs_after_failure(), 1);
    assert_eq!(content(&fs, "log").as_deref(), Some("abc"));
    assert_eq!(outcomes(&fs, "log"), set([Some("a\0c")]));
}

#[test]
fn a_short_write_is_followed_by_its_error() {
    let fs = SimFs::default();
    fs.place(&at("log"), b"");
    fs.arm(Fault { short: Short::AllButOne, ..Fault::once(OperationKind::Write, 2, Errno::NOSPC) });
    let mut file = fs.open(&at("log"), Access::Append).unwrap();
    assert_eq!(file.append(b"abc").unwrap(), 3);
    assert_eq!(file.append(b"def").unwrap(), 2);
    assert_eq!(file.append(b"f").unwrap_err().kind(), std::io::ErrorKind::StorageFull);
    assert_eq!(file.append(b"f").unwrap(), 1);
    assert_eq!(content(&fs, "log").as_deref(), Some("abcdef"));
    assert_eq!(fs.failures(), 2);
}

#[test]
fn nothing_works_after_a_crash() {
    let fs = SimFs::default();
    fs.place(&at("log"), b"a");
    let mut file = fs.open(&at("log"), Access::Append).unwrap();
    fs.crash_after(1);
    file.append(b"b").unwrap();
    assert!(file.append(b"c").is_err());
    assert!(file.sync().is_err());
    assert!(fs.list(&at("")).is_err());
    assert_eq!(content(&fs, "log").as_deref(), Some("ab"));
}

#[test]
fn locks_exclude_and_are_freed_with_their_handle() {
    let fs = SimFs::default();
    fs.create_dir(&at("")).unwrap();
    let lock = || fs.lock_file(&at("lock")).unwrap();
    let (one, two, three) = (lock(), lock(), lock());
    let take = |lock: &dyn ramus_store::fs::LockFile, hold| lock.acquire(hold, Duration::ZERO).unwrap();
    assert!(take(one.as_ref(), Hold::Shared) && take(two.as_ref(), Hold::Shared));
    assert!(!take(three.as_ref(), Hold::Exclusive));
    drop(two);
    one.release().unwrap();
    assert!(take(three.as_ref(), Hold::Exclusive) && !take(one.as_ref(), Hold::Shared));
    drop(three);
    assert!(take(one.as_ref(), Hold::Exclusive));
}
