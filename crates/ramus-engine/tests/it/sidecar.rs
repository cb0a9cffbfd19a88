//! Sidecars: every answer is the same with one, without one, and with one that lies.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use ramus_engine::{Cursor, Durability, Engine, ForkOptions, RecoveryStatus, Say, Session};
use ramus_model::{Body, Draft, FindingKind, Scope, Seq, context};
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::random::Random;
use serde_json::json;

use crate::homes::{Home, jsonl};

/// Everything a session shows.
fn shown(session: &Session) -> String {
    let log = session.log();
    let context = session.context(log.leaf()).unwrap();
    let mut messages = Vec::new();
    context::render::messages(log, &context, &session.lines(), &mut messages).unwrap();
    let labels: Vec<_> = log.seqs().map(|seq| (log.id(seq).to_owned(), log.facts().label(log.id(seq)))).collect();
    let records: Vec<_> = log.seqs().map(|seq| (log.record(seq).unwrap().parent(), log.place(seq))).collect();
    format!(
        "{:?} {:?} {context:?} {} {labels:?} {records:?} {:?} {:?}",
        session.title(),
        session.tree(Scope::All),
        String::from_utf8_lossy(&messages),
        session.cwd(),
        log.findings(),
    )
}

fn index(home: &Home) -> PathBuf {
    home.directory.path().join("home/index")
}

/// The session as it is read without any sidecar, from a copy of the home.
fn cold(home: &Home, session: &Session) -> String {
    let copy = tempfile::tempdir().unwrap();
    let from = home.directory.path().join("home");
    let copied = std::process::Command::new("cp").arg("-a").arg(&from).arg(copy.path()).status().unwrap();
    assert!(copied.success());
    let _ = fs::remove_dir_all(copy.path().join("home/index"));
    let engine = Engine::new(Arc::new(JsonlStore::new(copy.path().join("home"), Layout::Pi)), "test");
    shown(&engine.open(session.id().as_str(), "/").unwrap())
}

fn compaction(session: &Session, keep: Seq) -> Draft {
    let members = [
        ("summary", json!("so far")),
        ("firstKeptEntryId", json!(session.entry_id(keep).as_str())),
        ("tokensBefore", json!(9)),
    ];
    Draft::new(Body::new("compaction", members))
}

/// A long session with a compaction near its end that keeps two messages.
fn compacted(home: &Home, before: usize) -> Session {
    let mut session = home.session();
    for n in 0..before {
        let say = if n % 2 == 0 { Say::user(format!("q{n}")) } else { Say::assistant(format!("a{n}")) };
        home.engine.say(&mut session, say).unwrap();
    }
    let keep = session.log().path(session.log().leaf()).into_iter().rev().nth(1).unwrap();
    let draft = compaction(&session, keep);
    home.engine.append(&mut session, &[draft], &Cursor::Leaf).unwrap();
    home.engine.say(&mut session, Say::user("next")).unwrap();
    session
}

fn fast(mut home: Home) -> Home {
    home.engine = home.engine.with_durability(Durability::Os);
    home
}

#[test]
fn verbs_in_any_order_show_the_same_with_and_without() {
    for seed in 0..12 {
        let home = fast(jsonl());
        let mut random = Random::new(seed);
        let mut session = home.session();
        home.engine.say(&mut session, Say::assistant("first")).unwrap();
        for step in 0..60 {
            act(&home, &mut session, &mut random, step);
            if random.chance(30) {
                // Another process goes on.
                let id = session.id().clone();
                drop(session);
                session = home.engine.open(id.as_str(), "/").unwrap();
                assert_eq!(shown(&session), cold(&home, &session), "seed {seed} step {step}");
            }
        }
        let id = session.id().clone();
        drop(session);
        let resumed = home.engine.resume(id.as_str(), "/").unwrap();
        let whole = home.engine.open(id.as_str(), "/").unwrap();
        assert_eq!(*resumed.context(), whole.context(whole.log().leaf()).unwrap(), "seed {seed}");
        assert_eq!(resumed.leaf(), whole.leaf());
    }
}

