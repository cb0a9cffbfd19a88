//! `run`: turns with scripts and with a strict model server in each of the four wire formats.

use std::process::Stdio;

use ramus_testkit::model_server::{Fault, Finish, Format, ModelServer, Plan, Reply};
use serde_json::{Value, json};

use crate::world::World;

fn world() -> World {
    World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// The events of a run, one a line.
pub(crate) fn events(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SCRIPT: &str = r#"
[[answers]]
steps = [
    { text = "Let me look. " },
    { call = { name = "read", arguments = { path = "a.txt" } } },
    { call = { name = "bash", arguments = { command = "cat a.txt | wc -c" } } },
]
[[answers]]
steps = [
    { text = "Now I change it." },
    { call = { name = "edit", arguments = { path = "a.txt", old = "world", new = "there" } } },
]
[[answers]]
steps = [{ text = "Done." }]
"#;

#[test]
fn a_turn_with_tools_changes_files_and_stores_everything() {
    let world = world();
    world.file("a.txt", "hello world\n");
    let script = world.file("script.toml", SCRIPT);
    let ran = world.run(&["run", "greet them", "--script", &script, "--permission", "edit=allow", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let events = events(&ran.stdout);
    let end = events.last().unwrap();
    assert_eq!((&end["type"], &end["finish_reason"]), (&json!("turn_end"), &json!("stop")));
    let session = end["session"].as_str().unwrap();
    assert_eq!(std::fs::read_to_string(world.path("project").join("a.txt")).unwrap(), "hello there\n");
    let shown = world.json(&["show", session]);
    let roles: Vec<&str> = shown["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "toolResult", "assistant", "toolResult", "assistant"]);
    let started = events.iter().filter(|event| event["type"] == "tool.start").count();
    assert_eq!(started, 3);
    // The tree shows what was said and done, not how turns keep book of it.
    let drawn = world.ok(&["tree", session]);
    assert!(!drawn.contains("ramus.") && drawn.contains("@ "), "{drawn}");
    assert!(drawn.lines().any(|line| line.starts_with("@ ") && line.contains("Done.")), "{drawn}");
    assert!(world.ok(&["tree", session, "--all"]).contains("ramus.turn"));
    // A name given to the end of a turn is given to what was said last.
    world.ok(&["label", &format!("{session}@"), "done"]);
    let named = world.json(&["show", session])["messages"].as_array().unwrap().last().unwrap()["label"].clone();
    assert_eq!(named, "done");
    // The turn goes on in the same session, and a fork of it leaves it alone.
    let more = world.file("more.toml", "answers = [{ steps = [{ text = \"Again.\" }] }]");
    world.ok(&["run", "again", "-s", session, "--script", &more]);
    assert_eq!(world.json(&["show", session])["messages"].as_array().unwrap().len(), 9);
    world.ok(&["run", "elsewhere", "-s", session, "--fork", "--script", &more]);
    assert_eq!(world.json(&["show", session])["messages"].as_array().unwrap().len(), 9);
}

#[test]
fn what_would_be_asked_is_denied_when_nobody_can_be() {
    let world = world();
    world.file("a.txt", "hello world\n");
    let script = world.file("script.toml", SCRIPT);
    let ran = world.run(&["run", "greet them", "--script", &script, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(world.path("project").join("a.txt")).unwrap(), "hello world\n");
    let events = events(&ran.stdout);
    let denied = events.iter().find(|event| event["name"] == "edit" && event["type"] == "tool.end").unwrap();
    assert_eq!(denied["error"], true);
    assert!(denied["result"][0]["text"].as_str().unwrap().contains("--permission edit=allow"), "{denied}");
}

#[test]
fn without_a_model_or_a_key_it_is_said_what_is_missing() {
    let world = world();
    let ran = world.run(&["run", "hello"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no model is chosen") && ran.stderr.contains("default_model"), "{}", ran.stderr);
    let ran = world.run(&["run", "hello", "--model", "anthropic/claude-sonnet-5"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("ANTHROPIC_API_KEY"), "{}", ran.stderr);
    let ran = world.run(&["run", "--model", "anthropic/claude-sonnet-5"]);
    assert!(ran.stderr.contains("nothing to say"), "{}", ran.stderr);
}

/// The model and the variables with which a format is asked.
pub(crate) fn asked_in(format: Format, server: &ModelServer) -> (World, &'static str) {
    let root = format!("http://{}", server.address());
    match format {
        Format::Chat => {
            let url = server.base_url(format);
            (world().with("OPENAI_BASE_URL", &url).with("OPENAI_API_KEY", "k"), "openai/gpt-5")
        }
        Format::Responses => {
            let url = server.base_url(format);
            (world().with("OPENAI_BASE_URL", &url).with("OPENAI_API_KEY", "k"), "openai-responses/gpt-5")
        }
        Format::Anthropic => {
            (world().with("ANTHROPIC_BASE_URL", &root).with("ANTHROPIC_API_KEY", "k"), "anthropic/claude-sonnet-5")
        }
        Format::Gemini => (world().with("GEMINI_BASE_URL", &root).with("GEMINI_API_KEY", "k"), "gemini/gemini-2.5-pro"),
    }
}

#[test]
fn every_format_carries_thoughts_parallel_calls_and_long_answers() {
    for format in Format::ALL {
        let replies = [
            Reply::default()
                .think(["Two files", ", then."])
                .say(["I look at ", "both. é日本"])
                .call("read", json!({"path": "a.txt"}))
                .call("read", json!({"path": "b.txt"})),
            Reply::text("They say one and two.").with_finish(Finish::Length),
            Reply::text(" And that is all."),
            Reply::text("You are welcome."),
        ];
        let server = ModelServer::start(Plan::of(replies)).unwrap();
        let (world, model) = asked_in(format, &server);
        world.file("a.txt", "one\n");
        world.file("b.txt", "two\n");
        let ran = world.run(&["run", "compare", "--model", model, "--thinking", "low", "--json"]);
        let illegal = server.illegal();
        assert!(illegal.is_empty(), "{format:?}: {illegal:?}");
        assert_eq!(ran.code, 0, "{format:?}: {}{}", ran.stdout, ran.stderr);
        let end = events(&ran.stdout).pop().unwrap();
        let session = end["session"].as_str().unwrap().to_owned();
        let shown = world.json(&["show", &session]);
        let mut texts: Vec<&str> =
            shown["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
        // Calls that only look run side by side.
        texts[2..4].sort_unstable();
        assert_eq!(
            texts,
            ["compare", "I look at both. é日本", "one\n", "two\n", "They say one and two. And that is all."],
            "{format:?}"
        );
        assert!(end["usage"]["output"].as_u64().unwrap() > 0, "{format:?}: {end}");
        let ran = world.run(&["run", "thanks", "-s", &session, "--model", model, "--json"]);
        assert_eq!((ran.code, server.illegal().len()), (0, 0), "{format:?}: {}{:?}", ran.stdout, server.illegal());
        assert_eq!(server.replies_left(), 0);
        // How much it thinks is on the path, once, and holds for the turns that say nothing about it.
        assert_eq!(world.json(&["state", &session])["thinking_level"], "low", "{format:?}");
        let tree = world.json(&["tree", &session]);
        let changes =
            tree["entries"].as_array().unwrap().iter().filter(|entry| entry["type"] == "thinking_level_change");
        assert_eq!(changes.count(), 1, "{format:?}");
    }
}

#[test]
fn a_provider_that_is_busy_is_asked_again_and_one_that_refuses_is_not() {
    let busy = Reply::broken(Fault::Status { code: 429, retry_after: Some("1".into()) });
    let server = ModelServer::start(Plan::of([busy, Reply::text("Here I am.")])).unwrap();
    let (world, model) = asked_in(Format::Chat, &server);
    let ran = world.run(&["run", "hello", "--model", model, "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(events(&ran.stdout).iter().filter(|event| event["type"] == "retry").count(), 1);
    let server = ModelServer::start(Plan::of([Reply::broken(Fault::Status { code: 401, retry_after: None })])).unwrap();
    let (world, model) = asked_in(Format::Anthropic, &server);
    let ran = world.run(&["run", "hello", "--model", model]);
    assert_eq!((ran.code, server.requests().len()), (1, 1));
    assert!(ran.stderr.contains("denies access"), "{}", ran.stderr);
}

#[test]
fn an_interrupt_stops_the_turn_and_keeps_what_was_said() {
    let world = world();
    let script = world.file(
        "slow.toml",
        "answers = [{ steps = [{ text = \"The beginning\" }, { delay_ms = 60000 }, { text = \" and the end.\" }] }]",
    );
    let mut command = world.command(&["run", "hello", "--script", &script, "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    // Until something was said.
    let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("message.delta") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut output, &mut line).unwrap() > 0, "nothing was said");
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let session = world.json(&["list", "--drafts"])["sessions"][0]["id"].as_str().map(str::to_owned).unwrap();
    assert_eq!(world.json(&["show", &session])["messages"][1]["text"], "The beginning");
}

#[test]
fn a_turn_that_cannot_begin_leaves_nothing_to_go_on_with() {
    let world = world();
    let session = world.branched();
    let script = world.file("script.toml", "answers = [{ steps = [{ text = \"Yes.\" }] }]");
    for wrong in [
        &["--model", "openai/gpt-5"][..],
        &["--script", "nowhere.toml"],
        &["--script", &script, "--agent", "nobody"],
        &["--script", &script, "--permission", "edit=perhaps"],
        &["--script", &script, "--thinking", "hard"],
        &["--script", &script, "-s", &session, "--fork", "--thinking", "hard"],
        &["--script", &script, "-s", &session, "--fork", "--edit", "nowhere"],
    ] {
        let ran = world.run(&[&["run", "hello"], wrong].concat());
        assert_ne!(ran.code, 0, "{wrong:?}: {}", ran.stdout);
        let listed = world.json(&["list", "--all", "--drafts"])["sessions"].as_array().unwrap().clone();
        assert!(matches!(&*listed, [one] if one["id"] == session.as_str()), "{wrong:?}: {listed:?}");
    }
    world.ok(&["run", "hello", "--script", &script]);
    assert_eq!(world.json(&["list", "--all", "--drafts"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_turn_that_fails_says_so_where_commands_say_why_they_fail() {
    let world = world();
    let script = world.file("script.toml", "answers = [{ steps = [{ error = \"denied\" }] }]");
    let ran = world.run(&["run", "hello", "--script", &script, "--json"]);
    let end = events(&ran.stdout).pop().unwrap();
    assert_eq!((ran.code, &end["finish_reason"]), (1, &json!("error")), "{}", ran.stdout);
    let told = events(&ran.stderr).into_iter().find(|told| !told["error"].is_null()).unwrap();
    assert_eq!((&told["error"]["kind"], &told["error"]["message"]), (&json!("unavailable"), &end["error"]));
}
