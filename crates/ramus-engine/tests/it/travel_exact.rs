//! What comes back is as it was, not only in content: a workspace is exactly what a snapshot held, who may read a file stays
//! so, a person's own empty directory stays, and what nobody can bring back is told before.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use ramus_engine::{Cause, RestoreOptions};
use ramus_snapshot::Conflict;
use serde_json::json;

use crate::travel_world::{Call, World, changing, put, told};

const DRY: RestoreOptions = RestoreOptions { dry_run: true, force: false, only: Vec::new() };

fn mode(world: &World, path: &str) -> Option<u32> {
    Some(fs::symlink_metadata(world.project().join(path)).ok()?.permissions().mode() & 0o777)
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(root: &Path) -> Vec<String> {
    let (mut names, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(root).unwrap().display().to_string());
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_workspace_is_reset_to_exactly_what_a_snapshot_held() {
    let mut world = World::new();
    let storage = world.folder.path().join("storage");
    let root = world.engine.make_workspace(&mut world.session, &storage).unwrap().root;
    let initial = world.snapshots()[0].clone();
    let outside = world.folder.path().join("outside");
    put(world.folder.path(), "outside/kept", Some("kept"));
    fs::create_dir(root.join("emptydir")).unwrap();
    fs::write(root.join("big.bin"), vec![0; 9_000_000]).unwrap();
    fs::write(root.join("tmp/big.bin"), vec![0; 9_000_000]).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0)
        .unwrap();
    symlink(&outside, root.join("link")).unwrap();
    put(&root, ".gitignore", Some("tmp2/\n"));
    put(&root, "tmp2/i", Some("ignored"));
    symlink(&outside, root.join("tmp2/out")).unwrap();
    put(&root, "tmp2/closed/x", Some("x"));
    set_mode(&root.join("tmp2/closed"), 0o000);
    put(&root, "repo/a", Some("a"));
    put(&root, "repo/.git/HEAD", Some("ref: refs/heads/main\n"));
    put(&root, ".git/HEAD", Some("ref: refs/heads/main\n"));
    let planned = world.engine.reset_workspace(&mut world.session, &initial, true).unwrap();
    let listed =
        [".git", ".gitignore", "big.bin", "emptydir", "link", "pipe", "repo/.git", "repo/a", "tmp/big.bin", "tmp2"];
    assert_eq!(told(&planned.plan), listed.map(|path| (path.to_owned(), false)));
    let lost: Vec<_> = planned.uncovered.iter().map(|one| one.path.display().to_string()).collect();
    assert_eq!(lost, [".git", "big.bin", "pipe", "repo/.git", "tmp/big.bin", "tmp2"]);
    assert!(root.join("tmp2/i").exists());
    let done = world.engine.reset_workspace(&mut world.session, &initial, false).unwrap();
    assert_eq!((names(&root), done.restored.kept.len()), (["mnt", "output", "tmp"].map(String::from).to_vec(), 0));
    assert!(outside.join("kept").exists(), "no link is followed");
    let safety = done.safety.unwrap();
    assert_eq!(safety.cause, Cause::Safety);
    let line = String::from_utf8(world.session.line(safety.seq).unwrap()).unwrap();
    assert!(line.contains(r#""not_kept":[".git","big.bin""#), "{line}");
    // What the snapshot says was there is left, and its empty directories come back.
    put(&root, "mnt/.gitignore", Some("cache\n"));
    put(&root, "mnt/cache/x", Some("x"));
    put(&root, "mnt/repo/.git/HEAD", Some("ref: refs/heads/main\n"));
    fs::create_dir_all(root.join("mnt/hollow/deep")).unwrap();
    let later = world.engine.snapshot(&mut world.session, Some("later")).unwrap().snapshot;
    let before = names(&root);
    fs::remove_dir_all(root.join("mnt/hollow")).unwrap();
    put(&root, "mnt/other/.git/HEAD", Some("ref: refs/heads/main\n"));
    world.engine.reset_workspace(&mut world.session, &later, false).unwrap();
    assert_eq!(names(&root), before);
}

#[test]
fn who_may_read_a_file_stays_so_whatever_becomes_of_it() {
    let mut world = World::new();
    world.put("key", Some("secret\n"));
    world.put("own", Some("1\n"));
    set_mode(&world.project().join("key"), 0o600);
    world.turn("first", &[]);
    let first = world.answers()[0];
    let changes: Call<'_> = &[
        ("key", None),
        ("made", Some("secret too\n")),
        ("own", Some("2\n")),
        ("~chmod made", Some("600")),
        ("~chmod own", Some("640")),
    ];
    world.turn("second", &[changes]);
    let modes = |world: &World| ["key", "made", "own"].map(|path| mode(world, path));
    assert_eq!(modes(&world), [None, Some(0o600), Some(0o640)]);
    world.revert(first);
    assert_eq!(modes(&world), [Some(0o600), None, Some(0o644)]);
    world.unrevert();
    assert_eq!(modes(&world), [None, Some(0o600), Some(0o640)]);
    // What a person decided since counts.
    set_mode(&world.project().join("own"), 0o400);
    world.revert(first);
    assert_eq!((mode(&world, "own"), world.read("own").as_deref()), (Some(0o400), Some("1\n")));
}

#[test]
fn an_empty_directory_that_a_person_made_stays() {
    let mut world = World::new();
    fs::create_dir_all(world.project().join("empty/deep")).unwrap();
    fs::create_dir(world.project().join("gone")).unwrap();
    world.turn("first", &[]);
    let (first, before) = (world.answers()[0], names(&world.project()));
    world.turn("second", &[&[("empty/deep/f", Some("1")), ("new/deep/f", Some("1"))]]);
    let after = names(&world.project());
    for _ in 0..2 {
        world.revert(first);
        assert_eq!(names(&world.project()), before);
        world.unrevert();
        assert_eq!(names(&world.project()), after);
    }
}

#[test]
fn what_stands_in_the_way_of_a_file_is_told_by_the_plan() {
    let mut world = World::new();
    world.put("file", Some("1\n"));
    world.turn("first", &[]);
    let first = world.answers()[0];
    world.turn("second", &[&[("file", None)], &[("file/deep/y", Some("2\n"))]]);
    world.put("file/deep/mine", Some("mine\n"));
    let dry = world.engine.revert(&mut world.session, first, &DRY).unwrap();
    let conflicts: Vec<_> =
        dry.files.plan.conflicts().map(|step| (step.path.display().to_string(), step.conflict)).collect();
    assert_eq!(conflicts, [("file".to_owned(), Some(Conflict::Uncovered))]);
    let report = world.revert(first);
    let kept: Vec<_> = report.files.restored.kept.iter().map(|path| path.display().to_string()).collect();
    assert_eq!((kept, world.read("file/deep/mine").as_deref()), (vec!["file".to_owned()], Some("mine\n")));
}

#[test]
fn what_no_snapshot_covers_is_told_and_what_is_as_it_shall_be_is_no_conflict() {
    let mut world = World::new();
    world.put(".gitignore", Some(".env\n.other\n"));
    world.put(".env", Some("1\n"));
    world.put("f1.txt", Some("1\n"));
    world.put("f3.txt", Some("3\n"));
    world.turn("first", &[&[("a", Some("1"))]]);
    let first = world.answers()[0];
    world.turn("second", &[&[(".gitignore", Some("*.txt\n.env\n")), ("f1.txt", Some("2\n")), (".env", Some("2\n"))]]);
    let report = world.engine.revert(&mut world.session, first, &DRY).unwrap();
    assert_eq!(told(&report.files.plan), [(".gitignore".to_owned(), false), ("f1.txt".to_owned(), true)]);
    let uncovered: Vec<_> = report.files.uncovered.iter().map(|one| one.path.display().to_string()).collect();
    assert!(uncovered.contains(&".env".to_owned()), "{uncovered:?}");
    // A turn that changed nothing else says so as well.
    world.turn_with("third", &[changing(&[(".env", Some("3\n"))])], |_, _| ());
    let second = world.answers()[1];
    let report = world.revert(second);
    assert!(report.files.plan.steps.is_empty());
    assert!(report.files.uncovered.iter().any(|one| one.path == Path::new(".env")), "{:?}", report.files);
}

#[test]
fn where_nothing_was_kept_going_back_says_why() {
    let mut world = World::in_directory(Some("/"));
    world.turn("first", &[]);
    let first = world.answers()[0];
    let done = world.turn_with("second", &[json!({"files": {"a.txt": "1\n"}})], |_, _| ());
    assert!(done.files.without.is_some());
    let report = world.revert(first);
    assert!(report.files.without.is_some_and(|reason| reason.contains("root of everything")));
}
