//! Repairing: nothing is destroyed, forks keep what they stand on, and a second look finds nothing to do.

use std::fs;
use std::path::{Path, PathBuf};

use ramus_engine::{ActionKind, ForkOptions, RecoveryReport, RecoveryStatus, Say, Session, SessionStatus, Treatment};
use ramus_model::{Depth, FindingKind, Log};

use crate::homes::{Home, clean, jsonl, path, saying};

/// A published session that says these things.
fn published(home: &Home, texts: &[&str]) -> Session {
    let mut session = home.saying(texts);
    home.engine.say(&mut session, Say::assistant("answer")).unwrap();
    session
}

fn file(session: &Session) -> PathBuf {
    session.location().path.clone().unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn quarantine(home: &Home) -> Vec<String> {
    files(&home.directory.path().join("home/quarantine"))
}

fn kinds(report: &RecoveryReport) -> Vec<ActionKind> {
    report.actions.iter().map(|action| action.kind).collect()
}

fn found(report: &RecoveryReport) -> Vec<FindingKind> {
    report.findings.iter().map(|finding| finding.kind).collect()
}

/// Changes the file as something other than ramus would.
fn damage(session: &Session, change: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let bytes = change(fs::read(file(session)).unwrap());
    fs::write(file(session), &bytes).unwrap();
    bytes
}

fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn repair(home: &Home, session: &Session) -> RecoveryReport {
    home.engine.repair(session.id().as_str(), "/").unwrap()
}

/// A second run finds nothing to do and does not touch the file.
fn nothing_is_left(home: &Home, session: &Session) {
    let stat = |path: PathBuf| (fs::metadata(&path).unwrap().modified().unwrap(), fs::read(&path).unwrap());
    let (before, kept) = (stat(file(session)), quarantine(home));
    let report = repair(home, session);
    assert_eq!((report.status, kinds(&report)), (RecoveryStatus::Clean, Vec::new()), "{report:?}");
    assert_eq!((stat(file(session)), quarantine(home)), (before, kept));
}

#[test]
fn a_look_changes_nothing_whatever_is_wrong() {
    let home = jsonl();
    let session = published(&home, &["1", "2"]);
    damage(&session, |bytes| [&bytes, &b"\0\0\n{\"type\":\"mess"[..]].concat());
    let before = fs::metadata(file(&session)).unwrap().modified().unwrap();
    let content = fs::read(file(&session)).unwrap();
    let report = home.engine.doctor(session.id().as_str(), "/").unwrap();
    assert_eq!((report.status, report.unreadable, report.actions.len()), (RecoveryStatus::Damaged, 2, 0));
    home.engine.doctor_all(Treatment::LookOnly).unwrap();
    assert_eq!(fs::read(file(&session)).unwrap(), content);
    assert_eq!(fs::metadata(file(&session)).unwrap().modified().unwrap(), before);
    assert!(quarantine(&home).is_empty());
}

#[test]
fn a_torn_tail_is_set_aside_and_cut() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    let sound = fs::read(file(&session)).unwrap();
    damage(&session, |bytes| [&bytes, &b"{\"type\":\"mess"[..]].concat());
    let report = repair(&home, &session);
    assert_eq!((report.status, kinds(&report)), (RecoveryStatus::Repaired, vec![ActionKind::TornTailSetAside]));
    assert_eq!((report.quarantined_bytes(), report.unreadable), (13, 1));
    assert_eq!(fs::read(report.kept().next().unwrap()).unwrap(), b"{\"type\":\"mess");
    assert_eq!(fs::read(file(&session)).unwrap(), sound);
    let (before, after) = report.sha256.unwrap();
    assert!(before != after && before.len() == 64);
    nothing_is_left(&home, &session);
}

#[test]
fn a_last_record_without_a_newline_gets_one() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    let sound = fs::read(file(&session)).unwrap();
    damage(&session, |mut bytes| {
        bytes.pop();
        bytes
    });
    let report = repair(&home, &session);
    assert_eq!((report.status, kinds(&report)), (RecoveryStatus::Repaired, vec![ActionKind::SealedFinalNewline]));
    assert_eq!(fs::read(file(&session)).unwrap(), sound);
    nothing_is_left(&home, &session);
}

