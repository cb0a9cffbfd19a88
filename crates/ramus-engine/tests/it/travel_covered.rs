//! What snapshots do not cover belongs to somebody: going back leaves it alone, whatever made it visible meanwhile.

use std::path::PathBuf;

use ramus_engine::RestoreOptions;
use ramus_snapshot::Conflict;

use crate::travel_world::World;

const FORCE: RestoreOptions = RestoreOptions { dry_run: false, force: true, only: Vec::new() };

/// A project with two private files, which a turn shows to snapshots.
fn shown() -> World {
    let mut world = World::new();
    world.put(".gitignore", Some("target\n.env\nbuild\n"));
    world.put(".env", Some("KEY=1\n"));
    world.put("build/out", Some("out\n"));
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.turn("second", &[&[(".gitignore", Some("target\n")), ("t", Some("hi\n"))]]);
    world
}

fn is_private_left(world: &World) -> bool {
    let (key, out) = (world.read(".env"), world.read("build/out"));
    (key.as_deref(), out.as_deref()) == (Some("KEY=1\n"), Some("out\n"))
}

#[test]
fn a_revert_of_a_turn_that_changed_ignore_files_removes_only_what_the_turn_made() {
    let mut world = shown();
    let (first, files) = (world.answers()[0], world.files());
    let report = world.engine.revert(&mut world.session, first, &FORCE).unwrap();
    let told = report.files.plan.steps.iter().filter(|step| step.conflict == Some(Conflict::Uncovered));
    let told: Vec<_> = told.map(|step| step.path.clone()).collect();
    assert_eq!(told, [".env", "build/out"].map(PathBuf::from));
    assert!(is_private_left(&world) && world.read("t").is_none());
    assert_eq!(world.read(".gitignore").as_deref(), Some("target\n.env\nbuild\n"));
    world.unrevert();
    assert_eq!(world.files(), files);
    world.engine.revert(&mut world.session, first, &FORCE).unwrap();
    assert!(is_private_left(&world) && world.read("t").is_none());
}

#[test]
fn a_branch_brings_its_files_along_and_leaves_those_that_nobody_saw() {
    let mut world = shown();
    let first = world.answers()[0];
    world.engine.branch_with_files(&mut world.session, first, &FORCE).unwrap();
    assert!(is_private_left(&world) && world.read("t").is_none());
}

#[test]
fn a_restore_leaves_what_the_snapshot_did_not_cover() {
    let mut world = World::new();
    world.put(".gitignore", Some(".env\n"));
    world.put(".env", Some("KEY=1\n"));
    world.engine.snapshot(&mut world.session, Some("one")).unwrap();
    world.put(".gitignore", Some(""));
    world.engine.snapshot(&mut world.session, Some("two")).unwrap();
    let report = world.restore("one", &FORCE);
    assert_eq!(report.restored.kept, [PathBuf::from(".env")]);
    assert_eq!((world.read(".env").as_deref(), world.read(".gitignore").as_deref()), (Some("KEY=1\n"), Some(".env\n")));
}

#[test]
fn what_somebody_wrote_to_a_file_of_ours_while_nobody_looked_is_a_conflict() {
    let mut world = World::new();
    world.turn("first", &[]);
    world.turn("second", &[&[("a.txt", Some("1\n"))]]);
    world.turn("third", &[&[(".gitignore", Some("a.txt\n"))]]);
    world.put("a.txt", Some("mine\n"));
    world.turn("fourth", &[&[(".gitignore", None)]]);
    let first = world.answers()[0];
    let report = world.revert(first);
    assert_eq!(report.files.restored.kept, [PathBuf::from("a.txt")]);
    assert_eq!(world.read("a.txt").as_deref(), Some("mine\n"));
}
