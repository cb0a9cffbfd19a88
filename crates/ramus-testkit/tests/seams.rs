//! Where two processes and a failing disk meet: what each of them does right must not add up to a wrong.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test may fail loudly")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ramus_engine::{Cursor, Engine, NewSession, Say, Session};
use ramus_model::{Draft, FindingKind, Record};
use ramus_store::fs::FileSystem as _;
use ramus_store::{JsonlStore, Layout};
use ramus_testkit::sim::{Fault, OperationKind, Short, SimFs};
use rustix::io::Errno;

/// An engine as another process would have one, on the same disk.
fn process(fs: &SimFs) -> Engine {
    Engine::new(Arc::new(JsonlStore::with_fs("/home/ada/ramus", Layout::Pi, Arc::new(fs.clone()))), "test")
}

fn start(engine: &Engine, texts: &[&str]) -> Session {
    let mut session = engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap();
    for text in texts {
        engine.say(&mut session, Say::user(*text)).unwrap();
    }
    session
}

/// Appends a message that the disk does not confirm.
fn refuse(fs: &SimFs, engine: &Engine, session: &mut Session) {
    fs.arm(Fault::once(OperationKind::Sync, 1, Errno::IO));
    engine.say(session, Say::user("refused")).unwrap_err();
    fs.clear_faults();
}

fn reopened(fs: &SimFs, session: &Session) -> Session {
    process(fs).open(session.id().as_str(), "/proj").unwrap()
}

/// The texts along the path to the leaf.
fn path(session: &Session) -> Vec<String> {
    let log = session.log();
    let visible = log.path(log.leaf()).into_iter().filter(|seq| log.record(*seq).is_some_and(Record::is_visible));
    visible.filter_map(|seq| Some(session.message(seq).unwrap()?.text())).collect()
}

fn logs(fs: &SimFs) -> Vec<PathBuf> {
    let is_log = |path: &Path| path.extension().is_some_and(|extension| extension == "jsonl");
    fs.files().into_iter().map(|(path, _)| path).filter(|path| is_log(path)).collect()
}

#[test]
fn a_rescue_follows_a_session_that_was_published_meanwhile() {
    let fs = SimFs::default();
    let (one, two) = (process(&fs), process(&fs));
    let mut first = start(&one, &["question"]);
    refuse(&fs, &one, &mut first);
    let mut second = reopened(&fs, &first);
    two.say(&mut second, Say::assistant("answer")).unwrap();
    one.recover(&mut first).unwrap();
    assert_eq!(logs(&fs).len(), 1, "{:?}", logs(&fs));
    one.say(&mut first, Say::user("thanks")).unwrap();
    two.say(&mut second, Say::user("and mine")).unwrap();
    let seen = path(&reopened(&fs, &first));
    assert!(seen.ends_with(&["answer".to_owned(), "thanks".to_owned(), "and mine".to_owned()]), "{seen:?}");
}

#[test]
fn nobody_builds_on_what_the_disk_did_not_confirm() {
    let fs = SimFs::default();
    let one = process(&fs);
    let mut first = start(&one, &["question"]);
    refuse(&fs, &one, &mut first);
    // The process that was refused ends without recovering; the next one knows nothing of it.
    let mut second = reopened(&fs, &first);
    drop(first);
    process(&fs).say(&mut second, Say::user("next")).unwrap();
    assert_eq!(path(&second), ["question", "next"]);
}

#[test]
fn a_batch_that_could_not_be_taken_back_is_not_rescued() {
    let fs = SimFs::default();
    let engine = process(&fs);
    let mut session = start(&engine, &["before"]);
    let message = |text: &str| {
        Draft::parse(format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#).as_bytes())
    };
    let batch = [message("one").unwrap(), message("two").unwrap()];
    fs.arm(Fault { short: Short::AllButOne, ..Fault::once(OperationKind::Write, 1, Errno::NOSPC) });
    fs.arm(Fault::once(OperationKind::Truncate, 1, Errno::IO));
    engine.append(&mut session, &batch, &Cursor::Leaf).unwrap_err();
    fs.clear_faults();
    engine.recover(&mut session).unwrap();
    assert_eq!(path(&session), ["before"]);
}

#[test]
fn a_sidecar_never_speaks_of_a_file_that_was_replaced() {
    for closes_before in [true, false] {
        let fs = SimFs::default();
        let one = process(&fs);
        let mut first = start(&one, &["question"; 300]);
        let index = Path::new("/home/ada/ramus/index");
        for entry in fs.list(index).unwrap_or_default() {
            fs.remove(&index.join(entry.name)).unwrap();
        }
        // Nor can it be taken back, so that whoever reads the file now sees it.
        fs.arm(Fault::once(OperationKind::Truncate, 1, Errno::IO));
        refuse(&fs, &one, &mut first);
        // Whoever looked at a long log leaves a sidecar when it closes.
        let looking = reopened(&fs, &first);
        if closes_before {
            drop(looking);
            one.recover(&mut first).unwrap();
        } else {
            one.recover(&mut first).unwrap();
            drop(looking);
        }
        let report = process(&fs).doctor(first.id().as_str(), "/proj").unwrap();
        let is_false = report.findings.iter().any(|finding| finding.kind == FindingKind::ChangedOutside);
        assert!(!is_false, "closes before the rescue: {closes_before}");
    }
}