#[test]
fn interior_damage_is_blanked_and_every_entry_stays_where_it_is() {
    let home = jsonl();
    let session = published(&home, &["1", "2", "3"]);
    let damaged = damage(&session, |bytes| {
        let mut lines = lines(&bytes);
        lines[2] = [&b"\0".repeat(100), &lines[2][..]].concat();
        lines.insert(2, b"not json at all\n".to_vec());
        lines.push(b"{\"torn".to_vec());
        lines.concat()
    });
    let texts = path(&home.reopened(&session));
    let report = repair(&home, &session);
    use ActionKind::{BackedUp, Blanked, DamageSetAside, RecordsSeparated, TornTailSetAside};
    assert_eq!(report.status, RecoveryStatus::Repaired);
    assert_eq!(kinds(&report), [DamageSetAside, TornTailSetAside, Blanked, RecordsSeparated, BackedUp]);
    assert_eq!((report.quarantined_bytes(), report.salvaged, report.unreadable), (121, 1, 3));
    let repaired = fs::read(file(&session)).unwrap();
    assert_eq!(repaired.len(), damaged.len() - 6);
    let offsets = |bytes: &[u8]| {
        let log = Log::from_bytes(bytes, Depth::Whole);
        log.seqs().map(|seq| (log.id(seq).to_owned(), log.place(seq))).collect::<Vec<_>>()
    };
    assert_eq!(offsets(&repaired), offsets(&damaged));
    assert_eq!(path(&home.reopened(&session)), texts);
    let backup = report.actions.last().unwrap().kept[0].clone();
    assert!(backup.to_str().unwrap().contains(".jsonl.corrupt-"), "{backup:?}");
    assert_eq!(fs::read(backup).unwrap(), damaged);
    assert_eq!(quarantine(&home).len(), 6, "three ranges, each with a note");
    nothing_is_left(&home, &session);
}

#[test]
fn the_same_damage_a_thousand_times_is_kept_once() {
    let home = jsonl();
    let session = published(&home, &["1", "2"]);
    let damaged = damage(&session, |bytes| {
        let mut lines = lines(&bytes);
        lines.insert(2, b"\0\0\0\0\n".to_vec());
        [&lines.concat(), &b"{\"torn"[..]].concat()
    });
    let directory = file(&session).parent().unwrap().to_owned();
    for round in 0..1000 {
        // Half of the time whatever damages the file writes it anew, as a sync tool would.
        if round % 2 == 0 {
            fs::remove_file(file(&session)).unwrap();
            fs::write(file(&session), &damaged).unwrap();
        }
        let expected = if round % 2 == 0 { RecoveryStatus::Repaired } else { RecoveryStatus::Clean };
        assert_eq!(repair(&home, &session).status, expected);
    }
    assert_eq!(quarantine(&home).len(), 4);
    assert_eq!(files(&directory).len(), 2, "the session and one backup");
}

#[test]
fn records_that_touch_are_parted_unless_a_fork_stands_behind() {
    let glue = |session: &Session| {
        damage(session, |bytes| {
            let mut lines = lines(&bytes);
            lines[2].pop();
            lines.concat()
        })
    };
    let home = jsonl();
    let session = published(&home, &["1", "2", "3"]);
    glue(&session);
    let report = repair(&home, &session);
    assert_eq!(report.status, RecoveryStatus::Repaired);
    assert_eq!(kinds(&report), [ActionKind::RecordsSeparated, ActionKind::BackedUp]);
    clean(&fs::read(file(&session)).unwrap());
    nothing_is_left(&home, &session);

    let forked = published(&home, &["1", "2", "3"]);
    let glued = glue(&forked);
    let reopened = home.reopened(&forked);
    let fork = home
        .engine
        .open_fork(&home.engine.fork(&reopened, saying(&reopened, "3"), &ForkOptions::default()).unwrap())
        .unwrap();
    let report = repair(&home, &forked);
    assert_eq!((report.status, found(&report)), (RecoveryStatus::Damaged, vec![FindingKind::GluedRecords]));
    assert!(report.actions.is_empty() && report.remarks[0].contains("forks"), "{report:?}");
    assert_eq!(fs::read(file(&forked)).unwrap(), glued);
    // What comes behind the fork's part may still be repaired, and the fork does not notice.
    let mut session = home.reopened(&forked);
    for text in ["4", "5"] {
        home.engine.say(&mut session, Say::user(text)).unwrap();
    }
    damage(&forked, |bytes| {
        let mut lines = lines(&bytes);
        let last = lines.len() - 2;
        lines[last].pop();
        lines.concat()
    });
    let before = path(&home.reopened(&fork));
    assert_eq!(kinds(&repair(&home, &forked)), [ActionKind::RecordsSeparated, ActionKind::BackedUp]);
    assert_eq!(path(&home.reopened(&fork)), before);
    assert_eq!(before, ["1", "2", "3"]);
}

