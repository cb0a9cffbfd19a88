//! Events: everything durable in its order, from any position, whoever wrote it; and who listens slows nobody down.

use std::time::{Duration, Instant};

use ramus_engine::events::{Stream, Told};
use ramus_engine::{Children, Engine, NewSession, Say, Session, TodoChange};
use ramus_model::todo::Task;
use ramus_model::{Seq, SessionId};

use crate::homes::{Home, homes, jsonl};
use crate::travel_world::World;

/// How long anything is waited for.
const PATIENCE: Duration = Duration::from_secs(30);

fn told(stream: &mut Stream) -> Vec<Told> {
    let mut all = Vec::new();
    while let Some(told) = stream.poll().unwrap() {
        all.push(told);
    }
    all
}

fn names(all: &[Told]) -> Vec<(&'static str, u32)> {
    all.iter().map(|told| (told.name(), told.seq.map_or(0, Seq::number))).collect()
}

/// Waits until an event of this name comes, and returns everything up to it.
fn until(stream: &mut Stream, name: &str) -> Vec<Told> {
    let (since, mut all) = (Instant::now(), Vec::new());
    while all.last().is_none_or(|told: &Told| told.name() != name) {
        assert!(since.elapsed() < PATIENCE, "{name} did not come: {:?}", names(&all));
        all.extend(stream.next(Duration::from_millis(500)).unwrap());
    }
    all
}

/// Another process: an engine of its own over the same files.
fn elsewhere(home: &Home) -> Engine {
    let store = ramus_store::JsonlStore::new(home.directory.path().join("home"), ramus_store::Layout::Pi);
    Engine::new(std::sync::Arc::new(store), "elsewhere")
}

fn reopened(engine: &Engine, session: &Session) -> Session {
    engine.open(session.id().as_str(), "/proj").unwrap()
}

#[test]
fn i1_everything_durable_is_told_in_order_and_again_from_any_position() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        home.engine.say(&mut session, Say::assistant("2")).unwrap();
        home.engine.rename(&mut session, "Named").unwrap();
        home.engine.archive(&mut session).unwrap();
        let task = Task { text: "do".into(), ..Task::default() };
        home.engine.change_todos(&mut session, &TodoChange::Add(task)).unwrap();
        home.engine.clear(&mut session, false).unwrap();
        let expected = [
            ("entry.appended", 1),
            ("entry.appended", 2),
            ("message.end", 2),
            ("entry.appended", 3),
            ("title.changed", 3),
            ("session.updated", 3),
            ("entry.appended", 4),
            ("session.updated", 4),
            ("entry.appended", 5),
            ("todo.updated", 5),
            ("entry.appended", 6),
            ("compaction.end", 6),
        ];
        let mut stream = home.engine.events(home.reopened(&session), None).unwrap();
        let all = told(&mut stream);
        assert_eq!(names(&all), expected, "{}", home.name);
        assert_eq!(all[5].to_json()["info"]["title"], "Named");
        let mut late = home.engine.events(home.reopened(&session), Seq::new(4)).unwrap();
        assert_eq!(names(&told(&mut late)), expected[8..]);
        home.engine.say(&mut session, Say::user("more")).unwrap();
        assert_eq!(names(&told(&mut stream)), [("entry.appended", 7)]);
        assert_eq!(names(&told(&mut late)), [("entry.appended", 7)]);
    }
}

#[test]
fn i3_what_other_processes_do_is_told_of_one_session_and_of_all() {
    let home = jsonl();
    let mut session = home.saying(&["1"]);
    let (mut one, mut all) =
        (home.engine.events(home.reopened(&session), Seq::new(1)).unwrap(), home.engine.all_events().unwrap());
    let other = elsewhere(&home);
    let mut there = reopened(&other, &session);
    other.say(&mut there, Say::user("from elsewhere")).unwrap();
    assert_eq!(names(&until(&mut one, "entry.appended")), [("entry.appended", 2)]);
    let heard = until(&mut all, "entry.appended");
    assert_eq!((names(&heard), &heard[0].session), (vec![("entry.appended", 2)], session.id()));
    let mut new = other.create(ramus_engine::NewSession { cwd: "/proj".into(), ..Default::default() }).unwrap();
    let made = until(&mut all, "session.created");
    assert_eq!(made.last().unwrap().session, *new.id());
    // Publishing moves the file, and is no news by itself.
    other.say(&mut new, Say::user("1")).unwrap();
    other.say(&mut new, Say::assistant("2")).unwrap();
    let heard = until(&mut all, "message.end");
    assert!(
        heard.iter().all(|told| told.session == *new.id() && told.name() != "session.deleted"),
        "{:?}",
        names(&heard)
    );
    other.delete(&new, Children::Orphan, false).unwrap();
    let deleted = until(&mut all, "session.deleted").pop().unwrap();
    assert_eq!(deleted.session, *new.id());
    assert_eq!(deleted.to_json()["info"]["id"], new.id().as_str());
    home.engine.delete(&reopened(&home.engine, &session), Children::Orphan, false).unwrap();
    until(&mut one, "session.deleted");
    session = home.saying(&["again"]);
    until(&mut all, "session.created");
    drop(session);
}

