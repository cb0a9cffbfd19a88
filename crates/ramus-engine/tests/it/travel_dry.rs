//! What only says what would happen changes nothing: not the files, not what is kept of them, not the session.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use ramus_engine::{EngineError, ErrorKind, RestoreOptions};
use ramus_snapshot::Plan;

use crate::travel_world::{World, told};

const DRY: RestoreOptions = RestoreOptions { dry_run: true, force: false, only: Vec::new() };
const OPTIONS: RestoreOptions = RestoreOptions { dry_run: false, force: false, only: Vec::new() };

/// Everything there is: the home with its sessions and snapshots, and the files; each with what it holds and since when.
fn everything(world: &World) -> BTreeMap<PathBuf, (i64, i64, Vec<u8>)> {
    let (mut found, mut open) = (BTreeMap::new(), vec![world.folder.path().to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            let look = path.symlink_metadata().unwrap();
            let content = if look.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
            if look.is_dir() {
                open.push(path.clone());
            }
            found.insert(path, (look.mtime(), look.mtime_nsec(), content));
        }
    }
    found
}

fn assert_same(world: &World, before: &BTreeMap<PathBuf, (i64, i64, Vec<u8>)>, what: &str) {
    let now = everything(world);
    let differs = |path: &&PathBuf| now.get(*path) != before.get(*path);
    let changed: Vec<&PathBuf> = now.keys().chain(before.keys()).filter(differs).collect();
    assert!(changed.is_empty(), "{what} changed {changed:?}");
}

/// Two turns, and what a person did since.
fn world() -> World {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some("1\n")), ("b.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", None), ("c/d.txt", Some("2\n"))]]);
    world.put("mine.txt", Some("mine too\n"));
    world.put("c/d.txt", Some("by hand\n"));
    world.put("new.txt", Some("by hand\n"));
    world
}

/// What one of the ways back would come to, or came to.
type Go = fn(&mut World, &RestoreOptions) -> Result<Plan, EngineError>;

const WAYS: [(&str, Go); 4] = [
    ("restore", |world, options| {
        let target = world.snapshots().last().cloned().unwrap();
        Ok(world.engine.restore(&mut world.session, &target, options)?.plan)
    }),
    ("revert", |world, options| {
        let first = world.answers()[0];
        Ok(world.engine.revert(&mut world.session, first, options)?.files.plan)
    }),
    ("branch --files", |world, options| {
        let first = world.answers()[0];
        Ok(world.engine.branch_with_files(&mut world.session, first, options)?.files.plan)
    }),
    ("undo", |world, options| Ok(world.engine.undo(&mut world.session, options)?.files.plan)),
];

const BACK: [(&str, Go); 2] = [
    ("unrevert", |world, options| Ok(world.engine.unrevert(&mut world.session, options)?.files.plan)),
    ("redo", |world, options| Ok(world.engine.redo(&mut world.session, options)?.files.plan)),
];

/// Says what would happen twice, with nothing changed by it, and then does just that.
fn told_then_done(world: &mut World, (name, go): (&str, Go)) {
    let before = everything(world);
    let dry = go(world, &DRY).unwrap();
    assert_same(world, &before, name);
    assert_eq!(dry, go(world, &DRY).unwrap(), "{name}");
    let done = go(world, &OPTIONS).unwrap();
    assert_eq!(told(&dry), told(&done), "{name}: it does what it said");
    assert!(!done.steps.is_empty(), "{name}");
}

#[test]
fn what_would_happen_is_said_and_not_a_byte_changes() {
    for (number, way) in WAYS.into_iter().enumerate() {
        let mut world = world();
        told_then_done(&mut world, way);
        match number {
            1 => told_then_done(&mut world, BACK[0]),
            3 => told_then_done(&mut world, BACK[1]),
            _ => {}
        }
    }
}

#[test]
fn a_reset_is_said_first_too() {
    let mut world = World::new();
    let storage = world.folder.path().join("storage");
    let root = world.engine.make_workspace(&mut world.session, &storage).unwrap().root;
    let initial = world.snapshots()[0].clone();
    fs::write(root.join("made"), "made\n").unwrap();
    let before = everything(&world);
    let dry = world.engine.reset_workspace(&mut world.session, &initial, true).unwrap();
    assert_same(&world, &before, "reset");
    let done = world.engine.reset_workspace(&mut world.session, &initial, false).unwrap();
    assert_eq!((told(&dry.plan), root.join("made").exists()), (told(&done.plan), false));
}

#[test]
fn nothing_that_was_interrupted_is_ended_by_asking() {
    let mut world = world();
    let first = world.answers()[0];
    world.revert(first);
    let log = world.session.location().path.clone().unwrap();
    let bytes = fs::read(&log).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(&log, lines[..lines.len() - 2].concat()).unwrap();
    world.session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let before = everything(&world);
    for (name, go) in WAYS.into_iter().chain(BACK) {
        let error = go(&mut world, &DRY).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{name}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("ramus recover")), "{name}");
        assert_same(&world, &before, name);
    }
    world.engine.recover(&mut world.session).unwrap();
    told_then_done(&mut world, BACK[0]);
}

#[test]
fn a_journal_is_not_carried_out_by_asking() {
    let mut world = world();
    let vaults = fs::read_dir(world.folder.path().join("home/snapshots")).unwrap();
    let vault = vaults.map(|one| one.unwrap().path()).find(|path| path.join("objects").is_dir()).unwrap();
    // A journal that has nothing to do, and is whole.
    fs::write(vault.join("restore"), "ramus restore 1\nend b031fd4a\n").unwrap();
    let before = everything(&world);
    for (name, go) in WAYS {
        let error = go(&mut world, &DRY).unwrap_err();
        assert!(matches!(error, EngineError::Unended { .. }), "{name}: {error}");
        assert_same(&world, &before, name);
    }
    world.engine.snapshot(&mut world.session, None).unwrap();
    assert!(fs::read(vault.join("restore")).unwrap().is_empty());
    WAYS[0].1(&mut world, &DRY).unwrap();
}

#[test]
fn while_somebody_is_at_it_what_would_happen_is_that_it_is_busy() {
    let mut world = world();
    let lease = world.engine.lease(&world.session).unwrap();
    let before = everything(&world);
    for (name, go) in WAYS {
        assert_eq!(go(&mut world, &DRY).unwrap_err().kind(), ErrorKind::Busy, "{name}");
        assert_same(&world, &before, name);
    }
    drop(lease);
    WAYS[0].1(&mut world, &DRY).unwrap();
}

#[test]
fn a_home_that_keeps_nothing_is_not_begun_by_asking() {
    let mut world = World::new();
    world.turn("first", &[]);
    let first = world.answers()[0];
    let before = everything(&world);
    world.engine.revert(&mut world.session, first, &DRY).unwrap();
    assert_same(&world, &before, "revert");
    assert!(!Path::new(&world.folder.path().join("home/snapshots")).exists());
}
