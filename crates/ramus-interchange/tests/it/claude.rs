//! Claude Code.

use ramus_interchange::{Format, MemorySource};
use ramus_model::{Depth, Log};
use serde_json::{Value, json};

use crate::carry::{self, lines};

pub(crate) const SESSION: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// A line of the tree.
pub(crate) fn line(kind: &str, uuid: &str, parent: Option<&str>, rest: Value) -> Value {
    let mut line = json!({
        "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": uuid, "timestamp": "2026-11-01T10:00:00.000Z",
        "cwd": "/home/ada/shop", "sessionId": SESSION, "version": "2.1.325", "gitBranch": "main", "userType": "external",
    });
    line.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    line
}

pub(crate) fn user(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    line("user", uuid, parent, json!({"message": {"role": "user", "content": text}}))
}

pub(crate) fn block(uuid: &str, parent: &str, message: &str, block: Value, output: u64) -> Value {
    let usage = json!({"input_tokens": 12, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 3, "output_tokens": output});
    let message = json!({"id": message, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [block], "stop_reason": "tool_use", "usage": usage});
    line("assistant", uuid, Some(parent), json!({"message": message, "requestId": "req_1"}))
}

pub(crate) fn result(uuid: &str, parent: &str, call: &str, content: Value) -> Value {
    let block = json!({"tool_use_id": call, "type": "tool_result", "content": content, "is_error": true});
    let rest = json!({"message": {"role": "user", "content": [block]}, "toolUseResult": {"stdout": "…", "n": 1}});
    line("user", uuid, Some(parent), rest)
}

pub(crate) fn source(lines: &[Value]) -> (MemorySource, Vec<u8>) {
    let bytes = carry::file(lines);
    (MemorySource::new(&format!("{SESSION}.jsonl"), &bytes), bytes)
}

/// A long text, so that it is worth taking out of its record.
fn long(word: &str) -> String {
    format!("{word} ").repeat(40)
}

pub(crate) fn conversation() -> Vec<Value> {
    vec![
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION, "content": "fix it"}),
        user("u1", None, &long("fix the login")),
        line("attachment", "a1", Some("u1"), json!({"attachment": {"type": "environment"}, "rendered": []})),
        block("b1", "a1", "msg_1", json!({"type": "thinking", "thinking": long("hm"), "signature": "c2ln"}), 7),
        json!({"type": "last-prompt", "lastPrompt": "fix", "leafUuid": "b1", "sessionId": SESSION}),
        block("b2", "b1", "msg_1", json!({"type": "text", "text": "I will look."}), 20),
        block(
            "b3",
            "b2",
            "msg_1",
            json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": long("ls")}}),
            25,
        ),
        json!({"type": "mode", "mode": "normal", "sessionId": SESSION}),
        result("r1", "b3", "toolu_1", json!([{"type": "text", "text": long("no such file")}])),
        block("b4", "r1", "msg_2", json!({"type": "text", "text": "Done."}), 5),
        json!({"type": "custom-title", "customTitle": "Login", "sessionId": SESSION}),
    ]
}

#[test]
fn a25_blocks_of_one_message_are_one_entry_and_everything_comes_back() {
    let (source, bytes) = source(&conversation());
    let (sessions, report) = carry::check(Format::Claude, &source);
    assert_eq!((report.records, report.lost), (11, 0));
    let session = &sessions.sessions[0];
    assert_eq!((session.start.id.as_str(), session.start.cwd.as_str()), (SESSION, "/home/ada/shop"));
    assert_eq!(session.start.version.as_deref(), Some("2.1.325"));
    let told = carry::told(&session.bytes);
    assert_eq!(told.len(), 6);
    assert!(told[1].starts_with("assistant: thinks hm"), "{told:?}");
    assert!(told[3].starts_with("assistant: calls Bash toolu_1"), "{told:?}");
    assert!(told[4].starts_with("toolResult toolu_1!: no such file"), "{told:?}");
    let answer = lines(&session.bytes).find(|line| line["id"] == "b1").unwrap();
    assert_eq!(answer["message"]["usage"]["output"], 25);
    assert_eq!(answer["message"]["usage"]["cacheWrite"], 3);
    assert_eq!(answer["message"]["responseId"], "msg_1");
    assert_eq!(answer["message"]["stopReason"], "toolUse");
    let log = Log::from_bytes(&session.bytes, Depth::Whole);
    assert_eq!(ramus_model::title::given(&log), Some("Login"));
    carry::comes_back(Format::Claude, &source, &bytes);
    // What an entry says is not stored a second time.
    assert!(session.bytes.len() < bytes.len() * 2, "{} {}", session.bytes.len(), bytes.len());
}

