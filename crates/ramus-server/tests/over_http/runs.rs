//! Turns over HTTP: started, watched, talked to, stopped, asked.

use std::time::Instant;

use ramus_server::Limits;
use serde_json::{Value, json};

use crate::http::PATIENCE;
use crate::world::World;

/// An answer that never ends.
const ENDLESS: &str = "answers = [{ steps = [{ text = \"one \" }, { hang = true }] }]";

/// A command that must be asked for, and an answer.
const ASKING: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"bash\", arguments = { command = \"touch made\" } } }] },\n\
    { steps = [{ text = \"done\" }] },\n]";

fn start(world: &World, session: &str, order: &Value) -> String {
    let answer = world.post(&format!("/api/v1/sessions/{session}/runs"), order);
    assert_eq!(answer.status, 202, "{}", String::from_utf8_lossy(&answer.body));
    answer.json()["run"].as_str().unwrap().to_owned()
}

/// Asks until something holds.
fn until(world: &World, target: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let now = world.read(target);
        if holds(&now) {
            return now;
        }
        assert!(started.elapsed() < PATIENCE, "{now}");
        std::thread::yield_now();
    }
}

#[test]
fn a_turn_runs_and_its_answer_is_stored() {
    let world = World::start();
    let session = world.session();
    let run = start(&world, &session, &json!({"prompt": "hello"}));
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let ended = until(&world, &target, |run| run["status"] == "ended");
    assert_eq!(ended["end"]["finish_reason"], "stop");
    let messages = world.read(&format!("/api/v1/sessions/{session}/messages"));
    let texts: Vec<&str> =
        messages["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hello", "two words"]);
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/runs"))["runs"][0]["run"], run.as_str());
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}/runs/other")).status, 404);
}

#[test]
fn a_turn_is_streamed_from_its_start_to_its_end() {
    let world = World::start();
    let session = world.session();
    let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
    let events = request.header("accept", "text/event-stream").json(&json!({"prompt": "hello"})).events(world.address);
    let events: Vec<_> = events.collect();
    let names: Vec<&str> = events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(names.first(), Some(&"run"));
    assert_eq!(names.last(), Some(&"run.ended"));
    let said: String = events
        .iter()
        .filter(|event| event.name == "message.delta")
        .map(|event| event.data["text"].as_str().unwrap())
        .collect();
    assert_eq!(said, "two words");
    // Entries come in the order of the log, and every one of them.
    let positions: Vec<u64> = events
        .iter()
        .filter(|event| event.name == "entry.appended")
        .map(|event| event.data["seq"].as_u64().unwrap())
        .collect();
    let position = world.read(&format!("/api/v1/sessions/{session}/entries"))["position"].as_u64().unwrap();
    assert_eq!(positions, (2..=position).collect::<Vec<_>>());
    let place = |name: &str| names.iter().position(|known| *known == name).unwrap();
    assert!(place("turn.start") < place("message.delta") && place("message.delta") < place("turn.end"), "{names:?}");
}

#[test]
fn a_turn_goes_on_without_whoever_started_it_and_can_be_cancelled() {
    let world = World::with(ENDLESS, Limits::default());
    let session = world.session();
    let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
    let mut events = request.header("accept", "text/event-stream").json(&json!({"prompt": "go"})).events(world.address);
    let run = events.next().unwrap().data["run"].as_str().unwrap().to_owned();
    assert!(events.any(|event| event.name == "message.delta"));
    drop(events);
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    assert_eq!(world.read(&target)["status"], "running");
    // A second turn is refused, a word to the first one is taken.
    let second = world.post(&format!("/api/v1/sessions/{session}/runs"), &json!({"prompt": "me too"}));
    assert_eq!((second.status, second.kind().as_str()), (409, "busy"));
    let queued = json!({"prompt": "and then", "when_busy": "queue"});
    assert_eq!(start(&world, &session, &queued), run);
    let steered = world.post(&format!("{target}/messages"), &json!({"text": "shorter", "when": "steer"}));
    assert_eq!(steered.status, 202);
    assert_eq!(world.post(&format!("{target}/cancel"), &json!({})).status, 202);
    let ended = until(&world, &target, |run| run["status"] == "ended");
    assert_eq!(ended["end"]["finish_reason"], "cancelled");
    let late = world.post(&format!("{target}/messages"), &json!({"text": "hello?"}));
    assert_eq!(late.status, 409);
}

#[test]
fn the_first_answer_to_a_question_counts() {
    let world = World::with(ASKING, Limits::default());
    let place = tempfile::tempdir().unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let run = start(&world, &session, &json!({"prompt": "make it"}));
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let asked = until(&world, &target, |run| run["asked"].as_array().is_some_and(|asked| !asked.is_empty()));
    assert_eq!(asked["asked"][0]["permission"], "bash");
    assert!(!place.path().join("made").exists());
    let call = asked["asked"][0]["call"].as_str().unwrap();
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let answer = |verdict: &'static str| {
            let (world, target) = (&world, &target);
            scope.spawn(move || world.post(&format!("{target}/permissions/{call}"), &json!({"answer": verdict})).status)
        };
        let answers: Vec<_> = (0..6).map(|_| answer("once")).collect();
        answers.into_iter().map(|answer| answer.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 409).count(), 5, "{answers:?}");
    until(&world, &target, |run| run["status"] == "ended");
    assert!(place.path().join("made").exists());
}

#[test]
fn without_anyone_to_ask_it_is_denied() {
    let world = World::with(ASKING, Limits::default());
    let place = tempfile::tempdir().unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let run = start(&world, &session, &json!({"prompt": "make it", "ask": false}));
    until(&world, &format!("/api/v1/sessions/{session}/runs/{run}"), |run| run["status"] == "ended");
    assert!(!place.path().join("made").exists());
}

#[test]
fn a_turn_that_cannot_be_run_says_why() {
    let world = World::start();
    let session = world.session();
    let run = start(&world, &session, &json!({"prompt": "hello", "model": "none/none"}));
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let failed = until(&world, &target, |run| run["status"] == "failed");
    assert_eq!(failed["error"]["kind"], "usage");
    // The session is free again.
    start(&world, &session, &json!({"prompt": "hello"}));
}

#[test]
fn an_order_that_is_sent_twice_is_carried_out_once() {
    let world = World::start();
    let session = world.session();
    let send = || {
        let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
        request.header("idempotency-key", "k").json(&json!({"prompt": "hello"})).send(world.address).json()
    };
    let first = send();
    let target = format!("/api/v1/sessions/{session}/runs/{}", first["run"].as_str().unwrap());
    until(&world, &target, |run| run["status"] == "ended");
    assert_eq!(send()["run"], first["run"]);
    let messages = world.read(&format!("/api/v1/sessions/{session}/messages"));
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn the_end_of_the_server_ends_turns_and_keeps_what_was_said() {
    let mut world = World::with(ENDLESS, Limits::default());
    let session = world.session();
    let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
    let mut events = request.header("accept", "text/event-stream").json(&json!({"prompt": "go"})).events(world.address);
    assert!(events.any(|event| event.name == "message.delta"));
    world.end();
    world.restart();
    let messages = world.read(&format!("/api/v1/sessions/{session}/messages"));
    assert_eq!(messages["messages"][0]["text"], "go");
    assert_eq!(messages["messages"][1]["text"].as_str().map(str::trim), Some("one"));
}
