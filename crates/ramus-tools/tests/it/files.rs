//! File tools: nothing outside is reached, nothing beside the change is touched, and no file is ever half written.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use ramus_tools::tool::bash::Settings;
use ramus_tools::{Cancel, Outcome, Refusal, Tool, Workspace, tools};
use rustix::fs::{CWD, RenameFlags};
use serde_json::{Value, json};

/// A workspace, something secret beside it, and the tools.
struct World {
    home: tempfile::TempDir,
    tools: Vec<Box<dyn Tool>>,
    runtime: tokio::runtime::Runtime,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("work/ramus")).unwrap();
        fs::write(home.path().join("outside"), "secret").unwrap();
        let workspace = Workspace::open(&home.path().join("work"), &[home.path().join("work/ramus")]).unwrap();
        let tools = tools(&Arc::new(workspace), Settings::default());
        Self { home, tools, runtime: tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap() }
    }

    fn work(&self) -> std::path::PathBuf {
        self.home.path().join("work")
    }

    fn try_call(&self, name: &str, arguments: Value) -> Result<Outcome, Refusal> {
        let tool = self.tools.iter().find(|tool| tool.definition().name == name).unwrap();
        Ok(self.runtime.block_on(tool.plan(&arguments)?.run(Cancel::new())))
    }

    fn call(&self, name: &str, arguments: Value) -> Outcome {
        self.try_call(name, arguments).unwrap_or_else(|refusal| Outcome::failed(refusal.to_string()))
    }

    fn read(&self, path: &str) -> Outcome {
        self.call("read", json!({"path": path}))
    }
}

#[test]
fn definitions_are_objects_and_names_are_unique() {
    let world = World::new();
    let definitions: Vec<_> = world.tools.iter().map(|tool| tool.definition()).collect();
    let mut names: Vec<_> = definitions.iter().map(|definition| definition.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["bash", "edit", "glob", "grep", "list", "read", "todo", "write"]);
    assert!(definitions.iter().all(|definition| definition.parameters["type"] == "object"));
    assert!(world.try_call("read", json!({"path": "a", "surprise": 1})).is_err());
}

#[test]
fn nothing_outside_is_reached() {
    let world = World::new();
    let work = world.work();
    symlink("../outside", work.join("link")).unwrap();
    symlink(world.home.path(), work.join("up")).unwrap();
    symlink("/proc/self/root", work.join("root")).unwrap();
    symlink("chain2", work.join("chain1")).unwrap();
    symlink("link", work.join("chain2")).unwrap();
    let outside = world.home.path().join("outside");
    for path in [
        "../outside",
        "a/../../outside",
        outside.to_str().unwrap(),
        "link",
        "chain1",
        "up/outside",
        "root/etc/passwd",
        "/proc/self/cwd/../outside",
        "/proc/self/root/etc/passwd",
        "/etc/passwd",
        "up/new",
        "ramus/session.jsonl",
        "./ramus/../ramus/x",
    ] {
        let read = world.read(path);
        assert!(read.is_error && !read.as_text().contains("secret"), "{path}: {}", read.as_text());
        let written = world.call("write", json!({"path": path, "content": "x"}));
        assert!(written.is_error, "{path}: {}", written.as_text());
    }
    for path in [".git/config", ".GIT/hooks/x", "sub/.git/config", ".git"] {
        assert!(world.call("write", json!({"path": path, "content": "x"})).is_error, "{path}");
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
    assert!(!world.home.path().join("new").exists());
}

#[test]
fn a_link_that_is_swapped_meanwhile_leads_nowhere() {
    let world = World::new();
    let work = world.work();
    fs::create_dir_all(work.join("real")).unwrap();
    fs::create_dir_all(work.join("room")).unwrap();
    fs::write(work.join("room/file"), "mine").unwrap();
    symlink(world.home.path().join("evil"), work.join("trap")).unwrap();
    fs::create_dir_all(world.home.path().join("evil")).unwrap();
    for directory in [work.join("real"), world.home.path().join("evil")] {
        fs::write(directory.join("file"), if directory.ends_with("evil") { "secret" } else { "mine" }).unwrap();
    }
    symlink("real", work.join("door")).unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, work, evil) = (Arc::clone(&stop), work, world.home.path().join("evil"));
        std::thread::spawn(move || {
            let mut swaps = 0_u64;
            while !stop.load(Ordering::Relaxed) {
                for target in [evil.as_path(), Path::new("real")] {
                    let _ = fs::remove_file(work.join("next"));
                    symlink(target, work.join("next")).unwrap();
                    fs::rename(work.join("next"), work.join("door")).unwrap();
                    swaps += 1;
                }
                // A directory that becomes a link after it was resolved.
                let (room, trap) = (work.join("room"), work.join("trap"));
                rustix::fs::renameat_with(CWD, &room, CWD, &trap, RenameFlags::EXCHANGE).unwrap();
            }
            swaps
        })
    };
    let until = Instant::now() + Duration::from_secs(2);
    let (mut tries, mut served) = (0, 0);
    while Instant::now() < until {
        for place in ["door", "room"] {
            let path = format!("{place}/file");
            let read = world.read(&path);
            assert!(!read.as_text().contains("secret"));
            served += usize::from(!read.is_error);
            world.call("edit", json!({"path": path, "old": "mine", "new": "mine "}));
            world.call("edit", json!({"path": path, "old": "mine ", "new": "mine"}));
            world.call("write", json!({"path": format!("{place}/new{tries}"), "content": "x"}));
        }
        assert!(!world.call("grep", json!({"pattern": "secret"})).as_text().contains(":secret"));
        tries += 1;
    }
    stop.store(true, Ordering::Relaxed);
    assert!(swapper.join().unwrap() > 100 && served > 0);
    let evil: Vec<_> = fs::read_dir(world.home.path().join("evil")).unwrap().flatten().collect();
    assert_eq!(evil.len(), 1);
    assert_eq!(fs::read_to_string(evil[0].path()).unwrap(), "secret");
}

