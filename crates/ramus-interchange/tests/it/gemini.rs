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

fn running(id: &str) -> Value {
    answer(id, "I will.", json!([{"id": "c1", "name": "run", "args": {"command": "ls"}, "status": "executing"}]))
}

/// What is told of a file, which must come back as it was.
fn told(file: &[Value]) -> (Vec<String>, Vec<u8>) {
    let (source, bytes) = source(file);
    let (sessions, report) = carry::check(Format::Gemini, &source);
    assert!(report.losses.is_empty(), "{report:?}");
    carry::comes_back(Format::Gemini, &source, &bytes);
    let log = sessions.sessions[0].bytes.clone();
    let told = carry::told(&log).into_iter().filter(|line| !line.contains("thinks")).collect();
    (told, log)
}

#[test]
fn a25_what_a_call_gave_counts_whenever_it_comes() {
    let behind_a_title = [
        head(),
        user("m1", "look"),
        running("m2"),
        json!({"$set": {"summary": "Looking"}}),
        answer("m2", "I will.", called("src")),
        answer("m4", "Done.", Value::Null),
    ];
    let calls = "assistant: calls run c1 {\"command\":\"ls\"}";
    let expected = ["user: look", "assistant: I will.", calls, "toolResult c1: src", "assistant: Done."];
    assert_eq!(told(&behind_a_title).0, expected);

    let behind_words = [
        head(),
        user("m1", "look"),
        running("m2"),
        user("m3", "hurry"),
        answer("m2", "I will.", called("src")),
        answer("m2", "I will.", called("src")),
        answer("m4", "Done.", Value::Null),
    ];
    let (words, log) = told(&behind_words);
    assert_eq!(
        words,
        ["user: look", "assistant: I will.", calls, "user: hurry", "toolResult c1: src", "assistant: Done."]
    );
    assert_eq!(lines(&log).filter(|line| line["message"]["role"] == "toolResult").count(), 1);

    // A message that tells the model is the same again.
    let response = json!([{"functionResponse": {"id": "c1", "name": "run", "response": {"output": "src"}}}]);
    let mut with_message = behind_words.to_vec();
    with_message.insert(5, json!({"id": "m9", "type": "user", "content": response}));
    assert_eq!(told(&with_message).0, words);
}

#[test]
fn a25_the_last_version_of_a_message_counts() {
    let mut later = answer("m2", "I will, at once.", called("src"));
    later["tokens"]["output"] = json!(999);
    later["thoughts"] = json!([{"subject": "Late", "description": "thought"}]);
    let file = [
        head(),
        user("m1", "look"),
        running("m2"),
        json!({"id": "i1", "type": "info", "content": "a notice"}),
        answer("m2", "I will.", called("src")),
        user("m3", "hurry"),
        later,
        user("m3", "hurry, please"),
        answer("m4", "Done.", Value::Null),
    ];
    let (words, log) = told(&file);
    assert_eq!(words[1], "assistant: I will, at once.");
    assert_eq!(words[4], "user: hurry, please");
    let latest = lines(&log).filter(|line| line["id"] == "m2").last().unwrap();
    assert_eq!(latest["message"]["usage"]["output"], 1004);
    assert_eq!(latest["message"]["content"][0]["thinking"], "**Late**\n\nthought");
}

#[test]
fn a25_what_stands_beside_what_a_call_gave_is_there() {
    let picture = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw0KGgo=".repeat(10)}});
    let response =
        json!({"functionResponse": {"id": "c1", "name": "run", "response": {"output": "seen"}, "parts": [picture]}});
    let result = json!([{"functionResponse": {"id": "c1", "name": "run", "response": {"output": "seen"}}}, picture]);
    let call = json!([{"id": "c1", "name": "run", "args": {}, "status": "success", "result": result}]);
    let shows = format!("toolResult c1: shows image/png {}", "iVBORw0KGgo=".repeat(10));
    let said = |content: Value| json!({"id": "m3", "timestamp": "2026-11-01T10:00:03.000Z", "type": "user", "content": content});
    let file = |message: Option<Value>| {
        let front = [head(), user("m1", "look"), answer("m2", "I will.", call.clone())];
        front.into_iter().chain(message).chain([answer("m4", "Done.", Value::Null)]).collect::<Vec<_>>()
    };
    for message in [None, Some(said(result)), Some(said(json!([response])))] {
        assert_eq!(told(&file(message)).0[3..5], ["toolResult c1: seen".to_owned(), shows.clone()]);
    }
    let beside = said(json!([response, {"text": "and stop after this"}]));
    let (words, _) = told(&file(Some(beside)));
    assert_eq!(words[3..6], ["toolResult c1: seen", &*shows, "user: and stop after this"]);
}

#[test]
fn a25_a_call_that_failed_says_why() {
    let call =
        json!([{"id": "c1", "name": "run", "args": {}, "status": "error", "resultDisplay": "Tool failed: boom"}]);
    let (words, _) =
        told(&[head(), user("m1", "look"), answer("m2", "I will.", call), answer("m4", "Oh.", Value::Null)]);
    assert_eq!(words[3], "toolResult c1!: Tool failed: boom");
}

#[test]
fn a25_lines_that_are_no_json_are_put_back() {
    let mut file = carry::file(&chat());
    file.splice(..0, b"what is this\n".to_vec());
    file.extend(b"{\"id\": \"m9\", \"type\n[1]\n");
    let source = MemorySource::new("session-2026-11-01T10-00-55d3c07d.jsonl", &file);
    carry::comes_back(Format::Gemini, &source, &file);
}
