//! Deleting what others were forked from: they show what they showed, and the rest is gone.

use proptest::prelude::*;
use ramus_engine::{Children, ErrorKind, ForkOptions, NewSession, Say, Session};
use ramus_model::{Draft, Record, Scope, Seq};
use ramus_store::{Hold, Residence};
use ramus_testkit::trees;

use crate::homes::{Home, homes, jsonl, path, saying};

/// Everything a session shows, as text.
fn shown(session: &Session) -> String {
    let log = session.log();
    let entry = |seq: Seq| {
        let record = log.record(seq).unwrap();
        let line = String::from_utf8_lossy(&session.line(seq).unwrap()).into_owned();
        let label = log.facts().label(log.id(seq)).unwrap_or_default();
        format!("{seq} {} {:?} {:?} {label:?} {line}\n", log.id(seq), record.parent(), record.is_visible())
    };
    let entries: String = log.seqs().filter(|seq| log.belongs(*seq)).map(entry).collect();
    let trees = [Scope::Visible, Scope::All].map(|scope| session.tree(scope));
    let context = session.context(log.leaf()).unwrap();
    let info = session.info().unwrap();
    let meta = (session.title(), session.cwd().to_owned(), session.metadata(), session.lineage(), info);
    let findings = log.findings();
    format!("{entries}{trees:?}\n{:?} {:?}\n{context:?}\n{meta:?}\n{findings:?}", log.len(), log.leaf())
}

fn exported(home: &Home, session: &Session) -> String {
    let text = String::from_utf8(home.engine.export(session).unwrap()).unwrap();
    // Labels that are written again get ids of their own.
    let own = |line: &&str| !line.contains("\"type\":\"label\"");
    text.lines().filter(own).collect::<Vec<_>>().join("\n")
}

fn delete(home: &Home, session: &Session) -> ramus_engine::Deleted {
    home.engine.delete(session, Children::Orphan, false).unwrap()
}

#[test]
fn a_fork_outlives_its_origin_and_the_rest_is_gone() {
    for home in homes() {
        let mut session = home.saying(&["shared", "kept"]);
        let kept = saying(&session, "kept");
        home.engine.say(&mut session, Say::user("secret branch")).unwrap();
        home.engine.branch(&mut session, kept).unwrap();
        home.engine.say(&mut session, Say::user("another secret")).unwrap();
        home.engine.rename(&mut session, "secret title").unwrap();
        let mut fork = home.fork_called(&session, kept, Some("mine"));
        home.engine.say(&mut fork, Say::user("own")).unwrap();
        home.engine.say(&mut session, Say::user("secret afterwards")).unwrap();
        let (before, export) = (shown(&home.reopened(&fork)), exported(&home, &fork));
        let planned = home.engine.delete(&session, Children::Orphan, true).unwrap();
        assert_eq!(home.store.bases().unwrap(), [], "{}: a dry run writes nothing", home.name);
        let done = delete(&home, &session);
        assert_eq!((&planned.kept, planned.removed.bytes), (&done.kept, done.removed.bytes));
        assert_eq!(done.kept[0].forks, [fork.id().clone()]);
        let mut fork = home.reopened(&fork);
        assert_eq!(shown(&fork), before);
        assert_eq!(exported(&home, &fork), export);
        let bases = home.store.bases().unwrap();
        let mut bytes = Vec::new();
        home.store.read(&bases[0], 0, &mut |chunk| bytes.extend_from_slice(chunk)).unwrap();
        assert_eq!(bytes.len() as u64, done.kept[0].bytes);
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("secret") && text.contains("ramus.gap"), "{text}");
        let listed: Vec<_> = home.store.list().unwrap().into_iter().map(|at| at.id).collect();
        assert_eq!(listed, [fork.id().clone()], "a base is not listed");
        assert_eq!(home.engine.open(session.id().as_str(), "/proj").map(drop).unwrap_err().kind(), ErrorKind::NotFound);
        // Life goes on.
        let shared = saying(&fork, "kept");
        home.engine.label(&mut fork, shared, Some("still here")).unwrap();
        home.engine.replace_segment(&mut fork, shared, shared, "short").unwrap();
        assert_eq!(path(&home.reopened(&fork)), ["shared", "short", "own"]);
        delete(&home, &fork);
        assert_eq!(home.store.bases().unwrap(), [], "the base goes with its last fork");
    }
}

