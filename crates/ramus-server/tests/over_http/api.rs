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
fn what_verbs_write_is_written_only_where_it_was_expected_also_when_several_come_at_once() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}");
    for round in 0..10 {
        let position = world.read(&format!("{at}/entries?limit=1"))["position"].as_u64().unwrap();
        let tag = format!("\"{position}\"");
        let requests: [(&str, String, Value); 4] = [
            ("POST", format!("{at}/messages"), json!({"text": "one"})),
            ("POST", format!("{at}/messages"), json!({"text": "two"})),
            ("PATCH", at.clone(), json!({"title": format!("title {round}")})),
            ("POST", format!("{at}/todos"), json!({"add": {"text": "do"}})),
        ];
        let outcomes: Vec<u16> = std::thread::scope(|scope| {
            let send = |(method, target, body): (&'static str, String, Value)| {
                let (world, tag) = (&world, &tag);
                scope.spawn(move || {
                    world.request(method, &target).header("if-match", tag).json(&body).send(world.address).status
                })
            };
            let sent: Vec<_> = requests.into_iter().map(send).collect();
            sent.into_iter().map(|sent| sent.join().unwrap()).collect()
        });
        assert_eq!(outcomes.iter().filter(|status| **status < 300).count(), 1, "{outcomes:?}");
        assert_eq!(outcomes.iter().filter(|status| **status == 412).count(), 3, "{outcomes:?}");
    }
    let run =
        world.request("POST", &format!("{at}/runs")).header("if-match", "\"1\"").json(&json!({"prompt": "hello"}));
    assert_eq!(run.send(world.address).status, 412);
}

#[test]
fn a_condition_that_a_route_does_not_heed_is_refused() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}");
    for (target, header, body) in [
        ("/api/v1/sessions".to_owned(), "if-match", json!({})),
        (format!("{at}/branch"), "idempotency-key", json!({"entry": null})),
        (format!("{at}/label"), "idempotency-key", json!({"entry": "#1", "name": "one"})),
    ] {
        let request = world.request("POST", &target).header(header, "\"1\"").json(&body).send(world.address);
        assert_eq!((request.status, request.kind().as_str()), (400, "usage"), "{target}");
    }
    assert_eq!(world.read("/api/v1/sessions?drafts=true")["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(world.request("GET", &at).header("if-match", "\"7\"").send(world.address).status, 200);
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
fn a_change_of_which_a_part_makes_no_sense_changes_nothing() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}");
    let before = world.read(&at);
    let many: Vec<String> = (0..101).map(|tag| format!("tag {tag}")).collect();
    for wrong in [
        json!({"model": "bad"}),
        json!({"tags": [""]}),
        json!({"tags": many}),
        json!({"tags": many[..60], "add_tags": many[60..]}),
        json!({"add_tags": ["a\u{7}b"]}),
        json!({"metadata": {"": 1}}),
        json!({"cwd": "relative"}),
    ] {
        let mut change = json!({"title": "changed", "starred": true});
        change.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let refused = world.request("PATCH", &at).json(&change).send(world.address);
        assert_eq!(refused.status, 422, "{wrong}");
        assert_eq!(world.read(&at), before, "{wrong}");
    }
    let untitled = world.request("PATCH", &at).json(&json!({"starred": true, "title": " "})).send(world.address);
    assert_eq!((untitled.status, world.read(&at)), (422, before));
}

