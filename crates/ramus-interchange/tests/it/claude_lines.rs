//! Claude Code: lines in front of the conversation, lines that are there more than once, and lines that are none.

use ramus_interchange::{Format, MemorySource};
use ramus_model::{Depth, Log};
use serde_json::{Value, json};

use crate::carry::{self, lines};
use crate::claude::{SESSION, block, conversation, source, user};

/// A piece of an answer without the number of its block.
fn said(uuid: &str, parent: &str, message: &str, text: &str, output: u64) -> Value {
    block(uuid, parent, message, json!({"type": "text", "text": text}), output)
}

#[test]
fn a_title_in_front_takes_nothing_from_the_session() {
    let titles = [
        json!({"type": "custom-title", "customTitle": "Login", "sessionId": SESSION}),
        json!({"type": "ai-title", "aiTitle": "Login", "sessionId": SESSION}),
        json!({"type": "summary", "summary": "Login", "leafUuid": "u1"}),
    ];
    for title in titles {
        let (source, bytes) = source(&[title, user("u1", None, "fix it")]);
        let (sessions, _) = carry::check(Format::Claude, &source);
        let session = &sessions.sessions[0];
        let start = &session.start;
        assert_eq!((&*start.id, &*start.cwd), (SESSION, "/home/ada/shop"));
        assert_eq!((&*start.created, start.version.as_deref()), ("2026-11-01T10:00:00.000Z", Some("2.1.325")));
        let log = Log::from_bytes(&session.bytes, Depth::Whole);
        assert_eq!(ramus_model::title::given(&log), Some("Login"));
        carry::comes_back(Format::Claude, &source, &bytes);
    }
}

