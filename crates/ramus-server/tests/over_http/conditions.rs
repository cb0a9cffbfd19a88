//! What is written only where it was expected, and only once.

use serde_json::{Value, json};

use crate::world::{World, message};

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
