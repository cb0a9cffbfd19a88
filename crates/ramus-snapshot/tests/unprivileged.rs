//! What may not be read or changed: told, left alone, and in nobody's way. Root may do everything, so a root that runs
//! this becomes nobody first.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use ramus_snapshot::{About, Restore, Snapshots};

/// Where the process that is nobody finds its folder.
const FOLDER: &str = "RAMUS_TEST_FOLDER";

const NOBODY: u32 = 65_534;

#[test]
fn what_may_not_be_touched_is_told_and_left_alone() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        opened_later(Path::new(&folder));
        return scenario(Path::new(&folder));
    }
    let folder = world::folder();
    if !rustix::process::geteuid().is_root() {
        opened_later(folder.path());
        return scenario(folder.path());
    }
    let (arena, program) = (folder.path().join("arena"), folder.path().join("program"));
    fs::create_dir(&arena).unwrap();
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    set_mode(folder.path(), 0o755);
    set_mode(&arena, 0o777);
    let mut command = Command::new(program);
    command.args(["--exact", "what_may_not_be_touched_is_told_and_left_alone", "--nocapture"]).env(FOLDER, &arena);
    let output = command.uid(NOBODY).gid(NOBODY).current_dir("/").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn scenario(folder: &Path) {
    let root = folder.join("work");
    let write = |text: &str| {
        for name in ["open.txt", "secret.txt", "locked/x", "fixed/a"] {
            fs::write(root.join(name), format!("{name} {text}\n")).unwrap();
        }
    };
    fs::create_dir_all(root.join("locked")).unwrap();
    fs::create_dir_all(root.join("fixed")).unwrap();
    let mut snapshots = Snapshots::open(&folder.join("store"), &root, &[]).unwrap();
    write("one");
    let one = snapshots.take(&About::default()).unwrap().id;
    write("two");
    let two = snapshots.take(&About::default()).unwrap().id;
    let modes = [("secret.txt", 0o000), ("locked", 0o000), ("fixed", 0o555)];
    modes.iter().for_each(|(name, mode)| set_mode(&root.join(name), *mode));
    let taken = snapshots.take(&About::default()).unwrap();
    let uncovered: Vec<_> = taken.uncovered.iter().map(|one| (one.path.to_str().unwrap(), one.reason)).collect();
    assert_eq!(uncovered, [("locked", "it may not be read"), ("secret.txt", "it may not be read")]);
    let plan = snapshots.plan(&Restore { target: one, baseline: two, current: taken.id, only: &[] }).unwrap();
    let restored = snapshots.restore(&plan, true).unwrap();
    assert_eq!(restored.done, ["open.txt"].map(Into::into) as [std::path::PathBuf; 1]);
    assert_eq!(restored.kept, ["fixed/a", "locked/x", "secret.txt"].map(Into::into) as [std::path::PathBuf; 3]);
    // Nothing is left to be ended.
    assert_eq!(snapshots.recover().unwrap(), None);
    snapshots.take(&About::default()).unwrap();
    [("secret.txt", 0o644), ("locked", 0o755), ("fixed", 0o755)]
        .iter()
        .for_each(|(name, mode)| set_mode(&root.join(name), *mode));
    for (name, text) in [("open.txt", "one"), ("secret.txt", "two"), ("locked/x", "two"), ("fixed/a", "two")] {
        assert_eq!(fs::read_to_string(root.join(name)).unwrap(), format!("{name} {text}\n"));
    }
    assert_eq!(fs::read_dir(root.join("fixed")).unwrap().count(), 1);
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Directories that cannot be read, or only listed, and are opened up later: what is in them was there.
fn opened_later(folder: &Path) {
    let root = folder.join("closed");
    for name in ["d/a", "e/b"] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), "mine\n").unwrap();
    }
    [("d", 0o444), ("e", 0o000)].iter().for_each(|(name, mode)| set_mode(&root.join(name), *mode));
    let mut snapshots = Snapshots::open(&folder.join("other store"), &root, &[]).unwrap();
    let one = snapshots.take(&About::default()).unwrap();
    let uncovered: Vec<_> = one.uncovered.iter().map(|one| (one.path.to_str().unwrap(), one.reason)).collect();
    assert_eq!(uncovered, [("d/a", "it may not be read"), ("e", "it may not be read")]);
    ["d", "e"].iter().for_each(|name| set_mode(&root.join(name), 0o755));
    fs::write(root.join("made"), "made\n").unwrap();
    let two = snapshots.take(&About::default()).unwrap().id;
    let plan = snapshots.plan(&Restore { target: one.id, baseline: two, current: two, only: &[] }).unwrap();
    let restored = snapshots.restore(&plan, true).unwrap();
    assert_eq!((restored.done, restored.kept), (vec!["made".into()], vec!["d/a".into(), "e/b".into()]));
    assert!(root.join("d/a").exists() && root.join("e/b").exists());
}
