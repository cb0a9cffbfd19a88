//! Snapshots of turns, and going back with files and conversation: what somebody else changed is never lost.

use std::fs;
use std::path::{Path, PathBuf};

use ramus_engine::{Cause, ErrorKind, RestoreOptions, Say, Summary};
use serde_json::json;

use crate::travel_world::{World, changing, put, told};

const FORCE: RestoreOptions = RestoreOptions { dry_run: false, force: true, only: Vec::new() };

#[test]
fn a_turn_says_what_it_changed_and_one_that_only_looks_costs_nothing() {
    let mut world = World::new();
    world.put("a.txt", Some("one\ntwo\n"));
    let looked = world.turn_with("look", &[json!({})], |_, _| ());
    assert_eq!((looked.files.snapshot, looked.files.summary), (None, Summary::default()));
    assert!(!world.has_store(), "nothing was looked at");
    let prompt = format!("change   it\n{}", "x".repeat(80));
    let done = world.turn(&prompt, &[&[("a.txt", Some("one\n2\n"))], &[("b/c.txt", Some("new\n"))]]);
    assert_eq!(done.files.summary, Summary { additions: 2, deletions: 1, files: 2 });
    let snapshots = world.snapshots();
    assert_eq!(snapshots.len(), 1);
    assert_eq!(Some(snapshots[0].id()), done.files.snapshot);
    assert_eq!(snapshots[0].label, format!("After: change it {}", "x".repeat(50)));
    assert_eq!((snapshots[0].cause, snapshots[0].files), (Cause::Turn, 2));
    let info = world.session.info().unwrap();
    assert_eq!(info.summary, done.files.summary);
    assert_eq!(info.latest_snapshot, done.files.snapshot);
    // Twice in one file is once a file, and changes that cancel out are none.
    let done = world.turn("again", &[&[("a.txt", Some("x\n"))], &[("a.txt", Some("one\n2\n"))], &[("n", Some("1\n"))]]);
    assert_eq!(done.files.summary, Summary { additions: 1, deletions: 0, files: 1 });
    assert_eq!(world.session.info().unwrap().summary, Summary { additions: 3, deletions: 1, files: 3 });
}

#[test]
fn the_commit_of_the_users_repository_is_read_from_its_files() {
    let mut world = World::new();
    let git = world.project().join(".git");
    fs::create_dir_all(git.join("refs/heads")).unwrap();
    fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    assert_eq!(world.turn("no commit yet", &[]).files.git.commit, None);
    let (loose, packed) = ("1".repeat(40), "2".repeat(40));
    fs::write(git.join("packed-refs"), format!("# pack-refs with: peeled\n{packed} refs/heads/main\n")).unwrap();
    assert_eq!(world.turn("packed", &[]).files.git.commit, Some(packed));
    fs::write(git.join("refs/heads/main"), format!("{loose}\n")).unwrap();
    assert_eq!(world.turn("loose", &[]).files.git.commit, Some(loose.clone()));
    assert_eq!(world.session.info().unwrap().git.commit, Some(loose));
    fs::write(git.join("HEAD"), "ref: ../../outside\n").unwrap();
    assert_eq!(world.turn("hostile", &[]).files.git.commit, None);
}

#[test]
fn going_back_and_forward_again_is_as_if_nothing_had_happened() {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("first", &[&[("a.txt", Some("1\n")), ("b.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n"))], &[("b.txt", None), ("deep/c.txt", Some("2\n"))]]);
    let (files, leaf, texts) = (world.files(), world.leaf(), world.texts());
    let first = world.answers()[0];
    let plan = world.engine.revert(&mut world.session, first, &RestoreOptions { dry_run: true, ..FORCE }).unwrap();
    assert!(!plan.is_done && world.files() == files && world.leaf() == leaf);
    let report = world.revert(first);
    assert_eq!(
        told(&report.files.plan),
        [("a.txt", false), ("b.txt", false), ("deep/c.txt", false)].map(|(path, is)| (path.to_owned(), is))
    );
    assert_eq!((world.read("a.txt").as_deref(), world.read("b.txt").as_deref()), (Some("1\n"), Some("1\n")));
    assert!(world.read("deep/c.txt").is_none() && !world.project().join("deep").exists());
    assert_eq!(world.session.log().leaf(), Some(first));
    let id = world.session.entry_id(first).to_string();
    assert_eq!(world.texts().last(), Some(&format!("Reverted to {id}")));
    let mark = world.session.info().unwrap().revert.unwrap();
    assert_eq!((mark.message, mark.part), (id, None));
    assert!(mark.diff.contains("-2\n+1\n") && mark.snapshot.is_some(), "{}", mark.diff);
    // The model is told nothing of it, and a label or a snapshot is nothing that was said.
    let context = world.session.context(world.session.log().leaf()).unwrap();
    assert!(!format!("{context:?}").contains("Reverted"));
    world.engine.label(&mut world.session, first, Some("good")).unwrap();
    world.engine.snapshot(&mut world.session, None).unwrap();
    let report = world.unrevert();
    assert!(report.is_done && report.files.restored.kept.is_empty());
    assert_eq!((world.files(), world.leaf(), world.texts()), (files, leaf, texts));
    assert_eq!(world.session.info().unwrap().revert, None);
    let again = world.engine.unrevert(&mut world.session, &FORCE).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
}

