//! `delete`: never without being told so.

use crate::world::World;

#[test]
fn nobody_to_ask_means_no() {
    let world = World::new();
    let session = world.branched();
    let ran = world.run_with("y\n", &["delete", &session]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("--yes"), "{}", ran.stderr);
    world.ok(&["show", &session]);
}

#[test]
fn a_dry_run_names_everything_and_removes_nothing() {
    let world = World::new();
    let session = world.branched();
    let planned = world.json(&["delete", &session, "--dry-run"]);
    assert_eq!(planned["dry_run"], true);
    world.ok(&["show", &session]);
    let done = world.json(&["delete", &session, "--yes"]);
    assert_eq!(planned["removed"], done["removed"]);
    for file in done["removed"]["files"].as_array().unwrap() {
        assert!(!std::path::Path::new(file.as_str().unwrap()).exists());
    }
    assert_eq!(world.run(&["delete", &session, "--yes"]).code, 3);
}

#[test]
fn children_stay_and_are_named() {
    let world = World::new();
    let parent = world.session();
    let child = world.ok(&["new", "--parent", &parent]);
    assert_eq!(world.json(&["delete", &parent, "--yes"])["children"], serde_json::json!([child]));
    world.ok(&["show", &child]);
}

#[test]
fn files_of_other_programs_are_not_ours_to_delete() {
    let world = World::new();
    let path = world
        .file("theirs.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"t\",\"timestamp\":\"\",\"cwd\":\"/\"}\n");
    let ran = world.run(&["delete", &path, "--yes"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("belongs to another program"), "{}", ran.stderr);
    assert!(std::path::Path::new(&path).exists());
}
