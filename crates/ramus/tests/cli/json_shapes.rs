//! What programs read: the shape of every command's JSON.

use serde_json::Value;

use crate::world::{World, pretty, snapshot};

#[test]
fn new() {
    let world = World::new();
    snapshot!("json_new", world.tame(&pretty(&world.json(&["new"]))));
    let all = ["new", "--title", "Fix it", "--model", "demo/small", "--owner", "ada", "--cwd", "/nowhere"];
    snapshot!("json_new_with_everything", world.tame(&pretty(&world.json(&all))));
    snapshot!("json_new_ephemeral", world.tame(&pretty(&world.json(&["new", "--ephemeral", "--quiet"]))));
    assert_eq!(world.json(&["list", "--all", "--drafts"])["sessions"].as_array().map(Vec::len), Some(2));
}

#[test]
fn say_and_list_and_show() {
    let world = World::new();
    let session = world.branched();
    let mut answers = Vec::new();
    for arguments in [
        &["say", &session, "Thanks."][..],
        &["list"],
        &["list", "--limit", "1", "--search", "SORT"],
        &["show", &session],
        &["show", &format!("{session}@bbbb0001"), "--limit", "2"],
        &["show", &format!("{session}@bbbb0001"), "--limit", "2", "--cursor", "aaaa0002"],
    ] {
        answers.push(pretty(&world.json(arguments)));
    }
    snapshot!("json_say_list_show", world.tame(&answers.join("\n")));
}

#[test]
fn show_all_has_what_is_on_no_branch_too() {
    let world = World::new();
    let session = world.branched();
    let shown = world.json(&["show", &session, "--all"]);
    let row = |entry: &Value| format!("{} {} {} hidden {}", entry["id"], entry["type"], entry["role"], entry["hidden"]);
    let rows: Vec<String> = shown["messages"].as_array().unwrap().iter().map(row).collect();
    snapshot!("json_show_all", world.tame(&rows.join("\n")));
    let first = world.json(&["show", &session, "--all", "--limit", "3"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = world.json(&["show", &session, "--all", "--cursor", cursor]);
    let ids = |page: &Value| page["messages"].as_array().unwrap().iter().map(|m| m["id"].clone()).collect::<Vec<_>>();
    assert_eq!([ids(&first), ids(&second)].concat(), ids(&shown));
}

#[test]
fn tree() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["branch", &format!("{session}@bbbb0001"), "--quiet"]);
    let unknown = r#"{"type":"from_the_future","id":"cccc0003","data":1}"#;
    assert_eq!(world.run_with(unknown, &["append", &session]).code, 0);
    snapshot!("json_tree", world.tame(&pretty(&world.json(&["tree", &session]))));
    snapshot!("json_tree_all", world.tame(&pretty(&world.json(&["tree", &session, "--all"]))));
}

#[test]
fn context_in_both_dialects() {
    let world = World::new();
    let session = world.branched();
    let dangling = r#"{"type":"message","id":"cccc0003","message":{"role":"assistant","content":[{"type":"toolCall","id":"c9","name":"bash","arguments":{}}]}}"#;
    let compaction = r#"{"type":"compaction","id":"cccc0004","summary":"They sorted a list.","firstKeptEntryId":"cccc0001","tokensBefore":500}"#;
    assert_eq!(world.run_with(&format!("{dangling}\n{compaction}"), &["append", &session]).code, 0);
    let v3 = world.json(&["context", &session]);
    assert_eq!(v3, world.json(&["context", &session, "--dialect", "v3"]));
    snapshot!("json_context", world.tame(&pretty(&v3)));
    let provider = world.json(&["context", &session, "--dialect", "provider"]);
    snapshot!("json_context_provider", world.tame(&pretty(&provider)));
}

#[test]
fn context_passes_stored_bytes_on() {
    let world = World::new();
    let session = world.session();
    // Nothing that reads and writes JSON trees would keep these.
    let message = r#"{"role":"user", "content":"half \ud83d pair", "n": 1.0e+2, "big":12345678901234567890123}"#;
    let line = format!("{{\"type\":\"message\",\"message\":{message}}}");
    assert_eq!(world.run_with(&line, &["append", &session]).code, 0);
    let answer = world.ok(&["context", &session, "--json"]);
    assert!(answer.contains(message), "{answer}");
    assert_eq!(answer.lines().count(), 1);
    assert!(world.ok(&["entry", &format!("{session}@")]).contains(message));
}

#[test]
fn moving_the_leaf() {
    let world = World::new();
    let session = world.branched();
    let entry = format!("{session}@bbbb0001");
    let mut answers = Vec::new();
    for arguments in [
        &["branch", &entry][..],
        &["branch", &format!("{session}@answer"), "--summary", "- it was no good"],
        &["label", &entry, "here"],
        &["label", &entry],
        &["rename", &session, "Another title"],
        &["reset-leaf", &session],
        &["fork", &entry],
        &["fork", &format!("{session}@#4"), "--title", "Second attempt"],
        &["replace-segment", &session, "aaaa0002", "aaaa0004", "--text", "Looked into list.py."],
        &["move", &session, "--cwd", "/elsewhere"],
        &["meta", &session, "ticket=RAM-12", "attempts:=3"],
        &["meta", &session, "attempts"],
        &["meta", &session, "--unset", "ticket"],
        &["state", &session],
        &["state", &entry, "--model", "other/large"],
    ] {
        answers.push(format!("{} {}", arguments[0], pretty(&world.json(arguments))));
    }
    snapshot!("json_moving_the_leaf", world.tame(&answers.join("\n")));
}

