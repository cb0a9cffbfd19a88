//! Whether a working copy is dirty: git itself is the judge, in repositories that nobody would make by hand.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use proptest::prelude::*;
use ramus_snapshot::{Dirtiness, WorkingCopy};

/// Runs git in a world of its own; none when there is no git.
fn git(root: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", root);
    command.env("GIT_CONFIG_NOSYSTEM", "1").args(arguments).output().unwrap()
}

fn text(root: &Path, arguments: &[&str]) -> String {
    String::from_utf8(git(root, arguments).stdout).unwrap().trim().to_owned()
}

fn dirtiness(root: &Path) -> Dirtiness {
    let head = text(root, &["rev-parse", "--verify", "-q", "HEAD"]);
    let head = Some(head.as_str()).filter(|head| !head.is_empty());
    let own = root.join(".git");
    WorkingCopy { top: root, own: &own, common: &own, head, heeds_modes: true }.dirtiness()
}

/// What git says: its own settings do not count.
fn is_dirty(root: &Path) -> bool {
    !text(root, &["status", "--porcelain"]).is_empty()
}

#[track_caller]
fn agrees(root: &Path, what: &str) {
    let expected = if is_dirty(root) { Dirtiness::Dirty } else { Dirtiness::Clean };
    assert_eq!(dirtiness(root), expected, "{what}: {}", text(root, &["status", "--porcelain"]));
}

fn put(root: &Path, path: &str, content: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

fn repository(format: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = git(folder.path(), &["init", "-q", &format!("--object-format={format}")]);
    assert!(made.status.success(), "{made:?}");
    // The world that git runs in has its home here.
    put(folder.path(), ".git/info/exclude", ".gitconfig\n.config\n");
    folder
}

#[test]
fn g13_every_step_of_a_day_is_judged_as_git_judges_it() {
    for format in ["sha1", "sha256"] {
        for version in ["2", "3", "4"] {
            let folder = repository(format);
            let root = folder.path();
            git(root, &["config", "index.version", version]);
            if format == "sha1" {
                agrees(root, "nothing");
            }
            put(root, "a.txt", "one\n");
            put(root, "deep/er/b.txt", "two\n");
            put(root, "deep-er/c.txt", "sorted before a slash\n");
            git(root, &["add", "-A"]);
            git(root, &["commit", "-qm", "first"]);
            agrees(root, "committed");
            put(root, "a.txt", "two\n");
            agrees(root, "same size, changed");
            git(root, &["add", "a.txt"]);
            agrees(root, "staged");
            put(root, "a.txt", "one\n");
            agrees(root, "changed back, staged");
            git(root, &["add", "a.txt"]);
            agrees(root, "staged back");
            put(root, "new", "x");
            agrees(root, "untracked");
            put(root, ".gitignore", "new\n*.log\n!keep.log\nbuild/\n");
            agrees(root, "ignored, and the rules are untracked");
            git(root, &["add", "-A"]);
            git(root, &["commit", "-qm", "rules"]);
            agrees(root, "ignored");
            put(root, "build/x/y", "x");
            put(root, "some.log", "x");
            fs::create_dir_all(root.join("empty/er")).unwrap();
            agrees(root, "only ignored and empty ones");
            put(root, ".ignore", "hidden\n");
            git(root, &["add", "-A"]);
            git(root, &["commit", "-qm", "for others"]);
            put(root, "hidden", "what only snapshots leave out\n");
            agrees(root, "untracked for git");
            fs::remove_file(root.join("hidden")).unwrap();
            git(root, &["add", "-f", "-N", "some.log"]);
            agrees(root, "meant to be added");
            git(root, &["rm", "-q", "--cached", "some.log"]);
            agrees(root, "meant no more");
            fs::remove_file(root.join("deep/er/b.txt")).unwrap();
            agrees(root, "removed");
            git(root, &["checkout", "-q", "--", "."]);
            agrees(root, "back");
            std::os::unix::fs::symlink("a.txt", root.join("link")).unwrap();
            git(root, &["add", "-A"]);
            git(root, &["commit", "-qm", "link"]);
            agrees(root, "a link");
            fs::remove_file(root.join("link")).unwrap();
            std::os::unix::fs::symlink("b.txt", root.join("link")).unwrap();
            agrees(root, "another link");
            git(root, &["checkout", "-q", "--", "."]);
            Command::new("chmod").args(["+x"]).arg(root.join("a.txt")).status().unwrap();
            agrees(root, "executable");
            git(root, &["checkout", "-q", "--", "."]);
            git(root, &["repack", "-adfq", "--depth=50"]);
            git(root, &["prune-packed", "-q"]);
            agrees(root, "packed");
            Command::new("touch").arg(root.join("a.txt")).status().unwrap();
            agrees(root, "touched");
            git(root, &["update-index", "--assume-unchanged", "a.txt"]);
            put(root, "a.txt", "nobody looks\n");
            agrees(root, "not looked at");
        }
    }
}

#[test]
fn what_cannot_be_told_is_not_told() {
    let folder = repository("sha1");
    let root = folder.path();
    put(root, "a.txt", "one\r\ntwo\r\n");
    put(root, ".gitattributes", "*.txt text\n");
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "first"]);
    Command::new("touch").arg(root.join("a.txt")).status().unwrap();
    assert!(matches!(dirtiness(root), Dirtiness::Unknown(_)));
    put(root, "a.txt", "one\nthree\n");
    assert_eq!(dirtiness(root), Dirtiness::Dirty);
    put(root, ".gitattributes", "*.txt filter=x\n");
    git(root, &["add", ".gitattributes"]);
    git(root, &["commit", "-qm", "filter"]);
    assert!(matches!(dirtiness(root), Dirtiness::Unknown(_)));
    let inner = repository("sha1");
    put(inner.path(), "x", "x");
    git(inner.path(), &["add", "-A"]);
    git(inner.path(), &["commit", "-qm", "inner"]);
    let outer = repository("sha1");
    let path = inner.path().to_str().unwrap();
    let added = git(outer.path(), &["-c", "protocol.file.allow=always", "submodule", "add", "-q", path, "sub"]);
    assert!(added.status.success(), "{added:?}");
    git(outer.path(), &["commit", "-qm", "sub"]);
    assert!(matches!(dirtiness(outer.path()), Dirtiness::Unknown(_)));
    put(outer.path(), "sub2/x", "x");
    git(&outer.path().join("sub2"), &["init", "-q"]);
    agrees_dirty(outer.path());
}

