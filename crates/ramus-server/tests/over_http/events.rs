//! What happens is told in order, once, and again from the log to whoever was away.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::http::{Event, Events};
use crate::world::{World, engine, result};

fn watch(world: &World, session: &str, after: Option<u64>) -> Events {
    let request = world.request("GET", &format!("/api/v1/sessions/{session}/events"));
    let request = match after {
        Some(after) => request.header("last-event-id", &after.to_string()),
        None => request,
    };
    request.events(world.address)
}

/// The positions of the entries that are told.
fn positions(events: impl Iterator<Item = Event>, count: usize) -> Vec<u64> {
    let entries = events.filter(|event| event.name == "entry.appended");
    entries.take(count).map(|event| event.data["seq"].as_u64().unwrap()).collect()
}

#[test]
fn entries_are_told_as_they_are_appended() {
    let world = World::start();
    let session = world.session();
    let mut events = watch(&world, &session, None);
    let open = events.next().unwrap();
    assert_eq!((open.name.as_str(), open.id.as_deref()), ("open", Some("1")));
    world.append(&session, &["one", "two"]);
    let first = events.next().unwrap();
    assert_eq!((first.name.as_str(), first.id.as_deref()), ("entry.appended", Some("2")));
    assert_eq!(first.data["session"], session.as_str());
    assert_eq!(first.data["schema_version"], 1);
    assert_eq!(positions(events, 1), [3]);
}

#[test]
fn k4_reconnecting_at_every_position_with_a_restart_in_between_misses_and_repeats_nothing() {
    let mut world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three"]);
    for after in 0..=4_u64 {
        world.restart();
        let events = watch(&world, &session, Some(after));
        world.append(&session, &["more"]);
        let last = 5 + after;
        let expected: Vec<u64> = (after + 1..=last).collect();
        assert_eq!(positions(events, expected.len()), expected, "behind {after}");
    }
}

/// Reads on behind an event until the last one there is.
fn rest(world: &World, session: &str, after: &str, last: &str) -> Vec<(String, String)> {
    let request = world.request("GET", &format!("/api/v1/sessions/{session}/events")).header("last-event-id", after);
    let mut told = Vec::new();
    for event in request.events(world.address) {
        if event.name == "open" {
            if after == last {
                break;
            }
            continue;
        }
        let id = event.id.unwrap();
        let is_last = id == last;
        told.push((id, event.name));
        if is_last {
            break;
        }
    }
    told
}

#[test]
fn k4_whoever_comes_back_at_any_event_gets_the_others_once_before_and_after_a_restart() {
    let mut world = World::start();
    let session = world.session();
    // Entries that tell one thing, two things and three.
    for at in 0..50 {
        world.append(&session, &["one", "two"]);
        let batch = serde_json::json!({"entries": [result(8)]});
        assert_eq!(world.post(&format!("/api/v1/sessions/{session}/entries"), &batch).status, 201);
        let title = serde_json::json!({"title": format!("title {at}")});
        let renamed = world.request("PATCH", &format!("/api/v1/sessions/{session}")).json(&title).send(world.address);
        assert_eq!(renamed.status, 200);
    }
    let last = world.read(&format!("/api/v1/sessions/{session}/entries?limit=1"))["position"].to_string();
    let all = rest(&world, &session, "0", &last);
    assert!(all.len() >= 350, "{}", all.len());
    for _ in 0..2 {
        for (at, (id, _)) in all.iter().enumerate() {
            assert_eq!(rest(&world, &session, id, &last), all[at + 1..], "behind {id}");
        }
        world.restart();
    }
    println!("came back behind each of {} events of {last} entries, before and after a restart", all.len());
}

#[test]
fn what_another_process_writes_is_told_too() {
    let world = World::start();
    let session = world.session();
    let events = watch(&world, &session, Some(0));
    let engine = engine(world.home.path());
    let mut open = engine.open(&session, "/").unwrap();
    engine.say(&mut open, ramus_engine::Say::user("from elsewhere")).unwrap();
    world.append(&session, &["from here"]);
    assert_eq!(positions(events, 3), [1, 2, 3]);
}

