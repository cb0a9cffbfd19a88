//! What a snapshot did not cover was there all the same: going back to it removes none of it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ramus_snapshot::{About, Action, Carried, Carrier, Conflict, Restore, SnapshotError, Snapshots};
use world::{CAP, World};

fn put(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Ignored files, of which one is in a directory that is ignored as a whole, and one that is too large.
fn with_private_files(root: &Path) {
    put(root, ".gitignore", "target\n.env\nbuild\n*.log\n");
    put(root, "a.txt", "a\n");
    put(root, ".env", "KEY=1\n");
    put(root, "build/out", "out\n");
    put(root, "in/deep/x.log", "log\n");
    put(root, "big.csv", vec![b'x'; CAP as usize + 1]);
}

const PRIVATE: [&str; 4] = [".env", "big.csv", "build/out", "in/deep/x.log"];

/// Shows all of it to snapshots, and makes a file.
fn reveal(root: &Path) {
    put(root, ".gitignore", "target\n");
    put(root, "big.csv", "x\n");
    put(root, "made.txt", "made\n");
}

#[test]
fn what_was_ignored_or_too_large_stays_and_what_was_made_goes() {
    let mut world = World::new(false);
    let root = world.root();
    with_private_files(&root);
    let one = world.take();
    reveal(&root);
    let two = world.take();
    let plan = world.snapshots.plan(&Restore { target: one, baseline: two, current: two, only: &[] }).unwrap();
    let told: Vec<_> =
        plan.steps.iter().map(|step| (step.path.to_str().unwrap(), step.action, step.conflict)).collect();
    let left = |path| (path, Action::Delete, Some(Conflict::Uncovered));
    assert_eq!(
        told,
        [
            left(".env"),
            (".gitignore", Action::Overwrite, None),
            left("big.csv"),
            left("build/out"),
            left("in/deep/x.log"),
            ("made.txt", Action::Delete, None),
        ]
    );
    let restored = world.snapshots.restore(&plan, true).unwrap();
    assert_eq!(restored.kept, PRIVATE.map(PathBuf::from));
    assert!(PRIVATE.iter().all(|name| root.join(name).exists()) && !root.join("made.txt").exists());
    // There again: what is covered no more is not gone, and forth again everything is as it was.
    let three = world.take();
    let gone = world.snapshots.diff(two, three, &[]).unwrap();
    let gone: Vec<_> = gone.iter().map(|diff| (diff.path.to_str().unwrap(), diff.status.as_str())).collect();
    assert_eq!(gone, [(".gitignore", "modified"), ("made.txt", "deleted")]);
    world.restore(two, three, false);
    assert!(PRIVATE.iter().all(|name| root.join(name).exists()) && root.join("made.txt").exists());
}

#[test]
fn what_comes_to_be_ignored_makes_a_new_snapshot() {
    let mut world = World::new(false);
    let root = world.root();
    put(&root, ".gitignore", ".env\n");
    let one = world.take();
    assert_eq!(world.snapshots.take_since(one, &About::default()).unwrap().id, one);
    put(&root, ".env", "KEY=1\n");
    let two = world.snapshots.take_since(one, &About::default()).unwrap().id;
    assert!(two != one && world.snapshots.changed(one, two).unwrap().is_empty());
    assert_eq!(world.snapshots.take_since(two, &About::default()).unwrap().id, two);
    put(&root, ".gitignore", "\n");
    let three = world.take();
    let restored = world.restore(two, three, true);
    assert_eq!((restored.kept, root.join(".env").exists()), (vec![PathBuf::from(".env")], true));
}

#[test]
fn collecting_keeps_what_snapshots_know_of_what_they_left_out() {
    let mut world = World::new(false);
    let root = world.root();
    with_private_files(&root);
    let one = world.take();
    reveal(&root);
    let two = world.take();
    world.snapshots.collect(&[one, two], Duration::ZERO).unwrap();
    let restored = world.restore(one, two, true);
    assert_eq!(restored.kept, PRIVATE.map(PathBuf::from));
}

#[test]
fn the_home_of_ramus_was_there_too() {
    let folder = world::folder();
    let (store, root) = (folder.path().join("store"), folder.path().join("work"));
    put(&root, "home/sessions/log", "entries\n");
    put(&root, "a", "a\n");
    let mut first = Snapshots::open(&store, &root, &[root.join("home")]).unwrap();
    let one = first.take(&About::default()).unwrap().id;
    drop(first);
    let mut later = Snapshots::open(&store, &root, &[]).unwrap();
    let two = later.take(&About::default()).unwrap().id;
    let plan = later.plan(&Restore { target: one, baseline: two, current: two, only: &[] }).unwrap();
    later.restore(&plan, true).unwrap();
    assert!(root.join("home/sessions/log").exists());
}

#[test]
fn a_snapshot_that_does_not_tell_what_it_left_out_is_asked_for_its_ignore_files() {
    let mut world = World::new(false);
    let root = world.root();
    with_private_files(&root);
    put(&root, "in/.gitignore", "*.own\n");
    put(&root, "in/deep/x.own", "own\n");
    let one = world.take();
    // To another vault, which knows no more than the snapshot says.
    let folder = world::folder();
    let mut other = Snapshots::open(&folder.path().join("store"), &root, &[]).unwrap();
    let mut carrier = Carrier::open(other.vault().path(), &root).unwrap();
    let take = &mut |object: Carried| carrier.take(&object);
    world.snapshots.vault().carry_out::<SnapshotError>(&[one], &mut HashSet::new(), take).unwrap();
    carrier.finish().unwrap();
    put(&root, ".gitignore", "target\n");
    put(&root, "in/.gitignore", "");
    put(&root, "made.txt", "made\n");
    let two = other.take(&About::default()).unwrap().id;
    let plan = other.plan(&Restore { target: one, baseline: two, current: two, only: &[] }).unwrap();
    let restored = other.restore(&plan, true).unwrap();
    assert_eq!(restored.kept, [".env", "build/out", "in/deep/x.log", "in/deep/x.own"].map(PathBuf::from));
    assert!(!root.join("made.txt").exists());
}

#[test]
fn what_git_tracks_is_covered_whatever_its_ignore_files_say() {
    for version in ["2", "4"] {
        let mut world = World::new(false);
        let root = world.root();
        put(&root, ".gitignore", "*.cfg\nin/\n");
        put(&root, ".ignore", "own.cfg\n");
        for name in ["a.cfg", "tracked.cfg", "own.cfg", "in/deep/tracked", "in/other"] {
            put(&root, name, "1\n");
        }
        let git = |arguments: &[&str]| {
            let path = std::env::var_os("PATH").unwrap();
            let command = &mut std::process::Command::new("git");
            let command = command.args(arguments).current_dir(&root).env_clear().env("PATH", path).env("HOME", &root);
            assert!(command.env("GIT_CONFIG_NOSYSTEM", "1").output().unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "-q"]);
        git(&["config", "index.version", version]);
        git(&["add", "-f", ".gitignore", ".ignore", "tracked.cfg", "own.cfg", "in/deep/tracked"]);
        let one = world.take();
        let files: Vec<_> = world.snapshots.files(one).unwrap().into_iter().map(|file| file.path).collect();
        assert_eq!(files, [".gitignore", ".ignore", "in/deep/tracked", "tracked.cfg"].map(PathBuf::from));
        for name in ["a.cfg", "tracked.cfg", "in/deep/tracked", "in/other"] {
            put(&root, name, "2\n");
        }
        let two = world.take();
        assert_eq!(world.snapshots.changed(one, two).unwrap(), ["in/deep/tracked", "tracked.cfg"].map(PathBuf::from));
        world.restore(one, two, false);
        let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
        assert_eq!(["a.cfg", "tracked.cfg", "in/deep/tracked", "in/other"].map(read), ["2\n", "1\n", "1\n", "2\n"]);
        // An index that is damaged tracks nothing, and stops nobody.
        fs::write(root.join(".git/index"), "DIRC\0\0\0\x02\0\0\0\x09").unwrap();
        let three = world.take();
        assert_eq!(world.snapshots.files(three).unwrap().len(), 2);
    }
}

/// A directory in which more is ignored than anybody would name, with one file that is not.
fn with_many() -> World {
    let world = World::new(false);
    let root = world.root();
    put(&root, ".gitignore", "*.o\n");
    put(&root, "many/kept.c", "kept\n");
    (0..4_100).for_each(|number| fs::write(root.join(format!("many/{number}.o")), "").unwrap());
    world
}

#[test]
fn what_goes_where_a_directory_stands_for_many_is_shown() {
    let mut world = with_many();
    let one = world.take();
    fs::remove_file(world.root().join("many/kept.c")).unwrap();
    let two = world.take();
    let told = world.snapshots.diff(one, two, &[]).unwrap();
    let told: Vec<_> = told.iter().map(|diff| (diff.path.to_str().unwrap(), diff.status.as_str())).collect();
    assert_eq!(told, [("many/kept.c", "deleted")]);
    // What is only covered no more is still there.
    put(&world.root(), "many/kept.c", "kept\n");
    put(&world.root(), ".gitignore", "*.o\nkept.c\n");
    let three = world.take();
    let told = world.snapshots.diff(one, three, &[]).unwrap();
    assert_eq!(told.iter().map(|diff| diff.path.to_str().unwrap()).collect::<Vec<_>>(), [".gitignore"]);
}

#[test]
fn what_was_made_where_a_directory_stands_for_many_goes_and_what_was_ignored_stays() {
    let mut world = with_many();
    let one = world.take();
    put(&world.root(), "many/made.c", "made\n");
    let two = world.take();
    assert_eq!(world.snapshots.changed_or_shown(one, two).unwrap(), [(PathBuf::from("many/made.c"), false)]);
    // Everything that was ignored is shown to snapshots.
    put(&world.root(), ".gitignore", "");
    let three = world.take();
    let shown = world.snapshots.changed_or_shown(one, three).unwrap();
    assert!(shown.contains(&(PathBuf::from("many/7.o"), true)) && shown.contains(&("many/made.c".into(), false)));
    let restored = world.restore(one, three, true);
    assert_eq!(restored.kept.len(), 4_100);
    assert!(!world.root().join("many/made.c").exists() && world.root().join("many/7.o").exists());
}
