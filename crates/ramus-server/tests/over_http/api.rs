//! The resources: what is written is read again, in the shapes of the command line.

use serde_json::{Value, json};

use crate::world::{World, message};

#[test]
fn i4_a_session_is_made_written_to_and_read() {
    let world = World::start();
    let session = world.session();
    assert_eq!(world.append(&session, &["one", "two"]), [2, 3]);
    let at = |rest: &str| format!("/api/v1/sessions/{session}{rest}");

    let shown = world.get(&at(""));
    assert_eq!(shown.header("etag"), Some("\"3\""));
    let shown = shown.json();
    assert_eq!(shown["session"]["title"], "a session");
    assert_eq!(shown["session"]["messages"], 2);
    assert_eq!(shown["schema_version"], 1);

    let messages = world.read(&at("/messages"));
    let texts: Vec<&str> =
        messages["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["one", "two"]);
    let first = world.read(&at("/messages?limit=1"));
    let cursor = first["next_cursor"].as_str().unwrap();
    assert_eq!(world.read(&at(&format!("/messages?cursor={cursor}")))["messages"][0]["text"], "two");

    let tree = world.read(&at("/tree"));
    assert_eq!(tree["entries"].as_array().unwrap().last().unwrap()["preview"], "two");
    let context = world.read(&at("/context"));
    assert_eq!(context["messages"].as_array().unwrap().len(), 2);
    assert_eq!(world.read(&at("/context?dialect=provider"))["messages"].as_array().unwrap().len(), 2);
    assert_eq!(world.read(&at("/state"))["thinking_level"], "off");
    assert_eq!(world.read(&at("/doctor"))["status"], "clean");
    assert_eq!(world.read(&at("/children"))["children"], json!([]));
    assert!(world.read(&at("/permissions"))["rules"].as_array().is_some_and(|rules| !rules.is_empty()));

    let listed = world.read("/api/v1/sessions?drafts=true");
    assert_eq!(listed["sessions"][0]["id"], session.as_str());
    assert_eq!(world.read("/api/v1/sessions")["hidden"]["drafts"], 1);
    assert_eq!(world.read("/api/v1/search?q=two")["hits"][0]["session"], session.as_str());
    assert_eq!(world.read("/api/v1/usage")["rows"], json!([]));
    assert_eq!(world.read("/api/v1/doctor")["status"], "clean");
    assert_eq!(world.read("/api/v1/history")["prompts"], json!([]));
}

#[test]
fn entries_are_handed_out_as_they_are_stored() {
    let world = World::start();
    let session = world.session();
    // Numbers and escapes that a decoder would spell otherwise.
    let odd = r#"{"entries":[{"type":"custom","customType":"x","data":{"n":1e3,"s":"\ud83d"}}]}"#;
    let mut request = world.request("POST", &format!("/api/v1/sessions/{session}/entries"));
    request = request.header("content-type", "application/json");
    request.body = odd.as_bytes().to_vec();
    assert_eq!(request.send(world.address).status, 201);
    let page = world.get(&format!("/api/v1/sessions/{session}/entries?cursor=1"));
    let text = String::from_utf8(page.body).unwrap();
    assert!(text.contains(r#""n":1e3,"s":"\ud83d""#), "{text}");
    let line = world.get(&format!("/api/v1/sessions/{session}/entries/%232"));
    assert!(String::from_utf8(line.body).unwrap().contains(r#""n":1e3"#));
    for at in 0..5 {
        world.append(&session, &[&at.to_string()]);
    }
    let first = world.read(&format!("/api/v1/sessions/{session}/entries?cursor=2&limit=3"));
    assert_eq!((first["next_cursor"].as_u64(), first["position"].as_u64()), (Some(5), Some(7)));
    let rest = world.read(&format!("/api/v1/sessions/{session}/entries?cursor=5"));
    assert_eq!(rest["entries"].as_array().unwrap().len(), 2);
    assert_eq!(rest["next_cursor"], Value::Null);
}

#[test]
fn a_write_is_made_only_where_it_was_expected() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}/entries");
    let write = |text: &str, position: &str| {
        let body = json!({"entries": [message(text)]});
        world.request("POST", &at).header("if-match", position).json(&body).send(world.address)
    };
    assert_eq!(write("one", "\"1\"").status, 201);
    let late = write("two", "\"1\"");
    assert_eq!((late.status, late.kind().as_str()), (412, "conflict"));
    assert_eq!(write("two", "\"2\"").status, 201);
    assert_eq!(write("three", "\"9\"").status, 412);
    assert_eq!(write("three", "soon").status, 400);
    let title = world
        .request("PATCH", &format!("/api/v1/sessions/{session}"))
        .header("if-match", "\"1\"")
        .json(&json!({"title": "late"}));
    assert_eq!(title.send(world.address).status, 412);
    assert_eq!(world.read(&at)["position"], 3);
}

#[test]
fn writers_that_expect_the_same_position_do_not_both_write() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}/entries");
    let mut wrote = 0;
    for round in 1..=5 {
        let outcomes: Vec<u16> = std::thread::scope(|scope| {
            let write = |writer: usize| {
                let (world, at) = (&world, &at);
                scope.spawn(move || {
                    let body = json!({"entries": [message(&writer.to_string())]});
                    let request = world.request("POST", at).header("if-match", &format!("\"{round}\""));
                    request.json(&body).send(world.address).status
                })
            };
            let writers: Vec<_> = (0..8).map(write).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        assert!(outcomes.iter().all(|status| matches!(status, 201 | 412)), "{outcomes:?}");
        wrote += outcomes.iter().filter(|status| **status == 201).count();
    }
    assert_eq!(wrote, 5);
    assert_eq!(world.read(&at)["position"], 6);
}

#[test]
fn what_is_sent_twice_with_a_key_is_written_once_also_after_a_restart() {
    let mut world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}/entries");
    let body = json!({"entries": [message("one"), message("two")]});
    let send =
        |world: &World| world.request("POST", &at).header("idempotency-key", "k1").json(&body).send(world.address);
    let first = send(&world);
    assert_eq!(first.status, 201);
    let again = send(&world);
    assert_eq!((again.status, &again.json()["entries"]), (200, &first.json()["entries"]));
    world.restart();
    let later = send(&world);
    assert_eq!((later.status, &later.json()["entries"]), (200, &first.json()["entries"]));
    assert_eq!(world.read(&at)["position"], 3);
}

#[test]
fn branches_labels_forks_and_changes() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one", "two", "three"]);
    let at = |rest: &str| format!("/api/v1/sessions/{session}{rest}");
    let label = world.post(&at("/label"), &json!({"entry": "#2", "name": "start"}));
    assert_eq!(label.status, 200, "{label:?}");
    let branched = world.post(&at("/branch"), &json!({"entry": "start"}));
    assert_eq!(branched.status, 200, "{branched:?}");
    world.append(&session, &["other"]);
    let texts = |session: &str| -> Vec<String> {
        let messages = world.read(&format!("/api/v1/sessions/{session}/messages"));
        let texts = messages["messages"].as_array().unwrap().iter();
        texts.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(texts(&session), ["one", "other"]);
    let fork = world.post(&at("/fork"), &json!({"entry": "#4", "title": "mine"}));
    assert_eq!(fork.status, 201, "{fork:?}");
    let fork = fork.json()["session"]["id"].as_str().unwrap().to_owned();
    assert_eq!(texts(&fork), ["one", "two", "three"]);
    let changed = world
        .request("PATCH", &at(""))
        .json(&json!({"title": "new", "tags": ["a"], "starred": true, "metadata": {"k": 1}}))
        .send(world.address)
        .json();
    let changed = &changed["session"];
    assert_eq!(
        (&changed["title"], &changed["tags"], &changed["starred"]),
        (&json!("new"), &json!(["a"]), &json!(true))
    );
    assert_eq!(changed["metadata"], json!({"k": 1}));
    let long = "many words ".repeat(400);
    world.append(&session, &[long.as_str(); 4]);
    let compact = world.post(&at("/compact"), &json!({"keep_messages": 1, "force": true, "dry_run": true}));
    assert_eq!(compact.status, 200, "{compact:?}");
    assert_eq!(compact.json()["messages_after"], 2, "{compact:?}");
    let dry = world.request("DELETE", &at("?dry_run=true")).send(world.address);
    assert_eq!((dry.status, &dry.json()["dry_run"]), (200, &json!(true)));
    assert_eq!(world.request("DELETE", &format!("/api/v1/sessions/{fork}")).send(world.address).status, 200);
    assert_eq!(world.get(&format!("/api/v1/sessions/{fork}")).status, 404);
    // A session that is gone takes nothing more, though it was open.
    assert_eq!(world.request("DELETE", &at("")).send(world.address).status, 200);
    let gone = world.post(&at("/entries"), &json!({"entries": [message("late")]}));
    assert_eq!((gone.status, gone.kind().as_str()), (404, "not-found"));
}

#[test]
fn files_travel() {
    let world = World::start();
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("a.txt"), "one\n").unwrap();
    let made = world.post("/api/v1/sessions", &json!({"cwd": place.path()}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    let at = |rest: &str| format!("/api/v1/sessions/{session}{rest}");
    world.append(&session, &["one"]);
    let taken = world.post(&at("/snapshots"), &json!({"label": "before"}));
    assert_eq!(taken.status, 201, "{taken:?}");
    std::fs::write(place.path().join("a.txt"), "two\n").unwrap();
    let diff = world.read(&at("/diff?from=before"));
    assert_eq!((&diff["additions"], &diff["deletions"]), (&json!(1), &json!(1)));
    assert_eq!(world.read(&at("/snapshots"))["snapshots"][0]["label"], "before");
    let plan = world.post(&at("/restore"), &json!({"snapshot": "before", "dry_run": true})).json();
    assert_eq!((&plan["applied"], &plan["plan"][0]["path"]), (&json!(false), &json!("a.txt")));
    let restored = world.post(&at("/restore"), &json!({"snapshot": "before", "force": true}));
    assert_eq!(restored.json()["applied"], true, "{restored:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("a.txt")).unwrap(), "one\n");
    let unknown = world.post(&at("/restore"), &json!({"snapshot": "ffffffffffffffffffffffffffffffffffffffff"}));
    assert_eq!((unknown.status, unknown.kind().as_str()), (404, "not-found"));
}

#[test]
fn i7_what_makes_no_sense_is_told_in_one_shape() {
    let world = World::start();
    let session = world.session();
    let at = |rest: &str| format!("/api/v1/sessions/{session}{rest}");
    let status = |response: crate::http::Response| {
        let error = &response.json()["error"];
        assert!(error["kind"].is_string() && error["message"].is_string() && error.get("hint").is_some(), "{error}");
        response.status
    };
    let post = |rest: &str, body: &str| {
        let mut request = world.request("POST", &at(rest)).header("content-type", "application/json");
        request.body = body.as_bytes().to_vec();
        status(request.send(world.address))
    };
    assert_eq!(status(world.get("/api/v1/nothing")), 404);
    assert_eq!(status(world.get("/api/v1/sessions/unknown")), 404);
    assert_eq!(status(world.get("/api/v1/sessions?limit=many")), 400);
    assert_eq!(status(world.get("/api/v1/sessions?unknown=1")), 400);
    assert_eq!(status(world.get("/api/v1/sessions?sort=colour")), 400);
    assert_eq!(status(world.get("/api/v1/sessions?cursor=nonsense")), 422);
    assert_eq!(status(world.get(&at("/context?entry=nowhere"))), 404);
    assert_eq!(status(world.request("PUT", &at("")).json(&json!({})).send(world.address)), 405);
    assert_eq!(post("/entries", "{"), 400);
    assert_eq!(post("/entries", "{\"entries\":[]}"), 422);
    assert_eq!(post("/entries", "{\"entries\":[{\"no\":\"type\"}]}"), 422);
    assert_eq!(post("/entries", "{\"entries\":[1],\"extra\":1}"), 422);
    assert_eq!(post("/label", "{\"entry\":\"#1\"}"), 422);
    assert_eq!(post("/runs", "{\"when_busy\":\"later\"}"), 422);
    let deep = "[".repeat(100_000);
    assert_eq!(post("/entries", &format!("{{\"entries\":[{deep}")), 400);
    assert_eq!(status(world.post("/api/v1/sessions", &json!({"cwd": "relative"}))), 422);
}

#[test]
fn ids_are_names_and_never_paths() {
    let world = World::start();
    let inside = world.home.path().join("inside.jsonl");
    std::fs::write(&inside, "{\"type\":\"session\",\"id\":\"planted\",\"timestamp\":\"x\",\"cwd\":\"/\"}\n").unwrap();
    let path = inside.display().to_string().replace('/', "%2F");
    let long = "x".repeat(7000);
    for id in [&*path, "..%2F..%2Fetc%2Fpasswd", "%00", ".", "%2E%2E", "last", "Cargo.toml", "%F0%9F%92%A9", &long] {
        let response = world.get(&format!("/api/v1/sessions/{id}"));
        assert!(matches!(response.status, 400 | 404), "{id}: {}", response.status);
        let blob = world.get(&format!("/api/v1/blobs/{id}"));
        assert!(matches!(blob.status, 400 | 404), "{id}: {}", blob.status);
    }
}

#[test]
fn blobs_are_handed_out_and_never_shown() {
    let world = World::start();
    let session = world.session();
    let image = base64_of(&[7; 4096]);
    let content = json!([{"type": "image", "data": image, "mimeType": "image/svg+xml"}]);
    let entry = json!({"type": "message", "message": {"role": "user", "content": content}});
    let answer = world.post(&format!("/api/v1/sessions/{session}/entries"), &json!({"entries": [entry]}));
    assert_eq!(answer.status, 201);
    let stored = world.get(&format!("/api/v1/sessions/{session}/entries?cursor=1"));
    let text = String::from_utf8(stored.body).unwrap();
    let hash =
        text.match_indices("blob:sha256:").next().map(|(at, found)| &text[at + found.len()..at + found.len() + 64]);
    let hash = hash.unwrap_or_else(|| panic!("no blob in {text}"));
    let blob = world.get(&format!("/api/v1/blobs/{hash}"));
    assert_eq!(blob.status, 200);
    assert_eq!(blob.header("content-type"), Some("application/octet-stream"));
    assert_eq!(blob.header("content-disposition"), Some("attachment"));
    assert_eq!(blob.header("x-content-type-options"), Some("nosniff"));
    assert!(blob.header("content-security-policy").is_some_and(|policy| policy.contains("sandbox")));
    let named = world.get(&format!("/api/v1/blobs/{hash}?session={session}"));
    assert_eq!(named.body, blob.body);
    let bob = world.as_bob("GET", &format!("/api/v1/blobs/{hash}")).send(world.address);
    assert_eq!(bob.status, 404);
    assert_eq!(world.as_bob("GET", &format!("/api/v1/blobs/{hash}?session={session}")).send(world.address).status, 404);
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