#[test]
fn many_writers_and_readers_see_one_order() {
    let world = World::start();
    let session = world.session();
    let readers = 20;
    let (writers, each) = (4, 25);
    let total = 1 + writers * each;
    let seen: Vec<Vec<u64>> = thread::scope(|scope| {
        let reading: Vec<_> = (0..readers)
            .map(|reader| {
                let events = watch(&world, &session, Some(reader % 2));
                let start = 1 + reader % 2;
                scope.spawn(move || positions(events, total as usize - (start as usize - 1)))
            })
            .collect();
        for writer in 0..writers {
            let (world, session) = (&world, &session);
            scope.spawn(move || (0..each).for_each(|at| drop(world.append(session, &[&format!("{writer} {at}")]))));
        }
        reading.into_iter().map(|reader| reader.join().unwrap()).collect()
    });
    for (reader, seen) in (0..).zip(&seen) {
        let expected: Vec<u64> = (1 + reader % 2..=total).collect();
        assert_eq!(*seen, expected);
    }
}

#[test]
fn a_position_that_is_not_there_is_answered_with_a_reset() {
    let world = World::start();
    let session = world.session();
    let mut events = watch(&world, &session, Some(99));
    let reset = events.next().unwrap();
    assert_eq!((reset.name.as_str(), reset.id.as_deref()), ("reset", Some("1")));
    world.append(&session, &["one"]);
    assert_eq!(positions(events, 1), [2]);
    let words = world.request("GET", &format!("/api/v1/sessions/{session}/events")).header("last-event-id", "soon");
    assert_eq!(words.send(world.address).status, 400);
    // What is no plain text names no event.
    for target in [&format!("/api/v1/sessions/{session}/events"), "/api/v1/events"] {
        let strange = world.request("GET", target).header("last-event-id", "1\u{e4}");
        assert_eq!(strange.send(world.address).status, 400, "{target}");
    }
}

/// Everything of a stream that comes to an end.
fn heard(events: Events) -> Vec<(String, Option<String>)> {
    events.map(|event| (event.name, event.id)).collect()
}

fn come_back(world: &World, session: &str, id: &str) -> Event {
    let request = world.request("GET", &format!("/api/v1/sessions/{session}/events")).header("last-event-id", id);
    request.events(world.address).next().unwrap()
}

#[test]
fn k4_who_comes_back_to_a_log_that_was_reset_since_is_told_so_however_long_it_is_again() {
    let mut world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two"]);
    let mut ids: Vec<String> = (0..=3).map(|position| position.to_string()).collect();
    for _ in 0..2 {
        assert_eq!(world.post(&format!("/api/v1/sessions/{session}/reset"), &serde_json::json!({})).status, 200);
        world.append(&session, &["three", "four", "five"]);
        for id in &ids[1..] {
            let first = come_back(&world, &session, id);
            assert_eq!((first.name.as_str(), &first.data["seq"]), ("reset", &5.into()), "behind {id}");
            assert_ne!(first.id.as_deref(), Some("5"), "it says which log it is");
        }
        // Whoever had nothing gets everything, and a position is one of the log that is there.
        let target = format!("/api/v1/sessions/{session}/events");
        for (after, expected) in [("0", vec![1, 2, 3, 4, 5]), ("3", vec![4, 5])] {
            let events = world.request("GET", &format!("{target}?after={after}")).events(world.address);
            assert_eq!(positions(events, expected.len()), expected, "behind {after}");
        }
        world.restart();
        // Ids of this log are good until the next reset.
        let events = world.request("GET", &target).header("last-event-id", "0").events(world.address);
        ids.clear();
        for id in events.filter(|event| event.name != "open").map(|event| event.id.unwrap()) {
            let is_last = id.starts_with("5@");
            ids.extend(Some(id).filter(|id| !id.contains('.')));
            if is_last {
                break;
            }
        }
        for (at, id) in (1..).zip(&ids) {
            let request = world.request("GET", &target).header("last-event-id", id);
            let events = request.events(world.address);
            assert_eq!(positions(events, 5 - at), (at as u64 + 1..=5).collect::<Vec<_>>(), "behind {id}");
        }
    }
}

#[test]
fn k4_who_watches_a_log_that_is_reset_is_told_so_though_it_is_as_long_again_at_once() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three"]);
    let events = watch(&world, &session, Some(4));
    let engine = engine(world.home.path());
    let mut open = engine.open(&session, "/").unwrap();
    engine.reset(&mut open, false).unwrap();
    for text in ["four", "five", "six"] {
        engine.say(&mut open, ramus_engine::Say::user(text)).unwrap();
    }
    let heard = heard(events);
    let (name, id) = heard.last().unwrap();
    assert_eq!(name, "reset", "{heard:?}");
    assert!(!heard.iter().any(|(name, _)| name == "entry.appended"), "{heard:?}");
    world.append(&session, &["seven"]);
    let request = world.request("GET", &format!("/api/v1/sessions/{session}/events"));
    let events = request.header("last-event-id", id.as_deref().unwrap()).events(world.address);
    assert!(positions(events, 1)[0] >= 6);
}

