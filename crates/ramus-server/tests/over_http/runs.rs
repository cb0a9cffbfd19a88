//! Turns over HTTP: started, watched, talked to, stopped, asked.

use std::time::{Duration, Instant};

use ramus_server::Limits;
use serde_json::{Value, json};

use crate::http::{Events, PATIENCE};
use crate::world::{PONDERING, World};

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
fn what_a_model_says_is_told_also_while_its_session_is_published() {
    let world = World::start();
    for _ in 0..50 {
        // The first answer of a session moves its log, which may be looked at at any moment.
        let session = world.session();
        let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
        let request = request.header("accept", "text/event-stream").json(&json!({"prompt": "hello"}));
        let said = request.events(world.address).filter(|event| event.name == "message.delta");
        let said: String = said.map(|event| event.data["text"].as_str().unwrap().to_owned()).collect();
        assert_eq!(said, "two words");
    }
}

#[test]
fn one_stream_tells_of_all_turns_word_by_word_to_who_wants_it() {
    let world = World::with(ASKING, Limits::default());
    let place = tempfile::tempdir().unwrap();
    let mut plain = world.request("GET", "/api/v1/events").events(world.address);
    let mut whole = world.request("GET", "/api/v1/events?pieces=true").events(world.address);
    let theirs = world.as_bob("GET", "/api/v1/events?pieces=true").events(world.address);
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let run = start(&world, &session, &json!({"prompt": "make it"}));
    let asked = whole.find(|event| event.name == "permission.asked").unwrap();
    let call = asked.data["call"].as_str().unwrap().to_owned();
    // Who comes later is told what is asked.
    let mut late = world.request("GET", "/api/v1/events?pieces=true").events(world.address);
    let told = late.find(|event| event.name == "permission.asked").unwrap();
    assert_eq!((&told.data["call"], &told.data["session"]), (&asked.data["call"], &asked.data["session"]));
    let answer = format!("/api/v1/sessions/{session}/runs/{run}/permissions/{call}");
    assert_eq!(world.post(&answer, &json!({"answer": "deny"})).status, 200);
    let until_end = |events: &mut Events| -> Vec<String> {
        events.map(|event| event.name).take_while(|name| name != "run.ended").collect()
    };
    assert!(until_end(&mut whole).iter().any(|name| name == "message.delta"));
    assert!(!until_end(&mut plain).iter().any(|name| name.ends_with(".delta")));
    world.as_bob("POST", "/api/v1/sessions").json(&json!({})).send(world.address);
    let first = { theirs }.find(|event| !matches!(event.name.as_str(), "heartbeat" | "open")).unwrap();
    assert_eq!(first.name, "session.created", "nobody is told of the turns of others");
}

#[test]
fn what_was_said_of_an_answer_so_far_is_told_to_who_comes_later() {
    let world = World::with(ENDLESS, Limits::default());
    let session = world.session();
    let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
    let mut events = request.header("accept", "text/event-stream").json(&json!({"prompt": "go"})).events(world.address);
    let run = events.next().unwrap().data["run"].as_str().unwrap().to_owned();
    let piece = events.find(|event| event.name == "message.delta").unwrap().data;
    assert_eq!((&piece["answer"], &piece["piece"]), (&json!(1), &json!(1)));
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let answer = until(&world, &target, |run| run["answer"]["pieces"].as_u64() > Some(0))["answer"].clone();
    assert!(answer["text"].as_str().unwrap().starts_with(piece["text"].as_str().unwrap()), "{answer}");
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/runs"))["runs"][0]["answer"]["answer"], 1);
    // What is sent to a turn is not answered with all that it said.
    assert!(world.post(&format!("{target}/cancel"), &json!({})).json().get("answer").is_none());
    let ended = until(&world, &target, |run| run["status"] == "ended");
    assert!(ended.get("answer").is_none());
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
    // A second turn is refused, a word to the first one is taken. What waits is said when the turn would end.
    let refused = json!({"prompt": "me too", "when_busy": "reject"});
    let second = world.post(&format!("/api/v1/sessions/{session}/runs"), &refused);
    assert_eq!((second.status, second.kind().as_str()), (409, "busy"));
    assert_eq!(start(&world, &session, &json!({"prompt": "and then"})), run);
    let steered = world.post(&format!("{target}/messages"), &json!({"text": "shorter", "when": "steer"}));
    assert_eq!(steered.status, 202);
    // What waits is told, can be taken out, and is told at the end when nobody heard it.
    until(&world, &target, |run| run["waiting"] == json!(["shorter", "and then"]));
    let taken_out = world.post(&format!("{target}/messages/take-out"), &json!({"text": "shorter"}));
    assert_eq!(taken_out.status, 202);
    until(&world, &target, |run| run["waiting"] == json!(["and then"]));
    assert_eq!(world.post(&format!("{target}/cancel"), &json!({})).status, 202);
    let ended = until(&world, &target, |run| run["status"] == "ended");
    assert_eq!(ended["end"]["finish_reason"], "cancelled");
    assert_eq!(ended["end"]["unheard"], json!(["and then"]));
    let gone = world.post(&format!("{target}/messages/take-out"), &json!({"text": "and then"}));
    assert_eq!(gone.status, 409);
    let late = world.post(&format!("{target}/messages"), &json!({"text": "hello?"}));
    assert_eq!(late.status, 409);
}

