//! The catalogue from outside: answers that are known beforehand, and files that nobody touches by asking.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use ramus_testkit::home::{COMMON, Made, Plan, RARE};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::world::World;

const PLAN: Plan = Plan { sessions: 60, messages: 20, directories: 5, seed: 11 };

fn furnished() -> (World, Made) {
    let world = World::new();
    let made = PLAN.write(&world.path("home")).unwrap();
    (world, made)
}

/// What a file is and when it was last touched: hash, length, inode, and the times of content and inode.
type Print = (String, u64, u64, i64, i64, i64, i64);

fn prints(home: &Path) -> BTreeMap<String, Print> {
    let mut prints = BTreeMap::new();
    let mut folders: Vec<_> = ["sessions", "drafts", "bases"].map(|name| home.join(name)).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let is = fs::symlink_metadata(&path).unwrap();
            if is.is_dir() {
                folders.push(path);
                continue;
            }
            let hash = hex::encode(Sha256::digest(fs::read(&path).unwrap()));
            let times = (is.mtime(), is.mtime_nsec(), is.ctime(), is.ctime_nsec());
            let print = (hash, is.len(), is.ino(), times.0, times.1, times.2, times.3);
            prints.insert(path.display().to_string(), print);
        }
    }
    prints
}

fn places(answer: &Value) -> BTreeSet<(String, String)> {
    let text = |hit: &Value, name: &str| hit[name].as_str().unwrap().to_owned();
    answer["hits"].as_array().unwrap().iter().map(|hit| (text(hit, "session"), text(hit, "entry"))).collect()
}

#[test]
fn asking_leaves_session_files_as_they_are() {
    let (world, _) = furnished();
    // A fork whose origin was deleted, so that there is a base, and a damaged session.
    let origin = world.branched();
    world.ok(&["fork", &origin]);
    world.ok(&["delete", &origin, "--yes"]);
    let before = prints(&world.path("home"));
    assert!(before.keys().any(|name| name.contains("/bases/")), "there is no base");
    assert_eq!(before.len(), PLAN.sessions + 2);
    for command in [
        &["list", "--all"] as &[&str],
        &["list", "--all", "--archived", "--drafts", "--search", "the"],
        &["list"],
        &["search", COMMON],
        &["search", "role:user error", "--limit", "500"],
        &["usage"],
        &["usage", "--by", "project"],
        &["history"],
        &["catalogue", "status"],
        &["catalogue", "rebuild"],
        &["search", RARE],
        &["list", "--all"],
    ] {
        world.ok(command);
        world.ok(&[command, &["--json"]].concat());
        let after = prints(&world.path("home"));
        for (name, print) in &before {
            assert_eq!(after.get(name), Some(print), "{command:?} touched {name}");
        }
        assert_eq!(after.len(), before.len(), "{command:?} made or removed files");
    }
}

#[test]
fn a_search_finds_every_message_that_holds_the_word() {
    let (world, made) = furnished();
    assert!(made.common.len() > 5, "too few to show anything");
    for (word, expected) in [(RARE, &made.rare), (COMMON, &made.common)] {
        let expected: BTreeSet<_> = expected.iter().map(|place| (place.session.clone(), place.entry.clone())).collect();
        for query in [word.to_owned(), word.to_uppercase(), format!("{}*", &word[..6]), format!("\"{word}\"")] {
            let answer = world.json(&["search", &query, "--limit", "100000"]);
            assert_eq!(places(&answer), expected, "{query}");
            assert_eq!(answer["hits"].as_array().unwrap().len(), expected.len(), "{query}");
        }
    }
}

#[test]
fn a_list_shows_every_session_once_however_it_is_paged() {
    let (world, made) = furnished();
    let all = world.json(&["list", "--all", "--archived", "--drafts"]);
    let ids = |listing: &Value| -> Vec<String> {
        listing["sessions"].as_array().unwrap().iter().map(|info| info["id"].as_str().unwrap().to_owned()).collect()
    };
    let whole = ids(&all);
    assert_eq!((whole.len(), made.sessions), (PLAN.sessions, PLAN.sessions));
    let (mut paged, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = vec!["list", "--all", "--archived", "--drafts", "--limit", "7"];
        arguments.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let page = world.json(&arguments);
        paged.extend(ids(&page));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(paged, whole);
    let hidden = &world.json(&["list", "--all"])["hidden"];
    assert_eq!(
        (hidden["archived"].as_u64(), hidden["drafts"].as_u64()),
        (Some(made.archived as u64), Some(made.drafts as u64))
    );
}
