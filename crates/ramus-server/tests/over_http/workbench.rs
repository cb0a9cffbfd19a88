//! The session of a client over HTTP: seeded, talked to, kept, put back, started over.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use ramus_server::Limits;
use serde_json::{Value, json};

use crate::http::{Response, raw};
use crate::world::World;

const INFO: &str = "/api/session/info";
const SNAPSHOTS: &str = "/api/session/workspace/snapshots";
const RESTORE: &str = "/api/session/workspace/restore";

fn done(response: &Response) -> Value {
    assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
    response.json()
}

fn boot(world: &World) -> Value {
    done(&world.post("/api/session/boot", &json!({})))
}

fn chat(world: &World, message: &str) -> Value {
    done(&world.post("/api/chat", &json!({"message": message})))
}

fn text<'v>(value: &'v Value, at: &str) -> &'v str {
    value.pointer(at).and_then(Value::as_str).unwrap_or_else(|| panic!("no {at} in {value:#}"))
}

/// The directory that the client works in.
fn root(world: &World) -> PathBuf {
    text(&world.read(INFO), "/workspace_state/paths/internal_root").into()
}

fn labels(state: &Value) -> Vec<&str> {
    state["snapshots"].as_array().unwrap().iter().map(|one| one["label"].as_str().unwrap()).collect()
}

#[test]
fn a12_a_session_is_seeded_once_and_reading_seeds_nothing() {
    let world = World::start();
    let before = world.read("/api/session/boot");
    assert_eq!((&before["booted"], &before["vm"]["session"]), (&json!(false), &Value::Null));
    assert_eq!(world.read(INFO)["history_length"], 0);
    assert_eq!(world.read(SNAPSHOTS)["snapshots"], json!([]));
    assert_eq!(fs::read_dir(world.workspaces.path()).unwrap().count(), 0);
    let first = boot(&world);
    assert_eq!((&first["reply"], &first["booted"]), (&before["reply"], &json!(true)));
    let directory = root(&world);
    assert!(directory.starts_with(world.workspaces.path().canonicalize().unwrap()));
    for name in ["mnt", "output", "tmp"] {
        assert!(directory.join(name).is_dir(), "{name}");
    }
    assert_eq!(labels(&first["workspace_state"]), ["Initial workspace state"]);
    // The word of welcome is the first thing that was said, and is found by its number.
    let told = world.read("/api/session/history");
    assert_eq!((&told["history_length"], told["history"].as_array().unwrap().len()), (&json!(1), 1));
    let welcome = &told["history"][0];
    assert_eq!((&welcome["role"], &welcome["content"]), (&json!("assistant"), &first["reply"]));
    assert_eq!(welcome["id"], format!("{}-0000", text(&first, "/vm/history_namespace")));
    let found = world.read(&format!("/api/session/history/{}", text(welcome, "/id")));
    assert_eq!((&found["entry"], &found["content"]), (&welcome["entry"], &first["reply"]));
    fs::write(directory.join("mnt/mine"), "kept").unwrap();
    let again = boot(&world);
    assert_eq!((&again["vm"]["session"], &again["reply"]), (&first["vm"]["session"], &first["reply"]));
    assert_eq!(fs::read_to_string(directory.join("mnt/mine")).unwrap(), "kept");
    assert_eq!(world.read("/api/session/boot")["booted"], true);
}

