//! Making room in what a model is sent: summaries and messages that are left out, both undone by going back.

use serde_json::{Value, json};

use crate::world::World;

/// A session of 120 messages with about 52,000 tokens, and a branch beside its end.
fn long_session(world: &World) -> (String, String) {
    let session = world.session();
    let mut lines = Vec::new();
    for number in 0..60 {
        let question = format!("question {number} {}", "word ".repeat(340));
        let answer = json!({"role": "assistant", "content": [
            {"type": "text", "text": format!("answer {number} {}", "text ".repeat(345))},
        ], "provider": "demo", "model": "small", "stopReason": "stop"});
        let id = |letter: char| format!("{letter}{number:07}");
        lines.push(
            json!({"type": "message", "id": id('a'), "message": {"role": "user", "content": question}}).to_string(),
        );
        lines.push(json!({"type": "message", "id": id('b'), "message": answer}).to_string());
    }
    lines.push(
        r#"{"type":"message","id":"side0001","parentId":"b0000058","message":{"role":"user","content":"another way"}}"#
            .into(),
    );
    let ran = world.run_with(&lines.join("\n"), &["append", &session]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    world.ok(&["branch", &format!("{session}@b0000059")]);
    (session, "side0001".to_owned())
}

fn context(world: &World, target: &str) -> Value {
    world.json(&["context", target])
}

#[test]
fn the_older_part_becomes_a_summary_and_the_branch_beside_it_stays() {
    let world = World::new();
    let (session, side) = long_session(&world);
    let before = context(&world, &session);
    assert_eq!(before["messages"].as_array().unwrap().len(), 120);
    assert!((50_000..54_000).contains(&before["tokens"].as_u64().unwrap()), "{}", before["tokens"]);
    let beside = context(&world, &format!("{session}@{side}"));
    let dry = world.json(&["compact", &session, "--keep-messages", "20", "--dry-run"]);
    assert_eq!((&dry["compaction"], &dry["messages_after"]), (&Value::Null, &json!(21)));
    assert_eq!(context(&world, &session), before);

    let done = world.json(&["session", "compact", &session, "--keep-messages", "20"]);
    assert!(done["compaction"].is_string());
    assert_eq!((&done["messages_before"], &done["messages_after"]), (&json!(120), &json!(21)));
    assert_eq!(done["first_kept"], "a0000050");
    assert!(done["tokens_after"].as_u64().unwrap() < done["tokens_before"].as_u64().unwrap());
    let after = context(&world, &session);
    assert_eq!(after["messages"].as_array().unwrap().len(), 21);
    assert_eq!(after["compacted_by"], done["compaction"]);
    assert_eq!(context(&world, &format!("{session}@{side}")), beside);
    let listed = world.json(&["list"]);
    assert!(listed["sessions"][0]["compacting"].is_string(), "{listed}");

    // A second one has nothing to do; going back undoes the first.
    let again = world.json(&["compact", &session, "--keep-messages", "20"]);
    assert_eq!(again["compaction"], Value::Null);
    world.ok(&["branch", &format!("{session}@b0000059")]);
    assert_eq!(context(&world, &session)["messages"], before["messages"]);
}

#[test]
fn a_summary_that_makes_nothing_shorter_is_refused() {
    let world = World::new();
    let session = world.session();
    for text in ["a", "b", "c"] {
        world.say(&session, "user", text);
        world.say(&session, "assistant", text);
    }
    let ran = world.run(&["compact", &session, "--keep-messages", "2"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("not make the context shorter"), "{}", ran.stderr);
    assert_eq!(world.json(&["compact", &session])["compaction"], Value::Null);
}

#[test]
fn the_oldest_messages_are_left_out_until_enough_is_free() {
    let world = World::new();
    let (session, _) = long_session(&world);
    let evicted = world.json(&["evict", &session, "--tokens", "1500"]);
    assert_eq!(evicted["evicted"], json!(["a0000000", "b0000000", "a0000001", "b0000001"]));
    assert_eq!(evicted["enough"], true);
    assert_eq!(context(&world, &session)["messages"].as_array().unwrap().len(), 116);
    // Not enough can go: what can does, and it is told.
    let ran = world.run(&["evict", &session, "--tokens", "1000000", "--dry-run", "--json"]);
    assert_eq!(ran.code, 5);
    let empty = world.session();
    world.say(&empty, "user", "only this");
    let ran = world.run(&["evict", &empty, "--tokens", "10"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("10 tokens must be freed"), "{}", ran.stderr);
    let ran = world.run(&["evict", &empty, "--tokens", "10", "--json"]);
    let error: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(error["error"]["kind"], "context-full", "{error}");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(message.contains("10 tokens") && message.contains('0'), "{message}");
}
