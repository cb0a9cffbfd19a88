//! Pictures and long texts, from the outside.

use serde_json::{Value, json};

use crate::world::World;

fn picture() -> String {
    "QUJD".repeat(600)
}

/// A session with a picture.
fn illustrated(world: &World) -> String {
    let session = world.session();
    let parts = json!([{"type": "image", "mimeType": "image/png", "data": picture()}]);
    let entry = json!({"type": "message", "id": "aaaa0001", "message": {"role": "user", "content": parts}});
    let ran = world.run_with(&format!("{entry}\n"), &["append", &session, "-"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    session
}

#[test]
fn the_line_holds_a_reference_and_the_views_the_picture() {
    let world = World::new();
    let session = illustrated(&world);
    let entry: Value = serde_json::from_str(&world.ok(&["entry", &format!("{session}@aaaa0001")])).unwrap();
    assert!(entry["message"]["content"][0]["data"].as_str().unwrap().starts_with("blob:sha256:"));
    assert_eq!(world.json(&["context", &session])["messages"][0]["content"][0]["data"], picture());
    let sent = world.json(&["context", &session, "--dialect", "provider"]);
    assert_eq!(sent["messages"][0]["content"][0]["data"], picture());
    assert_eq!(world.json(&["show", &session])["messages"][0]["parts"][0]["data"], picture());
    assert!(world.ok(&["export", &session, "--to", "pi"]).contains(&picture()));
}

#[test]
fn a_missing_picture_is_a_warning_and_a_finding() {
    let world = World::new();
    let session = illustrated(&world);
    for blob in std::fs::read_dir(world.path("home/blobs")).unwrap() {
        std::fs::remove_file(blob.unwrap().path()).unwrap();
    }
    for command in ["show", "context"] {
        let ran = world.run(&[command, &session]);
        assert_eq!(ran.code, 0, "{command}");
        assert!(ran.stdout.contains("[missing blob sha256:"), "{command}: {}", ran.stdout);
        assert!(ran.stderr.contains("1 blob is missing or damaged"), "{command}: {}", ran.stderr);
    }
    let doctor = world.run(&["doctor", &session, "--json"]);
    let report: Value = serde_json::from_str(&doctor.stdout).unwrap();
    assert_eq!((doctor.code, &report["findings"][0]["kind"]), (5, &json!("missing-blob")));
    assert!(report["findings"][0]["detail"].as_str().unwrap().contains("entry aaaa0001"));
}

#[test]
fn gc_says_what_it_did() {
    let world = World::new();
    assert_eq!(world.ok(&["gc", "--yes"]), "there are no blobs");
    let session = illustrated(&world);
    assert_eq!(world.ok(&["gc", "--yes"]), "1 blob, 1.8 kB, kept");
    let collected = world.json(&["gc", "--dry-run"]);
    assert_eq!(collected["kept"], json!({"blobs": 1, "bytes": 1800}));
    assert_eq!(collected["trashed"], json!({"blobs": 0, "bytes": 0}));
    assert_eq!(collected["removed"], json!({"blobs": 0, "bytes": 0}));
    assert_eq!(collected["leftovers"], json!({"files": 0, "bytes": 0}));
    assert_eq!(collected["snapshots"], json!({"removed": 0, "bytes": 0, "directories": []}));
    assert_eq!(collected["disk"]["parts"]["blobs"], json!({"files": 1, "bytes": 1800}));
    assert_eq!(collected["dry_run"], true);
    let deleted = world.run(&["delete", &session, "--yes"]);
    assert!(deleted.stderr.contains("removed 1 blob that only it referred to"), "{}", deleted.stderr);
    assert_eq!(world.ok(&["gc", "--yes"]), "there are no blobs");
}

#[test]
fn gc_removes_nothing_when_a_session_cannot_be_read() {
    let world = World::new();
    illustrated(&world);
    std::os::unix::fs::symlink("/nowhere", world.path("home/drafts/link.jsonl")).unwrap();
    let ran = world.run(&["gc", "--yes"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("link.jsonl needs; nothing was removed"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hint:"), "{}", ran.stderr);
}

#[test]
fn nothing_is_collected_when_nobody_was_asked() {
    let world = World::new();
    let ran = world.run(&["gc"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    world.ok(&["gc", "--dry-run"]);
}
