//! What makes no sense is refused, in one shape, and changes nothing.

use serde_json::json;

use crate::world::World;

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
fn differences_are_asked_for_in_several_places() {
    let world = World::start();
    let session = world.session();
    let at = |query: &str| format!("/api/v1/sessions/{session}/diff?{query}");
    for wrong in ["path=a&nothing=b", "from=a&from=b", "stat=perhaps"] {
        assert_eq!(world.get(&at(wrong)).status, 400, "{wrong}");
    }
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
