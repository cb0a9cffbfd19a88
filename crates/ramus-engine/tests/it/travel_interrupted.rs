//! A restore or revert that is interrupted: files and conversation end together, or neither moves.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use ramus_engine::{RestoreOptions, Say};
use ramus_model::EntryId;

use crate::travel_world::World;

/// What a person sees: the files, and where the conversation goes on.
type State = (BTreeMap<PathBuf, Vec<u8>>, Option<EntryId>);

fn state(world: &World) -> State {
    (world.files(), world.leaf())
}

fn log(world: &World) -> PathBuf {
    world.session.location().path.clone().unwrap()
}

fn reopen(world: &mut World) {
    world.session = world.engine.open(world.session.id().as_str(), "/").unwrap();
}

fn put_back(world: &World, files: &BTreeMap<PathBuf, Vec<u8>>) {
    for path in world.files().keys().filter(|path| !files.contains_key(*path)) {
        fs::remove_file(world.project().join(path)).unwrap();
    }
    for (path, content) in files {
        let path = world.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

/// Two turns, a revert to the first, and the log as it was before its last `entries` entries were written.
fn reverted() -> (World, State, State, Vec<u8>) {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some("1\n")), ("b.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", None), ("c/d.txt", Some("2\n"))]]);
    let before = state(&world);
    let first = world.answers()[0];
    world.revert(first);
    let after = state(&world);
    let bytes = fs::read(log(&world)).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let kept: Vec<u8> = lines[..lines.len() - 2].concat();
    assert!(String::from_utf8_lossy(lines[lines.len() - 3]).contains("\"intent\""));
    (world, before, after, kept)
}

#[test]
fn files_that_were_restored_take_the_conversation_along() {
    let (mut world, before, after, kept) = reverted();
    fs::write(log(&world), &kept).unwrap();
    reopen(&mut world);
    assert_eq!(state(&world).0, after.0);
    assert_ne!(world.leaf(), after.1, "it was killed before the leaf moved");
    world.engine.recover(&mut world.session).unwrap();
    assert_eq!(state(&world), after);
    assert!(
        world.session.notices().iter().any(|notice| notice.contains("is now done")),
        "{:?}",
        world.session.notices()
    );
    world.unrevert();
    assert_eq!(state(&world), before, "it can be taken back like any other");
}

#[test]
fn files_that_were_not_touched_keep_the_conversation_where_it_is() {
    let (mut world, before, _, kept) = reverted();
    fs::write(log(&world), &kept).unwrap();
    put_back(&world, &before.0);
    // Somebody edits before anybody notices.
    world.put("mine.txt", Some("edited\n"));
    reopen(&mut world);
    let leaf = world.leaf();
    world.engine.recover(&mut world.session).unwrap();
    assert_eq!(world.read("mine.txt").as_deref(), Some("edited\n"));
    assert_eq!(world.read("a.txt").as_deref(), Some("2\n"));
    let session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let on_path = session.log().ancestors(session.log().leaf());
    assert!(on_path.into_iter().any(|seq| Some(session.entry_id(seq)) == leaf));
    assert!(world.session.info().unwrap().revert.is_none());
    // And it can be begun anew.
    let first = world.answers()[0];
    world.revert(first);
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    assert_eq!(world.read("mine.txt").as_deref(), Some("edited\n"));
}

#[test]
fn edits_of_a_person_between_the_crash_and_the_end_stay_theirs() {
    let (mut world, _, after, kept) = reverted();
    fs::write(log(&world), &kept).unwrap();
    world.put("b.txt", Some("a person was faster\n"));
    reopen(&mut world);
    world.engine.say(&mut world.session, Say::user("go on")).unwrap();
    let path = world.session.log().path(world.session.log().leaf());
    assert!(path.iter().any(|seq| Some(world.session.entry_id(*seq)) == after.1), "the leaf moved before it was said");
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    assert_eq!(world.read("b.txt").as_deref(), Some("a person was faster\n"));
}

#[test]
fn a_restore_that_was_interrupted_is_noted_and_a_turn_looks_too() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n"))]]);
    let first = world.snapshots().last().unwrap().id();
    world.restore(&first, &RestoreOptions::default());
    let bytes = fs::read(log(&world)).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    fs::write(log(&world), lines[..lines.len() - 1].concat()).unwrap();
    reopen(&mut world);
    let leaf = world.leaf();
    world.turn("third", &[&[("a.txt", Some("3\n"))]]);
    let path = world.session.log().path(world.session.log().leaf());
    assert!(path.iter().any(|seq| Some(world.session.entry_id(*seq)) == leaf), "the conversation stays");
    let labels: Vec<String> = world.snapshots().into_iter().map(|one| one.label).collect();
    assert!(labels.contains(&format!("Restored {first}")), "{labels:?}");
    // What the restore changed counts as ours, so it is undone with the rest.
    let answer = world.answers()[1];
    let report = world.revert(answer);
    assert_eq!(report.files.restored.kept, Vec::<PathBuf>::new());
    assert_eq!(world.read("a.txt").as_deref(), Some("2\n"));
}
