//! The life of a session from the command line: undo, redo, the log, archive, clear, reset, purge, boot, todos.

use serde_json::json;

use crate::world::World;

#[test]
fn i6_a_session_is_listed_shown_forked_compacted_travelled_in_moved_and_deleted() {
    let world = World::new();
    let session = world.branched();
    let here = format!("{session}@aaaa0002");
    assert_eq!(world.json(&["list"])["sessions"][0]["id"], session.as_str());
    assert_eq!(world.json(&["show", &session])["session"]["id"], session.as_str());
    assert_eq!(world.json(&["tree", &session])["leaves"].as_array().unwrap().len(), 2);
    let fork = world.json(&["fork", &here])["session"]["id"].as_str().unwrap().to_owned();
    assert_ne!(fork, session);
    assert_eq!(world.json(&["branch", &here])["leaf"], "aaaa0002");
    world.ok(&["undo", &session]);
    world.ok(&["snapshot", &session]);
    world.file("new.txt", "new");
    assert_eq!(world.json(&["diff", &session])["diffs"][0]["path"], "new.txt");
    world.say(&session, "user", "one more");
    assert_eq!(world.json(&["revert", &here])["applied"], true);
    assert_eq!(world.json(&["unrevert", &session])["applied"], true);
    assert_eq!(world.json(&["compact", &session])["compaction"], json!(null), "there is nothing to make room for");
    world.ok(&["archive", &session]);
    world.ok(&["unarchive", &session]);
    let bundle = world.ok(&["export", &session]) + "\n";
    assert_eq!(world.run(&["doctor"]).code, 0);
    let gone = world.json(&["delete", &session, "--yes"]);
    assert_eq!(gone["kept"][0]["forks"], json!([fork]), "{gone}");
    assert_eq!(world.run(&["show", &session]).code, 3);
    let back = world.run_with(&bundle, &["import", "-", "--json"]);
    assert_eq!(back.code, 0, "{}", back.stderr);
    assert_eq!(world.json(&["show", &session])["session"]["id"], session.as_str());
    assert!(world.json(&["show", &fork])["messages"].as_array().is_some_and(|messages| !messages.is_empty()));
}

#[test]
fn undo_and_redo_say_what_they_did() {
    let world = World::new();
    let session = world.session();
    let one = world.say(&session, "user", "one");
    world.say(&session, "assistant", "two");
    world.ok(&["rename", &session, "Named"]);
    let undone = world.json(&["undo", &session]);
    assert_eq!((&undone["applied"], &undone["operation"]["op"]), (&json!(true), &json!("rename")));
    assert_ne!(world.json(&["show", &session])["session"]["title"], "Named");
    assert_eq!(world.json(&["undo", &session, "--dry-run"])["applied"], false);
    let undone = world.json(&["undo", &session]);
    assert_eq!((undone["operation"]["op"].as_str(), undone["leaf"].as_str()), (Some("say"), Some(one.as_str())));
    let redone = world.json(&["redo", &session]);
    assert_eq!(redone["operation"]["op"], "say");
    world.ok(&["redo", &session]);
    assert_eq!(world.json(&["show", &session])["session"]["title"], "Named");
    let ran = world.run(&["redo", &session]);
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing to redo"), "{}", ran.stderr);
}

#[test]
fn the_log_lists_operations_with_client_and_entries() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["archive", &session]);
    world.ok(&["undo", &session]);
    let log = world.json(&["log", &session, "--limit", "2"]);
    let operations = log["operations"].as_array().unwrap();
    let told: Vec<_> =
        operations.iter().map(|one| (one["op"].as_str().unwrap(), one["undone"].as_bool().unwrap())).collect();
    assert_eq!(told, [("undo", false), ("archive", true)]);
    assert_eq!(operations[0]["takes_back"], operations[1]["id"]);
    assert_eq!((&operations[1]["client"], operations[1]["entries"].as_array().unwrap().len()), (&json!("cli"), 1));
    let rest = world.json(&["log", &session, "--cursor", log["next_cursor"].as_str().unwrap()]);
    assert_eq!(rest["operations"].as_array().unwrap().last().unwrap()["op"], "create");
    let text = world.ok(&["log", &session]);
    assert!(text.lines().next().unwrap().contains("undo"), "{text}");
}

#[test]
fn a18_archived_sessions_are_counted_not_listed() {
    let world = World::new();
    let session = world.branched();
    let archived = world.json(&["session", "archive", &session]);
    assert_eq!(archived["session"]["archived"], true);
    assert!(archived["session"]["archived_at"].is_string());
    let listed = world.json(&["list"]);
    assert_eq!((&listed["sessions"], &listed["hidden"]["archived"]), (&json!([]), &json!(1)));
    assert_eq!(world.json(&["list", "--archived"])["sessions"][0]["id"], session.as_str());
    assert_eq!(world.json(&["unarchive", &session])["session"]["archived_at"], json!(null));
    assert_eq!(world.json(&["list"])["sessions"][0]["id"], session.as_str());
}

