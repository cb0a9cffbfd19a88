//! Files opened where they are.

use crate::world::World;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"theirs","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/x"}"#;
const ENTRY: &str = r#"{"type":"message","id":"aaaa0001","parentId":null,"timestamp":"2026-02-16T10:20:31.000Z","message":{"role":"user","content":"hi"}}"#;

#[test]
fn reading_changes_nothing() {
    let world = World::new();
    // No newline at the end, an old version, a byte order mark: all of this is left alone by readers.
    let old = HEADER.replace("\"version\":3,", "");
    for content in
        [format!("{HEADER}\n{ENTRY}"), format!("\u{feff}{HEADER}\r\n{ENTRY}\r\n"), format!("{old}\n{ENTRY}\n")]
    {
        let path = world.file("theirs.jsonl", &content);
        for arguments in [
            &["show", &path][..],
            &["tree", &path, "--all"],
            &["context", &path, "--json"],
            &["state", &path],
            &["doctor", &path],
            &["entry", &format!("{path}@")],
            &["export", &path, "--to", "pi"],
        ] {
            world.ok(arguments);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content, "{arguments:?}");
        }
    }
    assert_eq!(std::fs::read_dir(world.path("home")).unwrap().count(), 0);
}

#[test]
fn a_path_may_contain_an_at() {
    let world = World::new();
    world.file("a@b.jsonl", &format!("{HEADER}\n{ENTRY}\n"));
    assert_eq!(world.json(&["tree", "a@b.jsonl"])["leaf"], "aaaa0001");
    assert_eq!(world.ok(&["entry", "a@b.jsonl@#1"]), ENTRY);
}

#[test]
fn an_old_file_is_upgraded_by_the_first_append_and_kept() {
    let world = World::new();
    let v1 = "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/x\"}\n{\"type\":\"message\",\"timestamp\":\"2026-02-16T10:20:31.000Z\",\"message\":{\"role\":\"user\",\"content\":\"hi\"}}\n";
    let path = world.file("old.jsonl", v1);
    let ran = world.run(&["say", &path, "there"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.starts_with("warning: upgraded from version 1;"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(format!("{path}.v1.bak")).unwrap(), v1);
    assert_eq!(world.json(&["show", &path])["messages"].as_array().map(Vec::len), Some(2));
}

#[test]
fn a_file_of_our_own_home_is_the_session_that_lives_there() {
    let world = World::new();
    let session = world.branched();
    let path = world.json(&["show", &session])["session"]["path"].as_str().unwrap().to_owned();
    assert_eq!(world.json(&["show", &path]), world.json(&["show", &session]));
    let ran = world.run(&["export", &session, "--to", "pi", "-o", &path]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn damage_is_mentioned_and_does_not_hide_the_rest() {
    let world = World::new();
    let path = world.file("torn.jsonl", &format!("{HEADER}\n{ENTRY}\n{{\"type\":\"mess"));
    let ran = world.run(&["tree", &path]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.starts_with("warning: the session is damaged; `ramus doctor "), "{}", ran.stderr);
    assert!(ran.stdout.contains("aaaa0001"), "{}", ran.stdout);
    assert_eq!(world.run(&["tree", &path, "--quiet"]).stderr, "");
}

#[test]
fn exports_overwrite_whole_files_and_follow_links() {
    let world = World::new();
    let session = world.branched();
    let target = world.file("target.jsonl", "old");
    std::os::unix::fs::symlink(&target, world.path("project").join("link.jsonl")).unwrap();
    world.ok(&["export", &session, "--to", "pi", "-o", "link.jsonl", "-q"]);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), world.ok(&["export", &session, "--to", "pi"]) + "\n");
    assert!(world.path("project").join("link.jsonl").is_symlink());
    assert_eq!(std::fs::read_dir(world.path("project")).unwrap().count(), 2);
}