#[test]
fn a12_many_who_come_at_once_share_one_session() {
    let world = World::start();
    let sessions: Vec<Value> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6).map(|_| scope.spawn(|| boot(&world)["vm"]["session"].clone())).collect();
        asking.into_iter().map(|asking| asking.join().unwrap()).collect()
    });
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    assert_eq!(world.read("/api/v1/sessions?drafts=true")["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn i4_a_chat_is_answered_with_history_and_snapshot() {
    let world = World::start();
    let answer = chat(&world, "hello there\nand more");
    assert_eq!((&answer["reply"], &answer["error"]), (&json!("two words"), &Value::Null));
    assert_eq!(labels(&answer["workspace_state"]), ["After: hello there", "Initial workspace state"]);
    assert_eq!(answer["workspace_state"]["git"]["is_dirty"], false);
    let latest = text(&answer, "/workspace_state/latest_snapshot");
    assert_eq!((latest.len(), latest), (40, text(&answer, "/workspace_state/snapshots/0/id")));
    assert_eq!(answer["meta"]["tokensOut"].as_str().map(|text| text.ends_with(" tokens")), Some(true));
    let [welcome, history @ ..] = answer["vm_history"].as_array().unwrap().as_slice() else { panic!("{answer}") };
    assert_eq!((&welcome["type"], &history[0]["parent"]), (&json!("root"), &welcome["id"]));
    let said: Vec<(&str, &str)> =
        history.iter().map(|node| (node["role"].as_str().unwrap(), node["content"].as_str().unwrap())).collect();
    assert_eq!(said, [("user", "hello there\nand more"), ("assistant", "two words")]);
    let namespace = text(&world.read(INFO), "/history_namespace").to_owned();
    assert_eq!([&history[0]["id"], &history[1]["id"]], [&format!("{namespace}-0001"), &format!("{namespace}-0002")]);
    // By its number and by the id of its entry, with what hangs from it.
    for name in [text(&history[0], "/id"), text(&history[0], "/entry")] {
        let node = world.read(&format!("/api/session/history/{name}"));
        assert_eq!((&node["content"], &node["on_path"]), (&json!("hello there\nand more"), &json!(true)));
        assert_eq!(node["workspace"]["id"], namespace.as_str());
        assert!(!node["children"].as_array().unwrap().is_empty());
    }
    let rooted = world.read(&format!("/api/session/history/{}", text(&history[0], "/parent")));
    assert_eq!((&rooted["type"], &rooted["content"]), (&json!("root"), &boot(&world)["reply"]));
    for missing in [format!("{namespace}-0099"), "nothing".into(), "%23999".into(), "..%2F..".into()] {
        let response = world.get(&format!("/api/session/history/{missing}"));
        assert_eq!((response.status, response.kind().as_str()), (404, "not-found"), "{missing}");
    }
    assert_eq!(world.read("/api/session/history?limit=1")["history"][0]["role"], "assistant");
}

#[test]
fn c9_another_answer_leaves_the_first_as_a_branch() {
    let world = World::start();
    chat(&world, "first");
    let again = done(&world.post("/api/chat", &json!({"message": "better", "replace_last": true})));
    let history = &again["vm_history"].as_array().unwrap()[1..];
    assert_eq!((history.len(), &history[0]["content"]), (2, &json!("better")));
    // What was left out is not counted.
    assert_eq!(world.read(INFO)["history_length"], 3);
    assert_eq!(world.read("/api/session/history")["history_length"], 3);
    // Numbers are not used again.
    let namespace = text(&world.read(INFO), "/history_namespace").to_owned();
    assert_eq!(history[0]["id"], format!("{namespace}-0003"));
    let first = world.read(&format!("/api/session/history/{namespace}-0001"));
    assert_eq!((&first["content"], &first["on_path"]), (&json!("first"), &json!(false)));
    assert_eq!(first["parent"], history[0]["parent"]);
}

#[test]
fn c9_what_was_said_last_stays_when_no_turn_can_be_run_in_its_place() {
    let world = World::start();
    chat(&world, "first");
    let history = || world.read("/api/session/history")["history"].clone();
    let before = history();
    for _ in 0..2 {
        // Only when it is made ready does it turn out that it cannot be run.
        let late = json!({"message": "better", "replace_last": true, "model": "none/late"});
        assert_eq!(world.post("/api/chat", &late).status, 400);
        assert_eq!(history(), before);
    }
}

#[test]
fn e3_a_chat_is_streamed_when_both_sides_want_it() {
    const CALLING: &str = "answers = [\n\
        { steps = [{ call = { id = \"c1\", name = \"glob\", arguments = { pattern = \"*\" } } }] },\n\
        { steps = [{ text = [\"two \", \"words\"] }] },\n]";
    let world = World::with(CALLING, Limits::default());
    world.allow_everything();
    let request = world.request("POST", "/api/chat").header("accept", "text/event-stream");
    let events = request.json(&json!({"message": "hello", "stream": true})).events(world.address);
    let told: Vec<Value> = events.map(|event| event.data).collect();
    let kinds: Vec<&str> = told.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["tool_started", "tool_completed", "token", "token", "final", "stop"], "{told:#?}");
    assert_eq!((&told[0]["tool_name"], &told[1]["status"]), (&json!("glob"), &json!("success")));
    assert!(told[1]["duration_ms"].is_u64());
    let payload = &told[4]["payload"];
    assert_eq!((&payload["reply"], &payload["tool_calls"][0]["tool_name"]), (&json!("two words"), &json!("glob")));
    assert_eq!(payload["tool_calls"][0]["success"], true);
    // The result is a node, with what the tool was given.
    let tool = payload["vm_history"].as_array().unwrap().iter().find(|node| node["role"] == "tool").unwrap();
    let node = world.read(&format!("/api/session/history/{}", text(tool, "/id")));
    assert_eq!((&node["name"], &node["input"]), (&json!("glob"), &json!({"pattern": "*"})));
    // Only one of the two is not enough.
    let plain = world.post("/api/chat", &json!({"message": "hello", "stream": true}));
    assert_eq!((plain.status, plain.header("content-type")), (200, Some("application/json")));
}

