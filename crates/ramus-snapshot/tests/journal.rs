//! What a killed restore can leave, made by hand: the journal as documented, and what lies beside the names.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

mod world;

use std::fs;

use gix_object::Kind;
use sha2::{Digest as _, Sha256};
use world::World;

/// Three files in two states. `stay` is in both, `gone` in the second, `come` in the first.
fn world() -> World {
    let mut world = World::new(false);
    fs::write(world.root().join("stay"), "stay one\n").unwrap();
    fs::write(world.root().join("come"), "come\n").unwrap();
    world.take();
    fs::write(world.root().join("stay"), "stay two\n").unwrap();
    fs::write(world.root().join("gone"), "gone\n").unwrap();
    fs::remove_file(world.root().join("come")).unwrap();
    world.take();
    world
}

fn item(content: &str) -> String {
    format!("100644:{}", gix_object::compute_hash(gix_hash::Kind::Sha1, Kind::Blob, content.as_bytes()).unwrap())
}

/// A journal of going back to the first state.
fn journal() -> String {
    let mut text = "ramus restore 1\n".to_owned();
    for (old, new, name) in [
        ("-".to_owned(), item("come\n"), "come"),
        (item("gone\n"), "-".to_owned(), "gone"),
        (item("stay two\n"), item("stay one\n"), "stay"),
    ] {
        text += &format!("{old} {new} {}\n", hex::encode(name));
    }
    let checksum = crc32fast::hash(text.as_bytes());
    text + &format!("end {checksum:08x}\n")
}

fn temporary(name: &str) -> String {
    format!(".ramus-restore-{}", &hex::encode(Sha256::digest(name))[..24])
}

fn put(world: &World, name: &str, content: &str) {
    fs::write(world.root().join(name), content).unwrap();
}

/// Ends the restore and says what is there then, and what was left alone.
fn recover(world: &mut World, journal: &str) -> (Vec<(String, String)>, Vec<String>) {
    fs::write(world.folder.path().join("store/restore"), journal).unwrap();
    let restored = world.snapshots.recover().unwrap();
    let left = fs::read(world.folder.path().join("store/restore")).unwrap();
    assert!(left.is_empty() || restored.is_none());
    let kept = restored.unwrap_or_default().kept;
    let mut found = Vec::new();
    for entry in fs::read_dir(world.root()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.push((name, fs::read_to_string(path).unwrap().trim_end().to_owned()));
    }
    found.sort();
    (found, kept.iter().map(|path| path.to_str().unwrap().to_owned()).collect())
}

fn expect(found: &[(String, String)], expected: &[(&str, &str)]) {
    let found: Vec<_> = found.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    assert_eq!(found, expected);
}

const RESTORED: [(&str, &str); 2] = [("come", "come"), ("stay", "stay one")];

#[test]
fn one_that_was_begun_is_carried_out() {
    let mut world = world();
    let (found, kept) = recover(&mut world, &journal());
    expect(&found, &RESTORED);
    assert!(kept.is_empty());
}

#[test]
fn one_that_is_not_whole_was_never_begun() {
    for length in [0, 10, 40, journal().len() - 1] {
        let mut world = world();
        let (found, _) = recover(&mut world, &journal()[..length]);
        expect(&found, &[("gone", "gone"), ("stay", "stay two")]);
        world.take();
    }
}

#[test]
fn one_that_is_no_text_was_never_begun_either() {
    let mut world = world();
    let mut bytes = journal().into_bytes();
    bytes[30] = 0xff;
    fs::write(world.folder.path().join("store/restore"), bytes).unwrap();
    assert!(world.snapshots.recover().unwrap().is_none());
    let id = world.take();
    assert_eq!(world.snapshots.files(id).unwrap().len(), 2);
    // And the next one is written in its place.
    fs::write(world.root().join("stay"), "stay three\n").unwrap();
    let now = world.take();
    world.restore(id, now, false);
    assert_eq!(fs::read_to_string(world.root().join("stay")).unwrap(), "stay two\n");
}

#[test]
fn half_of_a_new_file_is_cleared_away() {
    let mut world = world();
    put(&world, &format!("{}.new", temporary("stay")), "stay o");
    put(&world, &format!("{}.new", temporary("come")), "");
    expect(&recover(&mut world, &journal()).0, &RESTORED);
}

#[test]
fn what_was_exchanged_is_let_go_if_it_is_what_the_plan_saw() {
    let mut world = world();
    put(&world, "stay", "stay one\n");
    put(&world, &temporary("stay"), "stay two\n");
    fs::rename(world.root().join("gone"), world.root().join(temporary("gone"))).unwrap();
    expect(&recover(&mut world, &journal()).0, &RESTORED);
}

#[test]
fn what_somebody_wrote_at_that_moment_goes_back() {
    let mut world = world();
    put(&world, "stay", "stay one\n");
    put(&world, &temporary("stay"), "mine\n");
    fs::remove_file(world.root().join("gone")).unwrap();
    put(&world, &temporary("gone"), "mine too\n");
    let (found, kept) = recover(&mut world, &journal());
    expect(&found, &[("come", "come"), ("gone", "mine too"), ("stay", "mine")]);
    assert_eq!(kept, ["gone", "stay"]);
}