#[test]
fn blanking_keeps_forks_whole() {
    let home = jsonl();
    let session = published(&home, &["1", "2", "3"]);
    damage(&session, |bytes| {
        let mut lines = lines(&bytes);
        lines.insert(2, b"some garbage\n".to_vec());
        lines[4] = [b"{\"type\":\"mes", &lines[4][..]].concat();
        lines.concat()
    });
    let reopened = home.reopened(&session);
    let fork = home
        .engine
        .open_fork(&home.engine.fork(&reopened, saying(&reopened, "3"), &ForkOptions::default()).unwrap())
        .unwrap();
    let texts = path(&fork);
    assert_eq!(repair(&home, &session).status, RecoveryStatus::Repaired);
    let fork = home.reopened(&fork);
    assert_eq!(path(&fork), texts);
    assert!(!fork.log().is_damaged());
}

#[test]
fn a_fork_of_a_torn_session_does_not_see_what_is_written_over_the_tear() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    damage(&session, |bytes| [&bytes, &b"{\"type\":\"message\",\"id\":\""[..], &b"x".repeat(2000)].concat());
    let mut torn = home.reopened(&session);
    let fork = home
        .engine
        .open_fork(&home.engine.fork(&torn, torn.log().leaf().unwrap(), &ForkOptions::default()).unwrap())
        .unwrap();
    let seqs = fork.log().len();
    home.engine.say(&mut torn, Say::user("later")).unwrap();
    let fork = home.reopened(&fork);
    assert_eq!((fork.log().len(), path(&fork)), (seqs, vec!["1".to_owned(), "answer".to_owned()]));
    assert!(!fork.log().is_damaged());
}

#[test]
fn a_lost_header_is_put_back_with_all_that_was_legible() {
    let home = jsonl();
    let session = published(&home, &["1", "2"]);
    let fork = home
        .engine
        .open_fork(&home.engine.fork(&session, saying(&session, "2"), &ForkOptions::default()).unwrap())
        .unwrap();
    for damaged in [&session, &fork] {
        let sound = fs::read(file(damaged)).unwrap();
        damage(damaged, |mut bytes| {
            bytes[0] = b'(';
            bytes
        });
        let report = repair(&home, damaged);
        assert_eq!(report.status, RecoveryStatus::Repaired, "{report:?}");
        assert!(kinds(&report).contains(&ActionKind::HeaderRestored));
        assert_eq!(fs::read(file(damaged)).unwrap(), sound, "even byte by byte");
        nothing_is_left(&home, damaged);
    }
    assert_eq!(path(&home.reopened(&fork)), ["1", "2"]);
}

