//! Looking at a directory and its snapshots changes neither.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ramus_snapshot::{About, Glance, Snapshots};

/// What is beneath a directory, byte for byte.
fn files(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn what_is_there_is_compared_with_a_snapshot_and_kept_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let (store, root) = (folder.path().join("store"), folder.path().join("project"));
    fs::create_dir_all(root.join("in")).unwrap();
    assert!(Glance::open(&store, &root, &[]).unwrap().is_none() && !store.exists());
    fs::write(root.join("a"), "one\n").unwrap();
    fs::write(root.join("in/b"), "one\n").unwrap();
    let mut snapshots = Snapshots::open(&store, &root, &[]).unwrap();
    let first = snapshots.take(&About::default()).unwrap().id;
    let before = files(folder.path());
    let glance = Glance::open(&store, &root, &[]).unwrap().unwrap();
    assert!(glance.is_as(first).unwrap() && !glance.is_interrupted().unwrap());
    assert_eq!(glance.diff(first, glance.now().unwrap(), &[]).unwrap(), []);
    assert_eq!(files(folder.path()), before);
    fs::write(root.join("a"), "two\n").unwrap();
    fs::remove_file(root.join("in/b")).unwrap();
    fs::write(root.join("c"), "three\n").unwrap();
    let before = files(folder.path());
    assert!(!glance.is_as(first).unwrap());
    let now = glance.now().unwrap();
    let told = glance.diff(first, now, &[]).unwrap();
    assert_eq!(files(folder.path()), before);
    // The same that two snapshots tell.
    let second = snapshots.take(&About::default()).unwrap().id;
    assert_eq!(told, snapshots.diff(first, second, &[]).unwrap());
    assert_eq!(told.len(), 3);
    assert!(!snapshots.has(now), "only the glance knows it");
    assert!(glance.is_as(second).unwrap(), "what was kept meanwhile is seen");
    assert_eq!(glance.diff(first, now, &[]).unwrap(), told, "what was looked at stays as it was");
}

/// The journal of a restore that was interrupted before it brought back `planted.txt`, which holds `one`.
const INTERRUPTED: &str =
    "ramus restore 1\n- 100644:5626abf0f72e58d7a153368ba57db4c673c0e171 706c616e7465642e747874\nend 02ef572f\n";

#[test]
fn a_restore_that_was_interrupted_is_told_and_left_to_whoever_takes_a_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let (store, root) = (folder.path().join("store"), folder.path().join("project"));
    fs::create_dir_all(&root).unwrap();
    fs::write(root.join("a"), "one\n").unwrap();
    let mut snapshots = Snapshots::open(&store, &root, &[]).unwrap();
    let first = snapshots.take(&About::default()).unwrap().id;
    fs::write(store.join("restore"), INTERRUPTED).unwrap();
    let before = files(folder.path());
    let glance = Glance::open(&store, &root, &[]).unwrap().unwrap();
    assert!(glance.is_interrupted().unwrap() && glance.is_as(first).unwrap());
    glance.now().unwrap();
    assert_eq!(files(folder.path()), before);
    snapshots.take(&About::default()).unwrap();
    assert_eq!(fs::read_to_string(root.join("planted.txt")).unwrap(), "one\n");
    assert!(!glance.is_interrupted().unwrap());
}