#[test]
fn k4_a_conversation_that_is_deleted_and_saved_again_is_another_one_to_whoever_comes_back() {
    let world = World::start();
    let target = "/api/conversations/chosen";
    let payload = |text: &str| {
        let message = |id: &str| serde_json::json!({"id": id, "role": "user", "content": text});
        serde_json::json!({"title": text, "messages": [message("m1"), message("m2")]})
    };
    assert_eq!(world.put(target, &payload("one")).status, 201);
    let events = world.request("GET", "/api/v1/sessions/chosen/events").header("last-event-id", "0");
    let told: Vec<String> = events.events(world.address).skip(1).take(3).map(|event| event.id.unwrap()).collect();
    assert_eq!(world.delete(target).status, 200);
    assert_eq!(world.put(target, &payload("two")).status, 201);
    for id in &told {
        assert_eq!(come_back(&world, "chosen", id).name, "reset", "behind {id}");
    }
}

#[test]
fn who_hears_of_all_sessions_misses_nothing_while_one_of_them_cannot_be_read() {
    let world = World::start();
    let (broken, other) = (world.session(), world.session());
    let mut events = world.request("GET", "/api/v1/events").events(world.address);
    world.append(&broken, &["one"]);
    // Something that cannot be opened stands in its place for a while.
    let (log, aside) = (log_of(&world, &broken), world.home.path().join("no-log"));
    let _listening = std::os::unix::net::UnixListener::bind(&aside).unwrap();
    exchange(&log, &aside);
    world.append(&other, &["two"]);
    wait_for_looks();
    exchange(&log, &aside);
    world.append(&broken, &["three"]);
    let mut heard = Vec::new();
    while heard.len() < 3 {
        let event = events.next().unwrap();
        assert_ne!(event.name, "reset");
        if event.name == "entry.appended" {
            heard.push((event.data["session"].as_str().unwrap().to_owned(), event.data["seq"].as_u64().unwrap()));
        }
    }
    heard.sort();
    let mut expected = vec![(broken.clone(), 2), (broken, 3), (other, 2)];
    expected.sort();
    assert_eq!(heard, expected);
}

#[test]
fn streams_end_with_the_server_and_with_the_session() {
    let mut world = World::start();
    let (first, second) = (world.session(), world.session());
    let watching_first = watch(&world, &first, None);
    let deleted = world.request("DELETE", &format!("/api/v1/sessions/{first}")).send(world.address);
    assert_eq!(deleted.status, 200);
    assert_eq!(watching_first.last().unwrap().name, "session.deleted");
    let watching_second = watch(&world, &second, None);
    let ending = thread::spawn(move || watching_second.last().unwrap().name);
    world.end();
    assert_eq!(ending.join().unwrap(), "closing");
}

/// Puts something that is no log in the place of a session's log, in one step, or the log back again.
fn exchange(log: &Path, other: &Path) {
    renameat_with(CWD, log, CWD, other, RenameFlags::EXCHANGE).unwrap();
}

/// The file of a session.
fn log_of(world: &World, session: &str) -> PathBuf {
    world.read(&format!("/api/v1/sessions/{session}"))["session"]["path"].as_str().unwrap().into()
}

/// Waits until whoever watches must have looked at the log.
#[expect(clippy::disallowed_methods, reason = "looking at a file leaves no trace to wait for")]
fn wait_for_looks() {
    thread::sleep(Duration::from_secs(1));
}

#[test]
fn who_watches_a_log_that_cannot_be_read_for_a_moment_goes_on_afterwards() {
    let world = World::start();
    let session = world.session();
    let events = watch(&world, &session, None);
    let (log, other) = (log_of(&world, &session), world.home.path().join("no-log"));
    std::fs::create_dir(&other).unwrap();
    exchange(&log, &other);
    wait_for_looks();
    exchange(&log, &other);
    world.append(&session, &["one", "two"]);
    assert_eq!(positions(events, 2), [2, 3]);
}

#[test]
fn who_watches_a_log_that_could_not_be_read_is_told_that_it_is_gone() {
    let world = World::start();
    let session = world.session();
    let events = watch(&world, &session, None);
    let (log, other) = (log_of(&world, &session), world.home.path().join("no-log"));
    std::fs::create_dir(&other).unwrap();
    exchange(&log, &other);
    wait_for_looks();
    std::fs::remove_dir(&log).unwrap();
    assert_eq!(events.last().unwrap().name, "session.deleted");
}