#[test]
fn without_any_header_the_entries_get_a_new_one() {
    let home = jsonl();
    let session = published(&home, &["1", "2"]);
    let headless = damage(&session, |bytes| lines(&bytes)[1..].concat());
    let report = repair(&home, &session);
    assert_eq!((report.status, report.entries), (RecoveryStatus::Repaired, 3));
    assert_eq!(kinds(&report), [ActionKind::HeaderRestored, ActionKind::BackedUp]);
    assert_eq!(fs::read(report.kept().next().unwrap()).unwrap(), headless);
    let reopened = home.reopened(&session);
    assert_eq!((reopened.id(), path(&reopened)), (session.id(), ["1", "2", "answer"].map(String::from).to_vec()));
    nothing_is_left(&home, &session);

    // With a fork behind, nothing may move.
    let session = published(&home, &["1", "2"]);
    let fork = home
        .engine
        .open_fork(&home.engine.fork(&session, saying(&session, "2"), &ForkOptions::default()).unwrap())
        .unwrap();
    let headless = damage(&session, |bytes| {
        let lines = lines(&bytes);
        [" ".repeat(lines[0].len() - 1).as_bytes(), b"\n", &lines[1..].concat()].concat()
    });
    assert_eq!(repair(&home, &session).status, RecoveryStatus::Repaired, "there is room");
    assert_eq!(fs::read(file(&session)).unwrap().len(), headless.len());
    assert_eq!(path(&home.reopened(&fork)), ["1", "2"]);
    damage(&session, |bytes| [&b"\n".repeat(10), &lines(&bytes)[1..].concat()[..]].concat());
    let report = repair(&home, &session);
    assert_eq!((report.status, report.actions.len()), (RecoveryStatus::Damaged, 0));
    assert!(report.remarks[0].contains("no room"), "{:?}", report.remarks);
}

#[test]
fn what_is_no_session_is_left_alone() {
    let home = jsonl();
    for content in [&b""[..], b"dear diary\n", b"\0\0\0\0\0", b"{\"name\":\"package\"}\n", b"[1,2,3]\n{\"a\":1}\n"] {
        let path = home.directory.path().join("notes.jsonl");
        fs::write(&path, content).unwrap();
        let report = home.engine.repair(path.to_str().unwrap(), "/").unwrap();
        assert_eq!((report.status, report.actions.len()), (RecoveryStatus::Unreadable, 0), "{content:?}");
        assert_eq!(fs::read(&path).unwrap(), content);
        assert!(quarantine(&home).is_empty());
    }
}

#[test]
fn files_of_others_are_repaired_where_they_are() {
    let home = jsonl();
    let session = published(&home, &["1", "2"]);
    let mut content = fs::read(file(&session)).unwrap();
    content.splice(0..0, *b"\0\0\0\0\n");
    let path = home.directory.path().join("theirs.jsonl");
    fs::write(&path, &content).unwrap();
    let report = home.engine.repair(path.to_str().unwrap(), "/").unwrap();
    assert_eq!(report.status, RecoveryStatus::Repaired);
    let names = files(home.directory.path());
    assert_eq!(names.iter().filter(|name| name.starts_with("theirs.jsonl.corrupt-")).count(), 1, "{names:?}");
    assert_eq!(fs::read(&path).unwrap().len(), content.len());
}

#[test]
fn what_would_take_guessing_is_reported_and_left() {
    let home = jsonl();
    let line = |id: &str, parent: &str, text: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-02-16T10:21:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let session = home.session();
    let bytes = damage(&session, |header| {
        let entries = [
            line("a", "null", "1"),
            line("a", "null", "twice"),
            line("b", "\"gone\"", "orphan"),
            line("c", "\"d\"", "circle"),
            line("d", "\"c\"", "circle"),
        ];
        let utf8 = line("e", "\"a\"", "X").into_bytes().into_iter().map(|byte| if byte == b'X' { 0xff } else { byte });
        [header, entries.concat().into_bytes(), utf8.collect()].concat()
    });
    let report = repair(&home, &session);
    assert_eq!((report.status, report.actions.len(), report.entries), (RecoveryStatus::Damaged, 0, 6));
    for kind in [FindingKind::DuplicateId, FindingKind::MissingParent, FindingKind::Cycle, FindingKind::InvalidUtf8] {
        assert!(found(&report).contains(&kind), "{kind:?}");
    }
    assert_eq!(fs::read(file(&session)).unwrap(), bytes);
}

