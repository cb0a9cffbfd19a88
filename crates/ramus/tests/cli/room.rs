//! Room in a model's window: when it is made, and results that are too long for it.

use ramus_testkit::model_server::{Format, ModelServer, Plan, Reply};
use serde_json::json;

use crate::running::{asked_in, events};

#[test]
fn too_many_messages_are_summarised_when_that_is_wanted() {
    let text = |at: usize| format!("Answer {at}. {}", "And then some more of it. ".repeat(40));
    let answers = (0..5).map(|at| Reply::text(text(at)));
    let after = [Reply::text("It was about numbers."), Reply::text("After."), Reply::text("And on.")];
    let server = ModelServer::start(Plan::of(answers.chain(after))).unwrap();
    let (world, model) = asked_in(Format::Anthropic, &server);
    let world = world.with("RAMUS_TITLES", "off");
    world.ok(&["config", "set", "compact_at_messages", "10"]);
    let session = world.session();
    let turn = || events(&world.run(&["run", "count on", "-s", &session, "--model", model, "--json"]).stdout);
    let is_compaction = |event: &serde_json::Value| event["type"] == "compaction.end";
    for _ in 0..5 {
        assert!(!turn().iter().any(is_compaction));
    }
    // The eleventh message is one too many.
    let told = turn();
    assert_eq!(told.iter().filter(|event| is_compaction(event)).count(), 1, "{told:?}");
    assert!(server.illegal().is_empty(), "{:?}", server.illegal());
    let context = world.json(&["context", &session]);
    assert!(context["compacted_by"].is_string() && context["messages"].as_array().unwrap().len() < 10, "{context}");
    assert!(!turn().iter().any(is_compaction), "what is left is not too much again");
    assert_eq!(server.replies_left(), 0);
    let ran = world.run(&["config", "set", "compact_at_messages", "1"]);
    assert!(ran.code == 2 && ran.stderr.contains("from 2 on"), "{}", ran.stderr);
}

#[test]
fn a_result_that_a_window_has_no_room_for_goes_out_cut_and_stays_whole() {
    let replies = [Reply::text("I look.").call("read", json!({"path": "long.txt"})), Reply::text("Long.")];
    let server = ModelServer::start(Plan::of(replies)).unwrap();
    let (world, model) = asked_in(Format::Chat, &server);
    let world = world.with("RAMUS_TITLES", "off");
    world.ok(&["list"]);
    std::fs::write(world.path("home/models.toml"), "[models.openai.gpt-5]\nwindow = 8000\noutput = 1000\n").unwrap();
    world.file("long.txt", &"a line of a long file\n".repeat(900));
    let ran = world.run(&["run", "look", "--model", model, "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let sent = String::from_utf8(server.requests().last().unwrap().body.clone()).unwrap();
    assert!(sent.contains("Cut to fit the model's window"), "{}", sent.len());
    assert!((4_000..12_000).contains(&sent.matches("a line of").map(|_| 22).sum::<usize>()), "{}", sent.len());
    let session = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
    let kept = world.json(&["show", &session])["messages"][2].to_string();
    assert!(kept.matches("a line of").count() >= 900 && !kept.contains("Cut to fit"), "{}", kept.len());
}