#[test]
fn a22_clear_empties_the_context_and_nothing_else() {
    let world = World::new();
    let session = world.branched();
    let before = world.json(&["show", &session])["messages"].as_array().unwrap().len();
    let cleared = world.json(&["clear", &session]);
    assert!(cleared["messages"].as_u64().unwrap() > 0 && cleared["cleared"].is_string());
    assert_eq!(world.json(&["context", &session, "--dialect", "provider"])["messages"], json!([]));
    assert!(world.json(&["show", &session])["messages"].as_array().unwrap().len() >= before);
    world.ok(&["undo", &session]);
    assert_ne!(world.json(&["context", &session, "--dialect", "provider"])["messages"], json!([]));
}

#[test]
fn c18_purge_needs_a_yes_and_a_dry_run_names_everything() {
    let world = World::new();
    let session = world.branched();
    let target = format!("{session}@bbbb0001");
    assert_eq!(world.run(&["purge", &target]).code, 2);
    let planned = world.json(&["purge", &target, "--dry-run"]);
    assert_eq!(planned["purged"]["entries"], json!(["bbbb0001"]));
    world.ok(&["entry", &target]);
    let done = world.json(&["purge", &target, "--yes"]);
    assert_eq!(done["purged"], planned["purged"]);
    assert!(!world.ok(&["entry", &target]).contains("reverse"));
    assert!(!world.ok(&["export", &session, "--to", "pi"]).contains("in reverse"));
    assert_eq!(world.json(&["search", "reverse"])["hits"], json!([]));
    let ran = world.run(&["undo", &session]);
    assert!(ran.code == 4 && ran.stderr.contains("purged"), "{}", ran.stderr);
    assert_eq!(world.run(&["doctor", &session]).code, 0);
}

#[test]
fn a21_reset_needs_a_yes_and_starts_over() {
    let world = World::new();
    let session = world.branched();
    assert_eq!(world.run(&["reset", &session]).code, 2);
    assert_eq!(world.json(&["reset", &session, "--dry-run"])["history_cleared"], false);
    let reset = world.json(&["reset", &session, "--yes"]);
    assert_eq!((&reset["history_cleared"], &reset["cleared_messages"]), (&json!(true), &json!(7)));
    assert_eq!(world.json(&["show", &session])["messages"], json!([]));
    assert_eq!(world.json(&["show", &session])["session"]["title"], "Sort a list");
    assert_eq!(world.json(&["search", "reverse"])["hits"], json!([]));
    let ran = world.run(&["undo", &session]);
    assert_eq!(ran.code, 4);
    assert!(ran.stderr.contains("reset"), "{}", ran.stderr);
}

#[test]
fn a12_boot_greets_once() {
    let world = World::new();
    let session = world.session();
    let booted = world.json(&["boot", &session, "--welcome", "Hello!"]);
    assert_eq!((&booted["welcome"], &booted["is_new"]), (&json!("Hello!"), &json!(true)));
    let again = world.json(&["boot", &session]);
    assert_eq!(
        (&again["entry"], &again["welcome"], &again["is_new"]),
        (&booted["entry"], &json!("Hello!"), &json!(false))
    );
}

#[test]
fn b26_todos_are_added_done_and_wait() {
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "one");
    world.ok(&["todo", &session, "add", "first"]);
    let todos = world.json(&["todo", &session, "add", "second", "--blocked-by", "1"]);
    assert_eq!(todos["todos"][1]["waits_for"], json!(["1"]));
    assert_eq!(world.json(&["todo", &session, "done", "1"])["todos"][1]["waits_for"], json!([]));
    assert_eq!(world.ok(&["todo", &session]), "[x] 1  first\n[ ] 2  second");
    assert_eq!(world.run(&["todo", &session, "done", "7"]).code, 3);
    let round = r#"[{"id":"a","text":"a","blocked_by":["b"]},{"id":"b","text":"b","blocked_by":["a"]}]"#;
    assert_eq!(world.run(&["todo", &session, "set", round]).code, 1);
    let set = world.run_with(r#"[{"text":"from stdin"}]"#, &["todo", &session, "set", "-"]);
    assert_eq!(set.stdout, "[ ] 1  from stdin\n");
    world.ok(&["undo", &session]);
    assert_eq!(world.json(&["todo", &session])["todos"].as_array().unwrap().len(), 2);
}

#[test]
fn i14_the_audit_covers_forks_and_children() {
    let world = World::new();
    let session = world.branched();
    let fork = world.ok(&["fork", &session]);
    let child = world.ok(&["new", "--parent", &session]);
    world.say(&fork, "user", "in the fork");
    world.say(&child, "user", "in the child");
    let audit = world.json(&["log", &session, "--all"]);
    let sessions = audit["sessions"].as_array().unwrap();
    assert!(sessions.len() == 3 && sessions.contains(&json!(fork)) && sessions.contains(&json!(child)), "{audit}");
    let newest: Vec<_> = audit["operations"]
        .as_array()
        .unwrap()
        .iter()
        .take(2)
        .map(|one| (one["session"].as_str().unwrap(), one["op"].as_str().unwrap()))
        .collect();
    assert_eq!(newest, [(child.as_str(), "say"), (fork.as_str(), "say")]);
    assert!(world.ok(&["log", &session, "--audit"]).contains("in the fork"));
}

