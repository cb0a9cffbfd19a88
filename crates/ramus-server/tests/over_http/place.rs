//! Names of sessions, and what a client at a distance needs beside what pages do: saying, making room, moving.

use serde_json::{Value, json};

use crate::http::{Request, Response};
use crate::world::World;

fn done(response: &Response) -> Value {
    assert!(response.status < 300, "{}: {}", response.status, String::from_utf8_lossy(&response.body));
    response.json()
}

#[test]
fn a_session_is_found_by_its_beginning_and_by_its_directory() {
    let world = World::start();
    let (first, second) = (world.session(), world.session());
    let ask = |name: &str| world.get(&format!("/api/v1/resolve?name={name}"));
    assert_eq!(done(&ask(&first))["session"], json!(first));
    assert_eq!(done(&ask("last"))["session"], json!(second));
    let shared = first.chars().zip(second.chars()).take_while(|(a, b)| a == b).count();
    assert_eq!(done(&ask(&first[..=shared]))["session"], json!(first));
    if shared >= 4 {
        let ambiguous = ask(&first[..shared]);
        assert_eq!((ambiguous.status, ambiguous.kind().as_str()), (400, "ambiguous"));
    }
    for unknown in ["", "012", "ffff", "..%2F..%2Fetc%2Fpasswd"] {
        assert_eq!(ask(unknown).status, 404, "{unknown:?}");
    }
    assert_eq!(world.get("/api/v1/resolve?name=last&cwd=/nowhere").status, 404);
    // What is another owner's is not there.
    let theirs = Request::new("GET", &format!("/api/v1/resolve?name={first}"))
        .header("authorization", &format!("Bearer {}", world.other));
    assert_eq!(theirs.send(world.address).status, 404);
}

#[test]
fn what_is_said_is_appended_and_room_is_made() {
    let world = World::start();
    let session = world.session();
    let of = |what: &str| format!("/api/v1/sessions/{session}/{what}");
    let said = world.post(&of("messages"), &json!({"text": "hello"}));
    assert_eq!(said.status, 201);
    let said = said.json()["id"].as_str().unwrap().to_owned();
    done(&world.post(&of("messages"), &json!({"text": "hello to you", "role": "assistant"})));
    assert_eq!(world.post(&of("messages"), &json!({"text": "x", "role": "tool"})).status, 422);
    let messages = world.read(&of("messages"))["messages"].as_array().unwrap().len();
    assert_eq!(messages, 2);
    let line = world.get(&of("entries/@"));
    assert!(String::from_utf8_lossy(&line.body).contains("hello to you"));
    // What was said last and its answer stay.
    let full = world.post(&of("evict"), &json!({"tokens": 1, "dry_run": true}));
    assert_eq!((full.status, full.kind().as_str()), (422, "context-full"));
    assert_eq!(done(&world.post(&of("evict"), &json!({"tokens": 0, "dry_run": true})))["enough"], true);
    let replaced = done(&world.post(&of("replace-segment"), &json!({"first": said, "last": said, "text": "they met"})));
    assert_eq!(replaced["replaced"], json!([said]));
    assert_eq!(done(&world.post(&of("recover"), &json!({})))["status"], "clean");
}

#[test]
fn tags_come_and_go_one_by_one_and_a_title_says_where_it_is_written() {
    let world = World::start();
    let session = world.session();
    let target = format!("/api/v1/sessions/{session}");
    let change = |what: Value| done(&world.request("PATCH", &target).json(&what).send(world.address));
    change(json!({"add_tags": ["blue", "red"]}));
    assert_eq!(
        change(json!({"remove_tags": ["red"], "add_tags": ["green"]}))["session"]["tags"],
        json!(["blue", "green"])
    );
    let renamed = change(json!({"title": "named"}));
    let entry = renamed["written"][0]["id"].as_str().unwrap();
    assert!(String::from_utf8_lossy(&world.get(&format!("{target}/entries/{entry}")).body).contains("named"));
}

#[test]
fn only_the_user_of_the_home_moves_directories() {
    let world = World::start();
    let moved = json!({"from": world.home.path(), "to": "/elsewhere"});
    world.session();
    let planned = done(&world.post("/api/v1/relocate", &moved));
    assert_eq!((&planned["dry_run"], planned["moved"].as_array().unwrap().len()), (&json!(true), 1));
    let theirs = Request::new("POST", "/api/v1/relocate").json(&moved);
    let theirs = theirs.header("authorization", &format!("Bearer {}", world.other));
    assert_eq!(theirs.send(world.address).status, 403);
    assert_eq!(world.post("/api/v1/relocate", &json!({"from": "a", "to": "/b"})).status, 422);
}
