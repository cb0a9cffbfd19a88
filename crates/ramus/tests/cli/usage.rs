//! `usage`: every answer once, in the right row; what is not known is not 0.

use serde_json::{Value, json};

use crate::world::{World, pretty, snapshot, transcript};

/// An answer: when, by which model, how many tokens went in, and what the log says it cost.
fn answer(time: &str, model: &str, input: u64, cost: Option<f64>) -> String {
    let (provider, model) = model.split_once('/').unwrap();
    let millis = ramus_model::time::parse(time).unwrap();
    let usage = json!({"input": input, "output": 10, "cacheRead": 0, "cacheWrite": 0, "totalTokens": input + 10,
        "cost": {"total": cost}});
    let message = json!({"role": "assistant", "content": [{"type": "text", "text": "ok"}], "provider": provider,
        "model": model, "stopReason": "stop", "timestamp": millis, "usage": usage});
    json!({"type": "message", "timestamp": time, "message": message}).to_string()
}

fn session(world: &World, title: &str, more: &[&str], answers: &[String]) -> String {
    let id = world.ok(&[&["new", "--title", title], more].concat());
    let ran = world.run_with(&answers.join("\n"), &["append", &id]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    id
}

/// Two sessions of two models on two days, one spawned by the other.
fn filled() -> World {
    let world = World::new();
    let parent = session(
        &world,
        "Parent",
        &[],
        &[
            answer("2026-02-16T10:00:00Z", "demo/priced", 100, Some(1.5)),
            answer("2026-02-16T23:30:00Z", "anthropic/claude-sonnet-4-5-20250929", 1_000_000, None),
            answer("2026-02-17T10:00:00Z", "demo/unknown", 300, Some(0.0)),
        ],
    );
    session(&world, "Child", &["--parent", &parent], &[answer("2026-02-17T11:00:00Z", "ollama/llama", 50, None)]);
    world
}

fn column(answer: &Value, name: &str) -> Vec<Value> {
    answer["rows"].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
}

#[test]
fn rows_are_days_models_projects_or_sessions() {
    let world = filled();
    let days = world.json(&["usage"]);
    assert_eq!(column(&days, "key"), ["2026-02-16", "2026-02-17"]);
    assert_eq!(column(&days, "cost_micros"), [json!(4_500_150), json!(0)]);
    assert_eq!(column(&days, "unpriced"), [json!(0), json!(1)]);
    assert_eq!(days["total"]["cost_micros"], 4_500_150);
    assert_eq!(days["total"]["sessions"], 2);
    let models = world.json(&["usage", "--by", "model"]);
    let expected = ["anthropic/claude-sonnet-4-5-20250929", "demo/priced", "ollama/llama", "demo/unknown"];
    assert_eq!(column(&models, "key"), expected);
    assert_eq!(column(&models, "cost_micros"), [json!(3_000_150), json!(1_500_000), json!(0), Value::Null]);
    assert_eq!(column(&world.json(&["usage", "--by", "project"]), "key"), [json!(world.path("project"))]);
    let sessions = world.json(&["usage", "--by", "session"]);
    assert_eq!(column(&sessions, "title"), ["Parent", "Child"]);
    assert_eq!(sessions["rows"][0]["children"]["input"], 50);
    assert_eq!(sessions["rows"][0]["own"]["cost_micros"], sessions["rows"][0]["cost_micros"]);
    assert_eq!(sessions["rows"][1]["children"]["answers"], 0);
    // How much of an id is shown depends on when it was made.
    let told = world.ok(&["usage", "--by", "session"]);
    let ends: Vec<&str> = told.lines().map(|line| line.split_whitespace().last().unwrap()).collect();
    assert_eq!(ends[..4], ["CHILDREN", "$0.00", "$0.00", "$4.50+?"], "{told}");
    assert!(told.lines().nth(1).unwrap().contains(" Parent "), "{told}");
    snapshot!("json_usage", world.tame(&pretty(&sessions)));
    let by = |by| transcript(&world, &["usage", "--by", by]);
    snapshot!("text_usage", world.tame(&["day", "model"].map(by).concat()));
}

#[test]
fn days_are_those_of_the_time_zone_and_can_be_chosen() {
    let world = filled().with("TZ", "CET-1CEST,M3.5.0,M10.5.0/3");
    assert_eq!(column(&world.json(&["usage"]), "input"), [json!(100), json!(1_000_350)]);
    let world = world.with("TZ", "UTC");
    let inputs = |arguments: &[&str]| world.json(&[&["usage"], arguments].concat())["total"]["input"].clone();
    assert_eq!(inputs(&["--since", "2026-02-17"]), 350);
    assert_eq!(inputs(&["--until", "2026-02-16"]), 1_000_100);
    assert_eq!(inputs(&["--since", "2026-02-16", "--until", "2026-02-16"]), 1_000_100);
    assert_eq!(inputs(&["--since", "today"]), 0);
    assert_eq!(inputs(&["--cwd", "/"]), 0);
    let ran = world.run(&["usage", "--since", "soon"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn prices_can_be_overridden_and_mistakes_in_them_are_told() {
    let world = filled();
    let file = world.path("home/prices.toml");
    std::fs::write(&file, "[prices.demo]\nunknown = { input = 2, output = 5 }\n").unwrap();
    assert_eq!(world.json(&["usage"])["total"]["unpriced"], 0);
    assert_eq!(world.json(&["usage"])["rows"][1]["cost_micros"], 650);
    std::fs::write(&file, "[prices.demo]\nunknown = { input = 2, ouput = 5 }\n").unwrap();
    let ran = world.run(&["usage"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("unknown field `ouput`") && ran.stderr.contains("prices.toml"), "{}", ran.stderr);
    let ran = world.run(&["list", "--json"]);
    assert_eq!(ran.code, 0, "a list is about sessions");
    assert!(ran.stderr.contains("prices.toml"), "{}", ran.stderr);
}

#[test]
fn lists_tell_what_they_do_not_know() {
    let world = World::new();
    let unknown = session(&world, "Unknown", &[], &[answer("2026-02-16T10:00:00Z", "demo/unknown", 100, None)]);
    let info = &world.json(&["list"])["sessions"][0];
    assert_eq!((&info["cost_micros"], &info["unpriced"]), (&Value::Null, &json!(1)));
    assert!(world.ok(&["show", &unknown]).lines().nth(2).unwrap().contains(" ? "));
    let nothing = world.session();
    world.say(&nothing, "assistant", "typed by hand");
    let info = &world.json(&["show", &nothing])["session"];
    assert_eq!((&info["cost_micros"], &info["unpriced"]), (&json!(0), &json!(0)));
}