#[test]
fn every_fork_keeps_the_labels_and_versions_of_its_time() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let two = saying(&session, "2");
        let leaf = session.log().leaf().unwrap();
        home.engine.label(&mut session, two, Some("early")).unwrap();
        let first = home.fork(&session, leaf);
        home.engine.label(&mut session, two, Some("late")).unwrap();
        home.engine.replace_segment(&mut session, two, two, "short").unwrap();
        let three = saying(&session, "3");
        let second = home.fork(&session, three);
        home.engine.label(&mut session, three, Some("never seen")).unwrap();
        let third = home.fork(&second, second.log().leaf().unwrap());
        let forks = [first, second, third];
        let before: Vec<String> = forks.iter().map(|fork| shown(&home.reopened(fork))).collect();
        delete(&home, &session);
        let after: Vec<String> = forks.iter().map(|fork| shown(&home.reopened(fork))).collect();
        assert_eq!(after, before, "{}", home.name);
        assert_eq!(path(&home.reopened(&forks[0])), ["1", "2", "3"]);
        assert_eq!(path(&home.reopened(&forks[2])), ["1", "short", "3"]);
        // The one in the middle goes too: the last stands on two bases.
        delete(&home, &forks[1]);
        assert_eq!(home.store.bases().unwrap().len(), 2);
        assert_eq!(shown(&home.reopened(&forks[2])), before[2]);
        delete(&home, &forks[0]);
        assert_eq!(shown(&home.reopened(&forks[2])), before[2]);
        delete(&home, &forks[2]);
        assert_eq!(home.store.bases().unwrap(), []);
    }
}

#[test]
fn origins_go_in_any_order_and_with_their_children() {
    for order in [[0, 1], [1, 0]] {
        for home in homes() {
            let session = home.saying(&["1", "2"]);
            let mut middle = home.fork(&session, saying(&session, "2"));
            home.engine.say(&mut middle, Say::user("3")).unwrap();
            let last = home.fork(&middle, saying(&middle, "2"));
            let before = shown(&home.reopened(&last));
            for at in order {
                delete(&home, [&session, &middle][at]);
                assert_eq!(shown(&home.reopened(&last)), before, "{} {order:?}", home.name);
            }
        }
    }
    for home in homes() {
        let parent = home.saying(&["1"]);
        let spawned = NewSession { cwd: "/proj".into(), parent: Some(parent.id().clone()), ..NewSession::default() };
        let mut child = home.engine.create(spawned).unwrap();
        home.engine.say(&mut child, Say::user("child")).unwrap();
        let forks = [home.fork(&parent, saying(&parent, "1")), home.fork(&child, saying(&child, "child"))];
        let before: Vec<String> = forks.iter().map(|fork| shown(&home.reopened(fork))).collect();
        let deleted = home.engine.delete(&parent, Children::Cascade, false).unwrap();
        assert_eq!(deleted.kept.len(), 2, "{}", home.name);
        let after: Vec<String> = forks.iter().map(|fork| shown(&home.reopened(fork))).collect();
        assert_eq!(after, before);
    }
}

#[test]
fn an_origin_that_is_still_there_wins_over_its_base() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    let fork = home.fork(&session, saying(&session, "1"));
    let before = shown(&home.reopened(&fork));
    // A deletion that came no further than the base, with what was true then.
    home.store.put_base(session.id(), b"{\"type\":\"session\",\"version\":3,\"id\":\"stale\"}\n").unwrap();
    assert_eq!(shown(&home.reopened(&fork)), before);
    home.engine.say(&mut session, Say::user("2")).unwrap();
    delete(&home, &session);
    assert_eq!(shown(&home.reopened(&fork)), before, "the base was made anew");
    delete(&home, &fork);
    assert_eq!(home.store.bases().unwrap(), []);
}

