//! Many forks of a large session: they share it, and outlive it together.

use std::path::Path;

use ramus_engine::{Children, Cursor, ForkOptions, Say};
use ramus_model::{Body, Draft, Seq};
use serde_json::json;

use crate::homes::jsonl;

/// How many bytes an entry has, about.
const ENTRY: u64 = 105_000;
/// How many bytes a fork may add.
const FORK: u64 = 5_000;
/// What names the forks in what is left of the origin.
const SLACK: u64 = 1_000_000;

/// How many bytes the files below a directory have.
fn bytes_below(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let size = |entry: std::fs::DirEntry| {
        let found = entry.metadata().unwrap();
        if found.is_dir() { bytes_below(&entry.path()) } else { found.len() }
    };
    entries.map(size).sum()
}

#[test]
fn many_forks_of_a_large_session_share_it_and_outlive_it() {
    forks(100, 100);
}

/// A hundred megabytes, and five more at most.
#[test]
fn a_thousand_forks_of_a_large_session_share_it_and_outlive_it() {
    forks(1000, 1000);
}

fn forks(entries: usize, count: usize) {
    let home = jsonl();
    let root = home.directory.path().join("home");
    let mut origin = home.session();
    let text = "all work and no play ".repeat(5000);
    let message = |number: usize| {
        let message = json!({"role": "user", "content": format!("{number} {text}")});
        Draft::new(Body::new("message", [("message", message)]))
    };
    for start in (0..entries).step_by(100) {
        let drafts: Vec<Draft> = (start..start + 100).map(message).collect();
        home.engine.append(&mut origin, &drafts, &Cursor::Leaf).unwrap();
    }
    home.engine.say(&mut origin, Say::assistant("done")).unwrap();
    let before = bytes_below(&root);
    assert!(before > ENTRY * entries as u64, "{before}");
    let forks: Vec<_> = (0..count)
        .map(|number| {
            let entry = Seq::new(u32::try_from(number % entries + 1).unwrap()).unwrap();
            home.engine.fork(&origin, entry, &ForkOptions::default()).unwrap()
        })
        .collect();
    let added = bytes_below(&root) - before;
    assert!(added < FORK * count as u64, "{added} bytes for {count} forks");

    let deleted = home.engine.delete(&origin, Children::Orphan, false).unwrap();
    assert_eq!(deleted.kept[0].forks.len(), count);
    let left = bytes_below(&root);
    assert!(left < before + added + SLACK, "{left}: one copy of what is shared, and no more");
    for (number, fork) in forks.iter().enumerate().step_by(25).chain([(count - 1, &forks[count - 1])]) {
        let fork = home.engine.open(fork.id.as_str(), "/proj").unwrap();
        assert_eq!(fork.log().findings().len(), 0, "{number}");
        let leaf = fork.log().leaf().unwrap();
        let shown = fork.message(leaf).unwrap().unwrap().text();
        assert!(shown.starts_with(&format!("{number} all work")), "{number}: {}", &shown[..20]);
        assert_eq!(fork.context(Some(leaf)).unwrap().items.len(), number + 1);
    }
}
