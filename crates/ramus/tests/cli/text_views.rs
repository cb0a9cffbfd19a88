//! What people read.

use crate::world::{World, snapshot, transcript};

#[test]
fn every_view_of_a_session() {
    // With the project below the user's own directory, the table has the same width wherever the test runs.
    let world = World::new();
    let root = world.path("").display().to_string();
    let world = world.with("HOME", root.trim_end_matches('/'));
    let session = world.branched();
    let view = |arguments: &[&str]| world.tame(&transcript(&world, arguments));
    snapshot!("text_list", view(&["list"]));
    snapshot!("text_list_all", view(&["list", "--all"]));
    snapshot!("text_show", view(&["show", &session]));
    snapshot!("text_show_all", view(&["show", &session, "--all"]));
    snapshot!("text_show_page", view(&["show", &session, "--limit", "1"]));
    snapshot!("text_tree", view(&["tree", &session]));
    snapshot!("text_tree_all", view(&["tree", &session, "--all"]));
    snapshot!("text_context", view(&["context", &session]));
    snapshot!("text_context_provider", view(&["context", &format!("{session}@aaaa0002"), "--dialect", "provider"]));
    snapshot!("text_state", view(&["state", &session]));
    snapshot!("text_doctor", view(&["doctor", &session]));
}

#[test]
fn every_change_of_a_session() {
    let world = World::new();
    let session = world.branched();
    let entry = format!("{session}@bbbb0001");
    let mut said = Vec::new();
    for arguments in [
        &["branch", &entry][..],
        &["branch", &format!("{session}@answer"), "--summary", "It was no good"],
        &["label", &entry, "here"],
        &["label", &entry],
        &["rename", &session, "  Another\n title "],
        &["replace-segment", &session, "aaaa0002", "aaaa0004", "--text", "Looked into list.py."],
        &["reset-leaf", &session],
        &["meta", &session, "ticket=RAM-12", "attempts:=3"],
        &["meta", &session, "ticket"],
        &["meta", &session],
        &["move", &session, "--cwd", "/elsewhere"],
        &["tree", &session],
        &["export", &session, "--to", "pi", "-o", "out.jsonl"],
        &["delete", &session, "--dry-run"],
        &["delete", &session, "--yes"],
        &["delete", &session, "--yes"],
        &["list", "--all"],
    ] {
        said.push(transcript(&world, arguments));
    }
    snapshot!("text_changes", world.tame(&said.join("\n")));
}

#[test]
fn colours_mark_who_speaks_and_where_the_leaf_is() {
    let world = World::new();
    let session = world.session();
    world.append_branches(&session);
    let tree = world.ok(&["tree", &session, "--color", "always"]);
    snapshot!("text_tree_coloured", tree.replace('\u{1b}', "␛"));
    assert!(!world.ok(&["tree", &session, "--color", "never"]).contains('\u{1b}'));
    // Not a terminal, so no colours unless asked for.
    assert_eq!(world.ok(&["tree", &session]), world.ok(&["tree", &session, "--color", "never"]));
}

#[test]
fn a_locale_without_utf8_gets_ascii() {
    let world = World::new().with("LC_ALL", "C");
    let session = world.branched();
    let tree = world.ok(&["tree", &session]);
    assert!(tree.is_ascii(), "{tree}");
    snapshot!("text_tree_ascii", world.tame(&tree));
}

#[test]
fn lines_fit_the_terminal() {
    let world = World::new().with("COLUMNS", "60");
    let session = world.session();
    world.say(&session, "user", &"日本語とEnglish ".repeat(40));
    world.ok(&["label", &format!("{session}@"), "a label", "-q"]);
    world.say(&session, "assistant", &"word ".repeat(200));
    for arguments in [&["tree", &session][..], &["context", &session], &["list"]] {
        for line in world.ok(arguments).lines() {
            assert!(unicode_width::UnicodeWidthStr::width(line) <= 60, "{arguments:?}: {line}");
        }
    }
}

#[test]
fn several_roots_stand_apart() {
    let world = World::new();
    let session = world.branched();
    world.ok(&["reset-leaf", &session, "-q"]);
    snapshot!("text_tree_without_leaf", world.tame(&world.ok(&["tree", &session])));
    world.say(&session, "user", "Something else.");
    snapshot!("text_tree_two_roots", world.tame(&world.ok(&["tree", &session])));
}

#[test]
fn long_runs_are_folded_to_turns() {
    let world = World::new();
    let session = world.session();
    let mut lines = Vec::new();
    for turn in 0..3 {
        lines.push(message(turn * 20, "user", "prompt"));
        lines.extend((1..20).map(|step| message(turn * 20 + step, "assistant", "step")));
    }
    lines.push(r#"{"type":"label","id":"aaaa9999","targetId":"aaaa0030","label":"landmark"}"#.into());
    assert_eq!(world.run_with(&lines.join("\n"), &["append", &session]).code, 0);
    snapshot!("text_tree_folded", world.tame(&world.ok(&["tree", &session])));
    assert_eq!(world.ok(&["tree", &session, "--all"]).lines().count(), 61 + 2);
}

fn message(number: u32, role: &str, text: &str) -> String {
    format!(r#"{{"type":"message","id":"aaaa{number:04}","message":{{"role":"{role}","content":"{text} {number}"}}}}"#)
}

#[test]
fn quiet_says_nothing_but_errors() {
    let world = World::new();
    let session = world.branched();
    let ran = world.run(&["branch", &format!("{session}@answer"), "--quiet"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.code), ("", "", 0));
    assert!(world.run(&["branch", &format!("{session}@nothing"), "--quiet"]).stderr.starts_with("error: "));
}

#[test]
fn a_session_that_is_being_run_says_so() {
    use ramus_store::{JsonlStore, Layout, LogStore as _};
    let world = World::new();
    let session = world.branched();
    let store = JsonlStore::new(world.path("home"), Layout::Pi);
    let at = store.list().unwrap().remove(0);
    let lease = store.lease(&at, 0).unwrap();
    assert_eq!(world.json(&["list"])["sessions"][0]["status"], "running");
    assert!(world.ok(&["list"]).contains("(running)"));
    assert!(world.ok(&["show", &session]).contains(&format!("running (process {})", std::process::id())));
    drop(lease);
    assert_eq!(world.json(&["list"])["sessions"][0]["status"], "idle");
}