#[track_caller]
fn agrees_dirty(root: &Path) {
    assert!(is_dirty(root));
    assert_eq!(dirtiness(root), Dirtiness::Dirty);
}

#[test]
fn hostile_files_of_a_repository_are_no_match_and_no_trouble() {
    let folder = repository("sha1");
    let root = folder.path();
    put(root, "a.txt", "one\n");
    git(root, &["add", "-A"]);
    git(root, &["commit", "-qm", "first"]);
    let index = fs::read(root.join(".git/index")).unwrap();
    for at in 0..index.len() {
        for value in [0, 0xff, index[at] ^ 1] {
            let mut bytes = index.clone();
            bytes[at] = value;
            fs::write(root.join(".git/index"), &bytes).unwrap();
            let _ = dirtiness(root);
            bytes.truncate(at);
            fs::write(root.join(".git/index"), &bytes).unwrap();
            let _ = dirtiness(root);
        }
    }
    fs::write(root.join(".git/index"), &index).unwrap();
    git(root, &["repack", "-adq"]);
    for entry in fs::read_dir(root.join(".git/objects/pack")).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        Command::new("chmod").arg("+w").arg(&path).status().unwrap();
        for at in (0..bytes.len()).step_by(7) {
            let mut harmed = bytes.clone();
            harmed[at] ^= 0x55;
            fs::write(&path, &harmed).unwrap();
            let _ = dirtiness(root);
        }
        fs::write(&path, &bytes).unwrap();
    }
    assert_eq!(dirtiness(root), Dirtiness::Clean);
}

/// What somebody does.
#[derive(Clone, Debug)]
enum Deed {
    Write(usize, usize),
    Remove(usize),
    Ignore(usize),
    Add,
    Commit,
    Checkout,
    Reset,
    Stash,
}

const PATHS: [&str; 8] = ["a", "b.log", "d/a", "d/e/b.log", "d-x", "d/c", "build/z", "d.x/y"];
const CONTENTS: [&str; 4] = ["", "one\n", "two\n", "longer than the others\n"];
const RULES: [&str; 6] = ["*.log\n", "build/\n", "/d\n", "d/*\n!d/c\n", "", "**/e\n"];

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => (0..PATHS.len(), 0..CONTENTS.len()).prop_map(|(path, content)| Deed::Write(path, content)),
        2 => (0..PATHS.len()).prop_map(Deed::Remove),
        1 => (0..RULES.len()).prop_map(Deed::Ignore),
        3 => Just(Deed::Add),
        3 => Just(Deed::Commit),
        1 => Just(Deed::Checkout),
        1 => Just(Deed::Reset),
        1 => Just(Deed::Stash),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn g13_random_days_are_judged_as_git_judges_them(deeds in prop::collection::vec(deed(), 1..12)) {
        let folder = repository("sha1");
        let root = folder.path();
        for deed in deeds {
            match &deed {
                Deed::Write(path, content) => {
                    let path = root.join(PATHS[*path]);
                    if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                        drop(fs::write(path, CONTENTS[*content]));
                    }
                }
                Deed::Remove(path) => drop(fs::remove_file(root.join(PATHS[*path]))),
                Deed::Ignore(rule) => put(root, ".gitignore", RULES[*rule]),
                Deed::Add => drop(git(root, &["add", "-A"])),
                Deed::Commit => drop(git(root, &["commit", "-qam", "x"])),
                Deed::Checkout => drop(git(root, &["checkout", "-q", "--", "."])),
                Deed::Reset => drop(git(root, &["reset", "-q"])),
                Deed::Stash => drop(git(root, &["stash", "-q"])),
            }
            agrees(root, &format!("{deed:?}"));
        }
    }
}
