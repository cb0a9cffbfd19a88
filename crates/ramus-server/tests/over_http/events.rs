//! What happens is told in order, once, and again from the log to whoever was away.

use std::thread;

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

#[test]
fn all_sessions_are_told_of_in_one_stream_and_only_ones_own() {
    let world = World::start();
    let mut events = world.request("GET", "/api/v1/events").events(world.address);
    let theirs = world.as_bob("GET", "/api/v1/events").events(world.address);
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
    let missed = again.events(world.address).next().unwrap();
    assert_eq!((missed.name.as_str(), missed.id), ("entry.appended", titled.id));
    let elsewhere = world.request("GET", "/api/v1/events").header("last-event-id", "another-7").events(world.address);
    assert_eq!({ elsewhere }.next().unwrap().name, "reset");
    let made = world.as_bob("POST", "/api/v1/sessions").json(&serde_json::json!({})).send(world.address);
    let id = made.json()["session"]["id"].clone();
    let first = { theirs }.find(|event| event.name != "heartbeat").unwrap();
    assert_eq!(first.data["info"]["id"], id);
}