#[test]
fn damage_that_would_show_is_kept_or_nothing_goes() {
    let home = jsonl();
    let session = home.saying(&["1", "2", "3"]);
    let file = session.location().path.clone().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // The first entry again under its own id, on a branch that is dropped, and once more on the path.
    let id = session.entry_id(saying(&session, "1"));
    let again = lines[1].replace("\"1\"", "\"secret\"");
    let tail = format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"{}\",\"timestamp\":\"\",\"message\":{{\"role\":\"user\",\"content\":\"twice\"}}}}",
        session.leaf().unwrap()
    );
    std::fs::write(&file, format!("{text}{again}\nnot json\n{tail}\n")).unwrap();
    let session = home.reopened(&session);
    let fork = home.fork(&session, session.log().leaf().unwrap());
    assert!(fork.log().id(session.log().leaf().unwrap()).ends_with("~3"));
    let before = shown(&home.reopened(&fork));
    delete(&home, &session);
    assert_eq!(shown(&home.reopened(&fork)), before);
    let base = std::fs::read_to_string(home.store.bases().unwrap()[0].path.clone().unwrap()).unwrap();
    assert!(!base.contains("secret") && !base.contains("not json"), "{base}");
}

/// A log whose header was damaged by a byte, and what it was.
fn damage_header(session: &Session) -> (std::path::PathBuf, Vec<u8>) {
    let file = session.location().path.clone().unwrap();
    let sound = std::fs::read(&file).unwrap();
    let mut damaged = sound.clone();
    damaged[0] = b'X';
    std::fs::write(&file, damaged).unwrap();
    (file, sound)
}

#[test]
fn a_fork_whose_header_is_damaged_keeps_its_origin() {
    let home = jsonl();
    let origin = home.saying(&["shared"]);
    let fork = home.fork(&origin, saying(&origin, "shared"));
    let (file, sound) = damage_header(&fork);
    for dry_run in [true, false] {
        let refused = home.engine.delete(&origin, Children::Orphan, dry_run).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    }
    std::fs::write(&file, &sound).unwrap();
    assert_eq!(path(&home.reopened(&fork)), ["shared"]);
    delete(&home, &origin);
    assert_eq!(path(&home.reopened(&fork)), ["shared"]);
}

#[test]
fn a_base_outlives_damage_to_the_header_of_its_fork() {
    let home = jsonl();
    let (origin, other) = (home.saying(&["shared"]), home.saying(&["unrelated"]));
    let fork = home.fork(&origin, saying(&origin, "shared"));
    delete(&home, &origin);
    let (file, sound) = damage_header(&fork);
    delete(&home, &other);
    std::fs::write(&file, &sound).unwrap();
    assert_eq!(path(&home.reopened(&fork)), ["shared"], "deleting another session took the base away");
}

#[test]
fn no_fork_is_made_while_something_is_deleted() {
    for home in homes() {
        let session = home.saying(&["1"]);
        let one = saying(&session, "1");
        let held = home.store.hold_forks(Hold::Exclusive).unwrap();
        std::thread::scope(|scope| {
            let engine = home.engine.clone();
            let location = session.location().clone();
            let forking = scope.spawn(move || engine.fork(&session, one, &ForkOptions::default()).map(drop));
            home.store.delete(&location, false).unwrap();
            drop(held);
            let refused = forking.join().unwrap().unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::NotFound, "{}: the origin went first", home.name);
        });
        let shared = [Hold::Shared, Hold::Shared].map(|hold| home.store.hold_forks(hold).unwrap());
        drop(shared);
        drop(home.store.hold_forks(Hold::Exclusive).unwrap());
    }
}

#[test]
fn ids_of_bases_are_no_paths() {
    let home = jsonl();
    let root = home.directory.path().join("home");
    for id in ["../../etc/passwd", "a/b", "..", "", "x\0y", &"long".repeat(100)] {
        let at = home.store.put_base(&id.into(), b"{}\n").unwrap();
        assert_eq!((at.residence, at.path.as_ref().unwrap().parent()), (Residence::Base, Some(&*root.join("bases"))));
        assert_eq!(home.store.find_base(&id.into()).unwrap(), Some(at));
    }
    assert_eq!(home.store.bases().unwrap().len(), 6);
}

/// What a random test does to an origin between forks.
#[derive(Clone, Debug)]
enum Step {
    Say(usize),
    Branch(usize),
    Label(usize, bool),
    Replace(usize),
    Fork(usize),
    ForkFork(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => any::<usize>().prop_map(Step::Say),
        2 => any::<usize>().prop_map(Step::Branch),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(at, on)| Step::Label(at, on)),
        1 => any::<usize>().prop_map(Step::Replace),
        2 => any::<usize>().prop_map(Step::Fork),
        1 => any::<usize>().prop_map(Step::ForkFork),
    ]
}