fn act(home: &Home, session: &mut Session, random: &mut Random, step: usize) {
    let visible: Vec<Seq> = session.log().visible().collect();
    let any = visible[random.below(visible.len())];
    let engine = &home.engine;
    match random.below(12) {
        0 => engine.branch(session, any).map(drop).unwrap(),
        1 => engine.label(session, any, Some("mark")).map(drop).unwrap(),
        2 => engine.rename(session, &format!("title {step}")).map(drop).unwrap(),
        3 => {
            let path = session.log().path(session.log().leaf());
            let draft = compaction(session, path[random.below(path.len())]);
            engine.append(session, &[draft], &Cursor::Leaf).map(drop).unwrap();
        }
        4 => drop(engine.replace_segment(session, any, any, "shorter")),
        5 => {
            let fork = engine.fork(session, any, &ForkOptions::default()).unwrap();
            *session = engine.open_fork(&fork).unwrap();
        }
        6..=8 => engine.say(session, Say::assistant(format!("a{step}"))).map(drop).unwrap(),
        _ => engine.say(session, Say::user(format!("q{step}"))).map(drop).unwrap(),
    }
}

#[test]
fn the_next_turn_needs_only_the_end_of_a_compacted_session() {
    let home = fast(jsonl());
    let session = compacted(&home, 300);
    let id = session.id().to_string();
    let expected = session.context(session.log().leaf()).unwrap();
    drop(session);
    let resumed = home.engine.resume(&id, "/").unwrap();
    assert!(resumed.is_window());
    assert_eq!(*resumed.context(), expected);
    let mut messages = Vec::new();
    context::render::messages(resumed.log(), resumed.context(), &resumed.lines(), &mut messages).unwrap();
    assert!(String::from_utf8_lossy(&messages).contains("a299"));
    // What others append is seen, whatever it is.
    let mut whole = resumed.into_session().unwrap();
    assert_eq!(whole.context(whole.log().leaf()).unwrap(), expected);
    home.engine.say(&mut whole, Say::assistant("done")).unwrap();
    let resumed = home.engine.resume(&id, "/").unwrap();
    assert!(resumed.is_window());
    assert_eq!(*resumed.context(), whole.context(whole.log().leaf()).unwrap());
    // A leaf before the compaction needs more than the end.
    let early = whole.log().visible().nth(5).unwrap();
    home.engine.branch(&mut whole, early).unwrap();
    let resumed = home.engine.resume(&id, "/").unwrap();
    assert!(!resumed.is_window());
    assert_eq!(*resumed.context(), whole.context(Some(early)).unwrap());
}

#[test]
fn a_sidecar_that_is_deleted_or_damaged_changes_no_answer() {
    let home = fast(jsonl());
    let session = compacted(&home, 300);
    let (id, expected) = (session.id().to_string(), shown(&session));
    drop(session);
    let files = || fs::read_dir(index(&home)).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    assert_eq!(files().len(), 2);
    for file in files() {
        let sound = fs::read(&file).unwrap();
        for at in (0..sound.len()).step_by(97) {
            let mut bent = sound.clone();
            bent[at] ^= 0x11;
            fs::write(&file, &bent).unwrap();
            assert_eq!(shown(&home.engine.open(&id, "/").unwrap()), expected, "{} at {at}", file.display());
            home.engine.resume(&id, "/").unwrap();
            fs::write(&file, &sound).unwrap();
        }
        fs::write(&file, &sound[..sound.len() / 2]).unwrap();
        assert_eq!(shown(&home.engine.open(&id, "/").unwrap()), expected, "{} cut", file.display());
        fs::remove_file(&file).unwrap();
        assert_eq!(shown(&home.engine.open(&id, "/").unwrap()), expected, "{} gone", file.display());
        fs::write(&file, &sound).unwrap();
    }
    fs::remove_dir_all(index(&home)).unwrap();
    let session = home.engine.open(&id, "/").unwrap();
    assert_eq!(shown(&session), expected);
    drop(session);
    assert_eq!(files().len(), 2, "it was made again");
    assert!(home.engine.resume(&id, "/").unwrap().is_window());
}