#[test]
fn going_back_twice_and_forward_once_leads_to_where_it_began() {
    let mut world = World::new();
    for number in ["1", "2", "3"] {
        let prompt = format!("turn {number}");
        world.turn(&prompt, &[&[("a.txt", Some(number)), (number, Some("x"))]]);
    }
    let (files, leaf) = (world.files(), world.leaf());
    let answers = world.answers();
    world.revert(answers[1]);
    world.revert(answers[0]);
    assert_eq!(world.read("a.txt").as_deref(), Some("1"));
    world.unrevert();
    assert_eq!((world.files(), world.leaf()), (files, leaf));
}

#[test]
fn a_revert_cannot_be_taken_back_once_something_was_said() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1"))]]);
    world.turn("second", &[&[("a.txt", Some("2"))]]);
    let first = world.answers()[0];
    world.revert(first);
    world.engine.say(&mut world.session, Say::user("another way")).unwrap();
    assert_eq!(world.session.info().unwrap().revert, None);
    let error = world.engine.unrevert(&mut world.session, &RestoreOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(world.read("a.txt").as_deref(), Some("1"));
    assert!(!world.texts().iter().any(|text| text.starts_with("Reverted")));
}

#[test]
fn what_somebody_changed_between_calls_and_turns_stays() {
    let mut world = World::new();
    world.put("both.txt", Some("theirs\n"));
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    let start = world.answers()[0];
    // Somebody edits a file before the agent does: going back leads to their edit.
    world.put("both.txt", Some("theirs, edited\n"));
    world.put("own.txt", Some("own\n"));
    let calls =
        [changing(&[("both.txt", Some("agent\n"))]), changing(&[("a.txt", Some("2\n")), ("late.txt", Some("2\n"))])];
    world.turn_with("second", &calls, |number, root| {
        if number == 1 {
            put(root, "meanwhile.txt", Some("between two calls\n"));
        }
        if number == 2 {
            put(root, "late.txt", Some("edited after the agent\n"));
        }
    });
    let report = world.revert(start);
    assert_eq!(
        told(&report.files.plan),
        [("a.txt", false), ("both.txt", false), ("late.txt", true)].map(|(path, is)| (path.to_owned(), is))
    );
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    assert_eq!(world.read("both.txt").as_deref(), Some("theirs, edited\n"));
    assert_eq!(world.read("own.txt").as_deref(), Some("own\n"));
    assert_eq!(world.read("meanwhile.txt").as_deref(), Some("between two calls\n"));
    assert_eq!(world.read("late.txt").as_deref(), Some("edited after the agent\n"));
    // What was edited since the revert is not lost by taking it back either.
    world.put("a.txt", Some("edited after the revert\n"));
    let report = world.unrevert();
    assert_eq!(report.files.restored.kept, ["a.txt"].map(std::path::PathBuf::from));
    assert_eq!(world.read("a.txt").as_deref(), Some("edited after the revert\n"));
    assert_eq!(world.read("both.txt").as_deref(), Some("agent\n"));
}