#[test]
fn one_bad_file_blocks_no_other() {
    let home = jsonl();
    let sessions: Vec<Session> = (0..3).map(|_| published(&home, &["1"])).collect();
    damage(&sessions[0], |bytes| [&bytes, &b"{\"torn"[..]].concat());
    fs::remove_file(file(&sessions[1])).unwrap();
    std::os::unix::fs::symlink("/dev/null", file(&sessions[1])).unwrap();
    damage(&sessions[2], |bytes| [&bytes, &b"garbage\n"[..]].concat());
    let examined = home.engine.doctor_all(Treatment::Repair).unwrap();
    let status = |session: &Session| {
        let one = examined.iter().find(|one| one.session == session.id().as_str()).unwrap();
        one.outcome.as_ref().map(|report| report.status).ok()
    };
    assert_eq!(
        sessions.iter().map(status).collect::<Vec<_>>(),
        [Some(RecoveryStatus::Repaired), None, Some(RecoveryStatus::Repaired)]
    );
}

#[test]
fn what_an_append_repairs_is_reported_the_same_way() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    damage(&session, |bytes| [&bytes, &b"{\"torn"[..]].concat());
    let mut reopened = home.reopened(&session);
    assert_eq!(reopened.status(), SessionStatus::Damaged);
    assert_eq!(reopened.recovery().status, RecoveryStatus::Damaged);
    home.engine.say(&mut reopened, Say::user("2")).unwrap();
    let report = reopened.recovery();
    assert_eq!((report.status, kinds(&report)), (RecoveryStatus::Repaired, vec![ActionKind::TornTailSetAside]));
    assert_eq!(report.quarantined_bytes(), 6);
    assert_eq!(reopened.status(), SessionStatus::Idle);
    let lease = home.engine.lease(&reopened).unwrap();
    assert!(matches!(home.reopened(&session).status(), SessionStatus::Running(_)));
    drop(lease);
    assert_eq!(reopened.info().unwrap().status, SessionStatus::Idle);
}

#[test]
fn recovering_puts_a_lost_header_back_instead_of_starting_anew() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    damage(&session, |bytes| [&lines(&bytes)[1..].concat()[..], b"{\"torn"].concat());
    let mut reopened = home.reopened(&session);
    let report = home.engine.recover(&mut reopened).unwrap();
    assert_eq!(report.status, RecoveryStatus::Repaired);
    assert_eq!(path(&reopened), ["1", "answer"]);
    home.engine.say(&mut reopened, Say::user("2")).unwrap();
    assert_eq!(path(&home.reopened(&session)), ["1", "answer", "2"]);
}

#[test]
fn a_repair_decides_again_when_others_write() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    damage(&session, |bytes| {
        let mut lines = lines(&bytes);
        lines.insert(1, b"garbage\n".to_vec());
        lines.concat()
    });
    let id = session.id().to_string();
    let id = id.as_str();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = home.engine.open(id, "/").unwrap();
            for number in 0..50 {
                home.engine.say(&mut writer, Say::user(format!("more {number}"))).unwrap();
            }
        });
        scope.spawn(|| {
            for _ in 0..20 {
                assert!(home.engine.repair(id, "/").unwrap().status.is_sound());
            }
        });
    });
    let reopened = home.reopened(&session);
    assert_eq!(path(&reopened).len(), 52);
    clean(&fs::read(file(&session)).unwrap());
}

#[test]
fn what_was_left_behind_is_named() {
    let home = jsonl();
    let session = published(&home, &["1"]);
    let directory = file(&session).parent().unwrap().to_owned();
    let unfinished = directory.join("x.jsonl.new-0123456789abcdef0123456789abcdef");
    fs::write(&unfinished, "half").unwrap();
    // The change time of a file cannot be set back, so a day must pass before one counts.
    assert!(home.engine.leftovers().unwrap().is_empty());
    let tomorrow = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    let found = home.store.leftovers(tomorrow).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].path, unfinished);
    home.engine.delete(&session, ramus_engine::Children::Orphan, false).unwrap();
    assert!(home.store.leftovers(tomorrow).unwrap().len() > 1, "its lock file is of no use any more");
}