#[test]
fn bytes_that_something_else_changed_are_never_taken_for_what_was_written() {
    let home = fast(jsonl());
    let session = compacted(&home, 300);
    let id = session.id().to_string();
    let path = session.location().path.clone().unwrap();
    drop(session);
    let sound = fs::read_to_string(&path).unwrap();
    for (what, text) in
        [("in the context", sound.replace("a299", "b299")), ("before it", sound.replace("q10\"", "r10\""))]
    {
        fs::write(&path, &text).unwrap();
        let diagnosis = home.engine.doctor(&id, "/").unwrap();
        assert!(diagnosis.findings.iter().any(|finding| finding.kind == FindingKind::ChangedOutside), "{what}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{what}");
    }
    fs::write(&path, sound.replace("a299", "b299")).unwrap();
    let resumed = home.engine.resume(&id, "/").unwrap();
    assert!(!resumed.is_window(), "the end of the log is not what was written");
    fs::write(&path, &sound).unwrap();
    assert!(home.engine.doctor(&id, "/").unwrap().is_clean());
    assert!(home.engine.resume(&id, "/").unwrap().is_window());
    // Whoever asks for a repair accepts what is there.
    fs::write(&path, sound.replace("a299", "b299")).unwrap();
    let report = home.engine.repair(&id, "/").unwrap();
    assert_eq!(report.status, RecoveryStatus::Repaired, "{:?}", report.findings);
    assert_eq!(fs::read_to_string(&path).unwrap(), sound.replace("a299", "b299"));
    assert!(home.engine.doctor(&id, "/").unwrap().is_clean());
}

#[test]
fn a_home_that_was_copied_keeps_its_sessions_and_their_checksums() {
    let home = fast(jsonl());
    let session = compacted(&home, 300);
    let (id, expected) = (session.id().to_string(), shown(&session));
    let path = session.location().path.clone().unwrap();
    drop(session);
    // Another inode, the same bytes.
    let copy = path.with_extension("copy");
    fs::copy(&path, &copy).unwrap();
    fs::rename(&copy, &path).unwrap();
    assert_eq!(shown(&home.engine.open(&id, "/").unwrap()), expected);
    let mut session = home.engine.open(&id, "/").unwrap();
    home.engine.say(&mut session, Say::user("more")).unwrap();
    drop(session);
    assert!(home.engine.doctor(&id, "/").unwrap().is_clean());
    assert!(home.engine.resume(&id, "/").unwrap().is_window());
}

#[test]
fn a_copy_that_goes_its_own_way_is_no_damage() {
    let home = fast(jsonl());
    let mut session = home.session();
    home.engine.say(&mut session, Say::assistant("first")).unwrap();
    let original = session.location().path.clone().unwrap();
    drop(session);
    let copy = original.with_file_name("2020_copy.jsonl");
    fs::copy(&original, &copy).unwrap();
    let open = |path: &PathBuf| home.engine.open(path.to_str().unwrap(), "/").unwrap();
    for round in 0..3 {
        for path in [&copy, &original] {
            let mut session = open(path);
            assert!(!session.log().is_damaged(), "{round}: {path:?} {:?}", session.log().findings());
            home.engine.say(&mut session, Say::user(format!("{round} in {path:?}"))).unwrap();
        }
    }
    // The one that has the sidecar is still watched over, also while the other is used.
    let mut bytes = fs::read(&original).unwrap();
    let place = bytes.windows(5).rposition(|word| word == b"2 in ").unwrap();
    bytes[place] = b'3';
    fs::write(&original, &bytes).unwrap();
    for _ in 0..2 {
        assert!(open(&original).log().is_damaged());
        assert!(!open(&copy).log().is_damaged());
    }
    // And when it is gone, nothing that was known of it is said of the copy.
    fs::remove_file(&original).unwrap();
    assert!(!open(&copy).log().is_damaged());
}

