//! Snapshots and restores of real directories.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ramus_snapshot::{About, Conflict, Restore, SnapshotId, Snapshots};

struct World {
    folder: tempfile::TempDir,
    snapshots: Snapshots,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        let snapshots = Snapshots::open(&folder.path().join("store"), &folder.path().join("work"), &[]).unwrap();
        Self { folder, snapshots }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn take(&mut self) -> SnapshotId {
        self.snapshots.take(&About::default()).unwrap().id
    }

    fn restore(&mut self, target: SnapshotId, baseline: SnapshotId, force: bool) -> ramus_snapshot::Restored {
        let current = self.take();
        let restore = Restore { target, baseline, current, only: &[] };
        let plan = self.snapshots.plan(&restore).unwrap();
        self.snapshots.restore(&plan, force).unwrap()
    }
}

/// Everything beneath a directory: content, links, whether it can be executed. Directories count when they are empty.
fn state(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = path.symlink_metadata().unwrap();
            let name = path.strip_prefix(root).unwrap().to_owned();
            if metadata.is_dir() {
                open.push(path);
            } else if metadata.is_symlink() {
                found.insert(name, format!("link {:?}", fs::read_link(&path).unwrap()));
            } else {
                let executable = metadata.permissions().mode() & 0o100 != 0;
                found.insert(name, format!("{executable} {:?}", fs::read(&path).unwrap()));
            }
        }
    }
    found
}

#[derive(Clone, Debug)]
enum Edit {
    Write(usize, u8, bool),
    Link(usize, u8),
    Remove(usize),
    Directory(usize),
}

const NAMES: [&[u8]; 12] = [
    b"a",
    b"b",
    b"a.txt",
    b"A",
    "ü".as_bytes(),
    b"new\nline",
    b"dir/a",
    b"dir/b/c",
    b"dir/b/d e",
    b"a/b",
    b"x\xff",
    b"dir",
];

fn edit() -> impl Strategy<Value = Edit> {
    let name = 0..NAMES.len();
    prop_oneof![
        4 => (name.clone(), any::<u8>(), any::<bool>()).prop_map(|(name, content, run)| Edit::Write(name, content, run)),
        1 => (name.clone(), any::<u8>()).prop_map(|(name, target)| Edit::Link(name, target)),
        3 => name.clone().prop_map(Edit::Remove),
        1 => name.prop_map(Edit::Directory),
    ]
}