#[test]
fn heartbeats_of_all_sessions_say_where_the_stream_stands() {
    let limits = ramus_server::Limits { heartbeat: Duration::from_millis(50), ..ramus_server::Limits::default() };
    let world = World::with(crate::world::TWO_WORDS, limits);
    let mut ours = world.request("GET", "/api/v1/events").events(world.address);
    let open = ours.next().unwrap().id;
    let beat = ours.find(|event| event.name == "heartbeat").unwrap();
    assert!(beat.id.is_some() && beat.id == open, "{:?} {open:?}", beat.id);
    // What others do moves it along, though it is not told.
    assert_eq!(world.as_bob("POST", "/api/v1/sessions").json(&serde_json::json!({})).send(world.address).status, 201);
    let moved = ours.find(|event| event.name == "heartbeat" && event.id != open).unwrap();
    let session = world.session();
    let again = world.request("GET", "/api/v1/events").header("last-event-id", &moved.id.unwrap());
    let created = again.events(world.address).find(|event| event.name == "session.created").unwrap();
    assert_eq!(created.data["info"]["id"], session.as_str());
}

#[test]
fn all_sessions_are_told_of_in_one_stream_and_only_ones_own() {
    let world = World::start();
    let mut events = world.request("GET", "/api/v1/events").events(world.address);
    let theirs = world.as_bob("GET", "/api/v1/events").events(world.address);
    let open = events.next().unwrap();
    assert_eq!(open.name, "open");
    let session = world.session();
    let created = events.next().unwrap();
    assert_eq!((created.name.as_str(), &created.data["info"]["id"]), ("session.created", &session.as_str().into()));
    world.append(&session, &["one"]);
    let titled = events.next().unwrap();
    assert_eq!((titled.name.as_str(), &titled.data["seq"]), ("entry.appended", &1.into()));
    let said = events.find(|event| event.name == "entry.appended").unwrap();
    assert_eq!((&said.data["session"], &said.data["seq"]), (&session.as_str().into(), &2.into()));
    // Who comes back with the first event gets the second.
    let again = world.request("GET", "/api/v1/events").header("last-event-id", &created.id.unwrap());
    let missed = again.events(world.address).find(|event| event.name != "open").unwrap();
    assert_eq!((missed.name.as_str(), missed.id), ("entry.appended", titled.id));
    // Who was cut off before anything happened gets all of it.
    let again = world.request("GET", "/api/v1/events").header("last-event-id", &open.id.unwrap());
    assert_eq!(again.events(world.address).find(|event| event.name != "open").unwrap().name, "session.created");
    // Who comes from another server is told how to find what it missed, and goes on from there.
    let elsewhere = world.request("GET", "/api/v1/events").header("last-event-id", "another-7").events(world.address);
    let reset = { elsewhere }.next().unwrap();
    assert_eq!(reset.name, "reset");
    assert!(reset.data["message"].as_str().unwrap().contains("/events?after=SEQ"), "{}", reset.data);
    let second = world.session();
    let again = world.request("GET", "/api/v1/events").header("last-event-id", &reset.id.unwrap());
    let created = again.events(world.address).find(|event| event.name != "open").unwrap();
    assert_eq!(created.data["info"]["id"], second.as_str());
    let made = world.as_bob("POST", "/api/v1/sessions").json(&serde_json::json!({})).send(world.address);
    let id = made.json()["session"]["id"].clone();
    let first = { theirs }.find(|event| event.name != "heartbeat" && event.name != "open").unwrap();
    assert_eq!(first.data["info"]["id"], id);
}

#[test]
fn the_end_of_a_run_is_told_among_all_sessions_behind_what_it_wrote_and_said() {
    let world = World::start();
    let mut events = world.request("GET", "/api/v1/events?pieces=true").events(world.address);
    assert_eq!(events.next().unwrap().name, "open");
    for _ in 0..10 {
        let session = world.session();
        world.post(&format!("/api/v1/sessions/{session}/runs"), &serde_json::json!({"prompt": "hello"}));
        let mut told: Vec<Event> = Vec::new();
        while told.last().is_none_or(|event| event.name != "run.ended") {
            told.extend(events.next().filter(|event| event.data["session"] == session.as_str()));
        }
        let order = ["turn.start", "message.start", "message.delta", "message.end", "turn.end", "run.ended"];
        let mut names: Vec<&str> = told.iter().map(|event| event.name.as_str()).collect();
        names.retain(|name| order.contains(name));
        names.dedup();
        assert_eq!(names, order);
        let seqs: Vec<u64> = told.iter().filter_map(|event| event.data["seq"].as_u64()).collect();
        assert!(seqs.is_sorted(), "{seqs:?}");
    }
}