#[test]
fn doctor_and_delete_and_export() {
    let world = World::new();
    let session = world.branched();
    let torn = world.file("torn.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"torn\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/x\"}\n{\"type\":\"mess");
    let mut answers = Vec::new();
    for arguments in [
        &["doctor", &session][..],
        &["doctor", "--all"],
        &["export", &session, "--to", "pi", "-o", "out.jsonl"],
        &["delete", &session, "--dry-run"],
        &["delete", &session, "--yes"],
    ] {
        answers.push(format!("{} {}", arguments[0], pretty(&world.json(arguments))));
    }
    let damaged = world.run(&["doctor", &torn, "--json"]);
    assert_eq!((damaged.code, damaged.stderr.as_str()), (5, ""));
    answers.push(pretty(&serde_json::from_str(&damaged.stdout).unwrap()));
    snapshot!("json_doctor_delete_export", world.tame(&answers.join("\n")));
}

#[test]
fn import_and_resume() {
    let world = World::new();
    let place = world.path("user").join(".pi/agent/sessions/--w--");
    std::fs::create_dir_all(&place).unwrap();
    let header =
        r#"{"type":"session","version":3,"id":"pi-session-1","timestamp":"2026-11-01T09:00:00.000Z","cwd":"/x"}"#;
    let said = r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"hi"}}"#;
    std::fs::write(place.join("2026_pi-session-1.jsonl"), format!("{header}\n{said}\nno JSON\n")).unwrap();
    let wrong = world.path("user").join(".opal/sessions");
    std::fs::create_dir_all(&wrong).unwrap();
    std::fs::write(wrong.join("none.dets"), "no table").unwrap();
    let imported = world.run(&["import", "--yes", "--json"]);
    assert_eq!(imported.code, 5, "{}", imported.stderr);
    let first: Value = serde_json::from_str(&imported.stdout).unwrap();
    let second = world.json(&["import", "--from", "pi"]);
    snapshot!("json_import", world.tame(&[pretty(&first), pretty(&second)].join("\n")));
}

#[test]
fn unreadable_sessions_are_named_not_dropped() {
    let world = World::new();
    let session = world.branched();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    // A pipe where a file should be: whoever opened it for reading would wait for ever.
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let ran = world.run(&["list", "--all", "--json"]);
    assert_eq!(ran.code, 0);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(answer["sessions"], serde_json::json!([]));
    assert_eq!(answer["unreadable"][0]["session"], session.as_str());
    let warning: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(warning["warning"].as_str().unwrap().contains(&session), "{warning}");
    assert_eq!(world.run(&["doctor", "--all"]).code, 5);
    assert_eq!(world.run(&["show", &session]).code, 1);
}

#[test]
fn a_fork_without_its_origin_shows_what_is_left() {
    let world = World::new();
    let session = world.branched();
    let fork = world.ok(&["fork", &session]);
    world.ok(&["say", &fork, "mine"]);
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    std::fs::remove_file(path).unwrap();
    let shown = world.json(&["list", "--all"]);
    assert_eq!(shown["sessions"][0]["damaged"], true);
    let messages = world.json(&["show", &fork])["messages"].clone();
    assert_eq!((messages.as_array().unwrap().len(), &messages[0]["text"]), (1, &"mine".into()));
    let doctor = world.run(&["doctor", &fork, "--json"]);
    assert_eq!(doctor.code, 5);
    assert!(doctor.stdout.contains("missing-origin"), "{}", doctor.stdout);
    assert_eq!(world.run(&["delete", &fork, "--yes"]).code, 0);
}

#[test]
fn archived_sessions_are_hidden_until_asked_for() {
    let world = World::new();
    let session = world.branched();
    let archive = r#"{"type":"custom","customType":"ramus.meta","data":{"op":"archive","client":"test","set":{"archived_at":"2026-02-16T10:20:30.000Z"}}}"#;
    assert_eq!(world.run_with(archive, &["append", &session]).code, 0);
    let hidden = world.json(&["list"]);
    assert_eq!((hidden["sessions"].as_array().unwrap().len(), &hidden["hidden"]["archived"]), (0, &1.into()));
    let shown = world.json(&["list", "--archived"]);
    let info = &shown["sessions"][0];
    assert_eq!(info["archived"], true);
    assert_eq!(info["archived_at"], "2026-02-16T10:20:30.000Z");
}

#[test]
fn the_names_of_other_agents_work_the_same() {
    let world = World::new();
    let session = world.branched();
    for arguments in [&["list"][..], &["show", &session], &["delete", &session, "--dry-run"]] {
        assert_eq!(world.json(arguments), world.json(&[&["session"], arguments].concat()), "{arguments:?}");
    }
    world.ok(&["session", "export", &session, "--to", "pi", "--output", "one.jsonl", "--quiet"]);
    world.ok(&["export", &session, "--to", "omp", "-o", "two.jsonl", "--quiet"]);
    let read = |name: &str| std::fs::read(world.path("project").join(name)).unwrap();
    assert_eq!(read("one.jsonl"), read("two.jsonl"));
    assert_eq!(world.json(&["session", "fork", &session])["session"]["forked_from"]["session"], session.as_str());
}
