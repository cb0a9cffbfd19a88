//! Journals that a killed process left: what came of an answer is kept, once, wherever the session went since; a journal
//! that is damaged or belongs to something else harms nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramus_agent::{Event, Input};
use ramus_engine::run::{NotTaken, Run, TurnResult, WhenBusy, inbox, watching};
use ramus_engine::{ActionKind, Cursor, Engine, NewSession, Say, Session};
use ramus_model::usage::ModelName;
use ramus_model::{Body, Draft};
use ramus_provider::{Resolved, Scripted};
use ramus_store::{JsonlStore, Layout, LogStore as _};
use tempfile::TempDir;

fn engine(home: &Path) -> Engine {
    Engine::new(Arc::new(JsonlStore::new(home, Layout::Pi)), "test")
}

fn run(script: &str) -> Run {
    let model = ModelName { provider: "scripted".into(), model: "test".into() };
    Run::new(Resolved { provider: Arc::new(Scripted::new(script, "test").unwrap()), model })
}

fn turn(engine: &Engine, session: &mut Session, run: Run, watcher: &mut dyn FnMut(&Event)) -> TurnResult {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    engine.run(session, run, runtime.handle(), inbox(), watcher).unwrap()
}

const SHORT: &str = "answers = [{ steps = [{ text = \"Well.\" }] }]";

/// A home as a process leaves it that is killed in the middle of a turn.
struct Killed {
    folder: TempDir,
    session: String,
}

