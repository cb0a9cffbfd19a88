//! `history`: what was said by people is found again; trouble with it is told and harms nothing.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use crate::world::{World, snapshot, transcript};

fn prompts(world: &World, arguments: &[&str]) -> Vec<String> {
    let answer = world.json(&[&["history"], arguments].concat());
    answer["prompts"].as_array().unwrap().iter().map(|prompt| prompt["prompt"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_people_say_is_found_newest_first() {
    let world = World::new();
    assert_eq!(prompts(&world, &[]), Vec::<String>::new());
    let session = world.session();
    world.say(&session, "user", "How do I sort a list?\nIn Python.");
    world.say(&session, "user", "How do I sort a list?\nIn Python.");
    world.say(&session, "assistant", "Call sort.");
    world.say(&session, "system", "Be brief.");
    world.say(&session, "user", "And a 辞書?");
    assert_eq!(prompts(&world, &[]), ["And a 辞書?", "How do I sort a list?\nIn Python."]);
    assert_eq!(prompts(&world, &["PYTHON", "sort"]), ["How do I sort a list?\nIn Python."]);
    assert_eq!(prompts(&world, &["辞書"]), ["And a 辞書?"]);
    assert_eq!(prompts(&world, &["--limit", "1"]).len(), 1);
    assert_eq!(prompts(&world, &["--here"]).len(), 2);
    assert_eq!(prompts(&world, &["--cwd", "/"]).len(), 0);
    let first = &world.json(&["history"])["prompts"][0];
    assert_eq!(first["cwd"], json!(world.path("project")));
    assert!(first["created"].as_str().unwrap().ends_with('Z'), "{first}");
    let shown = [transcript(&world, &["history"]), transcript(&world, &["history", "--here", "nothing"])].concat();
    snapshot!("text_history", world.tame(&shown));
}

#[test]
fn deleting_keeps_what_was_asked_unless_told_to_forget_it() {
    let world = World::new();
    let (one, two) = (world.session(), world.session());
    world.say(&one, "user", "keep this");
    world.say(&two, "user", "forget this");
    world.say(&two, "user", "and this");
    world.ok(&["delete", &one, "--yes"]);
    assert_eq!(prompts(&world, &[]).len(), 3);
    assert_eq!(world.json(&["delete", &two, "--history", "--dry-run"])["removed"]["prompts"], 2);
    assert_eq!(prompts(&world, &[]).len(), 3);
    assert_eq!(world.json(&["delete", &two, "--history", "--yes"])["removed"]["prompts"], 2);
    assert_eq!(prompts(&world, &[]), ["keep this"]);
}

#[test]
fn a_history_that_cannot_be_used_is_a_warning() {
    let world = World::new();
    let session = world.session();
    symlink(world.path("elsewhere"), world.path("home/history.db")).unwrap();
    let ran = world.run(&["say", &session, "hello"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("a prompt is not in the history") && ran.stderr.contains("link"), "{}", ran.stderr);
    assert!(!world.path("elsewhere").exists());
    assert_eq!(world.json(&["show", &session])["messages"].as_array().unwrap().len(), 1);
    assert_eq!(world.run(&["history"]).code, 1, "asking for it is another matter");
}

#[test]
fn a_damaged_history_is_kept_and_told() {
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "before");
    std::fs::write(world.path("home/history.db"), "not a database").unwrap();
    let ran = world.run(&["say", &session, "after"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("history.db.corrupt-1"), "{}", ran.stderr);
    assert_eq!(std::fs::read(world.path("home/history.db.corrupt-1")).unwrap(), b"not a database");
    assert_eq!(prompts(&world, &[]), ["after"]);
    assert_eq!(world.path("home/history.db").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}