#[test]
fn texts_that_were_cut_in_the_middle_of_a_character_are_taken() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}");
    let send = |method: &str, target: &str, body: &str| {
        let mut request = world.request(method, target).header("content-type", "application/json");
        request.body = body.as_bytes().to_vec();
        let response = request.send(world.address);
        assert!(response.status < 300, "{}", String::from_utf8_lossy(&response.body));
    };
    send("PATCH", &at, r#"{"title":"cut \ud83d"}"#);
    send("POST", &format!("{at}/messages"), r#"{"text":"cut \ud83d, whole \ud83d\ude00"}"#);
    send("POST", &format!("{at}/runs"), r#"{"prompt":"\ude00 cut"}"#);
    assert_eq!(world.read(&at)["session"]["title"], "cut \u{fffd}");
    let told = world.read(&format!("{at}/messages"));
    assert_eq!(told["messages"][0]["text"], "cut \u{fffd}, whole \u{1f600}");
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
    let held = world.read(&at("/snapshots/before"));
    let hash = "2c8b08da5ce60398e1f19af0e5dccc744df274b826abe585eaba68c525434806";
    assert_eq!(held["files"], json!([{"path": "a.txt", "sha256": hash, "mode": "100644", "size": 4}]));
    assert_eq!((&held["snapshot"]["label"], &held["snapshot"]["files"]), (&json!("before"), &json!(1)));
    assert_eq!(world.get(&at("/snapshots/nosuch")).status, 404);
    let statuses = ["./a.txt", "..", "nosuch"].map(|path| world.get(&at(&format!("/diff?path={path}"))).status);
    assert_eq!(statuses, [200, 400, 404]);
    // Whoever asks for numbers is told the lines as well.
    assert!(world.read(&at("/diff?stat=true"))["diffs"][0]["diff"].as_str().unwrap().ends_with("-one\n+two\n"));
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
    for (name, data) in [("meta", "5"), ("meta", "{}"), ("meta", "{\"set\":[]}"), ("segment", "{}")] {
        let entry = format!("{{\"type\":\"custom\",\"customType\":\"ramus.{name}\",\"data\":{data}}}");
        assert_eq!(post("/entries", &format!("{{\"entries\":[{entry}]}}")), 422, "{entry}");
    }
    for body in ["{}", "{\"add\":5}", "{\"unknown\":[]}", "{\"add\":{\"text\":\"a\"},\"done\":[]}"] {
        assert_eq!(post("/todos", body), 422, "{body}");
    }
    assert_eq!(world.read(&at("/entries"))["position"], 1);
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

#[test]
fn models_and_tools_are_those_of_the_workshop() {
    let world = World::start();
    let session = world.session();
    let models = world.read("/api/v1/models?provider=ollama");
    assert_eq!(models["models"][0]["provider"], "ollama");
    assert_eq!(models["models"][0]["name"], world.home.path().to_str().unwrap());
    assert_eq!(world.read("/api/v1/models?cwd=/srv")["models"][0]["name"], "/srv");
    assert_eq!(world.get("/api/v1/models?cwd=srv").status, 422);
    // Whoever may not choose a directory does not have its settings read either.
    let as_prompter = |cwd: &str| world.as_prompter("GET", &format!("/api/v1/models{cwd}")).send(world.address).status;
    let own = format!("?cwd={}", world.home.path().display());
    assert_eq!((as_prompter(""), as_prompter(&own), as_prompter("?cwd=/srv")), (200, 200, 403));
    assert_eq!(world.get("/api/v1/models?who=me").status, 400);
    let tools = world.post(&format!("/api/v1/sessions/{session}/tools"), &json!({"agent": "plan"}));
    assert_eq!((tools.status, &tools.json()["tools"][0]["name"]), (200, &json!("plan")));
    assert_eq!(world.post("/api/v1/sessions/none/tools", &json!({})).status, 404);
}

#[test]
fn differences_are_asked_for_in_several_places() {
    let world = World::start();
    let session = world.session();
    let at = |query: &str| format!("/api/v1/sessions/{session}/diff?{query}");
    for wrong in ["path=a&nothing=b", "from=a&from=b", "stat=perhaps"] {
        assert_eq!(world.get(&at(wrong)).status, 400, "{wrong}");
    }
}

#[test]
fn files_come_along_with_a_turn() {
    let world = World::start();
    let session = world.session();
    let at = format!("/api/v1/sessions/{session}/runs");
    let run = |attachments: Value| world.post(&at, &json!({"prompt": "look", "attachments": attachments}));
    assert_eq!(run(json!([{"name": "a.txt", "data": "no base64!"}])).status, 422);
    assert_eq!(world.post(&at, &json!({"attachments": [{"name": "a.txt", "data": ""}]})).status, 400);
    let mut request = world.request("POST", &at).header("accept", "text/event-stream");
    request = request.json(&json!({"prompt": "look", "attachments": [{"name": "a.txt", "data": "bWlsaw=="}]}));
    assert_eq!(request.events(world.address).last().unwrap().name, "run.ended");
    let said = world.read(&format!("/api/v1/sessions/{session}/messages"));
    assert!(said["messages"][0]["text"].as_str().unwrap().contains("milk"), "{said}");
}

#[test]
fn a_list_that_is_asked_for_again_tells_what_changed_meanwhile() {
    let world = World::start();
    let session = world.session();
    let list = || world.read("/api/v1/sessions?drafts=true");
    let first = list();
    assert_eq!(list(), first);
    let change = world.request("PATCH", &format!("/api/v1/sessions/{session}")).json(&json!({"title": "Another"}));
    assert_eq!(change.send(world.address).status, 200);
    let second = list();
    assert_eq!(second["sessions"][0]["title"], "Another");
    assert_eq!(list(), second);
    // What is not in the log of the session is told, too.
    world.append(&session, &["hello"]);
    assert_eq!(world.post(&format!("/api/v1/sessions/{session}/share"), &json!({})).status, 201);
    assert!(list()["sessions"][0]["share"].is_object());
}

#[test]
fn what_is_sent_again_with_its_key_is_done_once_also_after_a_restart() {
    let mut world = World::start();
    let send = |world: &World, target: &str, key: &str, body: &Value| {
        let request = world.request("POST", target).header("idempotency-key", key).json(body);
        let answer = request.send(world.address);
        (answer.status, answer.json())
    };
    let new = json!({"title": "made once"});
    let made = send(&world, "/api/v1/sessions", "k", &new);
    let id = made.1["session"]["id"].as_str().unwrap().to_owned();
    let said = format!("/api/v1/sessions/{id}/messages");
    let first = send(&world, &said, "k", &json!({"text": "hello"}));
    let fork = format!("/api/v1/sessions/{id}/fork");
    let forked = send(&world, &fork, "k", &json!({}));
    assert_eq!([made.0, first.0, forked.0], [201; 3]);
    world.append(&id, &["something else"]);
    world.restart();
    assert_eq!(send(&world, "/api/v1/sessions", "k", &new).1["session"]["id"], id.as_str());
    assert_eq!(send(&world, &said, "k", &json!({"text": "hello"})), first);
    let again = send(&world, &fork, "k", &json!({}));
    assert_eq!((again.0, &again.1["session"]["id"]), (201, &forked.1["session"]["id"]));
    assert_eq!(again.1["session"]["forked_from"], forked.1["session"]["forked_from"]);
    for (target, body) in [
        ("/api/v1/sessions", json!({"title": "another"})),
        (&said, json!({"text": "goodbye"})),
        (&fork, json!({"title": "another"})),
    ] {
        let other = send(&world, target, "k", &body);
        assert_eq!((other.0, &other.1["error"]["kind"]), (409, &json!("conflict")), "{target}");
        assert_ne!(send(&world, target, "l", &body).1["session"]["id"], id.as_str());
    }
    // A key is an owner's own.
    let theirs = world.as_bob("POST", "/api/v1/sessions").header("idempotency-key", "k").json(&new).send(world.address);
    assert_eq!((theirs.status, theirs.json()["session"]["id"] == id.as_str()), (201, false));
    let messages = world.read(&said);
    let texts: Vec<&str> =
        messages["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hello", "something else", "goodbye"]);
}

#[test]
fn the_same_key_with_another_order_is_refused_whatever_is_other_about_it() {
    let mut world = World::start();
    let send = |world: &World, target: &str, body: &Value| {
        world.request("POST", target).header("idempotency-key", "k").json(body).send(world.address).status
    };
    let session = world.session();
    world.append(&session, &["one", "two"]);
    let fork = format!("/api/v1/sessions/{session}/fork");
    let new = json!({"title": "t", "model": "a/b", "permission": ["bash=allow"]});
    let forked = json!({"entry": "#2", "title": "t"});
    let said = json!({"message": "hello"});
    let orders = [("/api/v1/sessions", new), (&fork, forked), ("/api/chat", said)];
    let others = [
        vec![
            json!({"title": "t", "permission": ["bash=allow"]}),
            json!({"title": "t", "model": "a/c", "permission": ["bash=allow"]}),
            json!({"title": "t", "model": "a/b"}),
            json!({"title": "t", "model": "a/b", "permission": ["bash=deny"]}),
            json!({}),
        ],
        vec![json!({"entry": "#2"}), json!({"title": "t"}), json!({"entry": "#3", "title": "t"}), json!({})],
        vec![json!({"message": "hello", "replace_last": true}), json!({"message": "hello", "ask": true})],
    ];
    for (target, body) in &orders {
        assert!([200, 201].contains(&send(&world, target, body)), "{target}");
    }
    for _ in 0..2 {
        for ((target, body), others) in orders.iter().zip(&others) {
            assert!([200, 201].contains(&send(&world, target, body)), "{target}");
            for other in others {
                assert_eq!(send(&world, target, other), 409, "{target} {other}");
            }
        }
        world.restart();
    }
    // What happens to a session since is no other order.
    let made = world.request("POST", "/api/v1/sessions").header("idempotency-key", "k").json(&orders[0].1);
    let id = made.send(world.address).json()["session"]["id"].as_str().unwrap().to_owned();
    let change = world.request("PATCH", &format!("/api/v1/sessions/{id}")).json(&json!({"model": "c/d", "title": "u"}));
    assert_eq!(change.send(world.address).status, 200);
    assert_eq!(made.send(world.address).json()["session"]["id"], id.as_str());
}

#[test]
fn files_of_a_directory_that_is_not_there_are_not_compared() {
    let world = World::start();
    let made = world.post("/api/v1/sessions", &json!({"cwd": "/nowhere/at/all"}));
    let session = made.json()["session"]["id"].as_str().unwrap().to_owned();
    for query in ["", "?path=a", "?to=x&path=@"] {
        let answer = world.get(&format!("/api/v1/sessions/{session}/diff{query}"));
        assert!([404, 422].contains(&answer.status), "{query}: {}", String::from_utf8_lossy(&answer.body));
    }
}

#[test]
fn a_fork_expects_a_position_too() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["one"]);
    let fork = |at: &str| {
        let request = world.request("POST", &format!("/api/v1/sessions/{session}/fork")).header("if-match", at);
        request.json(&json!({})).send(world.address).status
    };
    assert_eq!([fork("\"1\""), fork("\"2\"")], [412, 201]);
}

