//! Snapshots and restores of real directories.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use ramus_snapshot::{Conflict, Restore};
use world::World;

#[test]
fn a_conflict_is_listed_and_can_be_forced() {
    let mut world = World::new(false);
    let file = world.root().join("file");
    fs::write(&file, "one").unwrap();
    let one = world.take();
    fs::write(&file, "two").unwrap();
    let two = world.take();
    fs::write(&file, "mine").unwrap();
    let current = world.take();
    let restore = Restore { target: one, baseline: two, current, only: &[] };
    let plan = world.snapshots.plan(&restore).unwrap();
    assert_eq!(plan.conflicts().map(|step| step.conflict).collect::<Vec<_>>(), [Some(Conflict::Changed)]);
    world.snapshots.restore(&plan, false).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    world.snapshots.restore(&plan, true).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
}

#[test]
fn differences_are_told_with_their_lines() {
    let mut world = World::new(false);
    let root = world.root();
    fs::write(root.join("kept"), "one\ntwo\nthree\n").unwrap();
    fs::write(root.join("gone"), "bye\n").unwrap();
    fs::write(root.join("old name"), "some content\nthat moves\n").unwrap();
    fs::write(root.join("picture"), b"\0\x01").unwrap();
    let one = world.take();
    fs::write(root.join("kept"), "one\n2\nthree\n").unwrap();
    fs::remove_file(root.join("gone")).unwrap();
    fs::rename(root.join("old name"), root.join("new name")).unwrap();
    fs::write(root.join("picture"), b"\0\x02").unwrap();
    fs::write(root.join("come"), "hello\nworld").unwrap();
    let two = world.take();
    let diffs = world.snapshots.diff(one, two, &[]).unwrap();
    let brief: Vec<_> = diffs
        .iter()
        .map(|diff| (diff.path.to_str().unwrap(), diff.status.as_str(), diff.additions, diff.deletions, diff.is_binary))
        .collect();
    assert_eq!(
        brief,
        [
            ("come", "added", 2, 0, false),
            ("gone", "deleted", 0, 1, false),
            ("kept", "modified", 1, 1, false),
            ("new name", "renamed", 0, 0, false),
            ("picture", "modified", 0, 0, true),
        ]
    );
    let kept = "diff --git a/kept b/kept\n\
        index 4cb29ea38f70d7c61b2a3a25b02e3bdf44905402..f04eb265ebd74fba2cddf0a6adf2a6a7f81c87aa 100644\n\
        --- a/kept\n+++ b/kept\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    assert_eq!(diffs[2].diff, kept);
    let come = "new file mode 100644\n\
        index 0000000000000000000000000000000000000000..9db7df02b6026626607ed9643ea24af9dc09c2c9\n\
        --- /dev/null\n+++ b/come\n@@ -0,0 +1,2 @@\n+hello\n+world\n\\ No newline at end of file\n";
    assert_eq!(diffs[0].diff.split_once('\n').unwrap().1, come);
    assert!(diffs[1].diff.ends_with("--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"), "{}", diffs[1].diff);
    let moved = "diff --git \"a/old name\" \"b/new name\"\nsimilarity index 100%\n\
        rename from old name\nrename to new name\n";
    assert_eq!(diffs[3].diff, moved);
    assert!(diffs[4].diff.ends_with("Binary files a/picture and b/picture differ\n"), "{}", diffs[4].diff);
    assert_eq!(world.snapshots.diff(one, two, &["come".into()]).unwrap().len(), 1);
    assert_eq!(world.snapshots.diff(one, one, &[]).unwrap(), []);
    let files = world.snapshots.files(two).unwrap();
    assert_eq!(files.len(), 4);
    assert_eq!(files[0].sha256, "26c60a61d01db5836ca70fefd44a6a016620413c8ef5f259a6c5612d4f79d3b8");
}

#[test]
fn git_reads_what_is_stored() {
    let git = |arguments: &[&str], directory: &Path| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", directory)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let mut world = World::new(false);
    let root = world.root();
    fs::create_dir_all(root.join("a/b")).unwrap();
    fs::write(root.join("a/b/c"), "hello\n").unwrap();
    fs::write(root.join("a-b"), "x").unwrap();
    fs::write(root.join("a.b"), "y").unwrap();
    symlink("a/b/c", root.join("link")).unwrap();
    fs::set_permissions(root.join("a.b"), fs::Permissions::from_mode(0o755)).unwrap();
    let id = world.take().to_string();
    git(&["init", "-q"], &root);
    git(&["add", "-A"], &root);
    let theirs = git(&["write-tree"], &root);
    let packs = world.folder.path().join("store/objects/pack");
    for entry in fs::read_dir(&packs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "pack" || extension == "idx") {
            fs::copy(&path, root.join(".git/objects/pack").join(path.file_name().unwrap())).unwrap();
        }
    }
    assert_eq!(git(&["rev-parse", &format!("{id}^{{tree}}")], &root), theirs);
    git(&["fsck", "--full", "--strict"], &root);
}