fn apply(root: &Path, edits: &[Edit]) {
    let path = |name: &usize| root.join(OsStr::from_bytes(NAMES[*name]));
    let clear = |path: &Path| {
        if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            fs::remove_dir_all(path).unwrap();
        } else {
            let _ = fs::remove_file(path);
        }
    };
    let make_room = |path: &Path| {
        for above in path.ancestors().skip(1).take_while(|above| *above != root) {
            if above.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
                fs::remove_file(above).unwrap();
            }
        }
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        clear(path);
    };
    for edit in edits {
        match edit {
            Edit::Write(name, content, run) => {
                make_room(&path(name));
                fs::write(path(name), vec![*content; usize::from(*content) * 7]).unwrap();
                let mode = if *run { 0o755 } else { 0o644 };
                fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
            }
            Edit::Link(name, target) => {
                make_room(&path(name));
                symlink(format!("target{target}"), path(name)).unwrap();
            }
            Edit::Remove(name) => clear(&path(name)),
            Edit::Directory(name) => {
                make_room(&path(name));
                fs::create_dir(path(name)).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_was_there_comes_back(
        first in prop::collection::vec(edit(), 0..12),
        second in prop::collection::vec(edit(), 0..12),
    ) {
        let mut world = World::new();
        apply(&world.root(), &first);
        let before = state(&world.root());
        let one = world.take();
        apply(&world.root(), &second);
        let after = state(&world.root());
        let two = world.take();
        let restored = world.restore(one, two, false);
        prop_assert_eq!(&restored.kept, &Vec::<PathBuf>::new());
        prop_assert_eq!(state(&world.root()), before);
        world.restore(two, one, false);
        prop_assert_eq!(state(&world.root()), after);
    }

    #[test]
    fn what_others_did_stays(
        first in prop::collection::vec(edit(), 0..12),
        second in prop::collection::vec(edit(), 0..12),
        third in prop::collection::vec(edit(), 0..6),
    ) {
        let mut world = World::new();
        apply(&world.root(), &first);
        let one = world.take();
        apply(&world.root(), &second);
        let before = state(&world.root());
        let two = world.take();
        apply(&world.root(), &third);
        let theirs = state(&world.root());
        world.restore(one, two, false);
        let end = state(&world.root());
        for (path, content) in &theirs {
            if before.get(path) != Some(content) {
                prop_assert_eq!(end.get(path), Some(content), "{:?}", path);
            }
        }
    }
}

#[test]
fn a_conflict_is_listed_and_can_be_forced() {
    let mut world = World::new();
    let file = world.root().join("file");
    fs::write(&file, "one").unwrap();
    let one = world.take();
    fs::write(&file, "two").unwrap();
    let two = world.take();
    fs::write(&file, "mine").unwrap();
    let current = world.take();
    let restore = Restore { target: one, baseline: two, current, only: &[] };
    let plan = world.snapshots.plan(&restore).unwrap();
    assert_eq!(plan.conflicts().map(|step| step.conflict).collect::<Vec<_>>(), [Some(Conflict::Changed)]);
    world.snapshots.restore(&plan, false).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    world.snapshots.restore(&plan, true).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
}

#[test]
fn differences_are_told_with_their_lines() {
    let mut world = World::new();
    let root = world.root();
    fs::write(root.join("kept"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join("gone"), "bye\n").unwrap();
    fs::write(root.join("old name"), "some content\nthat moves\n").unwrap();
    fs::write(root.join("picture"), b"\0\x01").unwrap();
    let one = world.take();
    fs::write(root.join("kept"), "one\n2\nthree\n").unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    fs::rename(root.join("old name"), root.join("new name")).unwrap();
    fs::write(root.join("picture"), b"\0\x02").unwrap();
    fs::write(root.join("come"), "hello\nworld").unwrap();
    let two = world.take();
    let diffs = world.snapshots.diff(one, two, &[]).unwrap();
    let brief: Vec<_> = diffs
        .iter()
        .map(|diff| (diff.path.to_str().unwrap(), diff.status.as_str(), diff.additions, diff.deletions, diff.is_binary))
        .collect();
    assert_eq!(
        brief,
        [
            ("come", "added", 2, 0, false),
            ("gone", "deleted", 0, 1, false),
            ("kept", "modified", 1, 1, false),
            ("new name", "renamed", 0, 0, false),
            ("picture", "modified", 0, 0, true),
        ]
    );
    assert_eq!(diffs[2].diff, "--- a/kept\n+++ b/kept\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
    assert_eq!(world.snapshots.diff(one, two, &["come".into()]).unwrap().len(), 1);
    assert_eq!(world.snapshots.diff(one, one, &[]).unwrap(), []);
    let files = world.snapshots.files(two).unwrap();
    assert_eq!(files.len(), 4);
    assert_eq!(files[0].sha256, "26c60a61d01db5836ca70fefd44a6a016620413c8ef5f259a6c5612d4f79d3b8");
}

#[test]
fn git_reads_what_is_stored() {
    let git = |arguments: &[&str], directory: &Path| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let mut world = World::new();
    let root = world.root();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/c"), "hello\n").unwrap();
    fs::write(root.join("a-b"), "x").unwrap();
    fs::write(root.join("a.b"), "y").unwrap();
    symlink("a/b/c", root.join("link")).unwrap();
    fs::set_permissions(root.join("a.b"), fs::Permissions::from_mode(0o755)).unwrap();
    let id = world.take().to_string();
    git(&["init", "-q"], &root);
    git(&["add", "-A"], &root);
    let theirs = git(&["write-tree"], &root);
    let packs = world.folder.path().join("store/objects/pack");
    for entry in fs::read_dir(&packs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pack" || extension == "idx") {
            fs::copy(&path, root.join(".git/objects/pack").join(path.file_name().unwrap())).unwrap();
        }
    }
    assert_eq!(git(&["rev-parse", &format!("{id}^{{tree}}")], &root), theirs);
    git(&["fsck", "--full", "--strict"], &root);
}
