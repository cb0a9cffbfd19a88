//! Files of other programs, opened where they are.

use std::fs;

use ramus_engine::{ErrorKind, Say};
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
fn a_torn_tail_is_set_aside_by_the_next_append() {
    let home = jsonl();
    let sound = V1
        .replace("\"id\":\"old\"", "\"version\":3,\"id\":\"old\"")
        .replace("\"type\":\"message\"", "\"type\":\"message\",\"id\":\"a\",\"parentId\":null");
    let sound = sound.lines().take(2).collect::<Vec<_>>().join("\n") + "\n";
    // Not the start of any id that could be drawn.
    let tail = "{\"type\":\"message\",\"id\":\"zz";
    let name = file(&home, "torn.jsonl", &format!("{sound}{tail}"));
    let mut session = home.engine.open(&name, "/").unwrap();
    home.engine.say(&mut session, Say::user("next")).unwrap();
    let text = fs::read_to_string(&name).unwrap();
    assert!(text.starts_with(&sound) && !text.contains(tail));
    assert_eq!(path(&home.engine.open(&name, "/").unwrap()), ["one", "next"]);
    clean(text.as_bytes());
    let kept = fs::read_dir(home.directory.path().join("home/quarantine")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| path.extension() == Some("bin".as_ref())).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_to_string(&kept[0]).unwrap(), tail);
    assert!(session.notices()[0].contains(kept[0].to_str().unwrap()), "{:?}", session.notices());
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
    let fork = home.fork(&session, saying(&session, "two"));
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

/// Four writers at once, each of whom opened the file before any of them wrote.
fn four_writers(home: &crate::homes::Home, name: &str) {
    let barrier = std::sync::Barrier::new(4);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let barrier = &barrier;
            scope.spawn(move || {
                let mut session = home.engine.open(name, "/").unwrap();
                barrier.wait();
                home.engine.say(&mut session, Say::user(writer.to_string())).unwrap();
            });
        }
    });
}

#[test]
fn writers_at_a_file_without_a_header_lose_nothing() {
    let entries = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n";
    for round in 0..10 {
        let home = jsonl();
        let name = file(&home, "headless.jsonl", entries);
        four_writers(&home, &name);
        let mut said = path(&home.engine.open(&name, "/").unwrap());
        said.sort();
        assert_eq!(said, ["0", "1", "2", "3"], "round {round}");
    }
}

#[test]
fn writers_at_an_old_file_lose_nothing() {
    for round in 0..10 {
        let home = jsonl();
        let name = file(&home, "old.jsonl", V1);
        four_writers(&home, &name);
        assert_eq!(path(&home.engine.open(&name, "/").unwrap()).len(), 6, "round {round}");
    }
}

#[test]
fn files_that_are_no_sessions_are_left_alone() {
    let home = jsonl();
    for (name, content) in [
        ("notes.txt", "buy milk\n"),
        ("data.jsonl", "{\"a\":1}\n[2]\n"),
        (
            "bare.txt",
            "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n",
        ),
    ] {
        let name = file(&home, name, content);
        // What has no header and is not called as sessions are is none.
        match home.engine.open(&name, "/") {
            Ok(mut session) => assert!(home.engine.say(&mut session, Say::user("hi")).is_err(), "{name}"),
            Err(error) => assert!(name.ends_with(".txt") && error.kind() == ErrorKind::Invalid, "{name}: {error}"),
        }
        assert_eq!(fs::read_to_string(&name).unwrap(), content);
    }
    let empty = file(&home, "empty.jsonl", "");
    let mut session = home.engine.open(&empty, "/").unwrap();
    home.engine.say(&mut session, Say::user("hi")).unwrap();
    assert_eq!(path(&home.engine.open(&empty, "/").unwrap()), ["hi"]);
    let beside = fs::read_dir(home.directory.path())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("corrupt"));
    assert_eq!(beside.count(), 0, "an empty file needs no backup");
}

#[test]
fn a_session_of_the_home_that_lost_its_header_is_still_found() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    home.engine.say(&mut session, Say::assistant("2")).unwrap();
    let file = session.location().path.clone().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.split_once('\n').unwrap().1).unwrap();
    let mut session = home.reopened(&session);
    assert_eq!(path(&session), ["1", "2"]);
    home.engine.say(&mut session, Say::user("new")).unwrap();
    assert_eq!(path(&home.reopened(&session)), ["new"]);
    let listed = home.engine.list(&ramus_engine::Filter { drafts: true, ..Default::default() }).unwrap();
    assert_eq!(listed.sessions[0].id, *session.id());
}

#[test]
fn a_fork_of_an_old_file_in_the_home_survives_its_upgrade() {
    let home = jsonl();
    let directory = home.directory.path().join("home/sessions/--x--");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("2026-02-16T10-20-30-000Z_old.jsonl"), V1).unwrap();
    let mut origin =
        home.engine.open(directory.join("2026-02-16T10-20-30-000Z_old.jsonl").to_str().unwrap(), "/").unwrap();
    let fork = home.fork(&origin, saying(&origin, "two"));
    home.engine.say(&mut origin, Say::user("three")).unwrap();
    assert_eq!(path(&home.reopened(&fork)), ["one", "two"]);
}

#[test]
fn what_is_torn_behind_a_brace_never_becomes_an_entry() {
    let home = jsonl();
    let header =
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/x\"}\n";
    let whole = "{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-02-16T10:21:01.000Z\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"b\",\"arguments\":{\"x\":{}}}],\"usage\":{\"cost\":{\"total\":0}},\"stopReason\":\"stop\"}}";
    for cut in 1..whole.len() {
        let name = file(&home, "torn.jsonl", &format!("{header}{}", &whole[..cut]));
        let mut session = home.engine.open(&name, "/").unwrap();
        let written = home.engine.say(&mut session, Say::user("next")).unwrap();
        let again = home.engine.open(&name, "/").unwrap();
        assert_eq!(again.log().len(), 1, "cut at {cut}");
        assert_eq!(again.log().seq_of(written.id.as_str()), Some(written.seq));
        home.engine.say(&mut session, Say::user("and more")).unwrap();
        assert!(!fs::read_to_string(&name).unwrap().contains("\n\n"), "no blank lines");
    }
}

#[test]
fn writing_to_any_file_changes_no_byte_that_was_there() {
    let home = jsonl();
    for seed in 0..100 {
        let bytes = ramus_testkit::trees::tree(seed);
        let path = home.directory.path().join(format!("tree-{seed}.jsonl"));
        fs::write(&path, &bytes).unwrap();
        let name = path.to_str().unwrap();
        let mut session = home.engine.open(name, "/").unwrap();
        let ids: Vec<String> = session.log().seqs().map(|seq| session.log().id(seq).to_owned()).collect();
        assert_eq!(fs::read(&path).unwrap(), bytes, "reading tree {seed} changed it");
        home.engine.say(&mut session, Say::user("added")).unwrap();
        let first = session.log().visible().next().unwrap();
        home.engine.label(&mut session, first, Some("root")).unwrap();
        home.engine.branch(&mut session, first).unwrap();
        home.engine.replace_segment(&mut session, first, first, "short").unwrap();
        let after = fs::read(&path).unwrap();
        assert!(after.starts_with(&bytes), "writing to tree {seed} changed what was there");
        let again = home.engine.open(name, "/").unwrap();
        assert!(!again.log().is_damaged(), "tree {seed}: {:?}", again.log().findings());
        for (seq, id) in again.log().seqs().zip(&ids) {
            assert_eq!(again.log().id(seq), id, "tree {seed}: {seq}");
        }
    }
}