#[test]
fn a_session_is_written_as_other_agents_store_it() {
    let world = World::start();
    let session = world.session();
    world.append(&session, &["a question"]);
    let say =
        world.post(&format!("/api/v1/sessions/{session}/messages"), &json!({"text": "an answer", "role": "assistant"}));
    assert_eq!(say.status, 201);
    let target = |to: &str| format!("/api/v1/sessions/{session}/export?to={to}");
    for agent in ["claude", "codex", "gemini", "opencode", "goose", "shepherd", "okcvm", "atif", "opal"] {
        let written = world.get(&target(agent));
        assert_eq!(written.status, 200, "{agent}: {}", String::from_utf8_lossy(&written.body));
        assert!(written.header("x-ramus-lossy").is_some_and(|lossy| lossy.parse::<u64>().is_ok()), "{agent}");
        let text = String::from_utf8_lossy(&written.body).into_owned();
        assert!(text.contains("a question") && text.contains("an answer"), "{agent}: {text}");
    }
    let path = world.get(&target("claude&entry=%232"));
    assert!(!String::from_utf8_lossy(&path.body).contains("an answer"));
    assert_eq!(world.get(&target("omp")).body, world.get(&target("pi")).body);
    let several = world.read(&target("directory"));
    let files = several["files"].as_array().unwrap();
    assert!(
        files.len() > 1 && files.iter().all(|file| file["path"].is_string() && file["text"].is_string()),
        "{several}"
    );
    for wrong in ["codex&all=true", "claude&all=true&entry=%231", "claude&redact=true", "nothing"] {
        assert_eq!(world.get(&target(wrong)).status, 400, "{wrong}");
    }
}