#[test]
fn what_a_restore_left_alone_is_left_alone_again_and_force_takes_it() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n")), ("b.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n")), ("b.txt", Some("2\n"))]]);
    let first = world.snapshots().last().unwrap().id();
    world.put("a.txt", Some("edited\n"));
    world.put("own.txt", Some("own\n"));
    for _ in 0..3 {
        let report = world.restore(&first, &RestoreOptions::default());
        assert_eq!(world.read("a.txt").as_deref(), Some("edited\n"), "{:?}", report.plan);
        assert_eq!(world.read("b.txt").as_deref(), Some("1\n"));
        assert!(report.plan.steps.iter().any(|step| step.path.ends_with("a.txt") && step.conflict.is_some()));
    }
    let report = world.restore(&first, &FORCE);
    assert_eq!((world.read("a.txt").as_deref(), world.read("own.txt").as_deref()), (Some("1\n"), Some("own\n")));
    // What was there is kept, and can be had again.
    let safety = report.safety.unwrap().id();
    world.restore(&safety, &RestoreOptions::default());
    assert_eq!(world.read("a.txt").as_deref(), Some("edited\n"));
    assert_eq!(world.texts().len(), 8, "the conversation stays");
}

#[test]
fn what_somebody_kept_on_purpose_may_be_replaced() {
    let mut world = World::new();
    world.put("a.txt", Some("1\n"));
    world.engine.snapshot(&mut world.session, Some("one")).unwrap();
    world.put("a.txt", Some("2\n"));
    world.put("new.txt", Some("2\n"));
    world.engine.snapshot(&mut world.session, Some("two")).unwrap();
    let report = world.restore("one", &RestoreOptions::default());
    // What only they made was never an agent's to remove, kept or not.
    assert_eq!(report.restored.kept, [Path::new("new.txt")]);
    assert_eq!((world.read("a.txt").as_deref(), world.read("new.txt").as_deref()), (Some("1\n"), Some("2\n")));
    world.restore("one", &FORCE);
    assert_eq!((world.read("a.txt").as_deref(), world.read("new.txt")), (Some("1\n"), None));
    world.restore("two", &RestoreOptions { only: vec!["new.txt".into()], ..RestoreOptions::default() });
    assert_eq!((world.read("a.txt").as_deref(), world.read("new.txt").as_deref()), (Some("1\n"), Some("2\n")));
}

#[test]
fn where_no_snapshot_can_be_taken_the_turn_goes_on_and_says_so_once() {
    let mut world = World::in_directory(Some("/"));
    let done = world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    assert!(done.files.without.as_deref().is_some_and(|reason| reason.contains("root of everything")));
    assert_eq!((done.finish_reason(), done.files.snapshot.as_deref()), ("stop", None));
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    let said = |world: &World| world.session.notices().iter().filter(|notice| notice.contains("taken back")).count();
    assert_eq!(said(&world), 1);
    world.turn("only talk", &[]);
    world.turn("second", &[&[("a.txt", Some("2\n"))]]);
    assert_eq!(said(&world), 1, "{:?}", world.session.notices());
    // The conversation can go back all the same.
    let first = world.answers()[0];
    assert!(world.revert(first).is_done);
    assert_eq!((world.read("a.txt").as_deref(), world.session.log().leaf()), (Some("2\n"), Some(first)));
}

#[test]
fn going_back_into_the_middle_of_a_turn_keeps_what_was_done_by_then() {
    let mut world = World::new();
    world.turn("all", &[&[("a.txt", Some("1\n"))], &[("a.txt", Some("2\n"))], &[("a.txt", Some("3\n"))]]);
    let log = world.session.log();
    let results = log.path(log.leaf()).into_iter();
    let results: Vec<_> = results
        .filter(|seq| log.record(*seq).is_some_and(|record| record.role == ramus_model::Role::ToolResult))
        .collect();
    world.revert(results[1]);
    assert_eq!(world.read("a.txt").as_deref(), Some("2\n"));
    world.revert(results[0]);
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    world.unrevert();
    assert_eq!(world.read("a.txt").as_deref(), Some("3\n"));
}

