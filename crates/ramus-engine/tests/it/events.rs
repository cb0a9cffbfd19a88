//! Events: everything durable in its order, from any position, whoever wrote it; and who listens slows nobody down.

use std::time::{Duration, Instant};

use ramus_engine::events::{Stream, Told};
use ramus_engine::{Children, Engine, Say, Session, TodoChange};
use ramus_model::Seq;
use ramus_model::todo::Task;

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
    assert_eq!(until(&mut all, "session.deleted").last().unwrap().session, *new.id());
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
