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