impl Killed {
    /// Lets a turn run until the journal holds `mark`, and copies the home as it is then.
    fn after(script: &str, mark: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (home, left) = (folder.path().join("home"), folder.path().join("left"));
        let first = engine(&home);
        let mut session = first.create(NewSession { cwd: "/p".into(), ..NewSession::default() }).unwrap();
        first.say(&mut session, Say::assistant("Hello.")).unwrap();
        let id = session.id().to_string();
        let journal = home.join("journals").join(&id);
        let (inbox, letters) = inbox();
        let stop = inbox.clone();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let end = Instant::now() + Duration::from_secs(30);
                while !fs::read_to_string(&journal).is_ok_and(|text| text.contains(mark)) {
                    assert!(Instant::now() < end, "the journal never holds {mark:?}");
                    std::thread::yield_now();
                }
                copy(&home, &left);
                stop.send(Input::Cancel);
            });
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let run = run(script).with_prompt("do it");
            first.run(&mut session, run, runtime.handle(), (inbox, letters), &mut |_| ()).unwrap();
        });
        assert!(!journal.exists(), "a turn that is over leaves a journal");
        Self { folder, session: id }
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("left")
    }

    fn journal(&self) -> PathBuf {
        self.home().join("journals").join(&self.session)
    }

    fn open(&self) -> (Engine, Session) {
        let engine = engine(&self.home());
        let session = engine.open(&self.session, "/p").unwrap();
        (engine, session)
    }

    /// The roles and texts on the path.
    fn path(&self) -> Vec<String> {
        let (_, session) = self.open();
        let path = session.log().path(session.log().leaf());
        let said = path.iter().filter_map(|seq| session.message(*seq).unwrap());
        said.map(|message| format!("{}: {}", message.role_name, message.text())).collect()
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

const HALF: &str =
    "answers = [{ steps = [{ thinking = \"hm\" }, { text = [\"Half \", \"of it\"] }, { hang = true }] }]";

#[test]
fn what_a_killed_turn_said_is_kept_once_and_told() {
    let killed = Killed::after(HALF, "of it");
    let (engine, mut session) = killed.open();
    let mut told = Vec::new();
    turn(&engine, &mut session, run(SHORT).with_prompt("go on"), &mut |event| told.push(event.clone()));
    let Some(Event::TurnInterrupted { turn: Some(_), answer: Some(answer), calls }) = told.first() else {
        panic!("{told:?}");
    };
    assert!(calls.is_empty());
    let line = String::from_utf8(session.line(session.resolve(answer.as_str()).unwrap()).unwrap()).unwrap();
    assert!(line.contains(r#""stopReason":"aborted""#) && line.contains("Interrupted"), "{line}");
    assert!(line.contains(r#""thinking":"hm""#), "{line}");
    let path = ["assistant: Hello.", "user: do it", "assistant: Half of it", "user: go on", "assistant: Well."]
        .map(str::to_owned);
    assert_eq!(killed.path(), path);
    assert!(!killed.journal().exists());
    // Nothing is left to keep.
    told.clear();
    turn(&engine, &mut session, run(SHORT).with_prompt("once more"), &mut |event| told.push(event.clone()));
    assert!(matches!(told.first(), Some(Event::TurnStart { .. })), "{told:?}");
}

#[test]
fn a_journal_whose_answer_is_stored_is_not_kept_again() {
    let killed = Killed::after(HALF, "of it");
    let journal = fs::read(killed.journal()).unwrap();
    let (engine, mut session) = killed.open();
    engine.say(&mut session, Say::user("go on")).unwrap();
    assert!(session.recovery().actions.iter().any(|action| action.kind == ActionKind::AnswerKept));
    // The process ended before it could remove the journal.
    fs::write(killed.journal(), journal).unwrap();
    let (engine, mut session) = killed.open();
    engine.say(&mut session, Say::user("again")).unwrap();
    let path = ["assistant: Hello.", "user: do it", "assistant: Half of it", "user: go on", "user: again"];
    assert_eq!(killed.path(), path.map(str::to_owned));
    assert!(!killed.journal().exists());
}

#[test]
fn an_answer_that_was_complete_is_kept_whole_and_its_calls_are_closed() {
    let script = "answers = [{ steps = [{ text = \"Look.\" }, { call = { name = \"read\", arguments = { path = \"a\" } } }, \
                  { finish = \"calls\" }, { hang = true }] }]";
    // A script cannot go on after its end, so the end is written here as the process would have.
    let killed = Killed::after(&script.replace("{ finish = \"calls\" }, ", ""), "\\\"a\\\"");
    let mut journal = fs::read_to_string(killed.journal()).unwrap();
    let line = r#"{"piece":{"finished":"calls"}}"#;
    journal.push_str(&format!("{:08x} {line}\n", crc32fast::hash(line.as_bytes())));
    fs::write(killed.journal(), journal).unwrap();
    let (engine, mut session) = killed.open();
    let mut told = Vec::new();
    turn(&engine, &mut session, run(SHORT).with_prompt("go on"), &mut |event| told.push(event.clone()));
    let path = killed.path();
    assert_eq!(path[2], "assistant: Look.");
    assert!(path[3].starts_with("toolResult: [Not executed"), "{path:?}");
    let stored = fs::read_to_string(session.location().path.as_ref().unwrap()).unwrap();
    assert!(stored.contains(r#""stopReason":"toolUse""#), "{stored}");
}

#[test]
fn an_answer_is_kept_where_it_was_said_although_the_leaf_is_elsewhere() {
    let killed = Killed::after(HALF, "of it");
    let journal = fs::read(killed.journal()).unwrap();
    fs::remove_file(killed.journal()).unwrap();
    let (engine, mut session) = killed.open();
    let first = session.resolve("#1").unwrap();
    engine.branch(&mut session, first).unwrap();
    engine.say(&mut session, Say::user("otherwise")).unwrap();
    fs::write(killed.journal(), journal).unwrap();
    let (engine, mut session) = killed.open();
    turn(&engine, &mut session, run(SHORT), &mut |_| ());
    let path = ["assistant: Hello.", "user: otherwise", "assistant: Well."];
    assert_eq!(killed.path(), path.map(str::to_owned));
    let kept =
        session.log().seqs().find(|seq| session.message(*seq).unwrap().is_some_and(|m| m.text() == "Half of it"));
    let parent = session.log().record(kept.unwrap()).unwrap().parent().unwrap();
    assert_eq!(session.message(parent).unwrap().unwrap().text(), "do it");
}

#[test]
fn a_journal_that_is_cut_anywhere_or_damaged_anywhere_harms_nothing() {
    let killed = Killed::after(HALF, "of it");
    let journal = fs::read(killed.journal()).unwrap();
    let log = killed.open().1.location().path.clone().unwrap();
    let before = fs::read(&log).unwrap();
    let cuts = (0..=journal.len()).step_by(3).map(|at| journal[..at].to_vec());
    let flips = (0..journal.len()).step_by(7).map(|at| {
        let mut bytes = journal.clone();
        bytes[at] ^= 0x20;
        bytes
    });
    let mut kept = 0;
    for bytes in cuts.chain(flips) {
        let at = String::from_utf8_lossy(&bytes).into_owned();
        fs::write(killed.journal(), &bytes).unwrap();
        let (engine, mut session) = killed.open();
        engine.say(&mut session, Say::user("next")).unwrap();
        let path = killed.path();
        assert!(matches!(path.last().map(String::as_str), Some("user: next")), "{at}: {path:?}");
        assert!(path.len() == 3 || "assistant: Half of it".starts_with(path[2].as_str()), "{at}: {path:?}");
        kept += path.len() - 3;
        assert!(!killed.journal().exists(), "{at}");
        fs::write(&log, &before).unwrap();
    }
    assert!(kept > 0, "nothing was ever kept");
}

#[test]
fn a_journal_of_something_else_is_set_aside() {
    let killed = Killed::after(HALF, "of it");
    let (first, mut session) = killed.open();
    let other = first.create(NewSession { cwd: "/p".into(), ..NewSession::default() }).unwrap();
    fs::rename(killed.journal(), killed.home().join("journals").join(other.id().as_str())).unwrap();
    let mut other = first.open(other.id().as_str(), "/p").unwrap();
    first.say(&mut other, Say::user("mine")).unwrap();
    assert_eq!(other.log().len(), 1);
    let kinds: Vec<ActionKind> = other.recovery().actions.iter().map(|action| action.kind).collect();
    assert_eq!(kinds, [ActionKind::JournalSetAside]);
    let aside = other.recovery().actions[0].kept[0].clone();
    assert!(fs::read_to_string(aside).unwrap().contains("of it"));
    // One that names an entry which is not there.
    let line = |text: &str| format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
    let head = format!(
        r#"{{"turn":{{"session":"{}","turn":"t","model":{{"provider":"p","model":"m"}},"api":"a","price":null}}}}"#,
        killed.session
    );
    let journal = [
        line(&head),
        line(r#"{"answer":{"entry":"abcd0001","parent":"nowhere"}}"#),
        line(r#"{"piece":{"text":"lost"}}"#),
    ];
    fs::write(killed.journal(), journal.concat()).unwrap();
    first.say(&mut session, Say::user("next")).unwrap();
    assert_eq!(killed.path().last().unwrap(), "user: next");
    assert!(session.recovery().actions.iter().any(|action| action.kind == ActionKind::JournalSetAside));
}

#[test]
fn a_journal_goes_with_its_session() {
    let killed = Killed::after(HALF, "of it");
    let (_, session) = killed.open();
    let store = JsonlStore::new(killed.home(), Layout::Pi);
    let would_go = store.delete(session.location(), true).unwrap();
    assert!(would_go.files.contains(&killed.journal()), "{would_go:?}");
    assert!(killed.journal().exists());
    store.delete(session.location(), false).unwrap();
    assert!(!killed.journal().exists());
}

#[test]
fn a_session_that_runs_keeps_its_journal_from_others() {
    let killed = Killed::after(HALF, "of it");
    let (engine, session) = killed.open();
    let lease = engine.lease(&session).unwrap();
    let (other, mut beside) = killed.open();
    let body = Body::new("custom", [("customType", "test".into()), ("data", 1.into())]);
    other.append(&mut beside, &[Draft::new(body)], &Cursor::Leaf).unwrap();
    assert!(killed.journal().exists(), "someone else's journal was taken");
    drop(lease);
}

#[test]
fn what_is_said_meanwhile_is_taken_or_handed_back() {
    let engine = Engine::in_memory();
    let mut session = engine.create(NewSession { cwd: "/p".into(), ..NewSession::default() }).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (inbox, letters) = inbox();
    let script = "answers = [{ steps = [{ text = \"One.\" }, { delay_ms = 5 }] }, { steps = [{ text = \"Two.\" }] }]";
    let talk = inbox.clone();
    let mut watcher = watching(inbox.clone(), |event: &Event| match event {
        Event::MessageDelta(piece) if piece.text == "One." => {
            assert_eq!(talk.say("no", WhenBusy::Reject), Err(NotTaken::Busy("no".into())));
            talk.say("and?", WhenBusy::FollowUp).unwrap();
        }
        Event::MessageEnd { .. } if talk.say("too late", WhenBusy::FollowUp).is_ok() => {}
        _ => {}
    });
    let run = run(script).with_prompt("count");
    let result = engine.run(&mut session, run, runtime.handle(), (inbox, letters), &mut watcher);
    // The second "too late" made it ask a third time, which the script has no answer for.
    let result = result.unwrap();
    let said: Vec<String> =
        session.log().seqs().filter_map(|seq| session.message(seq).unwrap()).map(|m| m.text()).collect();
    assert_eq!(said[..4], ["count", "One.", "and?", "Two."].map(str::to_owned));
    let heard = said.iter().filter(|text| *text == "too late").count();
    assert_eq!(heard + result.unheard.len(), 2, "{said:?} {:?}", result.unheard);
    assert_eq!(talk.say("hello?", WhenBusy::default()), Err(NotTaken::Over("hello?".into())));
}