#[test]
fn a_workspace_of_its_own_is_described_and_reset_exactly() {
    let mut world = World::new();
    let elsewhere = world.engine.describe_workspace(&mut world.session).unwrap();
    assert!(!elsewhere.is_owned && elsewhere.mounts.is_empty());
    let storage = world.folder.path().join("storage");
    let home = world.folder.path().join("home/inside");
    assert_eq!(world.engine.make_workspace(&mut world.session, &home).unwrap_err().kind(), ErrorKind::Invalid);
    let made = world.engine.make_workspace(&mut world.session, &storage).unwrap();
    let id = world.session.id().to_string();
    assert_eq!(
        (made.id.as_str(), made.mount.as_str(), made.is_dirty),
        (id.as_str(), &*format!("/mnt/{id}"), Some(false))
    );
    let names: Vec<&str> = made.mounts.iter().map(|mount| mount.name.as_str()).collect();
    assert_eq!(names, ["mnt", "output", "tmp"]);
    assert!(made.mounts.iter().all(|mount| mount.path.is_dir()) && storage.join("deployments").is_dir());
    assert_eq!(
        (world.session.cwd(), world.session.workspace().root.as_deref()),
        (made.root.to_str().unwrap(), made.root.to_str())
    );
    let initial = world.snapshots()[0].clone();
    assert_eq!(initial.label, "Initial workspace state");
    put(&made.root, "mnt/a.txt", Some("agent or person, it goes"));
    put(&made.root, "stray/b.txt", Some("so does this"));
    let dirty = world.engine.describe_workspace(&mut world.session).unwrap();
    assert_eq!(dirty.is_dirty, Some(true));
    let planned = world.engine.reset_workspace(&mut world.session, &initial, true).unwrap();
    assert!(planned.plan.steps.len() == 2 && made.root.join("mnt/a.txt").exists());
    let report = world.engine.reset_workspace(&mut world.session, &initial, false).unwrap();
    assert!(!made.root.join("mnt/a.txt").exists() && !made.root.join("stray").exists());
    assert!(made.mounts.iter().all(|mount| mount.path.is_dir()), "the standard directories stay");
    // It can be taken back, and newer snapshots stay listed.
    let safety = report.safety.unwrap();
    world.engine.reset_workspace(&mut world.session, &safety, false).unwrap();
    assert!(made.root.join("mnt/a.txt").exists() && made.root.join("stray/b.txt").exists());
    assert!(world.snapshots().len() >= 4);
    assert_eq!(world.engine.make_workspace(&mut world.session, &storage).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn what_a_log_says_is_no_proof_that_a_directory_may_be_reset() {
    let mut world = World::new();
    world.put("a.txt", Some("1"));
    let taken = world.engine.snapshot(&mut world.session, Some("one")).unwrap().snapshot;
    let root = world.project().display().to_string();
    let claim = json!({"op": "workspace", "client": "x", "set": {"workspace": {"root": root, "session": "x"}}});
    let draft = ramus_model::Draft::new(ramus_model::Body::ramus("meta", claim));
    world.engine.append(&mut world.session, &[draft], &ramus_engine::Cursor::Leaf).unwrap();
    world.put("mine.txt", Some("mine"));
    let error = world.engine.reset_workspace(&mut world.session, &taken, false).unwrap_err();
    assert_eq!((error.kind(), world.read("mine.txt").as_deref()), (ErrorKind::Invalid, Some("mine")));
}

#[test]
fn g12_every_branch_of_the_conversation_brings_its_own_files() {
    let mut world = World::new();
    world.put("mine.txt", Some("mine\n"));
    world.turn("begin", &[&[("a.txt", Some("0\n"))]]);
    let start = world.answers()[0];
    let options = RestoreOptions::default();
    world.turn("one way", &[&[("a.txt", Some("1\n")), ("one.txt", Some("1\n"))]]);
    let (one, files) = (*world.answers().last().unwrap(), world.files());
    let done = world.engine.branch_with_files(&mut world.session, start, &options).unwrap();
    assert!(done.is_done && done.files.restored.kept.is_empty(), "{done:?}");
    assert_eq!((world.read("a.txt").as_deref(), world.read("one.txt")), (Some("0\n"), None));
    assert_eq!(world.session.log().leaf(), Some(start));
    world.turn("another way", &[&[("a.txt", Some("2\n")), ("two.txt", Some("2\n"))]]);
    let (two, others) = (*world.answers().last().unwrap(), world.files());
    for _ in 0..2 {
        world.engine.branch_with_files(&mut world.session, one, &options).unwrap();
        assert_eq!(world.files(), files);
        world.engine.branch_with_files(&mut world.session, two, &options).unwrap();
        assert_eq!(world.files(), others);
    }
    // What a person changes goes nowhere.
    world.put("mine.txt", Some("edited\n"));
    world.put("two.txt", Some("edited too\n"));
    let done = world.engine.branch_with_files(&mut world.session, one, &options).unwrap();
    assert_eq!(done.files.restored.kept, ["mine.txt", "two.txt"].map(std::path::PathBuf::from));
    assert_eq!(world.read("mine.txt").as_deref(), Some("edited\n"));
    assert_eq!(world.read("two.txt").as_deref(), Some("edited too\n"));
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
    assert_eq!(world.session.log().leaf(), Some(one));
    let again = world.engine.branch_with_files(&mut world.session, one, &options).unwrap();
    assert!(!again.is_done, "it is there already");
}

#[test]
fn a_session_that_was_moved_says_why_it_cannot_go_back() {
    let mut world = World::new();
    world.turn("first", &[&[("a.txt", Some("1\n"))]]);
    world.turn("second", &[&[("a.txt", Some("2\n"))]]);
    let (first, snapshot) = (world.answers()[0], world.snapshots()[1].clone());
    let elsewhere = world.folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    world.engine.move_to(&mut world.session, elsewhere.to_str().unwrap()).unwrap();
    let refused = [
        world.engine.revert(&mut world.session, first, &FORCE).unwrap_err(),
        world.engine.restore(&mut world.session, &snapshot, &FORCE).unwrap_err(),
        world.engine.branch_with_files(&mut world.session, first, &FORCE).unwrap_err(),
    ];
    for error in refused {
        assert_eq!(error.kind(), ErrorKind::Conflict);
        assert!(error.to_string().contains("another directory"), "{error}");
    }
    assert_eq!(world.read("a.txt").as_deref(), Some("2\n"));
    let project = world.project().display().to_string();
    world.engine.move_to(&mut world.session, &project).unwrap();
    world.revert(first);
    assert_eq!(world.read("a.txt").as_deref(), Some("1\n"));
}

#[test]
fn what_a_person_writes_while_a_call_runs_is_theirs_when_the_call_is_known_not_to_have() {
    let mut world = World::new();
    for path in ["notes.txt", "both.txt", "gone.txt"] {
        world.put(path, Some("before\n"));
    }
    world.turn("first", &[]);
    let start = world.answers()[0];
    let mine = ("both.txt", Some("agent\n"));
    let mut call = changing(&[
        ("a.txt", Some("1\n")),
        mine,
        ("gone.txt", None),
        ("new.txt", Some("by hand\n")),
        ("notes.txt", Some("by hand\n")),
    ]);
    call["own"] = json!(["a.txt", "both.txt"]);
    let result = world.turn_with("second", &[call], |_, _| ());
    assert_eq!(result.files.summary.files, 2, "what is not the call's does not count as its work");
    // And it may be theirs the second time although it was the call's the first time.
    let mut call = changing(&[("a.txt", Some("2\n")), ("both.txt", Some("by hand\n"))]);
    call["own"] = json!(["a.txt"]);
    world.turn_with("third", &[call], |_, _| ());
    let snapshot = world.snapshots().last().unwrap().clone();
    assert_eq!(snapshot.cause, Cause::Turn);
    let before = world.files();
    let report = world.revert(start);
    assert_eq!(told(&report.files.plan), [("a.txt".to_owned(), false), ("both.txt".to_owned(), true)]);
    let read = |path: &str| world.read(path);
    assert_eq!((read("a.txt"), read("gone.txt")), (None, None));
    assert_eq!(["notes.txt", "new.txt", "both.txt"].map(|path| read(path).unwrap()), ["by hand\n"; 3]);
    world.unrevert();
    assert_eq!(world.files(), before);
    // An undo of the turn leaves it alone too.
    world.engine.undo(&mut world.session, &RestoreOptions::default()).unwrap();
    world.engine.undo(&mut world.session, &RestoreOptions::default()).unwrap();
    let undone = world.engine.undo(&mut world.session, &RestoreOptions::default()).unwrap();
    assert_eq!(told(&undone.files.plan), [("a.txt".to_owned(), false)]);
    assert_eq!(world.read("both.txt").as_deref(), Some("by hand\n"));
}

#[test]
fn what_a_person_writes_while_nobody_looks_on_counts_as_the_calls_and_is_kept() {
    let mut world = World::new();
    world.put("notes.txt", Some("before\n"));
    world.turn("first", &[]);
    let start = world.answers()[0];
    // Nobody can tell who wrote the notes: they changed between two looks around one call, and nobody looked on.
    world.turn("second", &[&[("a.txt", Some("1\n")), ("notes.txt", Some("written by hand meanwhile\n"))]]);
    let report = world.revert(start);
    assert_eq!(world.read("notes.txt").as_deref(), Some("before\n"));
    let safety = report.files.safety.unwrap();
    let only = RestoreOptions { only: vec!["notes.txt".into()], ..RestoreOptions::default() };
    world.restore(&safety.id(), &only);
    assert_eq!(world.read("notes.txt").as_deref(), Some("written by hand meanwhile\n"));
    assert!(world.read("a.txt").is_none());
    let mut world = World::new();
    world.put("notes.txt", Some("before\n"));
    world.turn("first", &[]);
    let start = world.answers()[0];
    world.turn("second", &[&[("notes.txt", Some("written by hand meanwhile\n"))]]);
    world.revert(start);
    world.unrevert();
    assert_eq!(world.read("notes.txt").as_deref(), Some("written by hand meanwhile\n"));
}

#[test]
fn what_was_there_before_a_turn_and_between_its_calls_can_be_gone_back_to() {
    let mut world = World::new();
    world.put("mine.txt", Some("0\n"));
    world.turn("first", &[&[("a.txt", Some("1\n"))], &[("b.txt", Some("1\n"))]]);
    world.put("mine.txt", Some("1\n"));
    world.turn("second", &[&[("a.txt", Some("2\n"))]]);
    world.turn("third", &[&[("a.txt", Some("3\n"))]]);
    let states = world.engine.states(&world.session).unwrap();
    let told: Vec<(&str, u64)> = states.iter().map(|one| (&*one.label, one.files)).collect();
    // What a snapshot tells is not told again: nothing happened between the second turn and the third.
    let expected =
        [("After: third", 3), ("After: second", 3), ("Before: second", 3), ("After: first", 3), ("Before: first", 1)];
    assert_eq!(told, expected);
    assert_eq!(world.snapshots().len(), 3, "nobody took them");
    let report = world.restore("Before: first", &RestoreOptions::default());
    assert_eq!(report.plan.conflicts().map(|step| step.path.clone()).collect::<Vec<_>>(), [PathBuf::from("mine.txt")]);
    assert_eq!(
        (world.read("a.txt"), world.read("b.txt"), world.read("mine.txt").as_deref()),
        (None, None, Some("1\n"))
    );
}

#[test]
fn a_restore_that_has_nothing_to_do_says_where_the_files_are() {
    let mut world = World::new();
    world.put("a.txt", Some("1\n"));
    let mut take = |label: &str| world.engine.snapshot(&mut world.session, Some(label)).unwrap().snapshot;
    let (one, two) = (take("one"), take("two"));
    assert_ne!(one.commit, two.commit);
    for (name, target) in [("two", &two), ("one", &one), ("two", &two)] {
        let before = world.session.log().len();
        let dry = RestoreOptions { dry_run: true, ..RestoreOptions::default() };
        world.restore(name, &dry);
        assert_eq!(world.session.log().len(), before, "nothing is written");
        world.restore(name, &RestoreOptions::default());
        assert_eq!(world.session.info().unwrap().latest_snapshot, Some(target.id()), "{name}");
        let len = world.session.log().len();
        world.restore(name, &RestoreOptions::default());
        assert_eq!(world.session.log().len(), len, "it says so once");
    }
}

#[test]
fn x9_what_was_taken_behind_a_restore_point_is_no_ancestor_of_what_is_there_now() {
    let mut world = World::new();
    let take = |world: &mut World, label: &str| {
        world.put("a.txt", Some(label));
        world.engine.snapshot(&mut world.session, Some(label)).unwrap();
    };
    let ancestors = |world: &World| -> Vec<String> {
        let all = world.snapshots().into_iter();
        all.filter(|one| one.is_ancestor && one.cause == Cause::Asked).map(|one| one.label).collect()
    };
    for label in ["a", "b", "c"] {
        take(&mut world, label);
    }
    assert_eq!(ancestors(&world), ["c", "b", "a"]);
    world.restore("a", &RestoreOptions::default());
    assert_eq!(ancestors(&world), ["a"]);
    take(&mut world, "d");
    assert_eq!(ancestors(&world), ["d", "a"]);
    world.restore("c", &RestoreOptions::default());
    assert_eq!(ancestors(&world), ["c", "b", "a"]);
    assert!(world.snapshots().iter().all(|one| one.is_on_path), "all of them stay listed");
}
