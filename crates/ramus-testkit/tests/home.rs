//! Made-up homes are what they say they are: sound, as large as planned, the same every time.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, missing_docs, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use ramus_engine::{Engine, Filter};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::home::{COMMON, Made, Plan, RARE};

const PLAN: Plan = Plan { sessions: 120, messages: 20, directories: 7, seed: 5 };

fn files(home: &Path) -> BTreeMap<String, Vec<u8>> {
    let folders = fs::read_dir(home.join("sessions")).unwrap().map(|folder| folder.unwrap().path());
    let folders = folders.chain([home.join("drafts")]);
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap()).map(|file| file.unwrap().path());
    files.map(|file| (file.strip_prefix(home).unwrap().display().to_string(), fs::read(&file).unwrap())).collect()
}

fn count(home: &Path, word: &str) -> usize {
    let lines = |bytes: &Vec<u8>| bytes.split(|byte| *byte == b'\n').filter(|line| holds(line, word)).count();
    files(home).values().map(lines).sum()
}

fn holds(line: &[u8], word: &str) -> bool {
    line.windows(word.len()).any(|window| window == word.as_bytes())
}

fn made(home: &Path) -> Made {
    PLAN.write(home).unwrap()
}

#[test]
fn the_plan_alone_decides_the_bytes() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(made(one.path()), made(other.path()));
    assert_eq!(files(one.path()), files(other.path()));
    let third = tempfile::tempdir().unwrap();
    Plan { seed: 6, ..PLAN }.write(third.path()).unwrap();
    assert_ne!(files(one.path()), files(third.path()));
}

#[test]
fn the_engine_finds_what_was_made_and_nothing_wrong() {
    let home = tempfile::tempdir().unwrap();
    let made = made(home.path());
    let engine = Engine::new(Arc::new(JsonlStore::new(home.path(), Layout::Pi)), "test");
    let all = engine.list(&Filter { drafts: true, archived: true, ..Filter::default() }).unwrap();
    assert_eq!((all.sessions.len(), made.sessions), (PLAN.sessions, PLAN.sessions));
    assert!(all.unreadable.is_empty() && all.sessions.iter().all(|info| !info.damaged));
    assert_eq!(all.sessions.iter().map(|info| info.entries).sum::<usize>(), made.entries);
    let own = all.sessions.iter().filter(|info| info.lineage.forked_from.is_none());
    assert!(own.map(|info| info.messages).sum::<usize>() <= made.messages);
    assert_eq!(all.sessions.iter().filter(|info| info.archived_at.is_some()).count(), made.archived);
    assert_eq!(all.sessions.iter().filter(|info| info.lineage.forked_from.is_some()).count(), made.forks);
    assert!(made.forks > 0 && made.drafts > 0 && made.archived > 0, "{made:?}");
    let hidden = engine.list(&Filter { archived: true, ..Filter::default() }).unwrap().hidden;
    assert_eq!(hidden.drafts, made.drafts);
    for info in &all.sessions {
        let diagnosis = engine.doctor(info.id.as_str(), "/").unwrap();
        assert!(diagnosis.findings.is_empty(), "{}: {:?}", info.id, diagnosis.findings);
    }
}

#[test]
fn messages_are_as_many_as_planned_and_the_markers_where_they_are_said_to_be() {
    let home = tempfile::tempdir().unwrap();
    let plan = Plan { sessions: 100, messages: 100, directories: 3, seed: 1 };
    let made = plan.write(home.path()).unwrap();
    assert_eq!(made.messages, 10_000);
    let size = made.bytes / made.messages as u64;
    assert!((800..1_300).contains(&size), "{size} bytes a message");
    assert!((3..25).contains(&made.rare.len()), "{} rare", made.rare.len());
    assert!((60..150).contains(&made.common.len()), "{} common", made.common.len());
    assert_eq!((count(home.path(), RARE), count(home.path(), COMMON)), (made.rare.len(), made.common.len()));
    for place in &made.rare {
        let id = format!("\"id\":\"{}\"", place.entry);
        let files = files(home.path());
        let file = files.iter().find(|(name, _)| name.contains(&place.session)).unwrap().1;
        let line = file.split(|byte| *byte == b'\n').find(|line| holds(line, &id)).unwrap();
        assert!(holds(line, RARE), "{place:?}");
    }
}
