//! Gemini CLI.

use ramus_interchange::{Format, LogPassage, MemorySource, MemoryTarget, Start};
use serde_json::{Value, json};

use crate::carry::{self, lines};

const SESSION: &str = "55d3c07d-0000-4000-8000-000000000001";

fn head() -> Value {
    json!({"sessionId": SESSION, "projectHash": "f7da", "startTime": "2026-11-01T10:00:00.000Z", "lastUpdated": "2026-11-01T10:00:00.000Z", "kind": "main"})
}

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "timestamp": "2026-11-01T10:00:01.000Z", "type": "user", "content": [{"text": text}]})
}

fn answer(id: &str, text: &str, calls: Value) -> Value {
    let mut answer = json!({"id": id, "timestamp": "2026-11-01T10:00:02.000Z", "type": "gemini", "content": text,
        "thoughts": [{"subject": "Plan", "description": "look first"}],
        "tokens": {"input": 120, "output": 25, "cached": 90, "thoughts": 5, "tool": 0, "total": 150}, "model": "gemini-9"});
    if !calls.is_null() {
        answer["toolCalls"] = calls;
    }
    answer
}

fn called(output: &str) -> Value {
    json!([{"id": "c1", "name": "run", "args": {"command": "ls"}, "status": "success",
        "result": [{"functionResponse": {"id": "c1", "name": "run", "response": {"output": output}}}]}])
}

fn chat() -> Vec<Value> {
    vec![
        head(),
        json!({"$set": {"messages": [user("ctx", "<session_context>\nThis is the Gemini CLI.")]}}),
        user("m1", &"please look ".repeat(20)),
        json!({"$set": {"lastUpdated": "2026-11-01T10:00:01.000Z"}}),
        answer("m2", "I will.", Value::Null),
        json!({"$set": {"lastUpdated": "2026-11-01T10:00:02.000Z"}}),
        answer("m2", "I will.", called("src")),
        json!({"id": "m3", "timestamp": "2026-11-01T10:00:03.000Z", "type": "user", "content": [{"functionResponse": {"id": "c1", "name": "run", "response": {"output": "src"}}}]}),
        answer("m4", "Done.", Value::Null),
        json!({"$set": {"summary": "Looking around"}}),
    ]
}

fn source(lines: &[Value]) -> (MemorySource, Vec<u8>) {
    let bytes = carry::file(lines);
    (MemorySource::new("session-2026-11-01T10-00-55d3c07d.jsonl", &bytes).directory("/home/ada/shop"), bytes)
}

#[test]
fn a25_versions_of_a_message_are_one_entry() {
    let (source, bytes) = source(&chat());
    let (sessions, report) = carry::check(Format::Gemini, &source);
    assert_eq!((report.records, report.lost), (10, 0));
    let session = &sessions.sessions[0];
    assert_eq!((session.start.id.as_str(), session.start.cwd.as_str()), (SESSION, "/home/ada/shop"));
    let told = carry::told(&session.bytes);
    assert_eq!(
        told[1..],
        [
            "assistant: thinks **Plan**\n\nlook first",
            "assistant: I will.",
            "assistant: calls run c1 {\"command\":\"ls\"}",
            "toolResult c1: src",
            "assistant: thinks **Plan**\n\nlook first",
            "assistant: Done.",
        ]
    );
    let answer = lines(&session.bytes).find(|line| line["id"] == "m2").unwrap();
    assert_eq!((&answer["message"]["usage"]["input"], &answer["message"]["usage"]["output"]), (&json!(30), &json!(30)));
    let log = ramus_model::Log::from_bytes(&session.bytes, ramus_model::Depth::Whole);
    assert_eq!(ramus_model::title::given(&log), Some("Looking around"));
    carry::comes_back(Format::Gemini, &source, &bytes);
}

