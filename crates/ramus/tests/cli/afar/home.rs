//! What the commands of the table work on: a home with sessions, and files.

use std::path::Path;

use crate::world::World;

/// A home with sessions in it: what every command of the table is about.
pub(super) fn fill(world: &World) -> Names {
    let main = world.branched();
    world.file("notes.txt", "one\n");
    let snapshot = world.json(&["snapshot", &main, "--label", "first"]);
    let snapshot = snapshot["snapshot"]["id"].as_str().unwrap().to_owned();
    world.file("notes.txt", "one\ntwo\n");
    world.ok(&["tag", &main, "add", "blue"]);
    world.ok(&["meta", &main, "ticket=RAM-1"]);
    world.ok(&["todo", &main, "add", "write the tests"]);
    let fork = world.ok(&["fork", &format!("{main}@aaaa0004"), "--title", "Another way"]);
    let child = world.ok(&["new", "--parent", &main, "--title", "A child"]);
    world.say(&child, "user", "do a part of it");
    let other = world.ok(&["new", "--title", "To go"]);
    world.say(&other, "user", "hello there");
    world.say(&other, "assistant", "and hello to you");
    world.ok(&["share", &fork, "--yes"]);
    world.say(&fork, "user", "on the fork");
    let deep = world.ok(&["fork", &fork, "--title", "A fork of the fork"]);
    world.say(&deep, "user", "deeper still");
    // What is left of its origin is kept for it.
    let origin = world.branched();
    let orphan = world.ok(&["fork", &format!("{origin}@aaaa0004"), "--title", "Alone"]);
    world.say(&orphan, "user", "still here");
    world.ok(&["delete", &origin, "--yes"]);
    Names { main, fork, deep, orphan, child, other, snapshot }
}

/// What the sessions are called that the table speaks of.
pub(super) struct Names {
    main: String,
    fork: String,
    /// A fork of the fork.
    deep: String,
    /// A fork of a session that is gone.
    orphan: String,
    child: String,
    other: String,
    snapshot: String,
}

impl Names {
    /// Puts the ids in the place of their names.
    pub(super) fn put(&self, word: &str) -> String {
        let word = word.replace("MAIN", &self.main).replace("FORK", &self.fork).replace("CHILD", &self.child);
        let word = word.replace("DEEP", &self.deep).replace("ORPHAN", &self.orphan);
        word.replace("OTHER", &self.other).replace("SNAPSHOT", &self.snapshot)
    }
}

/// Puts the files back that both work on.
pub(super) fn settle(world: &World) {
    world.file("notes.txt", "one\ntwo\n");
    let _ = std::fs::remove_file(world.path("project/out.json"));
}

/// Writes the files that commands of the table read.
pub(super) fn prepare(world: &World) {
    let line = r#"{"type":"message","message":{"role":"user","content":"from a file"}}"#;
    std::fs::write(world.path("lines.jsonl"), format!("{line}\n\n{line}\n")).unwrap();
    std::fs::write(world.path("wrong.jsonl"), format!("{line}\n{{\"type\":\n")).unwrap();
    let elsewhere = World::new();
    let session = elsewhere.branched();
    elsewhere.ok(&["export", &session, "-o", world.path("bundle.json").to_str().unwrap()]);
    std::fs::create_dir_all(world.path("codex")).unwrap();
    let another = elsewhere.branched();
    elsewhere.ok(&["export", &another, "--to", "codex", "-o", world.path("codex/rollout.jsonl").to_str().unwrap()]);
}

/// Copies a directory.
pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
