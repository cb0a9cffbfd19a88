//! Conversations over HTTP: whole trees that clients send, laid over the trees of sessions.

use std::fs;

use serde_json::{Value, json};

use crate::http::Response;
use crate::world::World;

fn message(id: &str, role: &str, content: &str) -> Value {
    json!({"id": id, "role": role, "content": content, "timestamp": "2026-01-01T00:00:00Z", "pending": false})
}

/// Two exchanges.
fn talk() -> Vec<Value> {
    vec![
        message("m1", "user", "question"),
        message("m2", "assistant", "answer"),
        message("m3", "user", "more"),
        message("m4", "assistant", "of it"),
    ]
}

fn saved(response: &Response) -> Value {
    assert!(matches!(response.status, 200 | 201), "{}", String::from_utf8_lossy(&response.body));
    response.json()["conversation"].clone()
}

fn ids(conversation: &Value) -> Vec<&str> {
    conversation["messages"].as_array().unwrap().iter().map(|message| message["id"].as_str().unwrap()).collect()
}

/// What the session shows, whoever asks.
fn path(world: &World, session: &str) -> Vec<String> {
    let told = world.read(&format!("/api/v1/sessions/{session}/messages"));
    told["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

fn count(world: &World, session: &str) -> usize {
    let told = world.read(&format!("/api/v1/sessions/{session}/tree"));
    told["entries"].as_array().unwrap().iter().filter(|entry| entry["type"] == "message").count()
}

#[test]
fn i4_a_conversation_is_kept_as_it_was_sent_and_is_a_session() {
    let world = World::start();
    let payload = json!({
        "id": "conv-1", "title": "  First  one ", "createdAt": "2026-01-01T00:00:00Z", "messages": talk(),
        "branches": {}, "outputs": {"modelLogs": [1.5e3], "webPreview": null}, "unknown": {"kept": "ü"},
    });
    let first = world.post("/api/conversations", &payload);
    assert_eq!(first.status, 201);
    let first = saved(&first);
    assert_eq!((&first["messages"], &first["outputs"]), (&payload["messages"], &payload["outputs"]));
    assert_eq!((&first["unknown"], &first["title"]), (&payload["unknown"], &json!("First one")));
    assert_eq!(first["createdAt"], "2026-01-01T00:00:00.000Z");
    assert_eq!(saved(&world.get("/api/conversations/conv-1")), first);
    assert_eq!(world.read("/api/conversations")["conversations"], json!([first]));
    assert_eq!(path(&world, "conv-1"), ["question", "answer", "more", "of it"]);
    let session = world.read("/api/v1/sessions/conv-1");
    assert_eq!(
        (&session["session"]["title"], &session["session"]["state"]),
        (&json!("First one"), &json!("published"))
    );
    assert_eq!(world.get("/api/conversations/conv-2").status, 404);
}

#[test]
fn i4_a_conversation_is_spelled_as_it_was_sent() {
    let mut world = World::start();
    let send = |world: &World, method: &str, target: &str, body: &str| {
        let mut request = world.request(method, target).header("content-type", "application/json");
        request.body = body.as_bytes().to_vec();
        let response = request.send(world.address);
        let text = String::from_utf8(response.body.clone()).unwrap();
        assert!(matches!(response.status, 200 | 201), "{text}");
        text
    };
    let kept = [
        r#""n":12345678901234567890123"#,
        r#""d":1.50"#,
        r#""z":-0"#,
        r#""e":1e400"#,
        r#""twice":1,"twice":2"#,
        r#""title":"cut \ud83d""#,
        r#""messages":[{"id":"m1","role":"user","content":"\ud83d lone","n":0.10}]"#,
        r#""workspace":{"odd":1.0,"git":{"more":2E0,"commit":"abc"}}"#,
    ];
    let body = format!("{{{}}}", kept.join(",\n  ").replace(",\"twice\":2", ",\n\"twice\":2"));
    let told = |text: &str| {
        for kept in kept {
            assert!(text.contains(kept), "{kept} is not in {text}");
        }
    };
    told(&send(&world, "PUT", "/api/conversations/c", &body));
    told(&send(&world, "POST", "/api/conversations", &body.replacen('{', "{\"id\":\"d\",", 1)));
    world.restart();
    told(&send(&world, "GET", "/api/conversations/c", ""));
    told(&send(&world, "GET", "/api/conversations", ""));
    // What can be shown of a message is what the session shows, and it is known again.
    assert_eq!(path(&world, "c"), ["\u{fffd} lone"]);
    told(&send(&world, "PUT", "/api/conversations/c", &body));
    assert_eq!((path(&world, "c").len(), count(&world, "c")), (1, 1));
    assert_eq!(world.read("/api/v1/sessions/c/doctor")["findings"], json!([]));
}

#[test]
fn x26_saving_again_moves_the_time_and_writes_no_message_twice() {
    let world = World::start();
    let payload = json!({"messages": talk(), "updatedAt": "2020-01-01T00:00:00Z"});
    let first = saved(&world.put("/api/conversations/c", &payload));
    assert_eq!((&first["id"], &first["updatedAt"]), (&json!("c"), &json!("2020-01-01T00:00:00.000Z")));
    let again = world.put("/api/conversations/c", &payload);
    assert_eq!(again.status, 200);
    let again = saved(&again);
    assert!(again["updatedAt"].as_str() > first["updatedAt"].as_str(), "{again:#}");
    assert_eq!((&again["createdAt"], count(&world, "c")), (&first["createdAt"], 4));
    // The path says what it is called, whatever the payload says.
    let other = saved(&world.put("/api/conversations/c", &json!({"id": "d", "title": "renamed"})));
    assert_eq!(
        (&other["id"], &other["title"], ids(&other)),
        (&json!("c"), &json!("renamed"), vec!["m1", "m2", "m3", "m4"])
    );
    assert_eq!(world.get("/api/conversations/d").status, 404);
    assert_eq!(count(&world, "c"), 4);
}

#[test]
fn what_is_saved_as_nothing_leaves_what_there_is() {
    let world = World::start();
    let nothing = json!({"title": "mine", "messages": null, "branches": null});
    let at = "/api/conversations/conv-1";
    let save = |payload: &Value| saved(&world.request("PUT", at).json(payload).send(world.address));
    let new = save(&nothing);
    assert_eq!((&new["messages"], &new["branches"]), (&json!([]), &json!({})));
    save(&json!({"messages": talk()}));
    let later = save(&nothing);
    assert_eq!(ids(&later), ["m1", "m2", "m3", "m4"]);
    assert_eq!(saved(&world.get(at)), later);
    assert_eq!(world.read("/api/conversations")["conversations"], json!([later]));
}

#[test]
fn c8_an_edited_message_becomes_a_branch() {
    let world = World::start();
    saved(&world.put("/api/conversations/c", &json!({"messages": talk()})));
    let edited =
        vec![message("m1", "user", "question"), message("m2", "assistant", "answer"), message("m3", "user", "less")];
    let payload = json!({
        "messages": edited,
        "branches": {"m3": {"activeIndex": 1, "versions": [{"id": "v1", "messages": talk()}, {"id": "v2", "messages": edited}]}},
    });
    saved(&world.put("/api/conversations/c", &payload));
    assert_eq!(path(&world, "c"), ["question", "answer", "less"]);
    assert_eq!(count(&world, "c"), 5);
    let leaves = world.read("/api/v1/sessions/c")["session"]["leaves"].as_array().unwrap().len();
    assert_eq!(leaves, 2);
    // Back to the first version: nothing is new.
    let payload = json!({"messages": talk(), "branches": payload["branches"]});
    let back = saved(&world.put("/api/conversations/c", &payload));
    assert_eq!((ids(&back), count(&world, "c")), (vec!["m1", "m2", "m3", "m4"], 5));
    assert_eq!(path(&world, "c"), ["question", "answer", "more", "of it"]);
}

#[test]
fn c10_another_order_is_kept_and_moves_nothing() {
    let world = World::start();
    let mut order = talk();
    saved(&world.put("/api/conversations/c", &json!({"messages": order})));
    order.swap(1, 2);
    let reordered = saved(&world.put("/api/conversations/c", &json!({"messages": order})));
    assert_eq!(ids(&reordered), ["m1", "m3", "m2", "m4"]);
    assert_eq!(
        (count(&world, "c"), path(&world, "c")),
        (4, vec!["question".into(), "answer".into(), "more".into(), "of it".into()])
    );
    // The order holds when the session goes on elsewhere, and what is new comes behind it.
    world.append("c", &["from elsewhere"]);
    let grown = saved(&world.get("/api/conversations/c"));
    assert_eq!(ids(&grown)[..4], ["m1", "m3", "m2", "m4"]);
    assert_eq!(grown["messages"][4]["content"], "from elsewhere");
}

#[test]
fn x26_what_is_missing_is_hidden_and_never_erased() {
    let world = World::start();
    saved(&world.put("/api/conversations/c", &json!({"messages": talk()})));
    let fewer = [talk()[0].clone(), talk()[2].clone()];
    let hidden = saved(&world.put("/api/conversations/c", &json!({"messages": fewer})));
    assert_eq!((ids(&hidden), count(&world, "c")), (vec!["m1", "m3"], 4));
    world.append("c", &["later"]);
    let grown = saved(&world.get("/api/conversations/c"));
    assert_eq!((ids(&grown).len(), &grown["messages"][2]["content"]), (3, &json!("later")));
    let none = saved(&world.put("/api/conversations/c", &json!({"messages": []})));
    assert_eq!((&none["messages"], path(&world, "c")), (&json!([]), vec![]));
    let back = saved(&world.put("/api/conversations/c", &json!({"messages": talk()})));
    assert_eq!((ids(&back), count(&world, "c")), (vec!["m1", "m2", "m3", "m4"], 5));
    // What was saved last is taken back like everything else.
    assert_eq!(world.post("/api/v1/sessions/c/undo", &json!({})).status, 200);
    assert_eq!(saved(&world.get("/api/conversations/c"))["messages"], json!([]));
}

#[test]
fn x26_a_save_that_expects_another_log_is_a_conflict() {
    let world = World::start();
    let put = |position: &str, text: &str| {
        let request = world.request("PUT", "/api/conversations/c").header("if-match", position);
        request.json(&json!({"messages": [message("m1", "user", text)]})).send(world.address)
    };
    assert_eq!(put("\"7\"", "new").status, 412, "it is not there yet");
    let first = world.put("/api/conversations/c", &json!({"messages": [message("m1", "user", "one")]}));
    let tag = first.header("etag").unwrap().to_owned();
    let second = put(&tag, "two");
    assert_eq!(second.status, 200);
    let late = put(&tag, "three");
    assert_eq!((late.status, late.kind().as_str()), (412, "conflict"));
    assert_eq!(path(&world, "c"), ["two"]);
}

#[test]
fn x26_many_who_save_at_once_lose_nothing() {
    let world = World::start();
    saved(&world.put("/api/conversations/c", &json!({"messages": talk()})));
    std::thread::scope(|scope| {
        for at in 0..6 {
            let (world, mut list) = (&world, talk());
            list.push(message(&format!("own-{at}"), "user", &format!("own {at}")));
            list.push(message("shared", "user", "shared"));
            scope.spawn(move || saved(&world.put("/api/conversations/c", &json!({"messages": list}))));
        }
    });
    let tree = world.read("/api/v1/sessions/c/tree").to_string();
    for at in 0..6 {
        assert!(tree.contains(&format!("own {at}")), "{at}");
    }
    assert_eq!(count(&world, "c"), 4 + 12);
}

#[test]
fn i7_what_is_no_conversation_is_refused_and_leaves_nothing() {
    let world = World::start();
    let long = "x".repeat(65);
    for (payload, status) in [
        (json!({"title": "no id"}), 422),
        (json!({"id": "  "}), 422),
        (json!({"id": long}), 422),
        (json!({"id": "a\u{7}b"}), 422),
        (json!({"id": "c", "messages": {}}), 422),
        (json!({"id": "c", "messages": ["text"]}), 422),
        (json!({"id": "c", "messages": [{"content": 7}]}), 422),
        (json!({"id": "c", "messages": [], "branches": []}), 422),
        (json!({"id": "c", "title": 7}), 422),
        (json!([]), 422),
    ] {
        let response = world.post("/api/conversations", &payload);
        assert_eq!(response.status, status, "{payload}: {}", String::from_utf8_lossy(&response.body));
    }
    assert_eq!(world.read("/api/conversations")["total"], 0);
    // Names that are no names of files are names all the same.
    for id in ["会话-1", "../../etc", "a b", "x_y"] {
        let payload = json!({"id": id, "messages": [message("#1", "user", id), message("#1", "assistant", "twice")]});
        assert_eq!(saved(&world.post("/api/conversations", &payload))["id"], id);
        let encoded: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let found = saved(&world.get(&format!("/api/conversations/{encoded}")));
        assert_eq!((ids(&found), &found["messages"][0]["content"]), (vec!["#1", "#1"], &json!(id)));
        assert_eq!(saved(&world.post("/api/conversations", &payload))["messages"], payload["messages"]);
    }
    assert_eq!(world.read("/api/conversations")["total"], 4);
}

#[test]
fn i8_a_conversation_of_another_client_is_not_there_and_not_overwritten() {
    let world = World::start();
    saved(&world.put("/api/conversations/c?client_id=ada", &json!({"messages": talk(), "title": "private"})));
    let before = path(&world, "c");
    for target in ["/api/conversations/c", "/api/conversations/c?client_id=eve"] {
        assert_eq!(world.get(target).status, 404);
        assert_eq!(world.delete(target).status, 404);
        let taken = world.put(target, &json!({"title": "mine"}));
        assert_eq!((taken.status, taken.kind().as_str()), (409, "conflict"));
        assert!(!String::from_utf8_lossy(&taken.body).contains("private"));
    }
    let bob = world.as_bob("PUT", "/api/conversations/c?client_id=ada").json(&json!({"title": "mine"}));
    assert_eq!(bob.send(world.address).status, 409);
    for (client, total) in [("ada", 1), ("eve", 0), ("default", 0)] {
        assert_eq!(world.read(&format!("/api/conversations?client_id={client}"))["total"], total, "{client}");
    }
    assert_eq!(world.as_bob("GET", "/api/conversations?client_id=ada").send(world.address).json()["total"], 0);
    assert_eq!(path(&world, "c"), before);
}

#[test]
fn g13_the_state_of_the_workspace_is_filled_in_and_seen_by_the_home() {
    let world = World::start();
    let reported = json!({
        "paths": {"internalRoot": "/elsewhere", "mount": "/mnt/x", "sessionId": "s-1"},
        "git": {"head": "abc1234", "is_dirty": "yes"},
    });
    let told = saved(&world.put("/api/conversations/c", &json!({"messages": talk(), "workspace": reported})));
    assert_eq!(told["workspace"]["git"]["commit"], "abc1234");
    assert_eq!(told["workspace"]["git"]["is_dirty"], true);
    assert_eq!(told["workspace"]["paths"]["internal_root"], "/elsewhere");
    assert_eq!(told["workspace"]["paths"]["session_id"], "s-1");
    // A later payload that does not say so is told so.
    let bare = saved(&world.put("/api/conversations/c", &json!({"messages": talk()})));
    assert_eq!(bare["workspace"]["git"], json!({"commit": "abc1234", "is_dirty": true}));
    assert_eq!(bare["workspace"]["paths"]["mount"], "/mnt/x");
    // What the home can look at itself counts, whatever is reported.
    world.post("/api/session/boot", &json!({}));
    let state = world.read("/api/session/info")["workspace_state"].clone();
    let workspace = json!({"paths": state["paths"], "git": {"commit": "wrong", "is_dirty": true}});
    let seen = saved(&world.put("/api/conversations/d", &json!({"messages": talk(), "workspace": workspace})));
    assert_eq!(seen["workspace"]["git"], json!({"commit": state["latest_snapshot"], "is_dirty": false}));
    // It is looked at whenever it is told, not only when it was saved.
    let root = std::path::PathBuf::from(state["paths"]["internal_root"].as_str().unwrap());
    fs::write(root.join("mnt/new"), "makes it dirty").unwrap();
    let changed = json!({"commit": state["latest_snapshot"], "is_dirty": true});
    assert_eq!(saved(&world.get("/api/conversations/d"))["workspace"]["git"], changed);
    let listed = world.read("/api/conversations")["conversations"].clone();
    let listed = listed.as_array().unwrap().iter().find(|one| one["id"] == "d").unwrap();
    assert_eq!(listed["workspace"]["git"], changed);
    assert_eq!(saved(&world.get("/api/conversations/c"))["workspace"]["git"]["commit"], "abc1234");
}

#[test]
fn a20_deleting_takes_the_workspace_that_was_made_for_it_and_no_other() {
    let world = World::start();
    let chatted = world.post("/api/chat", &json!({"message": "hi"})).json();
    let paths = chatted["workspace_state"]["paths"].clone();
    let root = std::path::PathBuf::from(paths["internal_root"].as_str().unwrap());
    let site = root.join("deployments").join(world.read("/api/session/info")["session"].as_str().unwrap()).join("site");
    fs::create_dir_all(&site).unwrap();
    let own = tempfile::tempdir().unwrap();
    let outside = json!({"paths": {"internal_root": own.path(), "session_id": paths["session_id"]}});
    saved(&world.put("/api/conversations/mine", &json!({"messages": talk(), "workspace": outside})));
    saved(&world.put("/api/conversations/ours", &json!({"messages": talk(), "workspace": {"paths": paths}})));
    saved(&world.put("/api/conversations/bare", &json!({"messages": talk()})));
    let deleted = |id: &str| {
        let response = world.delete(&format!("/api/conversations/{id}"));
        assert_eq!(response.status, 200, "{}", String::from_utf8_lossy(&response.body));
        response.json()
    };
    let refused = deleted("mine");
    assert_eq!((&refused["deleted"], &refused["workspace"]["removed"]), (&json!(true), &json!(false)));
    assert!(refused["workspace"]["error"].is_string() && own.path().exists() && root.exists());
    assert_eq!(deleted("bare")["workspace"], json!({"removed": false}));
    let cleared = deleted("ours");
    assert_eq!((&cleared["workspace"]["removed"], &cleared["workspace"]["path"]), (&json!(true), &json!(root)));
    assert_eq!(cleared["workspace"]["deployments_removed"].as_array().unwrap().len(), 1);
    assert!(!root.exists());
    for gone in ["mine", "ours", "bare"] {
        assert_eq!(world.get(&format!("/api/conversations/{gone}")).status, 404);
        assert_eq!(world.delete(&format!("/api/conversations/{gone}")).status, 404);
    }
    // The history of the session is still there, and the next chat has a place to work in again.
    assert_eq!(world.read("/api/session/info")["history_length"], 3);
    world.post("/api/session/boot", &json!({}));
    assert!(root.join("mnt").is_dir());
    // Deleting the session itself takes its workspace along.
    let session = world.read("/api/session/info")["session"].as_str().unwrap().to_owned();
    assert_eq!(deleted(&session)["workspace"]["removed"], true);
    assert!(!root.exists());
    assert_eq!(world.read("/api/session/info")["session"], Value::Null);
}

#[test]
fn a20_a_workspace_that_a_later_save_does_not_mention_goes_with_its_conversation() {
    let world = World::start();
    let chatted = world.post("/api/chat", &json!({"message": "hi"})).json();
    let paths = chatted["workspace_state"]["paths"].clone();
    let root = std::path::PathBuf::from(paths["internal_root"].as_str().unwrap());
    saved(&world.put("/api/conversations/c", &json!({"messages": talk(), "workspace": {"paths": paths}})));
    fs::write(root.join("mnt/new"), "makes it dirty").unwrap();
    let renamed = saved(&world.put("/api/conversations/c", &json!({"title": "renamed"})));
    assert_eq!(renamed["workspace"]["paths"]["internal_root"], json!(root));
    assert_eq!(renamed["workspace"]["git"]["is_dirty"], true, "what the home can see is looked at again");
    let deleted = world.delete("/api/conversations/c").json();
    assert_eq!((&deleted["workspace"]["removed"], &deleted["workspace"]["path"]), (&json!(true), &json!(root)));
    assert!(!root.exists());
}

#[test]
fn g13_a_workspace_has_one_name_and_its_state_wherever_it_is_told() {
    let world = World::start();
    world.post("/api/chat", &json!({"message": "hi"}));
    let state = world.read("/api/session/info")["workspace_state"].clone();
    let listed = world.read("/api/conversations")["conversations"][0].clone();
    assert_eq!(listed["workspace"]["paths"]["session_id"], state["paths"]["session_id"]);
    assert_eq!(listed["workspace"]["git"], json!({"commit": state["latest_snapshot"], "is_dirty": false}));
    // What the list says can be saved, and names the workspace then.
    let root = std::path::PathBuf::from(state["paths"]["internal_root"].as_str().unwrap());
    let body = json!({"messages": talk(), "workspace": listed["workspace"]});
    saved(&world.put("/api/conversations/copy", &body));
    assert_eq!(world.delete("/api/conversations/copy").json()["workspace"]["removed"], true);
    assert!(!root.exists());
}

#[test]
fn i4_sessions_of_other_surfaces_are_conversations_of_the_default_client() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["from elsewhere"]);
    let told = saved(&world.get(&format!("/api/conversations/{session}")));
    assert_eq!((&told["title"], &told["messages"][0]["content"]), (&json!("a session"), &json!("from elsewhere")));
    // Sent back as it is, it stays as it is.
    let again = saved(&world.put(&format!("/api/conversations/{session}"), &told));
    assert_eq!((again["messages"] == told["messages"], count(&world, &session)), (true, 1));
    let page = world.read("/api/conversations?limit=1&offset=1");
    assert_eq!((&page["total"], &page["conversations"]), (&json!(1), &json!([])));
}

#[test]
fn what_must_be_there_is_not_made() {
    let world = World::start();
    let payload = json!({"id": "chosen", "title": "t", "messages": []});
    let save = |method: &str, target: &str| {
        let request = world.request(method, target).header("if-match", "*").json(&payload);
        request.send(world.address).status
    };
    let target = "/api/conversations/chosen";
    assert_eq!((save("PUT", target), save("POST", "/api/conversations")), (412, 412));
    assert_eq!(world.get(target).status, 404);
    assert_eq!(world.put(target, &payload).status, 201);
    assert_eq!((save("PUT", target), save("POST", "/api/conversations")), (200, 200));
}