#[test]
fn i1_a_turn_is_told_as_it_happens_and_what_is_stored_in_its_place() {
    let mut world = World::new();
    let session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let mut stream = world.engine.events(session, None).unwrap();
    world.turn("one", &[&[("a", Some("one\n"))]]);
    let all = told(&mut stream);
    let seqs: Vec<u32> = all.iter().filter_map(|told| told.seq).map(Seq::number).collect();
    assert!(seqs.is_sorted(), "{:?}", names(&all));
    let place = |name: &str| all.iter().position(|told| told.name() == name).unwrap_or_else(|| panic!("{name}"));
    assert!(place("turn.start") < place("message.delta") && place("message.delta") < place("turn.end"));
    assert!(place("tool.start") < place("tool.end") && place("session.diff") < place("turn.end"));
    let again = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let replayed = told(&mut world.engine.events(again, None).unwrap());
    let durable: Vec<_> = all.iter().filter(|told| told.seq.is_some()).cloned().collect();
    assert_eq!(names(&replayed), names(&durable), "what is durable can be had again");
}

#[test]
fn i1_a_call_starts_before_it_ends_for_whoever_reads_later_than_it_happens() {
    let mut world = World::new();
    let session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let mut streams = [world.engine.events(session, None).unwrap(), world.engine.all_events().unwrap()];
    for name in ["one", "two", "three"] {
        world.turn(name, &[&[(name, Some("1\n"))], &[(name, Some("2\n"))]]);
    }
    for stream in &mut streams {
        let all = told(stream);
        let calls: Vec<_> = all.iter().map(Told::name).filter(|name| name.starts_with("tool.")).collect();
        assert_eq!(calls, ["tool.start", "tool.end"].repeat(6), "{:?}", names(&all));
        let answers: Vec<_> = all.iter().map(Told::name).filter(|name| name.starts_with("message.")).collect();
        let answers: Vec<_> = answers.into_iter().filter(|name| *name != "message.delta").collect();
        assert_eq!(answers, ["message.start", "message.end"].repeat(answers.len() / 2), "{:?}", names(&all));
    }
}

#[test]
fn i3_a_thousand_who_never_listen_slow_nobody_down() {
    let home = jsonl();
    let engine = home.engine.clone().with_durability(ramus_engine::Durability::Os);
    let mut session = home.saying(&["1"]);
    let idle: Vec<Stream> = (0..1_000).map(|_| engine.events(home.reopened(&session), Seq::new(1)).unwrap()).collect();
    let mut reads = engine.events(home.reopened(&session), Seq::new(1)).unwrap();
    for n in 0..200 {
        engine.say(&mut session, Say::user(n.to_string())).unwrap();
    }
    assert_eq!(told(&mut reads).len(), 200);
    let mut late = idle.into_iter().next().unwrap();
    let heard = told(&mut late);
    assert_eq!((heard.len(), heard.last().unwrap().seq), (200, Seq::new(201)), "who comes late reads it all");
}

