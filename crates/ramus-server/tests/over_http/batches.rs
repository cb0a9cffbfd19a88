//! Batches of entries: the same key with the same entries, and bodies as they were spelled.

use serde_json::json;

use crate::world::{World, message};

#[test]
fn a_key_stands_for_one_batch() {
    let mut world = World::start();
    let session = world.session();
    let path = format!("/api/v1/sessions/{session}/entries");
    let send = |world: &World, texts: &[&str]| {
        let entries: Vec<_> = texts.iter().map(|text| message(text)).collect();
        let request =
            world.request("POST", &path).header("idempotency-key", "a key").json(&json!({"entries": entries}));
        let answer = request.send(world.address);
        (answer.status, answer.kind())
    };
    let long = "x".repeat(600_000);
    let batch = ["one", long.as_str()];
    assert_eq!(send(&world, &batch).0, 201);
    for _ in 0..2 {
        assert_eq!(send(&world, &batch).0, 200);
        let other = "y".repeat(600_000);
        for different in [&["one", "two"][..], &["one", &other], &["one"], &["one", &long, "three"], &["other"]] {
            assert_eq!(send(&world, different), (409, "conflict".to_owned()));
        }
        world.restart();
    }
}

#[test]
fn what_is_sent_in_several_lines_is_stored_as_it_is_spelled() {
    let world = World::start();
    let session = world.session();
    let path = format!("/api/v1/sessions/{session}/entries");
    let data = r#"{"z":1,"a":12345678901234567890123,"e":1e3,"d":1.10,"d":2,"lone":"\ud800","deep":DEEP}"#
        .replace("DEEP", &format!("{}{}", "[".repeat(200), "]".repeat(200)));
    let mut request = world.request("POST", &path).header("content-type", "application/json");
    request.body =
        format!("{{\"entries\": [{{\n\t\"type\": \"custom\",\r\n\"customType\": \"x\", \"data\":\n{data}\n}}]}}")
            .into_bytes();
    let answer = request.send(world.address);
    assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
    let stored = world.get(&format!("{path}/@"));
    let stored = String::from_utf8_lossy(&stored.body).into_owned();
    let listed = world.get(&path);
    assert!(String::from_utf8_lossy(&listed.body).contains(&data), "{stored}");
}