#[test]
fn a_chat_that_is_sent_again_is_told_at_once_what_came_of_it() {
    let mut world = World::start();
    let send = |world: &World| {
        let request = world.request("POST", "/api/chat").header("accept", "text/event-stream");
        let request = request.header("idempotency-key", "k").json(&json!({"message": "hello", "stream": true}));
        let began = std::time::Instant::now();
        let told: Vec<Value> = request.events(world.address).map(|event| event.data).collect();
        assert!(began.elapsed() < Duration::from_secs(8), "nobody waits for a heartbeat: {:?}", began.elapsed());
        told
    };
    let first = send(&world);
    for _ in 0..2 {
        let again = send(&world);
        let kinds: Vec<&str> = again.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["final", "stop"]);
        assert_eq!(again[0]["payload"]["run"], first[first.len() - 2]["payload"]["run"]);
        world.restart();
    }
}

#[test]
fn slides_that_were_not_allowed_are_none() {
    const SLIDES: &str = "answers = [\n\
        { steps = [{ call = { id = \"c1\", name = \"slides\", arguments = { title = \"One\", slides = [{ title = \"first\" }] } } }] },\n\
        { steps = [{ text = \"done\" }] },\n]";
    let world = World::with(SLIDES, Limits::default());
    let denied = chat(&world, "make slides");
    assert_eq!((&denied["tool_calls"][0]["success"], &denied["ppt_slides"]), (&json!(false), &json!([])));
    world.allow_everything();
    let made = chat(&world, "make them now");
    assert_eq!(made["tool_calls"][0]["success"], true, "{made:#}");
    assert_eq!(made["ppt_slides"][0]["title"], "first");
}

#[test]
fn i4_a_chat_is_answered_however_long_the_turn_takes() {
    let script = "answers = [{ steps = [{ delay_ms = 4000 }, { text = \"at last\" }] }]";
    let world = World::with(script, Limits { request: Duration::from_secs(3), ..Limits::default() });
    assert_eq!(chat(&world, "take your time")["reply"], "at last");
    // What does not come in is not waited for that long.
    let head = format!(
        "POST /api/chat HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{{",
        world.address, world.token
    );
    assert_eq!(raw(world.address, head.as_bytes()).unwrap().status, 503);
}

