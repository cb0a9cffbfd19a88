//! What the web view is made of: its files, the shape of a session, some rows, some entries whole, what can be imported.

use std::time::Instant;

use serde_json::{Value, json};

use crate::http::{PATIENCE, Request};
use crate::world::World;

/// Two branches, a label, a compaction and a snapshot that nobody took.
fn branched(world: &World) -> String {
    let session = world.session();
    let said = |id: &str, parent: Option<&str>, role: &str, text: &str| {
        let mut entry = json!({"type": "message", "id": id, "message": {"role": role, "content": [{"type": "text", "text": text}],
            "provider": "demo", "model": "small", "usage": {"input": 100, "output": 20, "cost": {"total": 0.003}}}});
        if let Some(parent) = parent {
            entry["parentId"] = parent.into();
        }
        entry
    };
    let entries = json!({"entries": [
        said("u1", None, "user", "one"),
        said("a1", Some("u1"), "assistant", "two"),
        json!({"type": "message", "id": "t1", "parentId": "a1", "message": {"role": "toolResult", "toolCallId": "c", "toolName": "bash",
            "isError": true, "content": [{"type": "text", "text": "no"}]}}),
        said("a2", Some("t1"), "assistant", "three"),
        said("u2", Some("a2"), "user", "left"),
        said("u3", Some("a2"), "user", "right"),
        json!({"type": "label", "id": "l1", "targetId": "a2", "label": "here"}),
    ]});
    let answer = world.post(&format!("/api/v1/sessions/{session}/entries"), &entries);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    session
}

#[test]
fn the_page_and_its_files_are_served_to_anyone_and_kept_by_browsers() {
    let world = World::start();
    let get = |target: &str| Request::new("GET", target).send(world.address);
    let page = get("/");
    assert_eq!(page.status, 200);
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    let text = String::from_utf8(page.body.clone()).unwrap();
    let script = text.split('"').find(|part| part.ends_with("/app.js")).unwrap();
    let file = get(script);
    assert_eq!((file.status, file.header("content-type")), (200, Some("text/javascript; charset=utf-8")));
    assert!(file.header("cache-control").unwrap().contains("immutable"));
    assert_eq!(get("/assets/0000000000000000/app.js").status, 404);
    assert_eq!(get(&script.replace("app.js", "..%2Fsrc%2Flib.rs")).status, 404);
    let again = Request::new("GET", "/").header("if-none-match", page.header("etag").unwrap()).send(world.address);
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn the_shape_of_a_session_comes_without_its_text() {
    let world = World::start();
    let session = branched(&world);
    let outline = world.read(&format!("/api/v1/sessions/{session}/outline"));
    let seqs: Vec<u64> = outline["seqs"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect();
    let kinds = outline["kinds"].as_str().unwrap();
    assert_eq!((seqs.len(), kinds.len()), (outline["count"].as_u64().unwrap() as usize, seqs.len()));
    assert!(kinds.ends_with("uatauu"), "{kinds}");
    let first = seqs[seqs.len() - 6];
    let parents: Vec<u64> = outline["parents"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()).collect();
    assert_eq!(parents[parents.len() - 5..], [first, first + 1, first + 2, first + 3, first + 3]);
    assert_eq!(
        (&outline["leaf"], &outline["labels"]),
        (&(first + 5).into(), &json!({(first + 3).to_string(): "here"}))
    );
    assert!(!outline.to_string().contains("left"));
    // Only what is new.
    let later = world.read(&format!("/api/v1/sessions/{session}/outline?after={}", first + 4));
    assert_eq!(
        (&later["seqs"], &later["kinds"], &later["count"]),
        (&json!([first + 5]), &"u".into(), &outline["count"])
    );
}

#[test]
fn rows_tell_turns_and_passages_tell_everything() {
    let world = World::start();
    let session = branched(&world);
    let position = world.read(&format!("/api/v1/sessions/{session}/outline"))["leaf"].as_u64().unwrap();
    let (start, end) = (position - 5, position - 2);
    let rows = world.read(&format!("/api/v1/sessions/{session}/rows?at={start}-{end},{}", position - 3));
    assert_eq!(rows["rows"][0]["preview"], "one");
    let turn = &rows["rows"][0]["turn"];
    assert_eq!((&turn["answers"], &turn["tools"], &turn["cost_micros"]), (&2.into(), &1.into(), &6000.into()));
    assert_eq!((&turn["model"], &turn["whole"]), (&"small".into(), &true.into()));
    assert_eq!((&rows["rows"][1]["error"], &rows["rows"][1]["turn"]), (&true.into(), &Value::Null));
    let found = world.read(&format!("/api/v1/sessions/{session}/rows?entry=u2"));
    assert_eq!(found["rows"][0]["seq"], position - 1);
    let passage = world.read(&format!("/api/v1/sessions/{session}/passage?at={end},{}", position - 3));
    assert_eq!((&passage["entries"][0]["text"], &passage["entries"][0]["model"]), (&"three".into(), &"small".into()));
    assert_eq!((&passage["entries"][1]["name"], &passage["entries"][1]["error"]), (&"bash".into(), &true.into()));
    assert_eq!(passage["rest"], json!([]));
    // What is not there is left out, what makes no sense is refused.
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/passage?at=4000000000"))["entries"], json!([]));
    for wrong in ["0", "x", "1-x", "-1", "99999999999999999999"] {
        assert_eq!(world.get(&format!("/api/v1/sessions/{session}/rows?at={wrong}")).status, 400, "{wrong}");
    }
    let many = vec!["1"; 501].join(",");
    assert_eq!(world.get(&format!("/api/v1/sessions/{session}/rows?at={many}")).status, 400);
    assert_eq!(world.read(&format!("/api/v1/sessions/{session}/changes"))["files"], 0);
}

#[test]
fn an_import_is_started_watched_and_for_the_user_of_the_home_alone() {
    let world = World::start();
    assert_eq!(world.read("/api/v1/foreign")["import"]["status"], "none");
    assert_eq!(world.as_bob("GET", "/api/v1/foreign").send(world.address).status, 403);
    assert_eq!(world.as_bob("POST", "/api/v1/foreign").json(&json!({})).send(world.address).status, 403);
    assert_eq!(world.post("/api/v1/foreign", &json!({"agents": ["claude"]})).status, 202);
    let began = Instant::now();
    loop {
        let import = world.read("/api/v1/foreign")["import"].clone();
        if import["status"] == "ended" {
            assert_eq!((&import["imported"], &import["failed"]), (&0.into(), &json!([])));
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{import}");
        std::thread::yield_now();
    }
}
