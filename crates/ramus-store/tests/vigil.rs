//! Whoever asks again and again sees the same as someone who asks for the first time, whatever happens to the files.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail loudly")]

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ramus_store::{JsonlStore, Layout, LogStore as _, Stamp};

#[derive(Clone, Debug)]
enum Act {
    Make(usize, usize),
    Append(usize, usize),
    Rewrite(usize, usize),
    Remove(usize, usize),
    Rename(usize, usize, usize),
    MakeDirectory(usize),
    RemoveDirectory(usize),
    RenameDirectory(usize, usize),
    Ask,
}

fn act() -> impl Strategy<Value = Act> {
    let (file, place) = (|| 0..6_usize, || 0..5_usize);
    prop_oneof![
        4 => (place(), file()).prop_map(|(place, file)| Act::Make(place, file)),
        6 => (place(), file()).prop_map(|(place, file)| Act::Append(place, file)),
        2 => (place(), file()).prop_map(|(place, file)| Act::Rewrite(place, file)),
        2 => (place(), file()).prop_map(|(place, file)| Act::Remove(place, file)),
        2 => (place(), place(), file()).prop_map(|(from, to, file)| Act::Rename(from, to, file)),
        1 => place().prop_map(Act::MakeDirectory),
        1 => place().prop_map(Act::RemoveDirectory),
        1 => (place(), place()).prop_map(|(from, to)| Act::RenameDirectory(from, to)),
        8 => Just(Act::Ask),
    ]
}

fn place(home: &Path, number: usize) -> PathBuf {
    home.join(["drafts", "bases", "sessions/--a--", "sessions/--b--", "sessions/--c--"][number])
}

fn file(home: &Path, place_number: usize, number: usize) -> PathBuf {
    let name = match number {
        0 => "not a log.txt".to_owned(),
        _ => format!("2026-11-15T10-00-00-000Z_01a1e082-e942-7037-9a65-dc9aecb2230{number}.jsonl"),
    };
    place(home, place_number).join(name)
}

/// Private, as homes are: others are made so when they are met, and that is a change.
fn make_directory(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Does what can be done.
fn perform(home: &Path, act: &Act) {
    let append = |path: PathBuf, create: bool| {
        let file = OpenOptions::new().append(true).create(create).open(path);
        drop(file.and_then(|mut file| file.write_all(b"{}\n")));
    };
    match act {
        Act::Make(place, at) => append(file(home, *place, *at), true),
        Act::Append(place, at) => append(file(home, *place, *at), false),
        Act::Rewrite(place, at) => {
            let path = file(home, *place, *at);
            if path.exists() {
                fs::write(path, "{\"other\":1}\n").unwrap();
            }
        }
        Act::Remove(place, at) => drop(fs::remove_file(file(home, *place, *at))),
        Act::Rename(from, to, at) => drop(fs::rename(file(home, *from, *at), file(home, *to, *at))),
        Act::MakeDirectory(at) => drop(make_directory(&place(home, *at))),
        Act::RemoveDirectory(at) => drop(fs::remove_dir_all(place(home, *at))),
        Act::RenameDirectory(from, to) => drop(fs::rename(place(home, *from), place(home, *to))),
        Act::Ask => {}
    }
}

fn stamps(store: &JsonlStore) -> Vec<(String, Stamp)> {
    let mut stamps: Vec<_> =
        store.stamps().unwrap().iter().map(|stamped| (stamped.name.to_string(), stamped.stamp)).collect();
    stamps.sort_by(|a, b| a.0.cmp(&b.0));
    stamps
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn asking_again_shows_what_asking_first_shows(acts in prop::collection::vec(act(), 1..60)) {
        let directory = tempfile::tempdir().unwrap();
        let home = directory.path().join("home");
        for place in ["drafts", "sessions"] {
            make_directory(&home.join(place)).unwrap();
        }
        let home = home.canonicalize().unwrap();
        let same = JsonlStore::new(&home, Layout::Pi);
        for act in &acts {
            perform(&home, act);
            if matches!(act, Act::Ask) {
                prop_assert_eq!(stamps(&same), stamps(&JsonlStore::new(&home, Layout::Pi)));
            }
        }
        prop_assert_eq!(stamps(&same), stamps(&JsonlStore::new(&home, Layout::Pi)));
    }
}
