//! Files of other programs, opened where they are.

use std::fs;

use ramus_engine::{ForkOptions, Say};
use ramus_store::Residence;

use crate::homes::{clean, jsonl, path, saying};

const V1: &str = "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/x\"}\n\
    {\"type\":\"message\",\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n\
    {\"type\":\"message\",\"timestamp\":\"2026-02-16T10:21:02.000Z\",\"message\":{\"role\":\"assistant\",\"content\":\"two\"}}\n";

fn file(home: &crate::homes::Home, name: &str, content: &str) -> String {
    let path = home.directory.path().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn reading_changes_nothing_and_the_first_append_upgrades_with_a_backup() {
    let home = jsonl();
    let name = file(&home, "old.jsonl", V1);
    let mut session = home.engine.open(&name, "/").unwrap();
    assert_eq!((path(&session), session.residence()), (vec!["one".to_owned(), "two".to_owned()], Residence::InPlace));
    home.engine.doctor(&name, "/").unwrap();
    assert_eq!(fs::read_to_string(&name).unwrap(), V1);
    let two = session.entry_id(saying(&session, "two"));
    home.engine.say(&mut session, Say::user("three")).unwrap();
    assert_eq!(fs::read_to_string(format!("{name}.v1.bak")).unwrap(), V1);
    assert_eq!(session.notices().len(), 1);
    let again = home.engine.open(&name, "/").unwrap();
    assert_eq!(path(&again), ["one", "two", "three"]);
    assert_eq!(again.entry_id(saying(&again, "two")), two, "derived ids become the stored ones");
    assert_eq!(clean(&fs::read(&name).unwrap()).header().unwrap().version, 3);
}

#[test]
fn a_torn_tail_is_closed_and_kept_by_the_next_append() {
    let home = jsonl();
    let sound = V1
        .replace("\"id\":\"old\"", "\"version\":3,\"id\":\"old\"")
        .replace("\"type\":\"message\"", "\"type\":\"message\",\"id\":\"a\",\"parentId\":null");
    let sound = sound.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    for (tail, entries) in [("{\"type\":\"message\",\"id\":\"b", 2), ("", 2)] {
        let name = file(&home, "torn.jsonl", &format!("{sound}{tail}"));
        let mut session = home.engine.open(&name, "/").unwrap();
        home.engine.say(&mut session, Say::user("next")).unwrap();
        let text = fs::read_to_string(&name).unwrap();
        assert!(text.starts_with(&format!("{sound}{tail}")), "nothing was lost");
        let again = home.engine.open(&name, "/").unwrap();
        assert_eq!(path(&again).len(), entries);
        assert_eq!(path(&again)[1], "next");
    }
    let unended = sound.trim_end();
    let name = file(&home, "unended.jsonl", unended);
    let mut session = home.engine.open(&name, "/").unwrap();
    home.engine.say(&mut session, Say::user("next")).unwrap();
    assert_eq!(path(&home.engine.open(&name, "/").unwrap()), ["one", "next"]);
    clean(&fs::read(&name).unwrap());
}

#[test]
fn a_file_without_a_header_is_shown_and_only_set_aside_by_writing() {
    let home = jsonl();
    let entries = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n";
    let name = file(&home, "headless.jsonl", entries);
    let mut session = home.engine.open(&name, "/").unwrap();
    assert_eq!(path(&session), ["one"]);
    assert_eq!(fs::read_to_string(&name).unwrap(), entries);
    home.engine.say(&mut session, Say::user("new")).unwrap();
    assert_eq!(path(&home.engine.open(&name, "/").unwrap()), ["new"]);
    let kept = fs::read_dir(home.directory.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| path.to_string_lossy().contains("headless.jsonl.corrupt-")).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), entries);
    assert!(session.notices()[0].contains("corrupt-"));
}

#[test]
fn a_fork_copies_the_path_because_the_owner_may_rewrite_the_file() {
    let home = jsonl();
    let name = file(&home, "old.jsonl", V1);
    let session = home.engine.open(&name, "/").unwrap();
    let fork = home.engine.fork(&session, saying(&session, "two"), &ForkOptions::default()).unwrap();
    fs::remove_file(&name).unwrap();
    let fork = home.reopened(&fork);
    assert_eq!(path(&fork), ["one", "two"]);
    assert_eq!(fork.lineage().forked_from.unwrap().session.as_str(), "old");
    clean(&home.bytes(&fork));
}

#[test]
fn the_path_of_one_of_our_own_sessions_is_that_session() {
    let home = jsonl();
    let session = home.saying(&["1"]);
    let path = session.location().path.clone().unwrap();
    let again = home.engine.open(path.to_str().unwrap(), "/").unwrap();
    assert_eq!(again.location(), session.location());
}

#[test]
fn what_belongs_to_others_is_neither_moved_nor_deleted() {
    let home = jsonl();
    let name = file(&home, "old.jsonl", V1);
    let mut session = home.engine.open(&name, "/").unwrap();
    assert!(home.engine.delete(&session, ramus_engine::Children::Orphan, false).is_err());
    assert!(home.engine.move_to(&mut session, "/elsewhere").is_err());
    assert_eq!(fs::read_to_string(&name).unwrap(), V1);
}
