//! What is collected and what stays, how it is packed, and what others see of it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ramus_snapshot::{About, Limits, SnapshotError, SnapshotId, Snapshots};
use world::World;

/// A name that tells a snapshot from all others: those of one second would be the same otherwise.
fn about(number: usize) -> About {
    About { label: format!("number {number}"), parents: Vec::new() }
}

fn write(world: &World, name: &str, content: &str) {
    let path = world.root().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Takes snapshots of a directory of which a little changes each time.
fn series(world: &mut World, count: usize) -> Vec<SnapshotId> {
    for directory in 0..10 {
        for file in 0..20 {
            write(world, &format!("d{directory}/f{file}"), &format!("{directory} {file}\n"));
        }
    }
    (0..count)
        .map(|number| {
            write(world, &format!("d{}/f{}", number % 10, number % 20), &format!("change {number}\n"));
            world.snapshots.take(&about(number)).unwrap().id
        })
        .collect()
}

/// Git's own judgement, where there is git.
fn fsck(world: &World) {
    let scratch = world.folder.path().join("git");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(arguments).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("GIT_DIR", &scratch);
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", &scratch);
        command
    };
    if git(&["--version"]).output().is_err() {
        return;
    }
    assert!(git(&["init", "-q", "--bare"]).status().unwrap().success());
    let objects = world.folder.path().join("store/objects");
    let output = git(&["fsck", "--full", "--strict", "--no-dangling"]).env("GIT_OBJECT_DIRECTORY", objects).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn packs(world: &World) -> usize {
    let names = fs::read_dir(world.folder.path().join("store/objects/pack")).unwrap();
    names.filter(|name| name.as_ref().unwrap().path().extension().unwrap() == "pack").count()
}

#[test]
fn many_snapshots_make_few_packs_and_all_can_be_read() {
    let mut world = World::new(false);
    let ids = series(&mut world, 300);
    assert!(packs(&world) < 48, "{} packs", packs(&world));
    fsck(&world);
    let mut last = Vec::new();
    for (number, id) in ids.iter().enumerate() {
        let files = world.snapshots.files(*id).unwrap();
        assert_eq!(files.len(), 200);
        assert_ne!(files, last);
        assert_eq!(world.snapshots.info(*id).unwrap().label, format!("number {number}"));
        last = files;
    }
    let fresh = Snapshots::open(&world.folder.path().join("store"), &world.root(), &[]).unwrap();
    assert_eq!(fresh.files(ids[17]).unwrap(), world.snapshots.files(ids[17]).unwrap());
}

#[test]
fn what_is_not_named_goes_and_what_is_stays() {
    let mut world = World::new(false);
    write(&world, "secret", &"s3cret".repeat(200));
    let ids = series(&mut world, 60);
    fs::remove_file(world.root().join("secret")).unwrap();
    let clean = world.snapshots.take(&about(99)).unwrap().id;
    let files = world.snapshots.files(clean).unwrap();
    // Taken just now: nothing goes.
    let collected = world.snapshots.collect(&[], Duration::from_secs(3600)).unwrap();
    assert_eq!((collected.before.snapshots, collected.after.snapshots), (61, 61));
    assert!(collected.after.packs < 3, "{collected:?}");
    fsck(&world);
    let collected = world.snapshots.collect(&[ids[30], clean], Duration::ZERO).unwrap();
    assert_eq!(collected.after.snapshots, 2);
    assert!(collected.after.bytes < collected.before.bytes, "{collected:?}");
    assert_eq!(world.snapshots.files(clean).unwrap(), files);
    assert_eq!(world.snapshots.files(ids[30]).unwrap().len(), 201);
    fsck(&world);
}

#[test]
fn the_next_snapshot_builds_on_what_is_left() {
    let mut world = World::new(false);
    series(&mut world, 5);
    let collected = world.snapshots.collect(&[], Duration::ZERO).unwrap();
    assert_eq!(collected.after.snapshots, 0);
    let id = world.snapshots.take(&about(6)).unwrap().id;
    assert_eq!(world.snapshots.files(id).unwrap().len(), 200);
    fsck(&world);
}

#[test]
fn whoever_had_the_store_open_goes_on() {
    let mut world = World::new(false);
    let ids = series(&mut world, 20);
    let reader = Snapshots::open(&world.folder.path().join("store"), &world.root(), &[]).unwrap();
    let mut writer = Snapshots::open(&world.folder.path().join("store"), &world.root(), &[]).unwrap();
    world.snapshots.collect(&ids, Duration::ZERO).unwrap();
    assert_eq!(reader.files(ids[3]).unwrap().len(), 200);
    write(&world, "d0/f0", "another change\n");
    let id = writer.take(&about(50)).unwrap().id;
    assert_eq!(reader.files(id).unwrap().len(), 200);
    assert_eq!(world.snapshots.files(id).unwrap().len(), 200);
}

#[test]
fn two_stores_of_one_directory_take_turns() {
    let mut world = World::new(false);
    series(&mut world, 3);
    let store = world.folder.path().join("store");
    let root = world.root();
    let taken: Vec<SnapshotId> = std::thread::scope(|scope| {
        let take = |who: usize| {
            let (store, root) = (&store, &root);
            move || {
                let mut snapshots = Snapshots::open(store, root, &[]).unwrap();
                (0..30)
                    .map(|number| {
                        fs::write(root.join(format!("of{who}")), format!("{number}")).unwrap();
                        snapshots.take(&about(who * 1000 + number)).unwrap().id
                    })
                    .collect::<Vec<_>>()
            }
        };
        let others: Vec<_> = (0..3).map(|who| scope.spawn(take(who))).collect();
        others.into_iter().flat_map(|other| other.join().unwrap()).collect()
    });
    assert_eq!(taken.len(), 90);
    for id in taken {
        assert!(world.snapshots.files(id).unwrap().len() >= 200);
    }
    fsck(&world);
}

#[test]
fn what_no_snapshot_is_taken_of_is_refused() {
    let folder = world::folder();
    let store = folder.path().join("store");
    let refused = |root: &Path| matches!(Snapshots::open(&store, root, &[]), Err(SnapshotError::Refused { .. }));
    assert!(refused(Path::new("/")));
    assert!(refused(&std::env::home_dir().unwrap()));
    fs::create_dir_all(store.join("objects")).unwrap();
    assert!(refused(&store) && refused(&store.join("objects")));
}

#[test]
fn more_than_is_kept_is_refused() {
    let world = World::new(false);
    (0..20).for_each(|number| write(&world, &format!("file{number}"), &"x".repeat(100)));
    let store = world.folder.path().join("store");
    let take = |limits| Snapshots::open(&store, &world.root(), &[]).unwrap().with_limits(limits).take(&about(0));
    let usual = Limits::default();
    assert!(matches!(take(Limits { files: 19, ..usual }), Err(SnapshotError::Quota { .. })));
    assert!(matches!(take(Limits { bytes: 1_000, ..usual }), Err(SnapshotError::Quota { .. })));
    let taken = take(Limits { file: 99, ..usual }).unwrap();
    assert_eq!((taken.files, taken.uncovered.len()), (0, 20));
    take(usual).unwrap();
    assert!(matches!(take(Limits { store: 10, ..usual }), Err(SnapshotError::StoreFull { .. })));
}

#[test]
fn a_store_within_the_directory_is_left_out() {
    let folder = world::folder();
    let link = folder.path().join("link");
    fs::create_dir(folder.path().join("work")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("work"), &link).unwrap();
    fs::write(link.join("file"), "x").unwrap();
    let mut snapshots = Snapshots::open(&link.join(".ramus/store"), &link, &[link.join(".ramus")]).unwrap();
    for number in 0..3 {
        assert_eq!(snapshots.take(&about(number)).unwrap().files, 1);
    }
}
