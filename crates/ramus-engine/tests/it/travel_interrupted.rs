//! A restore or revert that is interrupted: files and conversation end together, or neither moves.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use ramus_engine::{ErrorKind, RestoreOptions, Say, TagChange, TodoChange};
use ramus_model::EntryId;
use ramus_model::todo::Task;

use crate::travel_world::World;

const OPTIONS: RestoreOptions = RestoreOptions { dry_run: false, force: false, only: Vec::new() };

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
fn an_undo_that_was_interrupted_takes_the_conversation_along_too() {
    for way in ["undo", "redo"] {
        let mut world = World::new();
        world.turn("first", &[&[("a.txt", Some("1\n"))]]);
        world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", Some("2\n"))]]);
        let before = state(&world);
        let options = RestoreOptions::default();
        world.engine.undo(&mut world.session, &options).unwrap();
        let mut after = state(&world);
        assert_ne!(after, before);
        if way == "redo" {
            world.engine.redo(&mut world.session, &options).unwrap();
            after = state(&world);
            assert_eq!(after, before);
        }
        let bytes = fs::read(log(&world)).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        let said = |line: &&[u8]| String::from_utf8_lossy(line).contains("\"takes_back\"");
        let safety = lines.iter().rposition(said).unwrap();
        fs::write(log(&world), lines[..=safety].concat()).unwrap();
        reopen(&mut world);
        assert_ne!(world.leaf(), after.1, "it was killed before the conversation moved");
        world.engine.recover(&mut world.session).unwrap();
        assert_eq!(state(&world), after, "{way}: {:?}", world.session.notices());
        // From here on everything is as if nothing had happened.
        let operations = |world: &mut World| match way {
            "undo" => world.engine.redo(&mut world.session, &options).map(|_| ()),
            _ => world.engine.undo(&mut world.session, &options).map(|_| ()),
        };
        operations(&mut world).unwrap();
        assert_ne!(state(&world).0, after.0, "{way}");
    }
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

/// The same as [`reverted`], found by somebody who opens the session anew.
fn killed() -> (World, State, State) {
    let (mut world, before, after, kept) = reverted();
    fs::write(log(&world), kept).unwrap();
    reopen(&mut world);
    (world, before, after)
}

/// What was interrupted is done, and what came since hangs from where it led to.
fn assert_ended_before_all_else(world: &World, after: &State) {
    let notices = world.session.notices();
    assert!(notices.iter().any(|notice| notice.contains("is now done")), "{notices:?}");
    assert_eq!(world.files(), after.0);
    let path = world.session.log().path(world.session.log().leaf());
    assert!(path.iter().any(|seq| Some(world.session.entry_id(*seq)) == after.1), "it hangs from where it was before");
}

#[test]
fn an_undo_behind_a_revert_that_was_killed_takes_back_all_of_it() {
    let (mut world, before, after) = killed();
    let undone = world.engine.undo(&mut world.session, &OPTIONS).unwrap();
    assert_eq!(undone.operation.name, "revert");
    assert_eq!(state(&world), before, "files and conversation came back together");
    world.engine.redo(&mut world.session, &OPTIONS).unwrap();
    assert_eq!(state(&world), after);
}

#[test]
fn a_redo_behind_an_undo_that_was_killed_finds_it_done() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", Some("2\n"))]]);
    let before = state(&world);
    world.engine.undo(&mut world.session, &OPTIONS).unwrap();
    let bytes = fs::read(log(&world)).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let said = |line: &&[u8]| String::from_utf8_lossy(line).contains("\"takes_back\"");
    let safety = lines.iter().rposition(said).unwrap();
    fs::write(log(&world), lines[..=safety].concat()).unwrap();
    reopen(&mut world);
    world.engine.redo(&mut world.session, &OPTIONS).unwrap();
    assert_eq!(state(&world), before);
    // A revert that was killed is ended as well, and is nothing that was undone.
    let (mut world, _, after) = killed();
    let nothing = world.engine.redo(&mut world.session, &OPTIONS).unwrap_err();
    assert_eq!((nothing.kind(), state(&world)), (ErrorKind::Conflict, after));
}

#[test]
fn whatever_is_written_comes_behind_what_was_interrupted() {
    type Write = fn(&mut World);
    let writes: [(&str, Write); 4] = [
        ("todo", |world| {
            let add = TodoChange::Add(Task { text: "later".into(), ..Task::default() });
            world.engine.change_todos(&mut world.session, &add).unwrap();
        }),
        ("replace-segment", |world| {
            let first = world.session.log().path(world.session.log().leaf())[0];
            world.engine.replace_segment(&mut world.session, first, first, "it began").unwrap();
        }),
        ("tag", |world| {
            let add = TagChange::Add(vec!["kept".into()]);
            world.engine.change_tags(&mut world.session, &add).unwrap();
        }),
        ("say", |world| drop(world.engine.say(&mut world.session, Say::user("go on")).unwrap())),
    ];
    for (name, write) in writes {
        let (mut world, before, after) = killed();
        write(&mut world);
        assert_ended_before_all_else(&world, &after);
        // And all of it can be taken back, one after the other.
        let undo = |world: &mut World| world.engine.undo(&mut world.session, &OPTIONS).unwrap().operation;
        assert_ne!(undo(&mut world).name, "revert", "{name}");
        assert_eq!(undo(&mut world).name, "revert", "{name}");
        assert_eq!(state(&world), before, "{name}");
    }
}

#[test]
fn a_session_that_is_open_already_ends_what_another_process_left() {
    let (mut world, _, after, kept) = reverted();
    let bytes = fs::read(log(&world)).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    // It was opened, and written to, before the other process came.
    fs::write(log(&world), lines[..lines.len() - 3].concat()).unwrap();
    reopen(&mut world);
    let add = TagChange::Add(vec!["kept".into()]);
    world.engine.change_tags(&mut world.session, &add).unwrap();
    let safety = lines[lines.len() - 3];
    assert!(kept.ends_with(safety));
    fs::OpenOptions::new().append(true).open(log(&world)).unwrap().write_all(safety).unwrap();
    world.engine.say(&mut world.session, Say::user("go on")).unwrap();
    assert_ended_before_all_else(&world, &after);
}

#[test]
fn a_reset_of_a_workspace_ends_a_killed_turn_first() {
    let mut world = World::new();
    let storage = world.folder.path().join("storage");
    let root = world.engine.make_workspace(&mut world.session, &storage).unwrap().root;
    let initial = world.snapshots()[0].clone();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    let bytes = fs::read(log(&world)).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let started = lines.iter().rposition(|line| String::from_utf8_lossy(line).contains("ramus.started")).unwrap();
    fs::write(log(&world), lines[..=started].concat()).unwrap();
    fs::write(root.join("half"), "half\n").unwrap();
    reopen(&mut world);
    world.engine.reset_workspace(&mut world.session, &initial, false).unwrap();
    assert!(!root.join("half").exists());
    let told = fs::read_to_string(log(&world)).unwrap();
    let at = |what: &str| told.lines().position(|line| line.contains(what));
    let (result, safety) = (at("toolResult"), at("\"intent\""));
    assert!(result.is_some() && result < safety, "the call has a result before files are reset: {result:?} {safety:?}");
}
