//! What belongs to one owner is not there for another.

use serde_json::json;

use crate::http::Request;
use crate::world::{LEADING, World, message};

#[test]
fn i8_a_session_of_another_owner_does_not_exist() {
    let world = World::start();
    let ours = world.session();
    world.append(&ours, &["a very private word"]);
    let made = world.as_bob("POST", "/api/v1/sessions").json(&json!({"title": "bob's"})).send(world.address);
    let theirs = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let entries = json!({"entries": [message("a word of bob")]});
    let path = format!("/api/v1/sessions/{theirs}/entries");
    assert_eq!(world.as_bob("POST", &path).json(&entries).send(world.address).status, 201);

    // What cannot be had looks like what is not there.
    let theirs_for_us = world.get(&format!("/api/v1/sessions/{theirs}"));
    let unknown = world.get("/api/v1/sessions/01999999-9999-7999-8999-999999999999");
    assert_eq!((theirs_for_us.status, unknown.status), (404, 404));
    let told = |response: &crate::http::Response, id: &str| String::from_utf8_lossy(&response.body).replace(id, "ID");
    assert_eq!(told(&theirs_for_us, &theirs), told(&unknown, "01999999-9999-7999-8999-999999999999"));

    // An open session of one owner is not written to by another.
    let foreign = world.as_bob("POST", &format!("/api/v1/sessions/{ours}/entries")).json(&entries).send(world.address);
    assert_eq!(foreign.status, 404);

    let list = world.as_bob("GET", "/api/v1/sessions?drafts=true").send(world.address).json();
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(list["sessions"][0]["id"], theirs.as_str());
    let found = |request: crate::http::Request| request.send(world.address).json()["total"].as_u64().unwrap();
    assert_eq!(found(world.as_bob("GET", "/api/v1/search?q=word")), 1);
    assert_eq!(found(world.request("GET", "/api/v1/search?q=word")), 1);
    assert_eq!(found(world.as_bob("GET", "/api/v1/search?q=private")), 0);
    let doctor = world.as_bob("GET", "/api/v1/doctor").send(world.address).json();
    assert_eq!(doctor["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(world.as_bob("GET", "/api/v1/history").send(world.address).status, 403);
    // A child cannot be hung under somebody else's session.
    let child = world.as_bob("POST", "/api/v1/sessions").json(&json!({"parent": ours})).send(world.address);
    assert_eq!(child.status, 404);
}

#[test]
fn whoever_takes_the_id_of_a_deleted_session_is_not_written_to() {
    let world = World::start();
    let id = "taken-again";
    let conversation = json!({"messages": [{"id": "m1", "role": "user", "content": "mine"}]});
    let target = format!("/api/conversations/{id}");
    assert_eq!(world.put(&target, &conversation).status, 201);
    world.append(id, &["stays open"]);
    // Another process deletes it, and it is made again for somebody else.
    let engine = crate::world::engine(world.home.path());
    let session = engine.open_id(&id.into()).unwrap();
    engine.delete(&session, ramus_engine::Children::Orphan, false).unwrap();
    let made = world.as_bob("PUT", &target).json(&conversation).send(world.address);
    assert_eq!(made.status, 201, "{}", String::from_utf8_lossy(&made.body));
    let before = World::logs(world.home.path());
    let entries = json!({"entries": [message("not theirs")]});
    for _ in 0..3 {
        let answer = world.post(&format!("/api/v1/sessions/{id}/entries"), &entries);
        assert_eq!((answer.status, answer.kind().as_str()), (404, "not-found"));
    }
    assert_eq!(World::logs(world.home.path()), before);
}

#[test]
fn what_goes_with_its_parent_is_closed() {
    let world = World::start();
    let parent = world.session();
    let made = world.post("/api/v1/sessions", &json!({"parent": parent}));
    let child = made.json()["session"]["id"].as_str().unwrap().to_owned();
    world.append(&child, &["stays open"]);
    assert_eq!(world.delete(&format!("/api/v1/sessions/{parent}?cascade=true")).status, 200);
    assert_eq!(world.get(&format!("/api/v1/sessions/{child}")).status, 404);
    assert_eq!(world.put(&format!("/api/conversations/{child}"), &json!({"messages": []})).status, 201);
    world.append(&child, &["to the one that is there now"]);
}

#[test]
fn i8_what_others_have_does_not_go_with_its_parent_and_is_not_told() {
    let world = World::start();
    let parent = world.session();
    let child = |order: serde_json::Value| {
        let made = world.post("/api/v1/sessions", &order);
        assert_eq!(made.status, 201);
        made.json()["session"]["id"].as_str().unwrap().to_owned()
    };
    let ours = child(json!({"parent": parent}));
    let theirs = child(json!({"parent": parent, "owner": "bob"}));
    let target = format!("/api/v1/sessions/{parent}");
    for dry in ["?dry_run=true", "?dry_run=true&cascade=true", "?cascade=true"] {
        let gone = world.delete(&format!("{target}{dry}"));
        assert_eq!((gone.status, &gone.json()["children"]), (200, &json!([ours])), "{dry}");
    }
    let status = |request: Request| request.send(world.address).status;
    assert_eq!(status(world.as_bob("GET", &format!("/api/v1/sessions/{theirs}"))), 200);
    assert_eq!(world.get(&format!("/api/v1/sessions/{ours}")).status, 404);
}

#[test]
fn i8_routes_that_name_a_second_session_know_only_ones_own() {
    let world = World::start();
    let ours = world.session();
    world.append(&ours, &["what is ours"]);
    let send = |request: Request| request.send(world.address);
    let made = send(world.as_bob("POST", "/api/v1/sessions").json(&json!({"title": "bob's"}))).json();
    let theirs = made["session"]["id"].as_str().unwrap().to_owned();
    let said = world.as_bob("POST", &format!("/api/v1/sessions/{theirs}/messages")).json(&json!({"text": "a canary"}));
    assert_eq!(send(said).status, 201);
    let missing = "01999999-9999-7999-8999-999999999999";
    let refused = |second: &str| {
        let merge = json!({"from": second, "summary": "It works there."});
        [
            world.get(&format!("/api/v1/sessions/{ours}/compare?with={second}")),
            world.post(&format!("/api/v1/sessions/{ours}/merge-back"), &merge),
            world.get(&format!("/api/v1/search?q=canary&session={second}")),
        ]
        .map(|answer| {
            let text = String::from_utf8_lossy(&answer.body).replace(second, "ID");
            assert!(!text.contains("a canary"), "{text}");
            (answer.status, text)
        })
    };
    let answers = refused(&theirs);
    assert!(answers[0].0 == 404 && answers[1].0 == 404, "{answers:?}");
    // As if there were none.
    assert_eq!(answers, refused(missing));
}

#[test]
fn what_works_for_a_session_belongs_to_its_owner() {
    let script = r#"answers = [
        { steps = [{ call = { name = "task", arguments = { agent = "helper", prompt = "look", description = "Look" } } }] },
        { steps = [{ text = "what bob has" }] },
        { steps = [{ text = "done" }] },
    ]"#;
    let world = World::with(script, ramus_server::Limits::default());
    world.allow_everything();
    let send = |request: Request| request.send(world.address).json();
    let made = send(world.as_bob("POST", "/api/v1/sessions").json(&json!({"title": "bob's"})));
    let parent = made["session"]["id"].as_str().unwrap().to_owned();
    let order = json!({"prompt": "go", "agent": LEADING});
    let runs = format!("/api/v1/sessions/{parent}/runs");
    let events = world.as_bob("POST", &runs).json(&order).header("accept", "text/event-stream");
    assert!(events.events(world.address).count() > 0);
    let children = send(world.as_bob("GET", &format!("/api/v1/sessions/{parent}/children")));
    let told = children.to_string();
    assert!(told.contains("\"owner\":\"bob\"") || told.contains("Look"), "{told}");
    let list = world.read("/api/v1/sessions?drafts=true&archived=true");
    assert_eq!(list["sessions"].as_array().unwrap().len(), 0, "{list}");
    // What others ask, people or models, is not among what the user asked.
    let ours = world.session();
    assert_eq!(world.post(&format!("/api/v1/sessions/{ours}/messages"), &json!({"text": "asked here"})).status, 201);
    let asked = || world.read("/api/v1/history")["prompts"].as_array().unwrap().clone();
    let began = std::time::Instant::now();
    while asked().is_empty() && began.elapsed() < crate::http::PATIENCE {
        std::thread::yield_now();
    }
    assert_eq!((asked().len(), &asked()[0]["prompt"]), (1, &json!("asked here")));
    assert_eq!(world.read("/api/v1/search?q=bob")["total"], 0);
    let theirs = send(world.as_bob("GET", "/api/v1/sessions?drafts=true"));
    assert_eq!(theirs["sessions"].as_array().unwrap().len(), 2, "{theirs}");
    assert!(send(world.as_bob("GET", "/api/v1/search?q=what"))["total"].as_u64().unwrap() > 0);
}

#[test]
fn a_cursor_does_not_tell_which_sessions_others_have() {
    let world = World::start();
    let ours = world.session();
    let refused = |id: &str| {
        let list = world.as_bob("GET", &format!("/api/v1/sessions?drafts=true&sort=title&cursor={id}"));
        let answer = list.send(world.address);
        (answer.status, String::from_utf8_lossy(&answer.body).replace(id, "ID"))
    };
    let unknown = refused("01999999-9999-7999-8999-999999999999");
    assert_eq!(refused(&ours), unknown);
    assert!(unknown.0 >= 400, "{unknown:?}");
}

#[test]
fn nobody_takes_the_name_of_the_session_that_a_client_will_have() {
    let world = World::start();
    let boot = || world.post("/api/session/boot", &json!({})).status;
    assert_eq!(boot(), 200);
    let list = world.read("/api/v1/sessions?drafts=true");
    let id = list["sessions"][0]["id"].as_str().unwrap().to_owned();
    assert!(id.starts_with("client-"), "{id}");
    assert_eq!(world.get(&format!("/api/conversations/{id}")).status, 200);
    assert_eq!(world.delete(&format!("/api/conversations/{id}")).status, 200);
    let conversation = json!({"messages": [{"id": "m1", "role": "user", "content": "mine"}]});
    let target = format!("/api/conversations/{id}");
    assert_eq!(world.as_bob("PUT", &target).json(&conversation).send(world.address).status, 201);
    // It is there for him, under a name of its own.
    assert_eq!(world.as_bob("GET", &target).send(world.address).status, 200);
    assert_eq!(world.as_bob("GET", &format!("/api/v1/sessions/{id}")).send(world.address).status, 404);
    assert_eq!(boot(), 200);
    assert_eq!(world.get(&target).status, 200);
}

#[test]
fn an_entry_names_no_blob_that_its_session_does_not_have() {
    let world = World::start();
    let ours = world.session();
    let picture = json!({"type": "message", "message": {"role": "user", "content": [
        {"type": "image", "data": "QUJD".repeat(1000), "mimeType": "image/png"}]}});
    let path = format!("/api/v1/sessions/{ours}/entries");
    assert_eq!(world.post(&path, &json!({"entries": [picture]})).status, 201);
    let stored = world.read(&path)["entries"].as_array().unwrap().last().unwrap()["entry"].clone();
    let reference = stored["message"]["content"][0]["data"].as_str().unwrap().to_owned();
    let hash = reference.strip_prefix("blob:sha256:").unwrap().to_owned();
    let made = world.as_bob("POST", "/api/v1/sessions").json(&json!({})).send(world.address).json();
    let theirs = made["session"]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/sessions/{theirs}/entries");
    let entry = |data: &str| {
        format!(
            r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}}}"#
        )
    };
    let texts = [
        entry(&reference),
        format!(
            r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"text","text":"x","ramusBlob":{{"text":"sha256:{hash}"}}}}]}}}}"#
        ),
        format!(
            r#"{{"type":"message","message":{{"role":"user","content":[{{"type":"text","text":"x","ramus\u0042lob":{{"text":"sha256:{hash}"}}}}]}}}}"#
        ),
    ];
    let send = |texts: &[String]| {
        let mut request = world.as_bob("POST", &path).header("content-type", "application/json");
        request.body = format!(r#"{{"entries":[{}]}}"#, texts.join(",")).into_bytes();
        request.send(world.address)
    };
    let blob = format!("/api/v1/blobs/{hash}?session={theirs}");
    for text in &texts {
        let answer = send(std::slice::from_ref(text));
        let read = world.as_bob("GET", &blob).send(world.address).status;
        assert_eq!(read, 404, "{text}");
        // What is not understood as a name names nothing.
        assert!(answer.status == 422 || answer.status == 201, "{text}");
    }
    assert_eq!(send(&texts[..1]).status, 422);
    // What is spelled with escapes is a text like any other.
    assert_eq!(send(&[entry(&reference.replace("blob", "\\u0062lob"))]).status, 201);
    assert_eq!(world.as_bob("GET", &blob).send(world.address).status, 404);
    let shown = world.as_bob("GET", &format!("/api/v1/sessions/{theirs}/messages")).send(world.address);
    assert!(!String::from_utf8_lossy(&shown.body).contains("QUJDQUJD"));
    // Who has the bytes may say them, and who has the blob in the session may name it there.
    assert_eq!(world.as_bob("POST", &path).json(&json!({"entries": [picture]})).send(world.address).status, 201);
    assert_eq!(send(&texts[..1]).status, 201);
    assert_eq!(world.as_bob("GET", &blob).send(world.address).status, 200);
}
