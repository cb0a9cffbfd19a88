//! What the holders of tokens with less than every right can do.

use serde_json::json;

use crate::audit::{Ground, routes};

#[test]
fn who_may_only_look_changes_nothing() {
    let ground = Ground::new();
    let before = ground.logs();
    for (method, path) in routes().into_iter().filter(|(method, path)| method != "GET" && path != "/login") {
        let request = ground.request(&method, &path);
        let request = request.header("authorization", &format!("Bearer {}", ground.world.viewer));
        let response = ground.send(&request);
        assert_eq!((response.status, response.kind().as_str()), (403, "denied"), "{method} {path}");
    }
    assert_eq!(ground.logs(), before);
    let list =
        ground.request("GET", "/api/v1/sessions").header("authorization", &format!("Bearer {}", ground.world.viewer));
    assert_eq!(ground.send(&list).status, 200);
}

#[test]
fn who_may_prompt_says_something_and_allows_nothing() {
    let ground = Ground::new();
    let ask = |method: &str, path: &str, body: serde_json::Value| {
        let request =
            ground.request(method, path).header("authorization", &format!("Bearer {}", ground.world.prompter));
        let mut request = request;
        if method != "DELETE" {
            request.body = body.to_string().into_bytes();
        }
        ground.send(&request).status
    };
    let entries = json!({"entries": [crate::world::message("hello")]});
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/entries", entries), 201);
    assert_eq!(ask("PATCH", "/api/v1/sessions/{id}", json!({"title": "named"})), 200);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/runs", json!({"prompt": "x", "permission": ["bash=allow"]})), 403);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/runs", json!({"prompt": "x"})), 202);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/runs/{run}/permissions/{call}", json!({"answer": "once"})), 403);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/messages", json!({"text": "hello"})), 201);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/branch", json!({"entry": "#1", "files": true})), 403);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/undo", json!({})), 403);
    assert_eq!(ask("POST", "/api/v1/sessions/{id}/share", json!({})), 403);
    assert_eq!(ask("DELETE", "/api/v1/sessions/{id}", json!({})), 403);
    assert_eq!(ask("POST", "/api/v1/gc", json!({})), 403);
}
