//! Branches across processes: every command here is a process of its own.

use serde_json::Value;

use crate::world::World;

fn texts(world: &World, target: &str) -> Vec<String> {
    let answer = world.json(&["show", target]);
    let text = |message: &Value| message["text"].as_str().unwrap().to_owned();
    answer["messages"].as_array().unwrap().iter().map(text).collect()
}

#[test]
fn four_messages_a_branch_at_the_third_and_two_more() {
    let world = World::new();
    let session = world.session();
    let mut ids = Vec::new();
    for (number, role) in [(1, "user"), (2, "assistant"), (3, "user"), (4, "assistant")] {
        ids.push(world.say(&session, role, &number.to_string()));
    }
    let leaf = world.json(&["branch", &format!("{session}@{}", ids[2])]);
    assert_eq!(leaf["leaf"], ids[2].as_str());
    // The leaf is where it was left when the session is opened again.
    assert_eq!(world.json(&["show", &session])["session"]["leaf"], ids[2].as_str());
    ids.push(world.say(&session, "assistant", "5"));
    ids.push(world.say(&session, "user", "6"));
    assert_eq!(texts(&world, &session), ["1", "2", "3", "5", "6"]);
    // Back to the fourth, which nothing has touched.
    world.ok(&["branch", &format!("{session}@{}", ids[3]), "-q"]);
    assert_eq!(texts(&world, &session), ["1", "2", "3", "4"]);
    let tree = world.json(&["tree", &session]);
    assert_eq!(tree["leaf"], ids[3].as_str());
    assert_eq!(tree["leaves"], serde_json::json!([ids[3], ids[5]]));
    let order: Vec<&str> = tree["entries"].as_array().unwrap().iter().map(|e| e["id"].as_str().unwrap()).collect();
    assert_eq!(order, ids);
}

#[test]
fn entries_are_named_in_every_way() {
    let world = World::new();
    let session = world.branched();
    let named = |reference: &str| {
        let line = world.ok(&["entry", &format!("{session}@{reference}")]);
        serde_json::from_str::<Value>(&line).unwrap()["id"].as_str().unwrap().to_owned()
    };
    for (reference, id) in [
        ("aaaa0004", "aaaa0004"),
        ("answer", "aaaa0004"),
        ("bbbb00", "bbbb0001"),
        ("#3", "aaaa0001"),
        ("", "cccc0002"),
        ("-", "cccc0001"),
        ("--", "aaaa0004"),
    ] {
        assert_eq!(named(reference), id, "{reference}");
    }
    // `last` is the newest session of this directory, and stands for itself when only an entry is named.
    assert_eq!(world.ok(&["entry", "last@-"]), world.ok(&["entry", "@-"]));
    let ran = world.run(&["entry", &format!("{session}@aaaa00")]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("could be aaaa0001, aaaa0002"), "{}", ran.stderr);
}

#[test]
fn a_fork_goes_its_own_way() {
    let world = World::new();
    let session = world.branched();
    let fork = world.ok(&["fork", &format!("{session}@answer")]);
    world.say(&fork, "user", "Only in the fork");
    world.say(&session, "user", "Only in the origin");
    let last = |session: &str| texts(&world, session).pop().unwrap();
    assert_eq!((last(&fork).as_str(), last(&session).as_str()), ("Only in the fork", "Only in the origin"));
    // What a fork shares with its origin is there when it is exported, and when the origin is gone.
    world.ok(&["export", &fork, "--to", "pi", "-o", "fork.jsonl", "-q"]);
    assert_eq!(texts(&world, "fork.jsonl"), texts(&world, &fork));
    let (shown, tree) = (world.ok(&["show", &fork, "--all"]), world.ok(&["tree", &fork, "--all"]));
    let planned = world.json(&["delete", &session, "--dry-run"]);
    assert_eq!(planned["kept"][0]["forks"], serde_json::json!([fork]));
    let ran = world.run(&["delete", &session, "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("1 session was forked from it: kept "), "{}", ran.stderr);
    assert_eq!((world.ok(&["show", &fork, "--all"]), world.ok(&["tree", &fork, "--all"])), (shown, tree));
    assert_eq!(world.run(&["show", &session]).code, 3);
    assert_eq!(world.json(&["list"])["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_replaced_segment_takes_its_branches_along() {
    let world = World::new();
    let session = world.branched();
    let answer = world.json(&["replace-segment", &session, "aaaa0001", "aaaa0004", "--text", "Sorting, in short."]);
    assert_eq!(answer["replaced"], serde_json::json!(["aaaa0001", "aaaa0002", "aaaa0003", "aaaa0004"]));
    assert_eq!(answer["reparented"], serde_json::json!(["bbbb0001", "cccc0001"]));
    assert_eq!(texts(&world, &session)[0], "Sorting, in short.");
    assert_eq!(texts(&world, &format!("{session}@bbbb0001")), ["Sorting, in short.", "And in reverse?"]);
}
