//! Files where a conversation goes on from an earlier answer: in branches, in forks, and behind a revert that was undone and
//! done again.

use ramus_engine::{Children, ErrorKind, ForkOptions, RestoreOptions, Say, Session, Summary};
use ramus_model::Seq;

use crate::travel_world::{World, told};

const OPTIONS: RestoreOptions = RestoreOptions { dry_run: false, force: false, only: Vec::new() };

fn summary(additions: u64, deletions: u64, files: u64) -> Summary {
    Summary { additions, deletions, files }
}

/// Puts a fork from an entry in the place of the session, which is returned.
fn fork(world: &mut World, entry: Seq) -> Session {
    let forked = world.engine.fork(&world.session, entry, &ForkOptions::default()).unwrap();
    let fork = world.engine.open_fork(&forked).unwrap();
    std::mem::replace(&mut world.session, fork)
}

/// The labels of the snapshots on the path, newest first.
fn lineage(world: &World) -> Vec<String> {
    world.snapshots().into_iter().filter(|one| one.is_on_path).map(|one| one.label).collect()
}

#[test]
fn a_fork_undoes_nothing_that_its_origin_did_elsewhere() {
    let mut world = World::new();
    world.turn("t1", &[&[("f1", Some("1"))]]);
    let first = world.answers()[0];
    world.turn("t2", &[&[("f2", Some("2"))]]);
    let origin = fork(&mut world, first);
    let labels: Vec<String> = world.snapshots().into_iter().map(|one| one.label).collect();
    assert_eq!(labels, ["After: t1"]);
    world.turn("t4", &[&[("f4", Some("4"))]]);
    let dry = world.engine.revert(&mut world.session, first, &RestoreOptions { dry_run: true, ..OPTIONS }).unwrap();
    assert_eq!(told(&dry.files.plan), [("f4".to_owned(), false)]);
    world.revert(first);
    assert_eq!((world.read("f2").as_deref(), world.read("f4")), (Some("2"), None));
    // The origin still can.
    world.session = origin;
    world.revert(first);
    assert_eq!((world.read("f1").as_deref(), world.read("f2")), (Some("1"), None));
}

#[test]
fn a_turn_counts_where_the_conversation_goes_on_from_its_answer() {
    let back: [fn(&mut World, Seq); 3] = [
        |world, entry| drop(world.revert(entry)),
        |world, entry| drop(world.engine.branch(&mut world.session, entry).unwrap()),
        |world, entry| drop(fork(world, entry)),
    ];
    for go in back {
        let mut world = World::new();
        for (prompt, text) in [("t1", "1\n"), ("t2", "2\n"), ("t3", "3\n")] {
            world.turn(prompt, &[&[("a", Some(text))]]);
        }
        let second = world.answers()[1];
        go(&mut world, second);
        assert_eq!(world.session.info().unwrap().summary, summary(2, 1, 1));
        assert_eq!(lineage(&world), ["After: t2", "After: t1"]);
        world.turn("t4", &[&[("b", Some("4\n"))]]);
        assert_eq!(world.session.info().unwrap().summary, summary(3, 1, 2));
        assert_eq!(lineage(&world), ["After: t4", "After: t2", "After: t1"]);
        // A file of a turn that hangs beside the path is known.
        world.turn("t5", &[&[("a", Some("5\n"))]]);
        assert_eq!(world.session.info().unwrap().summary, summary(4, 2, 2));
    }
}

#[test]
fn a_fork_knows_what_turns_did_when_its_origin_is_gone_and_when_it_is_exported() {
    let mut world = World::new();
    world.turn("t1", &[&[("a", Some("1\n"))]]);
    let first = world.answers()[0];
    world.turn("t2", &[&[("a", Some("2\n"))]]);
    let origin = fork(&mut world, first);
    world.turn("t3", &[&[("b", Some("3\n"))]]);
    let known = (world.session.info().unwrap().summary, lineage(&world));
    assert_eq!(known, (summary(2, 0, 2), vec!["After: t3".to_owned(), "After: t1".to_owned()]));
    let exported = world.engine.export(&world.session).unwrap();
    let text = String::from_utf8(exported).unwrap();
    assert!(text.contains("After: t1") && !text.contains("After: t2"), "{text}");
    world.engine.delete(&origin, Children::Orphan, false).unwrap();
    let id = world.session.id().clone();
    world.session = world.engine.open(id.as_str(), "/").unwrap();
    assert_eq!((world.session.info().unwrap().summary, lineage(&world)), known);
}

