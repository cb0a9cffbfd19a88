//! Sessions that are directories.

use ramus_interchange::{Error, Format, Jsonl, LogPassage, MemorySource, MemoryTarget, Report, Start, detect};
use serde_json::{Value, json};

use crate::carry::{self, lines};
use crate::generate::{self, Event};

fn meta() -> Value {
    json!({"id": "session_abc", "projectID": "p", "directory": "/home/ada", "title": "Auth", "version": "1.1.14",
        "time": {"created": 1_736_708_258_000_u64, "updated": 1_736_708_258_000_u64}})
}

fn source(files: &[(String, Value)]) -> MemorySource {
    let source = MemorySource::new("meta.json", meta().to_string().as_bytes());
    files.iter().fold(source, |source, (name, file)| source.beside(name, file.to_string().as_bytes()))
}

fn message(name: &str, role: &str, created: u64, content: Value) -> (String, Value) {
    let message = json!({"id": name, "role": role, "time": {"created": created}, "content": content});
    (format!("message/{name}.json"), message)
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// A log, written with this id.
fn written(log: &[u8], start: Option<Start>) -> (MemoryTarget, Report) {
    let mut target = MemoryTarget::default();
    let passage = LogPassage::new(log);
    let passage = if let Some(start) = start { passage.starting(start) } else { passage };
    let report = Format::Directory.codec().write(&passage, &mut target).unwrap();
    (target, report)
}

/// Files that were written, as a source.
fn again(target: &MemoryTarget) -> MemorySource {
    let root = target.files.keys().next().unwrap().split('/').next().unwrap();
    let file = |name: &str| &target.files[&format!("{root}/{name}")];
    let beside =
        target.files.iter().map(|(name, file)| (name.strip_prefix(root).unwrap().trim_start_matches('/'), file));
    beside.fold(MemorySource::new("meta.json", file("meta.json")), |source, (name, file)| source.beside(name, file))
}

#[test]
fn h4_messages_stand_in_the_order_they_were_said() {
    let files: Vec<_> = (1..=12)
        .map(|n| message(&format!("msg_{n}"), "user", 1_736_708_258_000, text(&format!("number {n}"))))
        .collect();
    let (sessions, _) = carry::check(Format::Directory, &source(&files));
    let expected: Vec<_> = (1..=12).map(|n| format!("user: number {n}")).collect();
    assert_eq!(carry::told(&sessions.sessions[0].bytes), expected);

    // When they were said counts more than what they are called.
    let files = [
        message("a", "user", 3, text("third")),
        message("b", "user", 1, text("first")),
        message("c", "user", 2, text("second")),
    ];
    let (sessions, _) = carry::check(Format::Directory, &source(&files));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: first", "user: second", "user: third"]);
}

#[test]
fn h4_what_is_written_is_read_in_the_same_order() {
    let events: Vec<_> = (0..40).map(|n| Event::User(format!("number {n}"), false)).collect();
    let log = generate::log(&events);
    let (target, _) = written(&log, None);
    let names: Vec<_> = target.files.keys().filter(|name| name.contains("/message/")).collect();
    assert!(names[0].ends_with("/msg_001.json") && names[39].ends_with("/msg_040.json"), "{names:?}");
    let (sessions, _) = carry::check(Format::Directory, &again(&target));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), carry::told(&log));
    let (twice, _) = written(&sessions.sessions[0].bytes, None);
    assert_eq!(target.files, twice.files);
}

