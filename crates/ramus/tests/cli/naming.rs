//! How sessions, entries and snapshots are named, and what does not take the place of what was meant.

use serde_json::{Value, json};

use crate::turns::world as world_with_programs;
use crate::world::World;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"theirs","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/x"}"#;

/// A session under the name that an imported copy of another one has.
fn copied(world: &World, session: &str) -> String {
    let path = world.json(&["show", session])["session"]["path"].as_str().unwrap().to_owned();
    let copy = format!("{session}-0123456789abcdef");
    let bytes = std::fs::read_to_string(&path).unwrap();
    std::fs::write(path.replace(session, &copy), bytes.replace(session, &copy)).unwrap();
    copy
}

#[test]
fn deleting_a_session_twice_does_not_delete_its_copy() {
    let world = World::new();
    let session = world.branched();
    let copy = copied(&world, &session);
    world.ok(&["delete", &session, "--yes"]);
    assert_eq!(world.run(&["delete", &session, "--yes"]).code, 3);
    assert_eq!(world.run(&["show", &session]).code, 3);
    // What is no id of its own is still a beginning.
    assert_eq!(world.json(&["show", &session[..20]])["session"]["id"], copy.as_str());
    world.ok(&["delete", &copy, "--yes"]);
}

#[test]
fn files_of_a_directory_do_not_take_the_place_of_sessions() {
    let world = World::new();
    let session = world.branched();
    for name in ["this", "last", &session, &session[..12], "@"] {
        world.file(name, &format!("{HEADER}\n"));
    }
    for name in ["this", "last", &session, &session[..12], "last@"] {
        assert_eq!(world.json(&["show", name])["session"]["id"], session.as_str(), "{name}");
    }
    // A path is one by its look.
    assert_eq!(world.json(&["show", "./this"])["session"]["id"], "theirs");
    world.file("a@b.jsonl", &format!("{HEADER}\n"));
    assert_eq!(world.json(&["show", "a@b.jsonl"])["session"]["id"], "theirs");
}

#[test]
fn a_file_that_is_no_log_is_no_empty_session() {
    let world = World::new();
    world.file("notes.txt", "buy milk\n");
    assert_eq!(world.run(&["show", "notes.txt"]).code, 3);
    let ran = world.run(&["show", "./notes.txt"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("is no session"), "{}", ran.stderr);
}

#[test]
fn an_entry_that_stands_alone_may_be_written_as_behind_its_session() {
    let world = World::new();
    let session = world.session();
    let (first, second) = (world.say(&session, "user", "one"), world.say(&session, "user", "two"));
    let line = r#"{"type":"message","message":{"role":"user","content":"three"}}"#;
    for parent in ["@-", &format!("@{first}"), "-", &first] {
        let ran = world.run_with(line, &["append", &session, &format!("--parent={parent}"), "--json"]);
        assert_eq!(ran.code, 0, "{parent}: {}", ran.stderr);
        let told: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
        assert_eq!(told["parent"], first.as_str(), "{parent}");
    }
    assert_eq!(world.json(&["show", &session])["session"]["leaf"], second.as_str());
    let replaced = world.json(&["replace-segment", &session, "@", "@", "--text", "both"]);
    assert_eq!(replaced["replaced"], json!([second]));
}

#[test]
fn texts_may_begin_with_a_dash() {
    let world = World::new();
    let session = world.session();
    let entry = world.say(&session, "user", "one");
    let tasks = world.json(&["todo", &session, "add", "- buy milk", "--id", "milk"]);
    assert_eq!((&tasks["todos"][0]["text"], &tasks["todos"][0]["id"]), (&json!("- buy milk"), &json!("milk")));
    world.ok(&["label", &format!("{session}@{entry}"), "-x"]);
    assert_eq!(world.json(&["show", &session])["messages"][0]["label"], "-x");
}

#[test]
fn a_label_of_several_entries_names_their_ids() {
    let world = World::new();
    let session = world.session();
    let (first, second) = (world.say(&session, "user", "one"), world.say(&session, "user", "two"));
    for entry in [&first, &second] {
        world.ok(&["label", &format!("{session}@{entry}"), "same"]);
    }
    let ran = world.run(&["branch", &format!("{session}@same")]);
    assert_eq!(ran.code, 1);
    let hint = ran.stderr.lines().find(|line| line.starts_with("hint:")).unwrap();
    assert!(hint.contains(&first) && hint.contains(&second) && !hint.contains("characters"), "{hint}");
}

#[test]
fn a_label_does_not_take_the_place_of_another_snapshot() {
    let world = world_with_programs();
    let session = world.session();
    world.file("a.txt", "first\n");
    let first = world.json(&["snapshot", &session, "--label", "start"])["snapshot"].clone();
    let (id, commit) = (first["id"].as_str().unwrap(), first["commit"].as_str().unwrap());
    world.file("a.txt", "second\n");
    world.ok(&["snapshot", &session, "--label", id]);
    world.ok(&["snapshot", &session, "--label", commit]);
    for name in [id, commit, first["entry"].as_str().unwrap(), "start"] {
        let plan = world.json(&["diff", &session, name, commit]);
        assert_eq!(plan["files"], 0, "{name}");
    }
    world.ok(&["snapshot", &session, "--label", "start"]);
    let ran = world.run(&["restore", &session, "start", "--dry-run"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stderr.contains(commit) && ran.stderr.contains("hint: several have this label"), "{}", ran.stderr);
}

#[test]
fn before_the_last_answer_is_what_it_answers() {
    let world = world_with_programs();
    let script = world.file("script.toml", "answers = [{ steps = [{ text = \"Yes.\" }] }]");
    world.ok(&["run", "hello", "--script", &script]);
    let said = world.json(&["show", "last"])["messages"][0]["id"].clone();
    assert_eq!(world.json(&["tree", "last"])["entries"][0]["id"], said);
    let before: Value = serde_json::from_str(&world.ok(&["entry", "last@-"])).unwrap();
    assert_eq!(before["id"], said);
    assert_eq!(world.json(&["branch", "last@-"])["leaf"], said);
    // That it is nothing but what was said, it can be said in other words.
    let again = world.file("again.toml", "answers = [{ steps = [{ text = \"No.\" }] }]");
    world.ok(&["run", "-c", "--edit", "@", "good bye", "--script", &again]);
    assert_eq!(world.json(&["show", "last"])["messages"][0]["text"], "good bye");
    world.ok(&["run", "-c", "--edit", "@-", "hello again", "--script", &again]);
    assert_eq!(world.json(&["show", "last"])["messages"][0]["text"], "hello again");
}

#[test]
fn of_a_log_without_a_header_nobody_says_when_it_was_made() {
    let world = World::new();
    world.file("bare.jsonl", "not a log\n");
    let session = world.json(&["show", "bare.jsonl"])["session"].clone();
    assert_eq!((&session["created"], &session["updated"]), (&Value::Null, &Value::Null));
    assert_eq!(session["title"], "New session");
}