#[test]
fn a_turn_that_runs_takes_words_along_and_says_what_it_cannot_take() {
    let world = World::with(ENDLESS, Limits::default());
    let session = world.session();
    let run = start(&world, &session, &json!({"prompt": "go"}));
    let target = format!("/api/v1/sessions/{session}/runs");
    let rest = json!({
        "pictures": [{"data": "AA==", "kind": "image/png"}], "attachments": [{"name": "a", "data": "AA=="}],
        "edit": "@", "model": "some/model", "agent": "somebody", "permission": ["bash=allow"], "thinking": "high",
        "max_tokens": 7,
    });
    for when in ["steer", "queue"] {
        for (name, value) in rest.as_object().unwrap() {
            let mut order = json!({"prompt": "with this", "when_busy": when});
            order[name] = value.clone();
            let refused = world.post(&target, &order);
            assert_eq!((refused.status, refused.kind().as_str()), (409, "busy"), "{name}");
            assert!(refused.json()["error"]["message"].as_str().unwrap().contains(name), "{name}");
        }
        let order = json!({"prompt": "words", "when_busy": when, "pictures": [], "ask": true});
        assert_eq!(start(&world, &session, &order), run);
    }
}

#[test]
fn nobody_waits_for_the_title_of_the_turn_before() {
    let world = World::start();
    let made = world.post("/api/v1/sessions", &json!({}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let first = start(&world, &session, &json!({"prompt": "hello", "agent": PONDERING}));
    let messages = format!("/api/v1/sessions/{session}/messages");
    until(&world, &messages, |told| told["messages"].as_array().is_some_and(|all| all.len() == 2));
    let started = Instant::now();
    for (when, count) in [("reject", 4), ("queue", 6), ("steer", 8)] {
        let order = json!({"prompt": "and then", "when_busy": when});
        // The turn has something to do behind its answer, and is told what comes then.
        let run = loop {
            let answer = world.post(&format!("/api/v1/sessions/{session}/runs"), &order);
            match answer.json()["run"].as_str() {
                Some(run) if run != first => break run.to_owned(),
                _ => assert!(started.elapsed() < Duration::from_secs(8), "{}", String::from_utf8_lossy(&answer.body)),
            }
            std::thread::yield_now();
        };
        until(&world, &format!("/api/v1/sessions/{session}/runs/{run}"), |run| run["status"] == "ended");
        let told = world.read(&messages);
        assert_eq!(told["messages"].as_array().unwrap().len(), count, "{when}");
    }
    // It is known as long as it looks for a title.
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/runs/{first}"))["run"], first.as_str());
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

/// A command that writes a file by redirection: it is asked whether it may run, and whether it may write.
const TWICE: &str = "answers = [\n\
    { steps = [{ call = { id = \"c1\", name = \"bash\", arguments = { command = \"touch first > made\" } } }] },\n\
    { steps = [{ text = \"done\" }] },\n]";

#[test]
fn what_is_asked_about_a_call_is_told_and_answered_one_by_one() {
    let world = World::with(TWICE, Limits::default());
    let place = tempfile::tempdir().unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
    let mut events =
        request.header("accept", "text/event-stream").json(&json!({"prompt": "make it"})).events(world.address);
    let run = events.next().unwrap().data["run"].as_str().unwrap().to_owned();
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let mut next = || {
        let asked = events.find(|event| event.name == "permission.asked").unwrap();
        let word = |name: &str| asked.data[name].as_str().unwrap().to_owned();
        (word("question"), word("call"), word("permission"))
    };
    let answer = |call: &str, question: &str| {
        world.post(&format!("{target}/permissions/{call}"), &json!({"answer": "once", "question": question})).status
    };
    let (first, call, permission) = next();
    assert_eq!(permission, "bash");
    assert_eq!(world.read(&target)["asked"][0]["question"], first.as_str());
    assert_eq!(answer(&call, "another one"), 409);
    assert_eq!(answer(&call, &first), 200);
    // The second one is about the same call. Whoever still sees the first does not answer it.
    let (second, again, permission) = next();
    assert_eq!((again.as_str(), permission.as_str()), (call.as_str(), "write"));
    assert_ne!(first, second);
    assert_eq!(answer(&call, &first), 409);
    assert!(!place.path().join("made").exists());
    assert_eq!(answer(&call, &second), 200);
    until(&world, &target, |run| run["status"] == "ended");
    assert!(place.path().join("made").exists());
}

#[test]
fn whoever_comes_after_a_question_is_asked_too() {
    let world = World::with(ASKING, Limits::default());
    let place = tempfile::tempdir().unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let request = || {
        let request = world.request("POST", &format!("/api/v1/sessions/{session}/runs"));
        request.header("idempotency-key", "k").header("accept", "text/event-stream").json(&json!({"prompt": "make it"}))
    };
    let asked = |events: &mut Events| {
        let asked = events.find(|event| event.name == "permission.asked").unwrap();
        (asked.data["call"].as_str().unwrap().to_owned(), asked.data["exact"].as_str().unwrap().to_owned())
    };
    let mut first = request().events(world.address);
    let run = first.next().unwrap().data["run"].as_str().unwrap().to_owned();
    let question = asked(&mut first);
    // The same order again, while the question waits: it is put to this one, too, and once.
    let mut second = request().events(world.address);
    assert_eq!(asked(&mut second), question);
    let target = format!("/api/v1/sessions/{session}/runs/{run}/permissions/{}", question.0);
    assert_eq!(world.post(&target, &json!({"answer": "once"})).status, 200);
    for events in [&mut first, &mut second] {
        let rest: Vec<String> = events.map(|event| event.name).collect();
        assert!(!rest.iter().any(|name| name == "permission.asked"), "{rest:?}");
        assert_eq!(rest.last().map(String::as_str), Some("run.ended"));
    }
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
    let run = start(&world, &session, &json!({"prompt": "hello", "model": "none/late"}));
    let target = format!("/api/v1/sessions/{session}/runs/{run}");
    let failed = until(&world, &target, |run| run["status"] == "failed");
    assert_eq!(failed["error"]["kind"], "usage");
    // The session is free again.
    start(&world, &session, &json!({"prompt": "hello"}));
}

#[test]
fn an_order_that_no_turn_can_be_run_with_is_refused_at_once() {
    let world = World::start();
    let session = world.session();
    let seqs = world.append(&session, &["one"]);
    let answer = json!({"type": "message", "message": {"role": "assistant", "content": []}});
    assert_eq!(world.post(&format!("/api/v1/sessions/{session}/entries"), &json!({"entries": [answer]})).status, 201);
    let target = format!("/api/v1/sessions/{session}/runs");
    let before = world.read(&format!("/api/v1/sessions/{session}/entries"))["position"].clone();
    let wrong = [
        (json!({"prompt": "hi", "model": "none/none"}), 400, "usage"),
        (json!({"prompt": " \n"}), 400, "usage"),
        (json!({"prompt": "hi", "edit": "nothing"}), 404, "not-found"),
        (json!({"prompt": "hi", "edit": format!("#{}", seqs[0] + 1)}), 422, "invalid"),
    ];
    for (order, status, kind) in wrong {
        let refused = world.post(&target, &order);
        assert_eq!((refused.status, refused.kind().as_str()), (status, kind), "{order}");
    }
    let empty = world.session();
    let refused = world.post(&format!("/api/v1/sessions/{empty}/runs"), &json!({"regenerate": true}));
    assert_eq!((refused.status, refused.kind().as_str()), (422, "invalid"));
    assert_eq!(world.read(&target)["runs"], json!([]));
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/entries"))["position"], before);
}

#[test]
fn a_session_that_another_process_runs_is_busy() {
    use ramus_store::{JsonlStore, Layout, LogStore as _};
    let world = World::start();
    let session = world.session();
    let store = JsonlStore::new(world.home.path(), Layout::Pi);
    let location = store.list().unwrap().into_iter().find(|location| location.id.as_str() == session).unwrap();
    let lease = store.lease(&location, 0).unwrap();
    let refused = world.post(&format!("/api/v1/sessions/{session}/runs"), &json!({"prompt": "hi"}));
    assert_eq!((refused.status, refused.kind().as_str()), (409, "busy"));
    drop(lease);
    start(&world, &session, &json!({"prompt": "hi"}));
}

#[test]
fn an_order_that_an_earlier_server_carried_out_is_not_carried_out_again() {
    let mut world = World::start();
    let session = world.session();
    let target = format!("/api/v1/sessions/{session}/runs");
    let send = |world: &World, prompt: &str| {
        let request = world.request("POST", &target).header("idempotency-key", "k").header("if-match", "1");
        request.json(&json!({"prompt": prompt})).send(world.address)
    };
    let first = send(&world, "hello").json();
    let run = format!("{target}/{}", first["run"].as_str().unwrap());
    let ended = until(&world, &run, |run| run["status"] == "ended");
    world.restart();
    assert_eq!(world.get(&run).status, 404, "nobody has asked for it yet");
    let again = send(&world, "hello");
    assert_eq!((again.status, &again.json()["run"]), (202, &first["run"]));
    let told = world.read(&run);
    for member in ["finish_reason", "usage", "entry"] {
        assert_eq!(told["end"][member], ended["end"][member], "{member}");
    }
    let other = send(&world, "something else");
    assert_eq!((other.status, other.kind().as_str()), (409, "conflict"));
    let messages = world.read(&format!("/api/v1/sessions/{session}/messages"));
    assert_eq!(messages["messages"].as_array().unwrap().len(), 2);
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
    let other = world.request("POST", &format!("/api/v1/sessions/{session}/runs")).header("idempotency-key", "k");
    let other = other.json(&json!({"prompt": "something else"})).send(world.address);
    assert_eq!((other.status, other.kind().as_str()), (409, "conflict"));
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