#[test]
fn h4_a_message_that_is_new_comes_behind_those_that_were_read() {
    let files: Vec<_> = (1..=2).map(|n| message(&format!("msg_00{n}"), "user", n, text(&format!("{n}")))).collect();
    let (sessions, _) = carry::check(Format::Directory, &source(&files));
    let mut log = sessions.sessions[0].bytes.clone();
    let new = json!({"type": "message", "id": "new", "parentId": "msg_002", "timestamp": "2026-11-01T10:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "3"}]}});
    log.extend(format!("{new}\n").into_bytes());
    let (target, _) = written(&log, None);
    assert!(target.files.contains_key("session_abc/message/msg_003.json"), "{:?}", target.files.keys());
    let (sessions, _) = carry::check(Format::Directory, &again(&target));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: 1", "user: 2", "user: 3"]);
}

#[test]
fn h4_every_result_of_a_message_is_read() {
    let calls = json!([{"type": "tool_use", "id": "t1", "name": "a", "input": {}}, {"type": "tool_use", "id": "t2", "name": "b", "input": {}}]);
    let results = json!([
        {"type": "tool_result", "toolUseId": "t1", "result": "R-ONE", "isError": false},
        {"type": "text", "text": "beside"},
        {"type": "tool_result", "toolUseId": "t2", "result": {"n": 1}, "isError": true},
    ]);
    let files = [
        message("msg_001", "assistant", 1, calls),
        message("msg_002", "tool", 2, results.clone()),
        message("msg_003", "user", 3, results),
    ];
    let (sessions, _) = carry::check(Format::Directory, &source(&files));
    let log = &sessions.sessions[0].bytes;
    let told = carry::told(log);
    assert_eq!(told[2..5], ["toolResult t1: R-ONE", "toolResult t1: beside", "toolResult t2!: {\"n\":1}"]);
    assert_eq!(told[5..], ["toolResult t1: R-ONE", "toolResult t2!: {\"n\":1}", "user: beside"]);
    let names: Vec<_> = lines(log).filter(|line| line["message"]["role"] == "toolResult").collect();
    assert_eq!((&names[0]["message"]["toolName"], &names[1]["message"]["toolName"]), (&json!("a"), &json!("b")));
    let (target, _) = written(log, None);
    for (name, file) in files {
        assert_eq!(serde_json::from_slice::<Value>(&target.files[&format!("session_abc/{name}")]).unwrap(), file);
    }
}

#[test]
fn h4_what_is_to_be_done_is_read_and_comes_back() {
    let todo = json!([{"content": "buy milk", "status": "in_progress", "id": "7", "priority": "high"}, {"content": "drink it", "status": "pending", "id": "7"}]);
    let files = [
        message("msg_001", "user", 1, text("hi")),
        ("todo.json".to_owned(), todo.clone()),
        ("snapshot/snap_001.json".to_owned(), json!({"id": "snap_001", "files": [{"path": "a", "content": "x"}]})),
    ];
    let (sessions, report) = carry::check(Format::Directory, &source(&files));
    assert!(report.losses.iter().any(|loss| loss.why.starts_with("snapshots")), "{report:?}");
    let log = &sessions.sessions[0].bytes;
    let last = lines(log).last().unwrap();
    assert_eq!((&last["customType"], &last["parentId"]), (&json!("ramus.todo"), &json!("msg_001")));
    assert_eq!(
        last["data"]["tasks"],
        json!([{"id": "7", "text": "buy milk", "status": "in_progress"}, {"id": "1", "text": "drink it", "status": "pending"}])
    );
    let (target, _) = written(log, None);
    let file = |target: &MemoryTarget| serde_json::from_slice::<Value>(&target.files["session_abc/todo.json"]).unwrap();
    assert_eq!(file(&target), todo);

    // A list that was changed since is the one that counts.
    let mut changed = log.clone();
    let new = json!({"type": "custom", "id": "new", "parentId": "msg_001.todo", "timestamp": "2026-11-01T10:00:00.000Z",
        "customType": "ramus.todo", "data": {"op": "todo", "tasks": [{"id": "7", "text": "buy milk", "status": "completed"}]}});
    changed.extend(format!("{new}\n").into_bytes());
    assert_eq!(file(&written(&changed, None).0), json!([{"content": "buy milk", "status": "completed", "id": "7"}]));
}

#[test]
fn h4_a_file_of_that_name_is_no_session() {
    let other = br#"{"id": "some-asset", "kind": "texture"}"#;
    assert_eq!(detect("meta.json", other), None);
    assert_eq!(detect("meta.json", meta().to_string().as_bytes()), Some(Format::Directory));
    let read = Format::Directory.codec().read(&MemorySource::new("meta.json", other), &mut Jsonl::default());
    assert!(matches!(read, Err(Error::NotThisFormat { .. })), "{read:?}");
    // With messages beside it, it is one.
    let (name, file) = message("msg_001", "user", 1, text("hi"));
    let (sessions, _) = carry::check(
        Format::Directory,
        &MemorySource::new("meta.json", br#"{"id": "session_x"}"#).beside(&name, file.to_string().as_bytes()),
    );
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi"]);
}

#[test]
fn h4_what_is_not_written_is_said() {
    let lines = [
        json!({"type": "session", "version": 3, "id": "cccccccc-0000-4000-8000-000000000003", "timestamp": "2026-11-01T10:00:00.000Z", "cwd": "/w"}),
        json!({"type": "message", "id": "1", "parentId": null, "timestamp": "2026-11-01T10:00:01.000Z", "message": {"role": "user",
            "content": [{"type": "text", "text": "look"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}]}}),
        json!({"type": "message", "id": "2", "parentId": "1", "timestamp": "2026-11-01T10:00:02.000Z", "message": {"role": "assistant",
            "content": [{"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}, {"type": "text", "text": "no"}],
            "provider": "anthropic", "model": "m", "stopReason": "error", "errorMessage": "overloaded",
            "usage": {"input": 3, "output": 1, "cost": {"total": 0.25}}}}),
        json!({"type": "custom", "id": "3", "parentId": "2", "timestamp": "2026-11-01T10:00:03.000Z", "customType": "ramus.snapshot", "data": {}}),
    ];
    let log = carry::file(&lines);
    let start = Start { id: "session_child".into(), parent: Some("session_abc".into()), ..Start::default() };
    let (target, report) = written(&log, Some(start));
    let whys: Vec<_> = report.losses.iter().map(|loss| loss.why.as_str()).collect();
    assert_eq!(whys, ["pictures", "thoughts", "snapshots: what the files were like"]);
    let file = |name: &str| serde_json::from_slice::<Value>(&target.files[&format!("session_child/{name}")]).unwrap();
    assert_eq!(file("meta.json")["parentID"], "session_abc");
    let answer = file("message/msg_002.json");
    assert_eq!(answer["model"], json!({"providerID": "anthropic", "modelID": "m"}));
    assert_eq!(
        (&answer["cost"], &answer["finish_reason"], &answer["error"]),
        (&json!(0.25), &json!("error"), &json!("overloaded"))
    );
    let (sessions, _) = carry::check(Format::Directory, &again(&target));
    let session = &sessions.sessions[0];
    assert_eq!(session.start.parent.as_deref(), Some("session_abc"));
    let answer = carry::lines(&session.bytes).find(|line| line["message"]["role"] == "assistant").unwrap();
    assert_eq!((&answer["message"]["model"], &answer["message"]["stopReason"]), (&json!("m"), &json!("error")));
    assert_eq!(
        (&answer["message"]["errorMessage"], &answer["message"]["usage"]["cost"]["total"]),
        (&json!("overloaded"), &json!(0.25))
    );
}
