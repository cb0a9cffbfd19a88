//! Projects, relocation, tags and stars, from the command line.

use std::path::Path;

use serde_json::Value;

use crate::world::{World, pretty, snapshot, transcript};

/// Makes a repository as `git init` and `git remote add origin` would.
fn repository(world: &World, name: &str, address: &str) {
    let git = world.path(name).join(".git");
    std::fs::create_dir_all(&git).unwrap();
    std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {address}\n")).unwrap();
}

/// Runs a command in another directory.
fn run_in(world: &World, directory: &Path, arguments: &[&str]) -> String {
    let output = world.command(arguments).current_dir(directory).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_renamed_directory_keeps_its_sessions() {
    let world = World::new().with("TMUX_PANE", "%1");
    repository(&world, "project", "https://ada:topsecret@host.example/ada/shop.git");
    let session = world.branched();
    assert_eq!(world.json(&["list"])["sessions"][0]["project"], "host.example/ada/shop");
    let renamed = world.path("renamed");
    std::fs::rename(world.path("project"), &renamed).unwrap();
    std::fs::create_dir(world.path("project")).unwrap();
    let listed: Value = serde_json::from_str(&run_in(&world, &renamed, &["list", "--json"])).unwrap();
    let found = &listed["sessions"][0];
    assert_eq!(found["id"], session.as_str());
    assert_eq!((&found["cwd"], &found["moved_to"]), (&path(&world, "project"), &path(&world, "renamed")));
    let mut said = vec![world.tame(&run_in(&world, &renamed, &["list"]))];
    for name in ["last", "this"] {
        let shown = run_in(&world, &renamed, &["show", name, "--limit", "1"]);
        said.push(world.tame(&shown));
    }
    snapshot!("projects_moved", said.join("\n"));
    assert!(!world.ok(&["export", &session, "--to", "pi"]).contains("topsecret"));
    // Where it was, it is listed as ever.
    assert_eq!(world.json(&["list"])["sessions"][0]["moved_to"], Value::Null);
}

fn path(world: &World, name: &str) -> Value {
    world.path(name).to_str().unwrap().into()
}

#[test]
fn relocating() {
    let world = World::new();
    let session = world.branched();
    std::fs::create_dir_all(world.path("project/src")).unwrap();
    run_in(&world, &world.path("project/src"), &["new", "--title", "A draft below"]);
    std::fs::rename(world.path("project"), world.path("renamed")).unwrap();
    std::fs::create_dir(world.path("project")).unwrap();
    let mut said = Vec::new();
    for arguments in [
        &["relocate", ".", "../renamed", "--dry-run"][..],
        &["relocate", "../project/../project", "../renamed"],
        &["relocate", ".", "../renamed"],
        &["relocate", "../renamed", "../renamed/below"],
        &["relocate", "../renamed", "../nowhere"],
        &["relocate", "../renamed", "../nowhere/../gone", "--yes"],
        &["list", "--all", "--drafts"],
    ] {
        said.push(transcript(&world, arguments));
    }
    snapshot!("projects_relocate", world.tame(&said.join("\n")));
    let answer = world.json(&["relocate", "../gone", "../renamed", "--dry-run"]);
    snapshot!("json_relocate", world.tame(&pretty(&answer)));
    assert_eq!(world.json(&["show", &session])["session"]["cwd"], path(&world, "gone"));
}

#[test]
fn what_cannot_be_relocated_is_told() {
    use ramus_store::{JsonlStore, Layout, LogStore as _};
    let world = World::new();
    world.branched();
    let store = JsonlStore::new(world.path("home"), Layout::Pi);
    let at = store.list().unwrap().remove(0);
    let lease = store.lease(&at, 0).unwrap();
    let ran = world.run(&["relocate", ".", "../user"]);
    assert_eq!(ran.code, 5);
    assert!(ran.stderr.contains("stays in") && ran.stderr.contains("being run by process"), "{}", ran.stderr);
    let answer = world.json_of(&["relocate", ".", "../user"]);
    assert_eq!((&answer["refused"][0]["kind"], &answer["moved"]), (&"busy".into(), &Value::Array(Vec::new())));
    drop(lease);
    assert_eq!(world.json(&["relocate", ".", "../user"])["moved"].as_array().unwrap().len(), 1);
}

#[test]
fn tags_and_stars() {
    let world = World::new();
    let session = world.branched();
    let mut said = Vec::new();
    for arguments in [
        &["tag", &session][..],
        &["tag", &session, "add", "bug", " needs  review "],
        &["tag", &session, "add", "--", "-1"],
        &["tag", &session, "remove", "bug"],
        &["tag", &session, "list"],
        &["star", &session],
        &["list"],
        &["show", &session, "--limit", "1"],
        &["tag", &session, "add"],
        &["tag", &session, "bug"],
        &["tag", &session, "list", "bug"],
        &["tag", &session, "add", "two\u{7}bells"],
        &["unstar", &session],
        &["tag", &session, "set"],
    ] {
        said.push(transcript(&world, arguments));
    }
    snapshot!("tags_and_stars", world.tame(&said.join("\n")));
    let mut answers = Vec::new();
    for arguments in
        [&["tag", &session, "set", "b", "a"][..], &["tag", &session], &["star", &session], &["unstar", &session]]
    {
        answers.push(pretty(&world.json(arguments)));
    }
    snapshot!("json_tags_and_stars", world.tame(&answers.join("\n")));
    let row = &world.json(&["list"])["sessions"][0];
    assert_eq!((&row["tags"], &row["starred"]), (&serde_json::json!(["a", "b"]), &false.into()));
}

#[test]
fn a_star_is_ascii_where_nothing_else_is_known() {
    let world = World::new().with("LC_ALL", "C");
    let session = world.branched();
    world.ok(&["star", &session]);
    let listed = world.ok(&["list"]);
    assert!(listed.is_ascii() && listed.contains("* Sort a list"), "{listed}");
}

#[test]
fn processes_that_tag_together_lose_nothing() {
    let world = World::new();
    let session = world.branched();
    let children: Vec<_> =
        (0..6).map(|n| world.command(&["tag", &session, "add", &format!("t{n}"), "-q"]).spawn().unwrap()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(world.ok(&["tag", &session]), "t0\nt1\nt2\nt3\nt4\nt5");
}
