//! `run` against a strict model server in each of the four wire formats: long answers, pictures, interrupts, and a server
//! that fails in every way.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::{Duration, Instant};

use base64::Engine as _;
use ramus_testkit::model_server::{Fault, Finish, Format, ModelServer, Overflow, Plan, Reply};
use serde_json::{Value, json};

use crate::running::{self, events};
use crate::world::World;

/// A picture of one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The texts of the answers of the only session, in order.
fn answers(world: &World) -> Vec<String> {
    let listed = world.json(&["list", "--drafts"]);
    let session = listed["sessions"][0]["id"].as_str().unwrap();
    let shown = world.json(&["show", session]);
    let messages = shown["messages"].as_array().unwrap();
    let answers = messages.iter().filter(|message| message["role"] == "assistant");
    answers.map(|message| message["text"].as_str().unwrap().to_owned()).collect()
}

/// A world whose model is the server's, and where only what is said is asked.
fn asked_in(format: Format, server: &ModelServer) -> (World, &'static str) {
    let (world, model) = running::asked_in(format, server);
    (world.with("RAMUS_TITLES", "off"), model)
}

fn checked(server: &ModelServer, format: Format) {
    let illegal = server.illegal();
    assert!(illegal.is_empty(), "{format:?}: {illegal:?}");
}