#[test]
fn a25_rewound_messages_are_branches() {
    let mut file = conversation();
    file.push(user("u2", Some("b4"), "first try"));
    file.push(user("u3", Some("b4"), "second try"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let log = &sessions.sessions[0].bytes;
    let told = carry::told(log);
    assert_eq!(told.last().unwrap(), "user: second try");
    assert!(!told.contains(&"user: first try".to_owned()));
    assert!(lines(log).any(|line| line["id"] == "u2" && line["parentId"] == "b4"));
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_a_compaction_is_one_entry_that_keeps_what_was_preserved() {
    let mut file = conversation();
    let metadata = json!({"trigger": "auto", "preTokens": 4321, "preservedSegment": {"headUuid": "b4", "anchorUuid": "s1", "tailUuid": "b4"}});
    file.push(line(
        "system",
        "c1",
        None,
        json!({"subtype": "compact_boundary", "logicalParentUuid": "b4", "compactMetadata": metadata}),
    ));
    file.push(line(
        "user",
        "s1",
        Some("c1"),
        json!({"isCompactSummary": true, "message": {"role": "user", "content": long("we fixed it")}}),
    ));
    file.push(user("u4", Some("s1"), "thanks"));
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told.len(), 3, "{told:?}");
    assert!(told[0].starts_with("compactionSummary: we fixed it"));
    assert_eq!(told[1..], ["assistant: Done.", "user: thanks"]);
    let compaction = lines(&sessions.sessions[0].bytes).find(|line| line["type"] == "compaction").unwrap();
    assert_eq!((&compaction["tokensBefore"], &compaction["parentId"]), (&json!(4321), &json!("b4")));
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_records_that_are_missing_are_bridged_visibly() {
    let mut file = conversation();
    file.push(user("u9", Some("gone"), "still here"));
    file.push(user("u10", Some("gone"), "here, too"));
    let (source, bytes) = source(&file);
    let (sessions, report) = carry::check(Format::Claude, &source);
    assert_eq!(report.bridged, 1);
    let log = &sessions.sessions[0].bytes;
    let bridge = lines(log).find(|line| line["customType"] == "ramus.missing").unwrap();
    assert_eq!((&bridge["id"], &bridge["parentId"]), (&json!("gone"), &json!("b4")));
    let told = carry::told(log);
    assert_eq!(told.last().unwrap(), "user: here, too");
    assert!(told.len() > 5, "the history before the gap is there: {told:?}");
    // The gap is in the file again, and what hangs from it hangs from it.
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_spawned_agents_are_child_sessions() {
    let (main, _) = source(&conversation());
    let child = |uuid: &str, parent: Option<&str>, text: &str| {
        let mut line = user(uuid, parent, text);
        line["isSidechain"] = json!(true);
        line["agentId"] = json!("a77");
        line
    };
    let transcript = carry::file(&[child("k1", None, "look around"), child("k2", Some("k1"), "and report")]);
    let (sessions, report) = carry::check(Format::Claude, &main.child("agent-a77.jsonl", &transcript));
    assert_eq!((sessions.sessions.len(), report.sessions), (2, 2));
    let start = &sessions.sessions[1].start;
    assert_eq!((start.id.as_str(), start.parent.as_deref()), (format!("{SESSION}.a77").as_str(), Some(SESSION)));
    assert_eq!(carry::told(&sessions.sessions[1].bytes), ["user: look around", "user: and report"]);
    // Older versions have them between the other lines.
    let mut file = conversation();
    file.insert(4, child("k1", None, "look around"));
    file.insert(8, child("k2", Some("k1"), "and report"));
    let (inline, _) = source(&file);
    let (sessions, report) = carry::check(Format::Claude, &inline);
    assert_eq!((sessions.sessions.len(), report.records), (2, 13));
    assert_eq!(carry::told(&sessions.sessions[1].bytes), ["user: look around", "user: and report"]);
    assert_eq!(carry::told(&sessions.sessions[0].bytes).len(), 6);
}

/// What an agent wrote that another spawned.
fn spawned(uuid: &str, parent: Option<&str>, text: &str) -> Value {
    let mut line = user(uuid, parent, text);
    line["isSidechain"] = json!(true);
    line["agentId"] = json!("a77");
    line
}

#[test]
fn a25_a_file_beside_a_session_may_be_its_agents() {
    let file = carry::file(&[spawned("k1", None, "look around"), spawned("k2", Some("k1"), "and report")]);
    let source = MemorySource::new("agent-a77.jsonl", &file);
    let (sessions, report) = carry::check(Format::Claude, &source);
    assert_eq!((sessions.sessions.len(), report.records), (1, 2));
    let start = &sessions.sessions[0].start;
    assert_eq!((start.id.as_str(), start.parent.as_deref()), (format!("{SESSION}.a77").as_str(), Some(SESSION)));
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: look around", "user: and report"]);
    // A session of a person may be called so too.
    let own = carry::file(&[user("k1", None, "look around")]);
    let (sessions, _) = carry::check(Format::Claude, &MemorySource::new("agent-x.jsonl", &own));
    assert_eq!((sessions.sessions[0].start.id.as_str(), &sessions.sessions[0].start.parent), (SESSION, &None));
}

#[test]
fn a25_what_is_noted_about_an_agent_comes_along() {
    let (main, _) = source(&conversation());
    let about =
        json!({"agentType": "explorer", "description": "Find the login", "toolUseId": "toolu_1", "finished": true});
    let transcript = carry::file(&[spawned("k1", None, "look around")]);
    let source = main
        .child(&format!("{SESSION}/subagents/agent-a77.jsonl"), &transcript)
        .child(&format!("{SESSION}/subagents/agent-a77.meta.json"), about.to_string().as_bytes());
    let (sessions, _) = carry::check(Format::Claude, &source);
    assert_eq!(sessions.sessions.len(), 2);
    let child = &sessions.sessions[1];
    assert_eq!(child.start.title.as_deref(), Some("Find the login (@explorer)"));
    let kept = lines(&child.bytes)
        .find_map(|line| Some(line["ramusOrigin"]["records"][0].clone()).filter(|r| r["file"].is_string()));
    let kept = kept.unwrap();
    assert_eq!((&kept["file"], &kept["record"]), (&json!("agent-a77.meta.json"), &about));
    // It is no line of the transcript.
    let (written, _) = carry::write(Format::Claude, &child.bytes);
    assert_eq!(lines(&written).count(), 1);
}

#[test]
fn a25_outputs_that_were_too_long_come_from_their_files() {
    let told = format!(
        "<persisted-output>\nOutput too large (1MB). Full output saved to: /h/{SESSION}/tool-results/toolu_1.txt\n\nPreview:\nx"
    );
    let mut file = conversation();
    let at = file.iter().position(|line| line["message"]["content"][0]["type"] == "tool_result").unwrap();
    file[at]["message"]["content"][0]["content"] = json!(told);
    let whole = "x\n".repeat(1000);
    let (main, bytes) = source(&file);
    let there = main.clone().child(&format!("{SESSION}/tool-results/toolu_1.txt"), whole.as_bytes());
    let (sessions, report) = carry::check(Format::Claude, &there);
    assert_eq!((sessions.sessions.len(), report.losses.len()), (1, 0), "{:?}", report.losses);
    let output = |bytes: &[u8]| {
        lines(bytes).map(|line| line["message"]["details"]["fullOutput"].clone()).find(|it| !it.is_null())
    };
    assert_eq!(
        output(&sessions.sessions[0].bytes),
        Some(json!({"file": "toolu_1.txt", "content": whole, "lineCount": 1000}))
    );
    let is_told = |bytes: &[u8]| carry::told(bytes).iter().any(|line| line.contains("Preview:"));
    assert!(is_told(&sessions.sessions[0].bytes), "the model is told what it was told");
    carry::comes_back(Format::Claude, &there, &bytes);
    // Without the file the beginning is there, and it is said that the rest is not.
    let (sessions, report) = carry::check(Format::Claude, &main);
    assert!(output(&sessions.sessions[0].bytes).is_none() && is_told(&sessions.sessions[0].bytes));
    assert!(report.losses.iter().any(|loss| loss.why.contains("is gone")), "{:?}", report.losses);
}

#[test]
fn a25_results_that_share_a_line_are_entries_of_their_own() {
    let call = |uuid, parent, id| {
        block(uuid, parent, "msg_1", json!({"type": "tool_use", "id": id, "name": "Read", "input": {}}), 1)
    };
    let both = json!([
        {"type": "tool_result", "tool_use_id": "t1", "content": "one"},
        {"type": "tool_result", "tool_use_id": "t2", "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}]},
        {"type": "text", "text": "[Request interrupted by user]"},
    ]);
    let file = [
        user("u1", None, "read both"),
        call("b1", "u1", "t1"),
        call("b2", "b1", "t2"),
        line("user", "r1", Some("b2"), json!({"message": {"role": "user", "content": both}})),
        user("u2", Some("r1"), "go on"),
    ];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(
        told[3..],
        [
            "toolResult t1: one",
            "toolResult t2: shows image/png aGk=",
            "user: [Request interrupted by user]",
            "user: go on"
        ]
    );
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_words_that_nobody_said_are_not_messages_of_a_person() {
    let file = [
        line("user", "m1", None, json!({"isMeta": true, "message": {"role": "user", "content": "Caveat"}})),
        user("m2", Some("m1"), "<command-name>/clear</command-name>"),
        user("u1", Some("m2"), "hello"),
        line("attachment", "q1", Some("u1"), json!({"attachment": {"type": "queued_command", "prompt": "and this"}})),
    ];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let users = lines(&sessions.sessions[0].bytes).filter(|line| line["message"]["role"] == "user").count();
    assert_eq!(users, 2);
    assert_eq!(carry::told(&sessions.sessions[0].bytes).len(), 4);
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_permissions_of_a_file_stay_words() {
    let file = [
        line(
            "user",
            "u1",
            None,
            json!({"permissionMode": "bypassPermissions", "message": {"role": "user", "content": "hi"}}),
        ),
        json!({"type": "permission-mode", "permissionMode": "bypassPermissions", "sessionId": SESSION}),
    ];
    let (source, bytes) = source(&file);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let log = Log::from_bytes(&sessions.sessions[0].bytes, Depth::Whole);
    assert!(log.facts().meta().is_empty());
    carry::comes_back(Format::Claude, &source, &bytes);
}

#[test]
fn a25_a_session_moves_to_another_id_and_keeps_its_tree() {
    let (source, _) = source(&conversation());
    let (sessions, _) = carry::check(Format::Claude, &source);
    let other = "bbbbbbbb-0000-4000-8000-000000000002";
    let text = String::from_utf8(sessions.sessions[0].bytes.clone()).unwrap();
    let moved = text.replacen(SESSION, other, 1);
    let (written, _) = carry::write(Format::Claude, moved.as_bytes());
    let sessions: std::collections::BTreeSet<_> =
        lines(&written).filter_map(|line| Some(line["sessionId"].as_str()?.to_owned())).collect();
    assert_eq!(sessions.into_iter().collect::<Vec<_>>(), [other]);
}

/// Claude Code runs calls of one answer side by side, and hangs each result from the line of its call.
#[test]
fn a25_results_of_calls_made_at_once_are_one_path() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    let lines = [
        user("u1", None, "look"),
        block("b1", "u1", "msg_1", call("toolu_1"), 5),
        block("b2", "b1", "msg_1", call("toolu_2"), 5),
        block("b3", "b2", "msg_1", call("toolu_3"), 5),
        result("r2", "b2", "toolu_2", json!("two")),
        result("r1", "b1", "toolu_1", json!("one")),
        result("r3", "b3", "toolu_3", json!("three")),
        block("b4", "r3", "msg_2", json!({"type": "text", "text": "done"}), 5),
    ];
    let (source, bytes) = source(&lines);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    let gave: Vec<_> = told.iter().filter(|line| line.starts_with("toolResult")).collect();
    assert_eq!(gave, ["toolResult toolu_2!: two", "toolResult toolu_1!: one", "toolResult toolu_3!: three"]);
    carry::comes_back(Format::Claude, &source, &bytes);
}

/// A call that was answered twice, because somebody went back and tried again, has two branches.
#[test]
fn a25_a_call_that_was_answered_again_is_a_branch() {
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}});
    let lines = [
        user("u1", None, "look"),
        block("b1", "u1", "msg_1", call, 5),
        result("r1", "b1", "toolu_1", json!("first")),
        result("r2", "b1", "toolu_1", json!("second")),
    ];
    let (source, bytes) = source(&lines);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told.last().map(String::as_str), Some("toolResult toolu_1!: second"));
    assert!(!told.iter().any(|line| line.ends_with("first")), "{told:?}");
    carry::comes_back(Format::Claude, &source, &bytes);
}

/// Lines that have a place in the tree, between the lines of one answer.
fn progress(uuid: &str, parent: &str) -> Value {
    line("progress", uuid, Some(parent), json!({"data": {"type": "hook_progress"}}))
}

fn calling(uuid: &str, parent: &str, call: &str) -> Value {
    let call = json!({"type": "tool_use", "id": call, "name": "Bash", "input": {"command": "ls"}});
    block(uuid, parent, "msg_1", call, 5)
}

fn done(uuid: &str, parent: &str) -> Value {
    block(uuid, parent, "msg_2", json!({"type": "text", "text": "done"}), 5)
}

/// Whatever stands between the lines of an answer, a model is told all of its calls and what they gave.
#[test]
fn a25_an_answer_that_came_in_pieces_is_one_path_with_its_results() {
    let (gave, start) = (|uuid, parent, call| result(uuid, parent, call, json!("x")), user("u1", None, "look"));
    let files = [
        // A line between the pieces.
        vec![
            calling("b1", "u1", "t1"),
            progress("p1", "b1"),
            calling("b2", "b1", "t2"),
            gave("r1", "b1", "t1"),
            gave("r2", "b2", "t2"),
            done("b3", "r2"),
        ],
        // A result between the pieces.
        vec![
            calling("b1", "u1", "t1"),
            gave("r1", "b1", "t1"),
            calling("b2", "b1", "t2"),
            gave("r2", "b2", "t2"),
            done("b3", "r2"),
        ],
        // A piece that hangs from the line between.
        vec![
            calling("b1", "u1", "t1"),
            progress("p1", "b1"),
            calling("b2", "p1", "t2"),
            gave("r1", "b1", "t1"),
            gave("r2", "b2", "t2"),
            done("b3", "r2"),
        ],
        // The same with a result before it.
        vec![
            calling("b1", "u1", "t1"),
            progress("p1", "b1"),
            progress("p2", "p1"),
            gave("r1", "b1", "t1"),
            calling("b2", "p2", "t2"),
            gave("r2", "p2", "t2"),
            done("b3", "r2"),
        ],
    ];
    for lines in files {
        let lines = [vec![start.clone()], lines].concat();
        let (source, bytes) = source(&lines);
        let (sessions, report) = carry::check(Format::Claude, &source);
        assert_eq!(report.bridged, 0);
        let mut told = carry::told(&sessions.sessions[0].bytes);
        assert_eq!((told.len(), told[0].as_str(), told[5].as_str()), (6, "user: look", "assistant: done"), "{told:?}");
        told.sort();
        assert_eq!(told[3..5], ["toolResult t1!: x", "toolResult t2!: x"]);
        carry::comes_back(Format::Claude, &source, &bytes);
    }
}

/// A call of an answer in pieces that was answered again has two branches, and each is told of every call.
#[test]
fn a25_an_answer_in_pieces_that_was_answered_again_is_a_branch() {
    let gave = |uuid, parent, call, text: &str| result(uuid, parent, call, json!(text));
    let lines = [
        user("u1", None, "look"),
        calling("b1", "u1", "t1"),
        progress("p1", "b1"),
        calling("b2", "b1", "t2"),
        gave("r1", "b1", "t1", "one"),
        gave("r2", "b2", "t2", "two"),
        done("b3", "r2"),
        gave("r3", "b1", "t1", "one again"),
        gave("r4", "b2", "t2", "two again"),
    ];
    let (source, bytes) = source(&lines);
    let (sessions, _) = carry::check(Format::Claude, &source);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(told[3..], ["toolResult t1!: one again", "toolResult t2!: two again"], "{told:?}");
    carry::comes_back(Format::Claude, &source, &bytes);
    // The same message under another prompt is no piece of the first.
    let lines = [
        user("u1", None, "look"),
        calling("b1", "u1", "t1"),
        progress("p1", "b1"),
        user("u2", None, "look there"),
        calling("b2", "u2", "t2"),
    ];
    let (source, bytes) = self::source(&lines);
    let (sessions, _) = carry::check(Format::Claude, &source);
    assert_eq!(carry::told(&sessions.sessions[0].bytes).len(), 2);
    carry::comes_back(Format::Claude, &source, &bytes);
}