#[test]
fn a25_what_was_rewound_is_a_branch() {
    let mut file = chat();
    file.push(user("m5", "wrong"));
    file.push(answer("m6", "Oh.", Value::Null));
    file.push(json!({"$rewindTo": "m5"}));
    file.push(user("m7", "right"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Gemini, &source);
    let log = &sessions.sessions[0].bytes;
    let told = carry::told(log);
    assert_eq!(told.last().unwrap(), "user: right");
    assert!(!told.contains(&"user: wrong".to_owned()));
    assert!(
        lines(log).any(|line| line["id"] == "m5")
            && lines(log).any(|line| line["id"] == "m7" && line["parentId"] == "m4")
    );
    carry::comes_back(Format::Gemini, &source, &bytes);
}

#[test]
fn a25_an_unknown_target_of_a_rewind_leaves_nothing() {
    let mut file = chat();
    file.push(json!({"$rewindTo": "nobody"}));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Gemini, &source);
    assert!(carry::told(&sessions.sessions[0].bytes).is_empty());
    carry::comes_back(Format::Gemini, &source, &bytes);
}

#[test]
fn a25_a_list_of_messages_repeats_nothing_that_is_there() {
    let mut file = chat();
    let again = json!([
        user("ctx", "<session_context>\nThis is the Gemini CLI."),
        user("m1", &"please look ".repeat(20)),
        {"id": "m2", "type": "gemini", "content": [{"text": "look first", "thought": true}, {"text": "I will."}, {"functionCall": {"id": "c1", "name": "run", "args": {"command": "ls"}}}]},
        {"id": "m2_response", "type": "user", "content": [{"functionResponse": {"id": "c1", "name": "run", "response": {"output": "src"}}}]},
        {"id": "m3", "type": "user", "content": [{"functionResponse": {"id": "c1", "name": "run", "response": {"output": "src"}}}]},
        {"id": "m4", "type": "gemini", "content": [{"text": "Done."}]},
        user("m9", "only in the list"),
    ]);
    file.push(json!({"$set": {"messages": again}}));
    file.push(user("m10", "next"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Gemini, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told.len(), 9, "{told:?}");
    assert_eq!(told[7..], ["user: only in the list", "user: next"]);
    carry::comes_back(Format::Gemini, &source, &bytes);
}

#[test]
fn a25_a_document_of_an_older_version_is_read() {
    let mut document = head();
    document["messages"] = json!([user("m1", "hi"), answer("m2", "Yes.", called("src"))]);
    let pretty = serde_json::to_vec_pretty(&document).unwrap();
    assert_eq!(ramus_interchange::detect("session-1.json", &pretty), Some(Format::Gemini));
    let (sessions, report) = carry::check(Format::Gemini, &MemorySource::new("session-1.json", &pretty));
    assert_eq!(report.records, 3);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!((told[0].as_str(), told.last().unwrap().as_str()), ("user: hi", "toolResult c1: src"));
    carry::settles(Format::Gemini, &sessions.sessions[0].bytes);
}

/// A session that was resumed says more than once which it is. Written as another, it says so everywhere.
#[test]
fn a25_a_session_that_was_resumed_can_be_written_as_another() {
    let mut file = chat();
    file.extend([head(), json!({"$set": {"sessionId": SESSION}}), user("m11", "next")]);
    let (source, _) = source(&file);
    let (sessions, _) = carry::check(Format::Gemini, &source);
    let log = &sessions.sessions[0].bytes;
    let id = "0194f0c0-0000-7000-8000-000000000001";
    let start = Start { id: id.to_owned(), cwd: "/elsewhere".to_owned(), ..Start::default() };
    let mut target = MemoryTarget::default();
    Format::Gemini.codec().write(&LogPassage::new(log).starting(start), &mut target).unwrap();
    let written = String::from_utf8(target.only().unwrap().to_vec()).unwrap();
    assert_eq!((written.matches(SESSION).count(), written.matches(id).count()), (0, 3));
    assert!(!written.contains("f7da"), "the project is another, too");
}