#[test]
fn i7_a_chat_that_cannot_be_had_says_why() {
    let world = World::start();
    let blank = world.post("/api/chat", &json!({"message": " \n"}));
    assert_eq!((blank.status, blank.kind().as_str()), (422, "invalid"));
    assert_eq!(world.post("/api/chat", &json!({})).status, 422);
    let unequipped = world.post("/api/chat", &json!({"message": "hello", "model": "none/none"}));
    assert_eq!((unequipped.status, unequipped.kind().as_str()), (400, "usage"));
    let streamed = world.request("POST", "/api/chat").header("accept", "text/event-stream");
    let body = json!({"message": "hello", "model": "none/none", "stream": true, "replace_last": true});
    let streamed = streamed.json(&body).send(world.address);
    assert_eq!((streamed.status, streamed.kind().as_str()), (400, "usage"));
    let long = "x".repeat(129);
    for wrong in ["%00", "a%0Ab", long.as_str()] {
        assert_eq!(world.get(&format!("{INFO}?client_id={wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn g8_files_go_back_and_the_conversation_stays() {
    let world = World::start();
    chat(&world, "first");
    let directory = root(&world);
    fs::write(directory.join("mnt/a"), "old").unwrap();
    let kept = done(&world.post(SNAPSHOTS, &json!({"label": "  two\n words "})));
    assert_eq!(kept["snapshots"][0]["label"], "two words");
    let id = text(&kept, "/snapshot_id").to_owned();
    fs::write(directory.join("mnt/a"), "new").unwrap();
    fs::write(directory.join("mnt/b"), "also new").unwrap();
    assert_eq!(world.read(INFO)["workspace_state"]["git"]["is_dirty"], true);
    let newer = text(&done(&world.post(SNAPSHOTS, &json!({}))), "/snapshot_id").to_owned();
    let restored = done(&world.post(RESTORE, &json!({"snapshot_id": id})));
    assert_eq!((&restored["restored"], &restored["latest_snapshot"]), (&json!(id), &json!(id)));
    assert_eq!(fs::read_to_string(directory.join("mnt/a")).unwrap(), "old");
    assert!(!directory.join("mnt/b").exists() && directory.join("tmp").is_dir());
    // What is newer stays, and can be gone back to by a part of its name.
    let state = world.read(SNAPSHOTS);
    assert_eq!(labels(&state), ["Workspace snapshot", "two words", "After: first", "Initial workspace state"]);
    assert_eq!((&state["latest_snapshot"], &state["git"]["is_dirty"]), (&json!(id), &json!(false)));
    assert_eq!(world.read(INFO)["history_length"], 3);
    done(&world.post(RESTORE, &json!({"snapshot_id": &newer[..12]})));
    assert_eq!(fs::read_to_string(directory.join("mnt/b")).unwrap(), "also new");
    let listed = world.read(&format!("{SNAPSHOTS}?limit=1"));
    assert_eq!(labels(&listed), ["Workspace snapshot"]);
}

#[test]
fn g10_every_bad_snapshot_id_is_one_wrong_request() {
    let world = World::start();
    let unknown = "f".repeat(40);
    let ids = ["", "x", "zzzz", "../..", "HEAD", "--help", "deadbeef", unknown.as_str(), "\u{0}", "é"];
    for when in ["before there is a session", "afterwards"] {
        for id in ids {
            let response = world.post(RESTORE, &json!({"snapshot_id": id}));
            assert_eq!((response.status, response.kind().as_str()), (400, "usage"), "{id:?} {when}");
        }
        assert_eq!(world.post(RESTORE, &json!({"branch": "unknown"})).status, 400);
        assert_eq!(world.post(RESTORE, &json!({})).status, 422);
        assert_eq!(world.post(RESTORE, &json!({"snapshot_id": null})).status, 422);
        boot(&world);
    }
    let long = world.post(SNAPSHOTS, &json!({"label": "x".repeat(201)}));
    assert_eq!((long.status, long.kind().as_str()), (422, "invalid"));
    assert_eq!(world.post("/api/session/workspace/branch", &json!({"branch": ".."})).status, 422);
}

#[test]
fn g12_a_name_stands_for_a_snapshot_and_can_be_moved() {
    const BRANCH: &str = "/api/session/workspace/branch";
    let world = World::start();
    boot(&world);
    let file = root(&world).join("mnt/a");
    let mut ids = Vec::new();
    for content in ["one", "two"] {
        fs::write(&file, content).unwrap();
        ids.push(text(&done(&world.post(SNAPSHOTS, &json!({}))), "/snapshot_id").to_owned());
    }
    let named = done(&world.post(BRANCH, &json!({"branch": "conv 1", "snapshot_id": ids[0]})));
    assert_eq!((&named["branch"], &named["git"]["branch"]), (&json!("conv-1"), &Value::Null));
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
    let restored = done(&world.post(RESTORE, &json!({"branch": "conv 1"})));
    assert_eq!((&restored["git"]["branch"], &restored["restored"]), (&json!("conv-1"), &json!(ids[0])));
    assert_eq!(fs::read_to_string(&file).unwrap(), "one");
    done(&world.post(BRANCH, &json!({"branch": "conv 1", "snapshot_id": ids[1], "checkout": true})));
    assert_eq!(fs::read_to_string(&file).unwrap(), "two");
    assert_eq!(world.read(SNAPSHOTS)["branches"], json!({"conv-1": ids[1]}));
}

#[test]
fn a21_starting_over_takes_history_and_workspace_and_numbers_anew() {
    let world = World::start();
    let nothing = done(&world.delete("/api/session/history"));
    assert_eq!((&nothing["history_cleared"], &nothing["cleared_messages"]), (&json!(true), &json!(0)));
    let answer = chat(&world, "a secret word");
    let (old, directory) = (text(&answer, "/vm_history/1/id").to_owned(), root(&world));
    fs::write(directory.join("mnt/a"), "gone soon").unwrap();
    let reset = done(&world.delete("/api/session/history"));
    assert_eq!((&reset["history_cleared"], &reset["cleared_messages"]), (&json!(true), &json!(2)));
    assert_eq!((&reset["workspace"]["removed"], &reset["vm"]["booted"]), (&json!(true), &json!(false)));
    assert!(!directory.exists());
    let left = World::logs(world.home.path());
    assert!(!left.iter().any(|log| log.contains("secret word")), "{left:?}");
    assert_eq!(world.get(&format!("/api/session/history/{old}")).status, 404);
    assert_eq!(world.read(INFO)["history_length"], 0);
    let after = chat(&world, "anew");
    let new = text(&after, "/vm_history/1/id");
    assert!(new != old && new.ends_with("-0001"), "{old} {new}");
    assert!(root(&world).join("mnt").is_dir() && !directory.join("mnt/a").exists());
    assert_eq!(world.get(&format!("/api/session/history/{old}")).status, 404);
    assert_eq!(boot(&world)["booted"], true);
}

#[test]
fn a21_nothing_is_erased_while_a_turn_runs() {
    const ENDLESS: &str = "answers = [{ steps = [{ text = \"one \" }, { hang = true }] }]";
    let world = World::with(ENDLESS, Limits::default());
    let request = world.request("POST", "/api/chat").header("accept", "text/event-stream");
    let mut events = request.json(&json!({"message": "go", "stream": true})).events(world.address);
    assert!(events.any(|event| event.data["type"] == "token"));
    for busy in [
        world.delete("/api/session/history"),
        world.post("/api/chat", &json!({"message": "me too"})),
        world.post("/api/chat", &json!({"message": "me too", "replace_last": true})),
    ] {
        assert_eq!((busy.status, busy.kind().as_str()), (409, "busy"));
    }
    assert_eq!(world.read(INFO)["history"][1]["content"], "go");
}

#[test]
fn i8_clients_do_not_see_each_other() {
    let world = World::start();
    let asked =
        |client: &str, target: &str| world.request("GET", target).header("x-okc-client-id", client).send(world.address);
    let ours =
        done(&world.request("POST", "/api/chat?client_id=ada").json(&json!({"message": "hi"})).send(world.address));
    let (node, snapshot) = (text(&ours, "/vm_history/1/id"), text(&ours, "/workspace_state/latest_snapshot"));
    assert_eq!(asked("ada", &format!("/api/session/history/{node}")).status, 200);
    // The header, the cookie and the query all say who asks; another token is another owner.
    let cookie = world.request("GET", INFO).header("cookie", "x=1; okc_client_id=ada").send(world.address).json();
    assert_eq!((&cookie["client_id"], &cookie["history_length"]), (&json!("ada"), &json!(3)));
    for other in ["", "eve", "default", "ADA"] {
        assert_eq!(asked(other, &format!("/api/session/history/{node}")).status, 404, "{other}");
        assert_eq!(asked(other, INFO).json()["history_length"], 0, "{other}");
        let request = world.request("POST", &format!("{RESTORE}?client_id={other}"));
        let restored = request.json(&json!({"snapshot_id": snapshot})).send(world.address);
        assert_eq!(restored.status, 400, "{other}");
    }
    let theirs = world.as_bob("GET", &format!("/api/session/history/{node}?client_id=ada")).send(world.address);
    assert_eq!(theirs.status, 404);
    let bob = world.as_bob("POST", "/api/session/boot?client_id=ada").json(&json!({})).send(world.address).json();
    assert_ne!(bob["vm"]["session"], ours["run"]);
    assert_eq!(bob["vm"]["history_length"], 1);
    assert_ne!(bob["workspace_state"]["paths"]["internal_root"], ours["workspace_state"]["paths"]["internal_root"]);
    assert_eq!(asked("ada", INFO).json()["history_length"], 3);
}

#[test]
fn roles_hold_for_the_workbench_too() {
    let world = World::start();
    boot(&world);
    let send = |token: &str, method: &str, target: &str, body: Value| {
        let request = crate::http::Request::new(method, target).header("authorization", &format!("Bearer {token}"));
        request.json(&body).send(world.address).status
    };
    let (viewer, prompter) = (world.viewer.as_str(), world.prompter.as_str());
    assert_eq!(send(viewer, "GET", INFO, json!({})), 200);
    assert_eq!(send(viewer, "POST", "/api/chat", json!({"message": "x"})), 403);
    assert_eq!(send(viewer, "PUT", "/api/conversations/c1", json!({})), 403);
    assert_eq!(send(prompter, "POST", "/api/chat", json!({"message": "x"})), 200);
    assert_eq!(send(prompter, "PUT", "/api/conversations/c1", json!({})), 201);
    assert_eq!(send(prompter, "POST", RESTORE, json!({"snapshot_id": "x"})), 403);
    assert_eq!(send(prompter, "DELETE", "/api/session/history", json!({})), 403);
    assert_eq!(send(prompter, "DELETE", "/api/conversations/c1", json!({})), 403);
}
