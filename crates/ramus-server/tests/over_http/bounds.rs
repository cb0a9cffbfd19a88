//! What is told and what is said is bounded in bytes: nobody has the server hold more than it should.

use ramus_server::Limits;
use serde_json::{Value, json};

use crate::http::{Event, PATIENCE};
use crate::world::{LEADING, World, message, result};

/// An answer that never ends.
const ENDLESS: &str = "answers = [{ steps = [{ text = \"one \" }, { hang = true }] }]";

#[test]
fn k5_so_many_words_wait_for_a_turn_and_no_more() {
    let world = World::with(ENDLESS, Limits::default());
    let session = world.session();
    let runs = format!("/api/v1/sessions/{session}/runs");
    let run = world.post(&runs, &json!({"prompt": "go"})).json()["run"].as_str().unwrap().to_owned();
    let say = |text: &str| world.post(&format!("{runs}/{run}/messages"), &json!({"text": text, "when": "queue"}));
    let long = "x".repeat(200_000);
    let taken = (0..20).take_while(|_| say(&long).status == 202).count();
    assert_eq!(taken, 5);
    let refused = say(&long);
    assert_eq!((refused.status, refused.kind().as_str()), (409, "busy"));
    let queued = world.post(&runs, &json!({"prompt": long, "when_busy": "queue"}));
    assert_eq!((queued.status, queued.kind().as_str()), (409, "busy"));
    assert_eq!((say(&"x".repeat(2 << 20)).status, say("a word").status), (413, 202));
    // Many that are short count too.
    let short = (0..2000).take_while(|_| say("x").status == 202).count();
    assert!((10..100).contains(&short), "{short}");
    let told = world.read(&format!("{runs}/{run}"))["waiting"].as_array().unwrap().len();
    assert!(told <= 6 + short, "{told}");
    // What is taken out makes room.
    let watched = world.request("GET", &format!("/api/v1/sessions/{session}/events")).events(world.address);
    assert_eq!(world.post(&format!("{runs}/{run}/messages/take-out"), &json!({"text": long})).status, 202);
    assert!({ watched }.any(|event| event.data["taken_out"] == long.as_str()));
    assert_eq!(say(&long[..100_000]).status, 202);
    assert_eq!(world.post(&format!("{runs}/{run}/cancel"), &json!({})).status, 202);
}

#[test]
fn k2_a_reader_that_stands_still_is_dropped_when_too_many_bytes_wait_for_it() {
    let world = World::start();
    let session = world.session();
    let entries = format!("/api/v1/sessions/{session}/entries");
    let mut stalled = world.request("GET", &format!("/api/v1/sessions/{session}/events")).events(world.address);
    let mut all = world.request("GET", "/api/v1/events").events(world.address);
    // They heard something, so that they do not begin with what the log holds.
    world.append(&session, &["one"]);
    let is_told = |event: &Event| event.name == "entry.appended";
    assert!(stalled.find(is_told).is_some() && all.find(is_told).is_some());
    // Far fewer than the events that may wait, and far more bytes: as long as what is not kept outside of its line.
    let long = (0..10).map(|_| result(450_000)).collect::<Vec<_>>();
    for _ in 0..8 {
        assert_eq!(world.post(&entries, &json!({"entries": long})).status, 201);
    }
    let (mut last, mut was_dropped) = (None, false);
    for event in stalled {
        was_dropped |= event.name == "dropped";
        last = event.id.or(last);
    }
    assert!(was_dropped);
    // Whoever comes back has the rest from the log.
    let again = world.request("GET", &format!("/api/v1/sessions/{session}/events"));
    let again = again.header("last-event-id", &last.unwrap()).events(world.address);
    assert!({ again }.any(|event| event.id.as_deref() == Some("82")));
    assert!({ all }.any(|event| event.name == "dropped"));
}

/// Everything that is told of all sessions until the turn of one ends.
fn told(world: &World, target: &str, session: &str, order: &Value) -> Vec<Event> {
    let mut events = world.request("GET", target).events(world.address);
    assert_eq!(events.next().unwrap().name, "open");
    assert_eq!(world.post(&format!("/api/v1/sessions/{session}/runs"), order).status, 202);
    let mut told: Vec<Event> = Vec::new();
    while told.last().is_none_or(|event| event.name != "run.ended") {
        told.extend(events.next());
    }
    told
}

#[test]
fn words_of_a_child_are_told_to_whoever_wants_words_and_not_kept() {
    let script = "answers = [\n\
        { steps = [{ call = { id = \"c1\", name = \"task\", arguments = { agent = \"helper\", prompt = \"do\", description = \"it\" } } }] },\n\
        { steps = [{ text = [\"so \", \"many \", \"words\"] }] },\n\
        { steps = [{ text = \"done\" }] },\n]";
    let is_word = |event: &Event| event.name == "child.event" && event.data["event"]["type"] == "message.delta";
    let other = |event: &Event| event.name == "child.event" && event.data["event"]["type"] == "message.end";
    for (target, hears) in [("/api/v1/events", false), ("/api/v1/events?pieces=true", true)] {
        let world = World::with(script, Limits::default());
        world.allow_everything();
        let session = world.session();
        let order = json!({"prompt": "go", "agent": LEADING});
        let told = told(&world, target, &session, &order);
        assert_eq!(told.iter().any(is_word), hears, "{target}");
        assert!(told.iter().any(other), "{target}");
        assert!(told.iter().filter(|event| is_word(event)).all(|event| event.id.is_none()));
    }
}

#[test]
fn a_chat_leaves_room_for_the_bodies_of_others_when_it_was_heard() {
    let script = "answers = [{ steps = [{ delay_ms = 5000 }, { text = \"at last\" }] }]";
    let world = World::with(script, Limits { body: 128 << 10, bodies: 128 << 10, ..Limits::default() });
    let session = world.session();
    let long = "x".repeat(100 << 10);
    std::thread::scope(|scope| {
        let chat = scope.spawn(|| world.post("/api/chat", &json!({"message": long})).status);
        let began = std::time::Instant::now();
        let client = loop {
            assert!(began.elapsed() < PATIENCE);
            if let Some(client) = world.read("/api/session/info")["session"].as_str() {
                break client.to_owned();
            }
        };
        let runs = || world.read(&format!("/api/v1/sessions/{client}/runs"))["runs"].clone();
        while runs()[0]["status"] != "running" {
            assert!(began.elapsed() < PATIENCE);
        }
        let entries = json!({"entries": [message(&long)]});
        let appended = world.post(&format!("/api/v1/sessions/{session}/entries"), &entries);
        assert_eq!((appended.status, &runs()[0]["status"]), (201, &json!("running")));
        assert_eq!(chat.join().unwrap(), 200);
    });
}