/// Any visible entry of a session.
fn any_entry(session: &Session, at: usize) -> Option<Seq> {
    let visible: Vec<Seq> = session.log().visible().collect();
    visible.get(at % visible.len().max(1)).copied()
}

fn take(home: &Home, origin: &mut Session, forks: &mut Vec<Session>, step: &Step, number: usize) {
    let entry = |session: &Session, at: usize| any_entry(session, at);
    match step {
        Step::Say(at) => {
            let target = if at % 3 == 0 { forks.last_mut() } else { None };
            home.engine.say(target.unwrap_or(origin), Say::user(format!("said {number}"))).unwrap();
        }
        Step::Branch(at) => {
            let Some(seq) = entry(origin, *at) else { return };
            home.engine.branch(origin, seq).unwrap();
        }
        Step::Label(at, on) => {
            let Some(seq) = entry(origin, *at) else { return };
            home.engine.label(origin, seq, on.then_some(&*format!("label {number}"))).unwrap();
        }
        Step::Replace(at) => {
            let Some(seq) = entry(origin, *at) else { return };
            // Not every entry can be replaced; that is not what is tested here.
            let _ = home.engine.replace_segment(origin, seq, seq, "short");
        }
        Step::Fork(at) => forks.extend(entry(origin, *at).map(|seq| home.fork(origin, seq))),
        Step::ForkFork(at) => {
            let Some(fork) = forks.get(at % forks.len().max(1)) else { return };
            let again = entry(fork, at / 7).map(|seq| home.fork(fork, seq));
            forks.extend(again);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn forks_never_notice(seed in 0_u64..1000, steps in prop::collection::vec(step(), 1..25), order in any::<u64>()) {
        for home in homes() {
            let mut origin = home.session();
            for line in trees::tree(seed).split(|byte| *byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
                let draft = Draft::parse(line).unwrap();
                // Labels and compactions of nothing are refused.
                let _ = home.engine.append(&mut origin, &[draft], &ramus_engine::Cursor::Leaf);
            }
            let mut forks = Vec::new();
            for (number, step) in steps.iter().enumerate() {
                take(&home, &mut origin, &mut forks, step, number);
            }
            let before: Vec<String> = forks.iter().map(|fork| shown(&home.reopened(fork))).collect();
            let exports: Vec<String> = forks.iter().map(|fork| exported(&home, fork)).collect();
            delete(&home, &origin);
            for ((fork, before), export) in forks.iter().zip(&before).zip(&exports) {
                let again = home.reopened(fork);
                prop_assert_eq!(&shown(&again), before);
                prop_assert_eq!(&exported(&home, &again), export);
            }
            // Then the forks, one after the other: whoever is left never notices either.
            let mut left: Vec<usize> = (0..forks.len()).collect();
            let mut order = order;
            while !left.is_empty() {
                let gone = left.remove(order as usize % left.len());
                order = order.rotate_right(5);
                delete(&home, &forks[gone]);
                for at in &left {
                    prop_assert_eq!(&shown(&home.reopened(&forks[*at])), &before[*at]);
                }
            }
            prop_assert_eq!(home.store.bases().unwrap(), []);
        }
    }
}

#[test]
fn gaps_count_only_in_bases() {
    let gap = r#"{"type":"custom","id":"g","parentId":null,"timestamp":"","customType":"ramus.gap","data":{"records":4000000000}}"#;
    let file = format!("{}\n{gap}\n", r#"{"type":"session","version":3,"id":"s","timestamp":"","cwd":"/"}"#);
    let home = jsonl();
    let path = home.directory.path().join("hostile.jsonl");
    std::fs::write(&path, file).unwrap();
    let session = home.engine.open(path.to_str().unwrap(), "/").unwrap();
    assert_eq!((session.log().len(), session.log().leaf()), (1, None));
    assert!(
        session.log().record(session.log().seqs().next().unwrap()).is_some_and(|record| !Record::is_visible(record))
    );
}