#[test]
fn an_answer_that_is_always_cut_off_goes_on_ten_times() {
    for format in Format::ALL {
        let replies = (0..12).map(|at| Reply::text(format!("part{at} ")).with_finish(Finish::Length));
        let server = ModelServer::start(Plan::of(replies)).unwrap();
        let (world, model) = asked_in(format, &server);
        let ran = world.run(&["run", "tell me everything", "--model", model, "--json"]);
        checked(&server, format);
        assert_eq!((ran.code, server.requests().len()), (0, 11), "{format:?}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(events(&ran.stdout).pop().unwrap()["finish_reason"], "length", "{format:?}");
        let whole: String = (0..11).map(|at| format!("part{at} ")).collect();
        assert_eq!(answers(&world), [whole], "{format:?}");
    }
}

#[test]
fn a_picture_that_a_tool_reads_is_shown_to_the_model() {
    for format in Format::ALL {
        let replies = [
            Reply::text("I look.").call("read", json!({"path": "pixel.png"})),
            Reply::text("It is tiny."),
            Reply::text("Still tiny."),
        ];
        let server = ModelServer::start(Plan::of(replies)).unwrap();
        let (world, model) = asked_in(format, &server);
        let pixel = base64::engine::general_purpose::STANDARD.decode(PIXEL).unwrap();
        std::fs::write(world.path("project").join("pixel.png"), pixel).unwrap();
        let ran = world.run(&["run", "what is in the picture?", "--model", model, "--json"]);
        checked(&server, format);
        assert_eq!(ran.code, 0, "{format:?}: {}{}", ran.stdout, ran.stderr);
        let sent = String::from_utf8_lossy(&server.requests().last().unwrap().body).into_owned();
        assert!(sent.contains(PIXEL), "{format:?}: the picture is not sent");
        let session = events(&ran.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
        let ran = world.run(&["run", "and now?", "-s", &session, "--model", model, "--json"]);
        checked(&server, format);
        assert_eq!(ran.code, 0, "{format:?}: {}", ran.stdout);
    }
}

#[test]
fn an_interrupt_in_the_third_continuation_keeps_everything_that_was_said() {
    for format in Format::ALL {
        let cut = |text: &str| Reply::text(text).with_finish(Finish::Length);
        let pieces = std::iter::once("four ".to_owned()).chain((5..2_000).map(|number| format!("{number} ")));
        let slow = Reply::default().say(pieces).paced(Duration::from_millis(30));
        let server = ModelServer::start(Plan::of([cut("one "), cut("two "), cut("three "), slow])).unwrap();
        let (world, model) = asked_in(format, &server);
        let mut command = world.command(&["run", "count", "--model", model, "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut events = lines.map(|line| serde_json::from_str::<Value>(&line).unwrap());
        let mut said = String::new();
        while !said.ends_with("four ") {
            let event = events.next().unwrap_or_else(|| panic!("{format:?}: it ended after {said:?}"));
            said.push_str(event["text"].as_str().unwrap_or_default());
        }
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let told: Vec<Value> = events.collect();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        checked(&server, format);
        assert!(told.iter().any(|event| event["type"] == "turn.cancelled" && event["seq"].is_u64()), "{told:?}");
        assert_eq!(told.last().unwrap()["finish_reason"], "cancelled");
        said.extend(told.iter().filter_map(|event| event["text"].as_str()));
        assert!(said.starts_with("one two three four "), "{format:?}: {said}");
        assert_eq!(answers(&world), [said], "{format:?}: what was shown is what is kept");
    }
}

/// What comes of a turn when the first answers are broken in this way.
fn after(format: Format, faults: Vec<Reply>) -> (World, Vec<Value>, i32, usize) {
    let server = ModelServer::start(Plan::of(faults.into_iter().chain([Reply::text("Here.")]))).unwrap();
    let (world, model) = asked_in(format, &server);
    let ran = world.run(&["run", "hello", "--model", model, "--json"]);
    checked(&server, format);
    let asked = server.requests().len();
    (world, events(&ran.stdout), ran.code, asked)
}

#[test]
fn trouble_before_anything_was_said_is_overcome() {
    let at_once = || Some("0".to_owned());
    let troubles = [
        Fault::Status { code: 429, retry_after: at_once() },
        Fault::Status { code: 503, retry_after: at_once() },
        Fault::Reset { at: 0 },
    ];
    std::thread::scope(|scope| {
        for format in Format::ALL {
            for fault in troubles.clone() {
                scope.spawn(move || {
                    let (world, told, code, asked) = after(format, vec![Reply::broken(fault.clone())]);
                    assert_eq!((code, asked), (0, 2), "{format:?} {fault:?}: {told:?}");
                    let retry = told.iter().find(|event| event["type"] == "retry").unwrap();
                    assert!(!retry["reason"].as_str().unwrap().is_empty(), "{retry}");
                    assert_eq!(answers(&world), ["Here."], "{format:?} {fault:?}");
                });
            }
        }
    });
}

#[test]
fn trouble_after_something_was_said_keeps_it_and_says_what_happened() {
    for format in Format::ALL {
        let broken = Reply::default().say(["Half of ", "it, and more."]).with_fault(Fault::Error { after: 4 });
        let (world, told, code, asked) = after(format, vec![broken]);
        // What has been shown is not asked for again; what was not may be.
        let end = told.last().unwrap();
        if asked == 1 {
            assert_eq!((code, &end["finish_reason"]), (1, &json!("error")), "{format:?}: {told:?}");
            assert!(end["error"].as_str().is_some_and(|words| words.len() > 10), "{end}");
            let answers = answers(&world);
            assert!("Half of it, and more.".starts_with(answers[0].as_str()), "{format:?}: {answers:?}");
        } else {
            assert_eq!((code, asked), (0, 2), "{format:?}: {told:?}");
        }
        let said: String = told.iter().filter_map(|event| event["text"].as_str()).collect();
        assert_eq!(answers(&world).concat(), said, "{format:?}: what was shown is what is kept");
    }
}

#[test]
fn a_stream_that_stalls_is_waited_for_and_one_that_is_cut_is_not_believed() {
    for format in Format::ALL {
        let slow = Reply::text("Slowly.").with_fault(Fault::Stall { at: 30, for_ms: Some(400) });
        let (world, told, code, asked) = after(format, vec![slow]);
        assert_eq!((code, asked), (0, 1), "{format:?}: {told:?}");
        assert_eq!(answers(&world), ["Slowly."], "{format:?}");
        let cut = Reply::text("Never whole.").with_fault(Fault::NoTerminal);
        let (world, told, code, asked) = after(format, vec![cut]);
        // Where the end comes with the text, nothing was shown and it is asked for again.
        if asked == 1 {
            assert_eq!((code, &told.last().unwrap()["finish_reason"]), (1, &json!("error")), "{format:?}: {told:?}");
        } else {
            assert_eq!((code, answers(&world)), (0, vec!["Here.".to_owned()]), "{format:?}: {told:?}");
        }
    }
}

#[test]
fn a_model_that_falls_silent_is_given_up_when_patience_ends() {
    let format = Format::Anthropic;
    let silent = || Reply::text("Never.").with_fault(Fault::Stall { at: 0, for_ms: None });
    let half = Reply::text("Half of it, and no more.").with_fault(Fault::Stall { at: 700, for_ms: None });
    let server = ModelServer::start(Plan::of([silent(), half])).unwrap();
    let (world, model) = asked_in(format, &server);
    world.ok(&["config", "set", "patience", "2"]);
    let ran = world.run(&["run", "well?", "--model", model, "--json"]);
    let told = events(&ran.stdout);
    // It had said nothing, so it is asked again; what it says then is kept.
    assert!(told.iter().any(|event| event["type"] == "retry"), "{told:?}");
    let end = told.last().unwrap();
    assert_eq!((ran.code, &end["finish_reason"], server.requests().len()), (1, &json!("error"), 2), "{told:?}");
    assert!(end["error"].as_str().unwrap().contains("2 s"), "{end}");
    let said: String = told.iter().filter_map(|event| event["text"].as_str()).collect();
    assert_eq!(answers(&world).concat(), said);
    let refused = world.run(&["config", "set", "patience", "0"]);
    assert!(refused.code == 2 && refused.stderr.contains("from 1 to 86400"), "{}", refused.stderr);
}

#[test]
fn a_full_window_is_made_room_in_and_the_turn_goes_on() {
    for (format, words) in [
        (Format::Chat, Overflow::OpenAi),
        (Format::Responses, Overflow::Responses),
        (Format::Anthropic, Overflow::Anthropic),
        (Format::Gemini, Overflow::Gemini),
    ] {
        let replies = [
            Reply::text("One, and then some. ".repeat(100)),
            Reply::text("Two, and then some. ".repeat(100)),
            Reply::broken(Fault::Overflow(words)),
            // A turn that is cut in two is asked about twice.
            Reply::text("So it was."),
            Reply::text("So it was."),
            Reply::text("So it was."),
        ];
        let server = ModelServer::start(Plan::of(replies)).unwrap();
        let (world, model) = asked_in(format, &server);
        let first = world.run(&["run", "count", "--model", model, "--json"]);
        let session = events(&first.stdout).pop().unwrap()["session"].as_str().unwrap().to_owned();
        world.ok(&["run", "on", "-s", &session, "--model", model]);
        let ran = world.run(&["run", "on", "-s", &session, "--model", model, "--json"]);
        checked(&server, format);
        assert!(ran.code == 0 && server.replies_left() <= 1, "{format:?}: {}{}", ran.stdout, ran.stderr);
        let told = events(&ran.stdout);
        assert!(told.iter().any(|event| event["type"] == "compaction.end" && event["error"].is_null()), "{format:?}");
        assert_eq!(answers(&world).last().map(String::as_str), Some("So it was."), "{format:?}");
        // There is nothing to leave out of a session that has only begun.
        let (_, told, code, _) = after(format, vec![Reply::broken(Fault::Overflow(words))]);
        let error = told.last().unwrap()["error"].as_str().unwrap().to_owned();
        assert!(code == 1 && error.contains("too long"), "{format:?}: {error}");
    }
}

#[test]
fn a_session_that_another_process_runs_is_busy() {
    let world = World::new().with("PATH", "/usr/local/bin:/usr/bin:/bin");
    let slow = world.file("slow.toml", "answers = [{ steps = [{ text = \"Well\" }, { hang = true }] }]");
    let session = world.session();
    let mut command = world.command(&["run", "hello", "-s", &session, "--script", &slow, "--json"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("message.delta")), "the first turn says nothing");
    let ran = world.run(&["run", "me too", "-s", &session, "--script", &slow, "--json"]);
    let error: Value = serde_json::from_str(ran.stderr.lines().last().unwrap()).unwrap();
    assert_eq!((ran.code, &error["error"]["kind"]), (4, &json!("busy")), "{}", ran.stderr);
    assert!(error["error"]["hint"].as_str().unwrap().contains("wait"), "{error}");
    let journal = world.path("home/journals").join(&session);
    let end = Instant::now() + Duration::from_secs(30);
    while !std::fs::read_to_string(&journal).unwrap().contains("Well") {
        assert!(Instant::now() < end, "what was said is not journalled");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // What the first one said is kept by whoever writes next, whatever it writes.
    world.say(&session, "user", "Never mind.");
    let shown = world.json(&["show", &session]);
    let texts: Vec<&str> =
        shown["messages"].as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["hello", "Well", "Never mind."]);
}
