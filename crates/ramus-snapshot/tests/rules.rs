//! What is left out, beside what git leaves out of the same directory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use ramus_snapshot::{About, Snapshots};

const PATTERNS: [&str; 24] = [
    "*.o",
    "/a",
    "b/",
    "!keep.o",
    "**/x",
    "a/**",
    "a/*/c",
    "*",
    "!*/",
    "[ab]",
    "\\#hash",
    "# a comment",
    "!a",
    "a/b",
    "/b/*",
    "!/b/x",
    "x y",
    "**/b/**",
    "?",
    "c\r",
    "",
    "*.",
    "!*.o",
    "keep.*",
];

const FILES: [&str; 18] = [
    "a",
    "b/x",
    "b/c/x",
    "c",
    "d/a/b/c",
    "d/a/x",
    "d/keep.o",
    "d/main.o",
    "keep.o",
    "main.o",
    "#hash",
    "x y",
    "x/y/z",
    "d/b/x",
    "d/b/c/keep.o",
    "e/.hidden",
    ".hidden/a",
    "e/dot.",
];

fn git(root: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(root).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.env("HOME", root).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// The files that a snapshot of a directory holds.
fn ours(folder: &Path, root: &Path) -> BTreeSet<Vec<u8>> {
    let mut snapshots = Snapshots::open(&folder.join("store"), root, &[]).unwrap();
    let id = snapshots.take(&About::default()).unwrap().id;
    snapshots.files(id).unwrap().iter().map(|file| file.path.as_os_str().as_bytes().to_vec()).collect()
}

/// The files that git would add.
fn theirs(root: &Path) -> BTreeSet<Vec<u8>> {
    let listed = git(root, &["ls-files", "--others", "--exclude-standard", "-z", "."]);
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()).map(<[u8]>::to_vec).collect()
}

fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn git_leaves_out_the_same(
        top in prop::collection::vec(0..PATTERNS.len(), 0..5),
        inner in prop::collection::vec(0..PATTERNS.len(), 0..4),
        exclude in prop::collection::vec(0..PATTERNS.len(), 0..3),
        inside in any::<bool>(),
    ) {
        if !has_git() {
            return Ok(());
        }
        let folder = world::folder();
        let root = folder.path().join("work");
        fs::create_dir(&root).unwrap();
        git(&root, &["init", "-q"]);
        for name in FILES {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            // A name may be that of a directory already.
            let _ = fs::write(path, name);
        }
        let write = |name: &str, patterns: &[usize]| {
            let text: String = patterns.iter().map(|pattern| format!("{}\n", PATTERNS[*pattern])).collect();
            fs::write(root.join(name), text).unwrap();
        };
        write(".gitignore", &top);
        write("d/.gitignore", &inner);
        write(".git/info/exclude", &exclude);
        let seen = if inside { root.join("d") } else { root.clone() };
        // Whoever works in a directory that is left out wants what is in it.
        if inside && theirs(&root).iter().all(|name| !name.starts_with(b"d/")) {
            return Ok(());
        }
        prop_assert_eq!(ours(folder.path(), &seen), theirs(&seen));
    }
}

#[test]
fn a_file_of_our_own_counts_first_and_a_repository_within_has_its_own() {
    let folder = world::folder();
    let root = folder.path().join("work");
    for (name, text) in [
        (".ignore", "!wanted.log\nunwanted\n"),
        (".gitignore", "*.log\n"),
        ("wanted.log", ""),
        ("other.log", ""),
        ("unwanted", ""),
        ("nested/.git/info/exclude", "*.tmp\n"),
        ("nested/a.log", ""),
        ("nested/a.tmp", ""),
        ("nested/unwanted", ""),
    ] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), text).unwrap();
    }
    let names = ours(folder.path(), &root);
    let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    assert_eq!(names, [".gitignore", ".ignore", "nested/a.log", "wanted.log"]);
}

#[test]
fn what_stands_above_counts_only_within_a_repository() {
    let folder = world::folder();
    let root = folder.path().join("work");
    fs::create_dir(&root).unwrap();
    fs::write(folder.path().join(".gitignore"), "*\n").unwrap();
    fs::write(root.join("file"), "").unwrap();
    assert_eq!(ours(folder.path(), &root).len(), 1);
}