#[test]
fn edits_keep_mode_line_ends_and_other_names() {
    let world = World::new();
    let path = world.work().join("a");
    fs::write(&path, "one\r\ntwo\r\nthree").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(&path, world.home.path().join("other")).unwrap();
    assert!(world.call("edit", json!({"path": "a", "old": "two", "new": "2"})).as_text().contains("read a before"));
    world.read("a");
    let edited = world.call("edit", json!({"path": "a", "old": "one\ntwo\n", "new": "one\n2\n"}));
    assert!(!edited.is_error, "{}", edited.as_text());
    assert_eq!(fs::read(&path).unwrap(), b"one\r\n2\r\nthree");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(fs::read(world.home.path().join("other")).unwrap(), b"one\r\ntwo\r\nthree");
    let diff = edited.details.unwrap();
    assert_eq!(
        diff["diff"],
        "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\r\n-two\r\n+2\r\n three\n\\ No newline at end of file\n"
    );
    fs::write(&path, "changed").unwrap();
    assert!(world.call("edit", json!({"path": "a", "old": "changed", "new": "x"})).as_text().contains("changed since"));
    assert!(world.call("write", json!({"path": "a", "content": "x"})).as_text().contains("changed since"));
    world.read("a");
    assert!(!world.call("write", json!({"path": "a", "content": "x"})).is_error);
    assert!(!world.call("write", json!({"path": "deep/er/b", "content": "x"})).is_error);
    let names: Vec<_> = fs::read_dir(world.work()).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().starts_with(".ramus-")), "{names:?}");
}

#[test]
fn unclear_edits_say_what_is_wrong() {
    let world = World::new();
    fs::write(world.work().join("a"), "  x = 1;\ny\ny\n").unwrap();
    world.read("a");
    let edit = |old: &str| world.call("edit", json!({"path": "a", "old": old, "new": "z"})).as_text();
    assert_eq!(edit("y"), "a: the text is there 2 times (lines 2, 3); give more of it");
    assert!(edit("    x = 1;").contains("line 1 is like its first line"));
    assert_eq!(edit("nowhere"), "a: the text is not there");
    let all = world.call("edit", json!({"path": "a", "old": "y", "new": "z", "replace_all": true}));
    assert_eq!(all.as_text(), "Edited a: 2 replaced.");
}