#[test]
fn what_a_power_cut_took_back_is_no_damage_unless_it_was_promised() {
    for (durability, is_promised) in [(Durability::Os, false), (Durability::Turn, false), (Durability::Full, true)] {
        let mut home = jsonl();
        home.engine = home.engine.with_durability(durability);
        let session = compacted(&home, 20);
        let (id, path) = (session.id().to_string(), session.location().path.clone().unwrap());
        drop(session);
        let bytes = fs::read(&path).unwrap();
        let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
        // In place, as a file system comes back after a power cut.
        fs::write(&path, lines[..lines.len() - 3].concat()).unwrap();
        let report = home.engine.doctor(&id, "/").unwrap();
        assert_eq!(!report.is_clean(), is_promised, "{durability:?}: {:?}", report.findings);
        let mut session = home.engine.open(&id, "/").unwrap();
        home.engine.say(&mut session, Say::user("on")).unwrap();
        drop(session);
        assert_eq!(home.engine.doctor(&id, "/").unwrap().is_clean(), !is_promised, "{durability:?}");
    }
}

#[test]
fn a_fork_shows_a_label_that_its_origin_dropped_later() {
    let home = jsonl();
    let mut origin = home.saying(&["one"]);
    let one = origin.log().leaf().unwrap();
    home.engine.label(&mut origin, one, Some("plan")).unwrap();
    let fork = home.fork(&origin, one);
    home.engine.label(&mut origin, one, None).unwrap();
    // Closing the origin leaves a sidecar that knows of no label.
    drop(origin);
    assert!(index(&home).exists());
    let fork = home.reopened(&fork);
    assert_eq!(fork.log().facts().label(fork.log().id(one)), Some("plan"));
    assert_eq!(shown(&fork), cold(&home, &fork));
}

#[test]
fn a_window_notices_an_id_that_was_used_before_it() {
    let home = fast(jsonl());
    let session = compacted(&home, 300);
    let id = session.id().to_string();
    let log = session.log();
    let early = log.path(log.leaf())[3];
    let (early, leaf) = (session.entry_id(early), session.leaf().unwrap());
    let file = session.location().path.clone().unwrap();
    drop(session);
    assert!(home.engine.resume(&id, "/").unwrap().is_window());
    // Another program uses an id again and goes on from it; whoever knows all ids goes on from the first one.
    let line = |id: &str, parent: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-02-16T10:21:00.000Z","message":{{"role":"user","content":"{id}"}}}}"#
        )
    };
    let mut text = fs::read_to_string(&file).unwrap();
    text += &format!("{}\n{}\n", line(early.as_str(), leaf.as_str()), line("feedbeef", early.as_str()));
    fs::write(&file, text).unwrap();
    let whole = home.engine.open(&id, "/").unwrap();
    let resumed = home.engine.resume(&id, "/").unwrap();
    assert_eq!(resumed.context().items, whole.context(whole.log().leaf()).unwrap().items);
}

#[test]
fn a_file_that_was_emptied_keeps_its_header_and_says_what_happened() {
    let home = jsonl();
    let mut session = home.saying(&["one"]);
    home.engine.rename(&mut session, "named").unwrap();
    let (id, path) = (session.id().to_string(), session.location().path.clone().unwrap());
    drop(session);
    fs::write(&path, "").unwrap();
    assert!(!home.engine.doctor(&id, "/").unwrap().is_clean());
    let mut session = home.engine.open(&id, "/").unwrap();
    home.engine.say(&mut session, Say::user("after")).unwrap();
    assert!(session.notices()[0].contains("emptied"), "{:?}", session.notices());
    assert_eq!((session.cwd(), session.id().as_str()), ("/proj", &*id));
}

#[test]
fn a_changed_line_is_noticed_by_whoever_reads_it() {
    let home = jsonl();
    let session = home.saying(&["one", "two"]);
    let (id, path) = (session.id().to_string(), session.location().path.clone().unwrap());
    drop(session);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"one\"", "\"eno\"")).unwrap();
    let session = home.engine.open(&id, "/").unwrap();
    assert!(!session.log().is_damaged(), "the sidecar is believed");
    let first = session.log().visible().next().unwrap();
    session.line(first).unwrap();
    assert!(session.log().is_damaged());
}
