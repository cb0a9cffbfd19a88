//! What people and programs see of snapshots: patches that can be applied, the files of one, paths as they are written, and
//! the way back to where a session began.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::travelling::{read, turn, two_turns, write};
use crate::turns::world;
use crate::world::{Ran, World};

fn snapshot(world: &World, session: &str) -> String {
    world.json(&["snapshot", session])["snapshot"]["id"].as_str().unwrap().to_owned()
}

/// Runs a command from a directory of the project.
fn run_in(world: &World, directory: &str, arguments: &[&str]) -> Ran {
    let output = world.command(arguments).current_dir(world.path(directory)).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ran { stdout: text(output.stdout), stderr: text(output.stderr), code: output.status.code().unwrap() }
}

fn apply(program: &str, arguments: &[&str], directory: &Path, patch: &[u8]) {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(directory).env("GIT_CEILING_DIRECTORIES", directory).stdin(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(patch).unwrap();
    assert!(child.wait().unwrap().success(), "{program}: {}", String::from_utf8_lossy(patch));
}

#[test]
fn what_is_not_shown_on_a_terminal_is_a_patch_byte_for_byte() {
    let world = world();
    let session = world.session();
    let old: [(&str, &[u8]); 3] =
        [("tabs.c", b"if (x) {\n    y();\n}\n"), ("latin.txt", b"caf\xe9\r\n\x1b[31m"), ("gone", b"bye")];
    let other = world.path("user").join("other");
    fs::create_dir(&other).unwrap();
    for (name, content) in old {
        fs::write(world.path("project").join(name), content).unwrap();
        fs::write(other.join(name), content).unwrap();
    }
    let one = snapshot(&world, &session);
    let new: [(&str, &[u8]); 3] =
        [("tabs.c", b"if (x) {\n\ty();  \n}\n"), ("latin.txt", b"caf\xe9!\r\n\x1b[31m"), ("größe\t1", b"new\n")];
    for (name, content) in new {
        fs::write(world.path("project").join(name), content).unwrap();
    }
    fs::remove_file(world.path("project").join("gone")).unwrap();
    let output = world.command(&["diff", &session, &one]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("4 files changed"), "the rest is talk");
    for (program, arguments) in [("git", &["apply"][..]), ("patch", &["-p1", "-R"]), ("patch", &["-p1"])] {
        apply(program, arguments, &other, &output.stdout);
    }
    for (name, content) in new {
        assert_eq!(fs::read(other.join(name)).unwrap(), content, "{name}");
    }
    assert!(!other.join("gone").exists());
    // People see the layout, and no byte of a file reaches their terminal as more than a letter.
    let shown = world.ok(&["diff", &session, &one, "--color", "always"]);
    assert!(shown.contains("-    y();\u{1b}[0m\n") && shown.contains("+\ty();  \u{1b}[0m\n"), "{shown}");
    assert!(shown.contains("!^M\u{1b}[0m\n") && shown.contains("\n ^[[31m\n") && !shown.contains('\r'), "{shown}");
    // Programs are told the bytes that JSON cannot hold.
    let told = world.json(&["diff", &session, &one, "--stat"]);
    let latin = told["diffs"].as_array().unwrap().iter().find(|one| one["path"] == "latin.txt").unwrap();
    assert!(latin["diff"].as_str().unwrap().contains("+caf\u{fffd}!\r\n"), "{latin}");
    assert!(latin["diff_base64"].is_string() && told["diffs"][0].get("diff_base64").is_none(), "{told}");
}

#[test]
fn a_file_that_moved_is_found_under_both_of_its_names() {
    let world = world();
    let session = world.session();
    fs::create_dir_all(world.path("project/src")).unwrap();
    world.file("src/old.txt", "one\ntwo\n");
    world.file("other.txt", "one\n");
    let one = snapshot(&world, &session);
    fs::rename(world.path("project/src/old.txt"), world.path("project/new.txt")).unwrap();
    world.file("other.txt", "two\n");
    let two = snapshot(&world, &session);
    for path in ["src/old.txt", "src", "new.txt"] {
        let told = world.json(&["diff", &session, &one, &two, "--path", path]);
        let all: Vec<_> = told["diffs"].as_array().unwrap().iter().map(|one| (&one["path"], &one["from"])).collect();
        assert_eq!(all, [(&json!("new.txt"), &json!("src/old.txt"))], "{path}: {told}");
    }
    let stat = world.ok(&["diff", &session, &one, &two, "--stat"]);
    assert!(stat.contains("renamed   src/old.txt => new.txt  +0 -0\n"), "{stat}");
    assert!(stat.contains("modified  other.txt  +1 -1\n"), "{stat}");
}

#[test]
fn a_path_is_found_however_it_is_written() {
    let world = world();
    let session = world.session();
    fs::create_dir_all(world.path("project/src/deep")).unwrap();
    world.file("src/a", "one\n");
    world.file("b", "one\n");
    let one = snapshot(&world, &session);
    world.file("src/a", "two\n");
    world.file("b", "two\n");
    let absolute = world.path("project/src").display().to_string();
    let paths = |directory: &str, path: &str| {
        let ran = run_in(&world, directory, &["diff", &session, &one, "--path", path, "--json"]);
        assert_eq!(ran.code, 0, "{path} from {directory}: {}", ran.stderr);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        told["diffs"].as_array().unwrap().iter().map(|one| one["path"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (directory, path) in [
        ("project", "./src"),
        ("project", "src/"),
        ("project", "src/../src/a"),
        ("project", &absolute),
        ("project/src", "a"),
        ("project/src", "."),
        ("project/src/deep", "../a"),
        ("user", "src"),
        ("user", &absolute),
    ] {
        assert_eq!(paths(directory, path), ["src/a"], "{path} from {directory}");
    }
    assert_eq!(paths("project", "."), ["b", "src/a"]);
    assert_eq!(paths("project/src", ".."), ["b", "src/a"]);
    for verb in [&["diff", &session, &one][..], &["restore", &session, &one]] {
        let tried =
            |directory: &str, path: &str| run_in(&world, directory, &[verb, &["--path", path, "--json"]].concat());
        for outside in ["../x", "/etc/passwd"] {
            let ran = tried("project", outside);
            assert!(ran.code == 2 && ran.stderr.contains("not in the session's directory"), "{}", ran.stderr);
        }
        for nowhere in ["nosuch", "src/a/b", "src/b"] {
            let ran = tried("project", nowhere);
            assert!(
                ran.code == 3 && ran.stderr.contains("not-found") && ran.stderr.contains(nowhere),
                "{}",
                ran.stderr
            );
        }
        assert_eq!(tried("project/src", "b").code, 3);
    }
    let ran = run_in(&world, "project/src", &["restore", &session, &one, "--path", "./a", "--force"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!((read(&world, "src/a").as_deref(), read(&world, "b").as_deref()), (Some("one\n"), Some("two\n")));
}

#[test]
fn the_files_of_a_snapshot_are_listed() {
    let world = world();
    let (session, first, _) = two_turns(&world);
    let first = first["snapshot"].as_str().unwrap();
    let told = world.json(&["snapshots", &session, first]);
    assert_eq!((&told["snapshot"]["id"], &told["snapshot"]["files"]), (&json!(first), &json!(1)));
    let hash = "8ed90761985c19edeadcf79917b92ecaa0567433044df4c90c5babe1c12c65ef";
    let file = json!({"path": "poem.txt", "sha256": hash, "mode": "100644", "size": 14});
    assert_eq!(told["files"], json!([file]));
    let text = world.ok(&["snapshots", &session, first]);
    let line = format!("100644  14  {}  poem.txt\n1 file, 14 bytes", hash.get(..12).unwrap());
    assert_eq!(text, line);
    assert_eq!(world.run(&["snapshots", &session, "nosuch"]).code, 3);
}

#[test]
fn there_is_a_way_back_to_before_the_first_change() {
    let world = world();
    world.file("mine.txt", "mine\n");
    let session =
        turn(&world, "write a poem", &[write("poem.txt", "roses\n"), write("b", "b\n")], &[])["session"].clone();
    let session = session.as_str().unwrap();
    let listed = world.json(&["snapshots", session])["snapshots"].as_array().unwrap().clone();
    let labels: Vec<_> = listed.iter().map(|one| one["label"].as_str().unwrap()).collect();
    assert_eq!(labels, ["After: write a poem", "Before: write a poem"]);
    assert_eq!((&listed[1]["files"], &listed[1]["ancestor_of_current"]), (&json!(1), &json!(true)));
    let before = listed[1]["id"].as_str().unwrap();
    let hinted = world.run(&["diff", session]).stderr;
    assert!(hinted.contains(&format!("ramus diff {session} {before}")), "{hinted}");
    assert_eq!(world.json(&["diff", session, before])["files"], 2);
    // What a revert names is known, and so is what was there behind a call.
    let prompt = listed[1]["entry"].as_str().unwrap();
    let reverted = world.json(&["revert", &format!("{session}@{prompt}"), "--dry-run"]);
    assert_eq!(reverted["plan"].as_array().unwrap().len(), 2);
    let log = fs::read_to_string(world.json(&["show", session])["session"]["path"].as_str().unwrap()).unwrap();
    let steps: Vec<Value> = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect();
    let behind = steps.iter().find_map(|line| line.pointer("/data/steps/0/1")).unwrap().as_str().unwrap();
    let told = world.json(&["diff", session, before, behind]);
    assert!(matches!(told["files"].as_u64(), Some(1 | 2)), "one call, or both that ran at once: {told}");
    for name in [before, prompt, "Before: write a poem"] {
        let dry = world.json(&["restore", session, name, "--dry-run"]);
        let conflicts: Vec<_> = dry["plan"].as_array().unwrap().iter().map(|step| &step["conflict"]).collect();
        assert_eq!(conflicts, [&Value::Null, &Value::Null], "{name}: {dry}");
    }
    world.json(&["restore", session, before]);
    assert_eq!(
        (read(&world, "poem.txt"), read(&world, "b"), read(&world, "mine.txt").as_deref()),
        (None, None, Some("mine\n"))
    );
}

#[test]
fn what_only_a_person_made_goes_only_by_force() {
    let world = world();
    let session = world.session();
    world.file("a", "a\n");
    let one = snapshot(&world, &session);
    world.file("mine", "mine\n");
    snapshot(&world, &session);
    let ran = world.run(&["restore", &session, &one]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    assert!(ran.stdout.contains("kept       mine  conflict: "), "{}", ran.stdout);
    assert_eq!(read(&world, "mine").as_deref(), Some("mine\n"));
    world.json(&["restore", &session, &one, "--force"]);
    assert_eq!(read(&world, "mine"), None);
}

#[test]
fn a_directory_around_the_home_directory_has_no_snapshots() {
    let world = world();
    fs::create_dir(world.path("project/me")).unwrap();
    let home = world.path("project/me").display().to_string();
    let world = world.with("HOME", &home);
    let session = world.session();
    let ran = world.run(&["snapshot", &session]);
    assert!(ran.code == 1 && ran.stderr.contains("a home directory is in it"), "{} {}", ran.code, ran.stderr);
}