#[test]
fn reading_shows_parts_images_and_refuses_the_rest() {
    let world = World::new();
    let lines: String = (1..=5000).map(|number| format!("line {number}\n")).collect();
    fs::write(world.work().join("long"), lines).unwrap();
    assert!(world.read("long").as_text().ends_with("[Lines 1 to 2000 of 5000; read on with offset 2001.]"));
    let part = world.call("read", json!({"path": "long", "offset": 4999, "limit": 9}));
    assert_eq!(part.as_text(), "line 4999\nline 5000\n");
    fs::write(world.work().join("binary"), [0, 1, 2]).unwrap();
    assert_eq!(world.read("binary").as_text(), "binary is binary, 3 bytes");
    fs::write(world.work().join("image"), b"\x89PNG\r\n\x1a\nrest").unwrap();
    assert_eq!(world.read("image").content[0]["mimeType"], "image/png");
    fs::write(world.work().join("latin"), b"caf\xe9\n").unwrap();
    assert!(world.read("latin").as_text().contains("not UTF-8"));
    rustix::fs::mkfifoat(CWD, world.work().join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    assert_eq!(world.read("pipe").as_text(), "pipe is not a regular file");
    fs::write(world.work().join("empty"), "").unwrap();
    assert!(!world.read("empty").is_error);
}

#[test]
fn finding_honours_ignore_files() {
    let world = World::new();
    fs::write(world.work().join(".gitignore"), "target\n").unwrap();
    for path in ["src/a.rs", "src/b.txt", "target/c.rs", ".git/d.rs", "ramus/e.rs"] {
        fs::create_dir_all(world.work().join(path).parent().unwrap()).unwrap();
        fs::write(world.work().join(path), "needle here\nother\n").unwrap();
    }
    assert_eq!(world.call("glob", json!({"pattern": "*.rs"})).as_text(), "src/a.rs");
    let found = world.call("grep", json!({"pattern": "NEEDLE", "ignore_case": true}));
    let mut lines: Vec<String> = found.as_text().lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["src/a.rs:1:needle here", "src/b.txt:1:needle here"]);
    assert_eq!(world.call("list", json!({"path": "src"})).as_text(), "a.rs\nb.txt");
    assert!(world.try_call("grep", json!({"pattern": "("})).is_err());
}

#[test]
fn a_full_disk_leaves_the_original() {
    let world = World::new();
    let disk = world.work().join("disk");
    fs::create_dir(&disk).unwrap();
    let mounted =
        std::process::Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return;
    }
    fs::write(disk.join("a"), "x".repeat(40_000)).unwrap();
    world.read("disk/a");
    let big = world.call("write", json!({"path": "disk/a", "content": "y".repeat(100_000)}));
    let left = (fs::read(disk.join("a")).unwrap(), fs::read_dir(&disk).unwrap().count());
    let unmounted = std::process::Command::new("umount").arg(&disk).status().unwrap();
    assert!(unmounted.success() && big.is_error);
    assert_eq!(left, ("x".repeat(40_000).into_bytes(), 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_edit_changes_what_it_names_and_nothing_else(
        before in prop::collection::vec(any::<u8>(), 0..40), after in prop::collection::vec(any::<u8>(), 0..40),
        old in "[a-c\n]{1,4}", new in "[a-c\n\r]{0,4}",
    ) {
        let world = World::new();
        let content = [before.as_slice(), old.as_bytes(), after.as_slice()].concat();
        let path = world.work().join("a");
        fs::write(&path, &content).unwrap();
        world.read("a");
        let edited = world.call("edit", json!({"path": "a", "old": old, "new": new}));
        let count = (0..content.len()).filter(|at| content[*at..].starts_with(old.as_bytes())).count();
        let expected = if count == 1 && old != new && !edited.is_error {
            let at = (0..content.len()).find(|at| content[*at..].starts_with(old.as_bytes())).unwrap();
            [&content[..at], new.as_bytes(), &content[at + old.len()..]].concat()
        } else {
            prop_assert!(edited.is_error || count > 1);
            if edited.is_error { content } else { return Ok(()) }
        };
        prop_assert_eq!(fs::read(&path).unwrap(), expected);
    }
}