#[test]
fn i1_events_are_replayed_from_a_place() {
    let world = World::new();
    let session = world.session();
    world.say(&session, "user", "one");
    world.say(&session, "assistant", "two");
    let told = |arguments: &[&str]| -> Vec<(String, u64)> {
        let lines = world.ok(arguments);
        let event = |line: &str| {
            let event: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!((&event["schema_version"], &event["session"]), (&json!(1), &json!(session)));
            (event["type"].as_str().unwrap().to_owned(), event["seq"].as_u64().unwrap())
        };
        lines.lines().map(event).collect()
    };
    let all = told(&["events", &session, "--replay", "--json"]);
    let expected = [("entry.appended", 1), ("entry.appended", 2), ("message.end", 2)];
    assert_eq!(all, expected.map(|(name, seq)| (name.to_owned(), seq)));
    assert_eq!(told(&["events", &session, "--replay", "--from", "1", "--json"]), all[1..]);
}

#[test]
fn compare_and_merge_back_tell_what_another_way_came_to() {
    let world = World::new();
    let session = world.branched();
    let compared = world.json(&["compare", &format!("{session}@bbbb0001"), &session]);
    assert_eq!((&compared["ancestor"], &compared["shared_messages"]), (&json!("aaaa0004"), &json!(4)));
    assert_eq!((&compared["a"]["messages"], &compared["b"]["messages"]), (&json!(1), &json!(2)));
    assert!(world.ok(&["compare", &session, &session]).contains("both share"));
    let from = format!("{session}@bbbb0001");
    let planned = world.json(&["merge-back", &session, &from, "--dry-run"]);
    assert!(planned["text"].as_str().unwrap().contains("And in reverse?"), "{planned}");
    assert_eq!(planned["merged"], json!([]));
    let merged = world.json(&["merge-back", &session, &from, "--message", "bbbb0001"]);
    assert_eq!(merged["leaf"], merged["merged"][0]);
    world.ok(&["undo", &session]);
    assert_eq!(world.json(&["show", &session])["session"]["leaf"], "cccc0002");
}

#[test]
fn a28_retention_needs_rules_and_a_yes() {
    let world = World::new();
    world.session();
    let ran = world.run(&["retain", "--dry-run"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("no rule"), "{}", ran.stderr);
    assert_eq!(world.run(&["config", "set", "retention_drafts", "soon"]).code, 2);
    world.ok(&["config", "set", "retention_drafts", "7d"]);
    assert_eq!(world.run(&["retain"]).code, 2);
    assert_eq!(world.json(&["retain", "--yes"])["sessions"], json!([]), "a draft of today stays");
}

const SCRIPT: &str = r#"
[[answers]]
steps = [{ call = { name = "write", arguments = { path = "made.txt", content = "made\n" } } }]
[[answers]]
steps = [{ text = "Done." }]
"#;

#[test]
fn a_turn_is_undone_with_its_files_and_attachments_are_in_its_prompt() {
    let world = World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let (script, notes) = (world.file("script.toml", SCRIPT), world.file("notes.txt", "a note to read\n"));
    let arguments =
        ["run", "make it", "--script", &script, "--permission", "write=allow", "--attach", &notes, "--json"];
    let ran = world.run(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let made = world.path("project").join("made.txt");
    assert!(made.exists());
    let shown = world.json(&["show", "last"]);
    assert!(shown["messages"][0]["text"].as_str().unwrap().contains("a note to read"), "{shown}");
    let planned = world.json(&["undo", "last", "--dry-run"]);
    assert_eq!(planned["plan"][0]["path"], "made.txt");
    assert!(made.exists());
    let undone = world.json(&["undo", "last"]);
    assert_eq!((&undone["operation"]["op"], &undone["applied"]), (&json!("run"), &json!(true)));
    assert!(!made.exists());
    assert_eq!(world.json(&["show", "last"])["messages"], json!([]));
    world.ok(&["redo", "last"]);
    assert_eq!(std::fs::read_to_string(&made).unwrap(), "made\n");
    assert_eq!(world.json(&["show", "last"])["messages"], shown["messages"]);
    let log = world.json(&["log", "last"]);
    let names: Vec<_> = log["operations"].as_array().unwrap().iter().map(|one| one["op"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["redo", "undo", "run"]);
    let ran = world.run(&["run", "x", "--script", &script, "--attach", &notes, "--attach", &notes]);
    assert!(ran.code != 0 && ran.stderr.contains("notes.txt"), "{}", ran.stderr);
}