#[test]
fn what_cannot_go_back_gets_a_name_of_its_own() {
    let mut world = world();
    put(&world, "gone", "the latest\n");
    put(&world, &temporary("gone"), "mine\n");
    put(&world, "stay", "the latest\n");
    put(&world, &temporary("stay"), "mine\n");
    let (found, kept) = recover(&mut world, &journal());
    let expected = [
        ("come", "come"),
        ("gone", "the latest"),
        ("gone.kept-1", "mine"),
        ("stay", "the latest"),
        ("stay.kept-1", "mine"),
    ];
    expect(&found, &expected);
    assert_eq!(kept, ["gone", "stay"]);
}

/// What was taken out where the file system cannot exchange names.
fn aside(name: &str) -> String {
    format!("{}.old", temporary(name))
}

#[test]
fn what_was_taken_out_where_nothing_can_be_exchanged_goes_back_as_long_as_its_name_is_free() {
    for (taken_out, expected, left) in [("stay two\n", "stay one", vec![]), ("mine\n", "mine", vec!["stay"])] {
        let mut world = world();
        fs::remove_file(world.root().join("stay")).unwrap();
        put(&world, &aside("stay"), taken_out);
        put(&world, &temporary("stay"), "stay one\n");
        let (found, kept) = recover(&mut world, &journal());
        expect(&found, &[("come", "come"), ("stay", expected)]);
        assert_eq!(kept, left);
    }
}

#[test]
fn what_was_taken_out_and_has_no_name_to_go_back_to_is_let_go_or_gets_one_of_its_own() {
    for (there, taken_out, expected) in [
        ("stay one\n", "stay two\n", vec![("come", "come"), ("stay", "stay one")]),
        ("the latest\n", "stay two\n", vec![("come", "come"), ("stay", "the latest")]),
        ("the latest\n", "mine\n", vec![("come", "come"), ("stay", "the latest"), ("stay.kept-1", "mine")]),
    ] {
        let mut world = world();
        put(&world, "stay", there);
        put(&world, &aside("stay"), taken_out);
        expect(&recover(&mut world, &journal()).0, &expected);
    }
}

#[test]
fn a_file_that_a_kill_left_with_two_names_is_kept_once() {
    let mut world = world();
    put(&world, "stay", "mine\n");
    fs::hard_link(world.root().join("stay"), world.root().join(aside("stay"))).unwrap();
    fs::hard_link(world.root().join("stay"), world.root().join(temporary("stay"))).unwrap();
    let (found, kept) = recover(&mut world, &journal());
    expect(&found, &[("come", "come"), ("stay", "mine")]);
    assert_eq!(kept, ["stay"]);
}

#[test]
fn a_snapshot_ends_what_was_interrupted_first() {
    let mut world = world();
    fs::write(world.folder.path().join("store/restore"), journal()).unwrap();
    let id = world.take();
    let files: Vec<_> = world.snapshots.files(id).unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(files, ["come", "stay"].map(Into::into) as [std::path::PathBuf; 2]);
}

#[test]
fn what_came_after_a_journal_that_clears_stays() {
    let mut world = world();
    let root = world.root();
    let make = |path: &str| {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), "made\n").unwrap();
    };
    ["cache/old/a", "cache/b", "build/a", "file", "both/a"].into_iter().for_each(make);
    fs::create_dir(root.join("hollow")).unwrap();
    let mut text = "ramus restore 1\n".to_owned();
    for name in ["both", "build", "cache", "file", "hollow"] {
        text += &format!("- - {} clears:\n", hex::encode(name));
    }
    text += &format!("end {:08x}\n", crc32fast::hash(text.as_bytes()));
    fs::write(world.folder.path().join("store/restore"), text).unwrap();
    // A clock of a file system that has not ticked yet tells nothing apart.
    let journal = fs::metadata(world.folder.path().join("store/restore")).unwrap().modified().unwrap();
    loop {
        make("probe");
        if fs::metadata(root.join("probe")).unwrap().modified().unwrap() > journal {
            break;
        }
    }
    // The first of it was done when it was killed, and then a person came.
    fs::remove_file(root.join("both/a")).unwrap();
    ["cache/old/mine", "file", "new/mine"].into_iter().for_each(make);
    fs::rename(root.join("new"), root.join("both/moved")).unwrap();
    let mut kept = world.snapshots.recover().unwrap().unwrap().kept;
    kept.sort();
    assert_eq!(kept, ["both", "cache", "file"].map(std::path::PathBuf::from));
    assert!(
        root.join("cache/old/mine").exists() && root.join("both/moved/mine").exists() && root.join("file").exists()
    );
    assert!(["cache/old/a", "cache/b", "build", "hollow"].iter().all(|gone| !root.join(gone).exists()));
    world.take();
}

#[test]
fn a_path_that_leads_out_is_never_written() {
    for name in ["../out", "/tmp/out", ".git/config", "a/../../out", "sub/.GIT/hooks/x", ""] {
        let mut world = world();
        let mut text = format!("ramus restore 1\n- {} {}\n", item("come\n"), hex::encode(name));
        text += &format!("end {:08x}\n", crc32fast::hash(text.as_bytes()));
        let (found, kept) = recover(&mut world, &text);
        expect(&found, &[("gone", "gone"), ("stay", "stay two")]);
        assert_eq!(kept, [name]);
        assert!(!world.folder.path().join("out").exists());
    }
}
