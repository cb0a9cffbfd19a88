//! What belongs to one owner is not there for another.

use serde_json::json;

use crate::world::{World, message};

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