#[test]
fn much_in_front_takes_nothing_from_the_session() {
    let note = json!({"type": "file-history-snapshot", "snapshot": "x".repeat(4000)});
    let mut file = vec![note; 600];
    file.push(user("u1", None, "fix it"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let start = &sessions.sessions[0].start;
    assert_eq!((&*start.id, &*start.cwd, &*start.created), (SESSION, "/home/ada/shop", "2026-11-01T10:00:00.000Z"));
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a_summary_of_another_session_names_nothing() {
    let mut file = vec![
        json!({"type": "summary", "summary": "Elsewhere", "leafUuid": "e1"}),
        json!({"type": "summary", "summary": "Here", "leafUuid": "b3"}),
        json!({"type": "summary", "summary": "Elsewhere too", "leafUuid": "e2"}),
    ];
    file.extend(conversation().into_iter().filter(|line| line["type"] != "custom-title"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let names: Vec<_> = lines(&sessions.sessions[0].bytes).filter(|line| line["type"] == "session_info").collect();
    assert_eq!(names.len(), 1);
    assert_eq!(names[0]["name"], "Here");
    carry::comes_back(Format::Claude, &source, &bytes);
}

/// While an answer streams in it is written several times: beside itself, behind itself, or as the same line.
#[test]
fn an_answer_that_streamed_in_is_one() {
    let beside = vec![
        said("b1", "u1", "msg_1", "Hel", 1),
        said("b2", "u1", "msg_1", "Hello", 10),
        said("b3", "u1", "msg_1", "Hello world", 5),
    ];
    let behind = vec![said("b1", "u1", "msg_1", "Hel", 1), said("b3", "b1", "msg_1", "Hello world", 10)];
    let same = vec![said("b3", "u1", "msg_1", "Hm, hel", 1), said("b3", "u1", "msg_1", "Hello world", 10)];
    let twice = vec![said("b3", "u1", "msg_1", "Hello world", 10), said("b3", "u1", "msg_1", "Hello world", 10)];
    for answer in [beside, behind, same, twice] {
        let mut file = vec![user("u1", None, "hi")];
        file.extend(answer);
        file.push(user("u2", Some("b3"), "next"));
        let (source, bytes) = source(&file);
        let (sessions, _) = carry::check(Format::Claude, &source);
        let log = &sessions.sessions[0].bytes;
        assert_eq!(carry::told(log), ["user: hi", "assistant: Hello world", "user: next"]);
        let answers: Vec<_> = lines(log).filter(|line| line["message"]["role"] == "assistant").collect();
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0]["message"]["usage"]["output"], 10);
        carry::comes_back(Format::Claude, &source, &bytes);
    }
}

#[test]
fn blocks_that_only_look_alike_stay() {
    let call = |uuid: &str, parent: &str, id: &str| {
        block(uuid, parent, "msg_1", json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}}), 10)
    };
    let thought = |uuid: &str, parent: &str, text: &str, seal: &str| {
        block(uuid, parent, "msg_1", json!({"type": "thinking", "thinking": text, "signature": seal}), 10)
    };
    let file = [
        user("u1", None, "hi"),
        thought("b1", "u1", "", "one"),
        thought("b2", "b1", "", "two"),
        thought("b3", "b2", "Hm", "three"),
        thought("b4", "b3", "Hm, well", "four"),
        said("b5", "b4", "msg_1", "One", 10),
        said("b6", "b5", "msg_1", "Two", 10),
        call("b7", "b6", "toolu_1"),
        call("b8", "b6", "toolu_2"),
    ];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let answer = lines(&sessions.sessions[0].bytes).find(|line| line["message"]["role"] == "assistant").unwrap();
    assert_eq!(answer["message"]["content"].as_array().unwrap().len(), 8, "{answer}");
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a_line_that_is_there_twice_is_one() {
    let file = [
        user("u1", None, "hi"),
        user("u1", None, "hi"),
        said("b1", "u1", "msg_1", "Hello", 10),
        user("u2", Some("b1"), "next"),
        said("b1", "u1", "msg_1", "Hello", 10),
        user("u1", None, "hi"),
        said("b2", "u2", "msg_2", "Bye", 10),
        user("u2", Some("b1"), "something else"),
        user("u3", Some("u2"), "and so on"),
    ];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let log = &sessions.sessions[0].bytes;
    let messages = lines(log).filter(|line| line["type"] == "message");
    // What says something else is kept as what it says.
    assert_eq!(messages.map(|line| line["id"].clone()).collect::<Vec<_>>(), ["u1", "b1", "u2", "b2", "u2.2", "u3"]);
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn lines_that_are_no_json_come_back() {
    let mut bytes = carry::file(&conversation());
    bytes.extend_from_slice(b"not json at all\n{\"type\":\"us");
    let mut broken = serde_json::to_vec(&user("u2", Some("b4"), "broken ?")).unwrap();
    let at = broken.iter().position(|byte| *byte == b'?').unwrap();
    broken[at] = 0xff;
    bytes.push(b'\n');
    bytes.extend(broken);
    bytes.push(b'\n');
    bytes.extend(carry::file(&[user("u3", Some("u2"), "more")]));
    let source = MemorySource::new(&format!("{SESSION}.jsonl"), &bytes);
    carry::comes_back(Format::Claude, &source, &bytes);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let (written, _) = carry::write(Format::Claude, &sessions.sessions[0].bytes);
    assert_eq!(written, bytes);
}

#[test]
fn what_no_model_said_and_none_is_told() {
    let mut failed = said("b2", "u2", "made-up", "API Error", 0);
    failed["message"]["model"] = json!("<synthetic>");
    let mut shown = user("u2", Some("b1"), "only shown");
    shown["isVisibleInTranscriptOnly"] = json!(true);
    let file =
        [user("u1", None, "hi"), said("b1", "u1", "msg_1", "Hello", 10), shown, failed, user("u3", Some("b2"), "next")];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let log = &sessions.sessions[0].bytes;
    assert_eq!(carry::told(log), ["user: hi", "assistant: Hello", "assistant: API Error", "user: next"]);
    let models: Vec<_> = lines(log).filter_map(|line| line["message"]["model"].as_str().map(str::to_owned)).collect();
    assert_eq!(models, ["claude-sonnet-4-5", ""]);
    carry::comes_back(Format::Claude, &source, &bytes);
}