#[test]
fn a_stream_that_could_not_read_the_log_goes_on_where_it_was() {
    let home = jsonl();
    let mut session = home.saying(&["one"]);
    let mut stream = home.engine.events(home.reopened(&session), session.log().leaf()).unwrap();
    home.engine.say(&mut session, Say::user("two")).unwrap();
    // Something that is no log stands in its place for a moment.
    let log = session.location().path.clone().unwrap();
    let aside = log.with_extension("aside");
    std::fs::rename(&log, &aside).unwrap();
    std::fs::create_dir(&log).unwrap();
    for _ in 0..3 {
        assert!(stream.poll().is_err());
    }
    std::fs::remove_dir(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    assert_eq!(names(&told(&mut stream)), [("entry.appended", session.log().leaf().unwrap().number())]);
}

#[test]
fn k4_a_log_that_was_reset_and_is_as_long_again_is_told_as_another_one() {
    for home in homes() {
        let mut session = home.saying(&["1", "2", "3"]);
        let mut stream = home.engine.events(home.reopened(&session), Seq::new(3)).unwrap();
        assert_eq!(told(&mut stream), []);
        home.engine.reset(&mut session, false).unwrap();
        for text in ["4", "5", "6"] {
            home.engine.say(&mut session, Say::user(text)).unwrap();
        }
        let entries = u32::try_from(session.log().len()).unwrap();
        assert!(entries >= 3);
        assert_eq!(names(&told(&mut stream)), [("session.updated", 0), ("reset", 0)], "{}", home.name);
        home.engine.say(&mut session, Say::user("7")).unwrap();
        assert_eq!(names(&told(&mut stream)), [("entry.appended", entries + 1)]);
    }
}

#[test]
fn k4_a_session_that_was_deleted_and_made_again_is_told_as_another_one() {
    for home in homes() {
        let id = SessionId::from("chosen");
        let new = || NewSession { cwd: "/proj".into(), ..NewSession::default() };
        let make = |texts: &[&str]| {
            let mut session = home.engine.create_called(&id, new(), serde_json::Map::new()).unwrap();
            for text in texts {
                home.engine.say(&mut session, Say::user(*text)).unwrap();
            }
            session
        };
        let session = make(&["1", "2"]);
        let (epoch, end) = (session.epoch(), session.log().seqs().next_back());
        let mut stream = home.engine.events(home.reopened(&session), end).unwrap();
        home.engine.delete(&session, Children::Orphan, false).unwrap();
        let again = make(&["3", "4", "5"]);
        assert_ne!(again.epoch(), epoch);
        let heard = told(&mut stream);
        assert_eq!(names(&heard), [("session.updated", 0), ("reset", 0)], "{}", home.name);
    }
}

#[test]
fn who_hears_of_all_sessions_misses_nothing_when_one_of_them_cannot_be_read_for_a_while() {
    let home = jsonl();
    let mut broken = home.saying(&["one"]);
    let mut stream = home.engine.all_events().unwrap();
    home.engine.say(&mut broken, Say::user("two")).unwrap();
    assert_eq!(names(&told(&mut stream)), [("entry.appended", 2)]);
    home.engine.say(&mut broken, Say::user("three")).unwrap();
    // Something that cannot be opened stands in its place for a while.
    let log = broken.location().path.clone().unwrap();
    let aside = log.with_extension("aside");
    std::fs::rename(&log, &aside).unwrap();
    let socket = home.directory.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::fs::rename(&socket, &log).unwrap();
    let mut other = home.saying(&["four"]);
    let mut heard = Vec::new();
    for _ in 0..6 {
        heard.extend(stream.poll().into_iter().flatten());
    }
    let heard: Vec<_> = heard.iter().map(|told| (told.name(), &told.session)).collect();
    assert_eq!(heard, [("session.created", other.id()), ("entry.appended", other.id())]);
    std::fs::remove_file(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    home.engine.say(&mut other, Say::user("five")).unwrap();
    let heard = told(&mut stream);
    let mut heard: Vec<_> = heard.iter().map(|told| (told.name(), told.seq.map_or(0, Seq::number))).collect();
    heard.sort_unstable();
    assert_eq!(heard, [("entry.appended", 2), ("entry.appended", 3)]);
}

#[test]
fn a_title_that_was_told_is_told_again_as_it_was() {
    for home in homes() {
        let mut session = home.saying(&["1"]);
        let mut stream = home.engine.events(home.reopened(&session), Seq::new(1)).unwrap();
        home.engine.rename(&mut session, "second").unwrap();
        let mut live = told(&mut stream);
        home.engine.rename(&mut session, "third").unwrap();
        live.extend(told(&mut stream));
        let again = told(&mut home.engine.events(home.reopened(&session), Seq::new(1)).unwrap());
        let titles = |all: &[Told]| -> Vec<_> {
            let titles = all.iter().filter(|told| told.name() == "title.changed");
            titles.map(|told| told.to_json()["title"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(titles(&live), ["second", "third"], "{}", home.name);
        assert_eq!(titles(&again), titles(&live), "{}", home.name);
    }
}

#[test]
fn how_long_a_call_took_is_told_again_as_it_was() {
    let mut world = World::new();
    let session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let mut stream = world.engine.events(session, None).unwrap();
    world.turn("one", &[&[("a", Some("one\n"))]]);
    let ends =
        |all: &[Told]| -> Vec<_> { all.iter().filter(|told| told.name() == "tool.end").map(Told::to_json).collect() };
    let live = ends(&told(&mut stream));
    assert!(live.len() == 1 && live[0]["duration_ms"].is_u64(), "{live:?}");
    let again = world.engine.open(world.session.id().as_str(), "/").unwrap();
    assert_eq!(ends(&told(&mut world.engine.events(again, None).unwrap())), live);
}

#[test]
fn a_turn_is_told_among_all_sessions_in_the_order_that_its_own_stream_has() {
    let mut world = World::new();
    let session = world.engine.open(world.session.id().as_str(), "/").unwrap();
    let end = session.log().seqs().next_back();
    let mut one = world.engine.events(session, end).unwrap();
    let mut all = world.engine.all_events().unwrap();
    for prompt in ["one", "two", "three"] {
        world.turn(prompt, &[&[("a", Some(prompt))]]);
    }
    let (one, all) = (told(&mut one), told(&mut all));
    assert!(one.iter().any(|told| told.name() == "message.start"));
    assert_eq!(names(&all), names(&one));
}

#[test]
fn sessions_that_are_published_while_the_home_is_looked_at_are_neither_gone_nor_told_twice() {
    const SESSIONS: usize = 60;
    let home = jsonl();
    let mut stream = home.engine.all_events().unwrap();
    let there = elsewhere(&home).with_durability(ramus_engine::Durability::Os);
    let writing = std::thread::spawn(move || {
        for _ in 0..SESSIONS {
            let new = NewSession { cwd: "/proj".into(), ..NewSession::default() };
            let mut session = there.create(new).unwrap();
            there.say(&mut session, Say::user("1")).unwrap();
            there.say(&mut session, Say::assistant("2")).unwrap();
        }
    });
    let mut all = Vec::new();
    while !writing.is_finished() {
        all.extend(told(&mut stream));
    }
    writing.join().unwrap();
    all.extend(told(&mut stream));
    all.extend(told(&mut stream));
    let mut heard: Vec<_> =
        all.iter().map(|told| (told.session.clone(), told.name(), told.seq.map_or(0, Seq::number))).collect();
    let total = heard.len();
    heard.sort();
    heard.dedup();
    assert_eq!(heard.len(), total, "nothing twice");
    let count = |name| all.iter().filter(|told| told.name() == name).count();
    let counts = ["session.created", "entry.appended", "message.end", "session.deleted"].map(count);
    assert_eq!(counts, [SESSIONS, 2 * SESSIONS, SESSIONS, 0]);
}

#[test]
fn more_sessions_than_are_kept_open_are_told_once_all_the_same() {
    const SESSIONS: u32 = 80;
    let home = jsonl();
    let engine = home.engine.with_durability(ramus_engine::Durability::Os);
    let new = || NewSession { cwd: "/proj".into(), ..NewSession::default() };
    let mut sessions: Vec<Session> = (0..SESSIONS).map(|_| engine.create(new()).unwrap()).collect();
    let mut stream = engine.all_events().unwrap();
    let mut all = Vec::new();
    for round in 1..=3 {
        for session in &mut sessions {
            engine.say(session, Say::user("1")).unwrap();
            engine.say(session, Say::user("2")).unwrap();
        }
        all.extend(told(&mut stream));
        assert_eq!(all.len() as u32, 2 * round * SESSIONS, "each once");
    }
}

#[test]
fn a_draft_that_was_opened_can_be_read_when_it_was_published_since() {
    let home = jsonl();
    let engine = &home.engine;
    let mut session = engine.create(NewSession { cwd: "/proj".into(), ..NewSession::default() }).unwrap();
    engine.say(&mut session, Say::user("1")).unwrap();
    let opened = engine.open_id(session.id()).unwrap();
    let before = opened.location().path.clone().unwrap();
    engine.say(&mut session, Say::assistant("2")).unwrap();
    assert!(!before.exists(), "it was published");
    assert_eq!(opened.message(Seq::new(1).unwrap()).unwrap().unwrap().text(), "1");
}
