//! `ramus search`: from words to the entry that has them.

use serde_json::Value;

use crate::world::{World, pretty, snapshot, transcript};

#[test]
fn what_a_search_says() {
    let world = World::new();
    world.branched();
    let mut said = Vec::new();
    for arguments in [
        &["search", "sorted"][..],
        &["search", "names sort", "--limit", "1"],
        &["search", "--prefix", "rever"],
        &["search", "list.py", "role:assistant"],
        &["search", "\"in place\" -python"],
        &["search", "zebra"],
        &["search", "rol:user", "sort"],
        &["search", "role:nobody"],
        &["search", "sort", "before:whenever"],
        &["search", "\"not closed"],
        &["search", "->"],
    ] {
        said.push(world.tame(&transcript(&world, arguments)));
    }
    snapshot!("text_search", said.join("\n"));
    snapshot!("json_search", world.tame(&pretty(&scoreless(world.json(&["search", "names role:assistant"])))));
}

/// Scores depend on everything that was ever said.
fn scoreless(mut answer: Value) -> Value {
    for hit in answer["hits"].as_array_mut().unwrap() {
        assert!(hit["score"].as_f64().unwrap() >= 0.0);
        hit["score"] = "[score]".into();
    }
    answer
}

#[test]
fn a_hit_opens_at_its_entry() {
    let world = World::new();
    let session = world.branched();
    let hit = world.json(&["search", "reverse"])["hits"][0].clone();
    assert_eq!(hit["session"], Value::from(session));
    let reference = format!("{}@{}", hit["session"].as_str().unwrap(), hit["entry"].as_str().unwrap());
    let shown = world.json(&["show", &reference]);
    assert_eq!(shown["messages"].as_array().unwrap().last().unwrap()["text"], "And in reverse?");
    let line = world.ok(&["search", "reverse"]);
    let printed = line.split_whitespace().next().unwrap();
    assert!(world.ok(&["show", printed]).ends_with("And in reverse?"));
}

#[test]
fn one_session_or_one_directory_is_searched() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["new", "--title", "Sort another list", "--cwd", "/elsewhere"]);
    let total = |arguments: &[&str]| world.json(arguments)["total"].as_u64().unwrap();
    assert_eq!(total(&["search", "sort", "role:title"]), 2);
    assert_eq!(total(&["search", "sort", "role:title", "--cwd", "."]), 1);
    assert_eq!(total(&["search", "sort", "role:title", "--session", &session]), 1);
    assert_eq!(world.json(&["search", "sort", "--session", &session])["index"], Value::Null);
    assert_eq!(world.run(&["search", "sort", "--session", "zzzzzz"]).code, 3);
}

#[test]
fn damage_is_told_and_nothing_is_hidden() {
    let world = World::new();
    let session = world.branched();
    let path = world.json(&["list"])["sessions"][0]["path"].as_str().unwrap().to_owned();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"mess");
    std::fs::write(&path, bytes).unwrap();
    let ran = world.run(&["search", "sorted", "--json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &answer["total"], &answer["damaged"][0]), (0, &1.into(), &session.into()));
    assert!(ran.stderr.contains("is damaged and was searched as far as it can be read"), "{}", ran.stderr);
}

#[test]
fn the_catalogue_changes_no_answer() {
    let world = World::new();
    world.branched();
    let answer = |arguments: &[&str]| {
        let answer = scoreless(world.json(arguments));
        (answer["hits"].clone(), answer["total"].clone())
    };
    let before = answer(&["search", "names"]);
    assert_eq!(world.json(&["search", "names"])["index"]["ready"], true);
    for name in ["catalogue.db", "catalogue.db-wal", "catalogue.seal"] {
        std::fs::write(world.path("home").join(name), b"nonsense").unwrap();
        assert_eq!(answer(&["search", "names"]), before, "{name}");
    }
    world.ok(&["catalogue", "rebuild"]);
    assert_eq!(answer(&["search", "names"]), before);
}