#[test]
fn a_revert_that_is_undone_and_done_again_can_be_taken_back() {
    let mut world = World::new();
    world.turn("t1", &[&[("a", Some("1\n"))]]);
    world.turn("t2", &[&[("a", Some("2\n"))]]);
    let (first, leaf) = (world.answers()[0], world.leaf());
    world.revert(first);
    let mark = world.session.revert_mark().unwrap().unwrap();
    let texts = world.texts();
    world.engine.undo(&mut world.session, &OPTIONS).unwrap();
    assert_eq!((world.session.revert_mark().unwrap(), world.read("a").as_deref()), (None, Some("2\n")));
    assert_eq!(world.engine.unrevert(&mut world.session, &OPTIONS).unwrap_err().kind(), ErrorKind::Conflict);
    world.engine.redo(&mut world.session, &OPTIONS).unwrap();
    let again = world.session.revert_mark().unwrap().unwrap();
    assert_eq!((&again.message, &again.diff, &again.snapshot), (&mark.message, &mark.diff, &mark.snapshot));
    assert_eq!((world.texts(), world.read("a").as_deref()), (texts, Some("1\n")));
    world.unrevert();
    assert_eq!((world.leaf(), world.read("a").as_deref()), (leaf, Some("2\n")));
    // Taking that back leads behind the revert again.
    world.engine.undo(&mut world.session, &OPTIONS).unwrap();
    assert_eq!((world.session.revert_mark().unwrap().is_some(), world.read("a").as_deref()), (true, Some("1\n")));
    world.unrevert();
    assert_eq!(world.read("a").as_deref(), Some("2\n"));
}

#[test]
fn a_session_that_worked_elsewhere_in_between_goes_back_to_what_was_here() {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    let (first, here) = (world.snapshots()[0].id(), world.answers()[0]);
    world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", Some("2\n"))]]);
    let elsewhere = world.folder.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let (home, elsewhere) = (world.project().display().to_string(), elsewhere.display().to_string());
    world.engine.move_to(&mut world.session, &elsewhere).unwrap();
    world.tools_in(Some(&elsewhere));
    world.turn("third", &[&[("a.txt", Some("there\n"))]]);
    world.engine.snapshot(&mut world.session, Some("there")).unwrap();
    world.engine.move_to(&mut world.session, &home).unwrap();
    world.tools_in(None);
    world.put("mine.txt", Some("mine too\n"));
    // What a person did here meanwhile is still theirs: what was asked for over there keeps nothing of it.
    let report = world.restore(&first, &OPTIONS);
    assert_eq!(
        told(&report.plan),
        [("a.txt", false), ("b.txt", false), ("mine.txt", true)].map(|(path, is)| (path.to_owned(), is))
    );
    assert_eq!((world.read("a.txt").as_deref(), world.read("b.txt")), (Some("1\n"), None));
    assert_eq!(world.read("mine.txt").as_deref(), Some("mine too\n"));
    world.engine.undo(&mut world.session, &OPTIONS).unwrap();
    world.engine.branch_with_files(&mut world.session, here, &OPTIONS).unwrap();
    assert_eq!((world.read("a.txt").as_deref(), world.read("b.txt")), (Some("1\n"), None));
}

#[test]
fn what_was_said_behind_a_revert_is_undone_and_then_the_revert() {
    let mut world = World::new();
    world.turn("t1", &[&[("a", Some("1\n"))]]);
    world.turn("t2", &[&[("a", Some("2\n"))]]);
    let (first, leaf) = (world.answers()[0], world.leaf());
    world.revert(first);
    let mark = world.session.revert_mark().unwrap().unwrap();
    world.engine.say(&mut world.session, Say::user("go on")).unwrap();
    let undo = |world: &mut World| world.engine.undo(&mut world.session, &OPTIONS).unwrap().operation.name;
    let redo = |world: &mut World| world.engine.redo(&mut world.session, &OPTIONS).unwrap().operation.name;
    assert_eq!(undo(&mut world), "say");
    let again = world.session.revert_mark().unwrap().unwrap();
    assert_eq!((again.message, again.diff), (mark.message, mark.diff), "it is in force again");
    assert_eq!(undo(&mut world), "revert");
    assert_eq!((world.leaf(), world.read("a").as_deref()), (leaf, Some("2\n")));
    assert_eq!([redo(&mut world), redo(&mut world)], ["undo", "undo"]);
    assert!(world.texts().contains(&"go on".to_owned()) && world.read("a").as_deref() == Some("1\n"));
    assert_eq!([undo(&mut world), undo(&mut world)], ["say", "revert"]);
}
