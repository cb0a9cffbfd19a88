//! Formats of few words: Shepherd, OKCVM, Opal, trajectories.

use ramus_interchange::{Format, MemorySource, detect};
use serde_json::{Value, json};

use crate::carry::{self, lines};
use crate::generate::{self, Event};

#[test]
fn h7_a_document_of_shepherd_is_read_and_comes_back() {
    let calls =
        json!([{"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"path\":\"a.rs\"}"}}]);
    let document = json!({"version": 1, "timestamp": 1_794_726_443, "provider": "openai", "model": "gpt-9", "messages": [
        {"role": "system", "content": "Be brief.", "tokens": 3},
        {"role": "user", "content": "look ".repeat(30), "tokens": 30, "pre_injection_content": "look"},
        {"role": "assistant", "content": "", "tokens": 9, "tool_calls_json": calls.to_string()},
        {"role": "function", "content": "fn main() {}", "tokens": 4, "tool_name": "read", "tool_call_id": "call_1"},
        {"role": "assistant", "content": "It is empty.", "tokens": 5},
    ], "last_user_message_index": 1, "last_assistant_message_index": 4});
    let bytes = serde_json::to_vec_pretty(&document).unwrap();
    assert_eq!(detect(".shepherd_session.openai.json", &bytes), Some(Format::Shepherd));
    let (sessions, report) =
        carry::check(Format::Shepherd, &MemorySource::new("x.json", &bytes).directory("/home/ada"));
    assert_eq!(report.records, 6);
    let told = carry::told(&sessions.sessions[0].bytes);
    assert_eq!(
        told[2..],
        [
            "assistant: calls read call_1 {\"path\":\"a.rs\"}",
            "toolResult call_1: fn main() {}",
            "assistant: It is empty."
        ]
    );
    let (written, _) = carry::write(Format::Shepherd, &sessions.sessions[0].bytes);
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), document);
}

#[test]
fn h7_versions_of_a_conversation_are_branches() {
    let said = |id: &str, role: &str, text: &str| json!({"id": id, "role": role, "content": text, "timestamp": "2026-11-01T10:00:00.000Z", "pending": false});
    let (hi, hello) = (said("m1", "user", "hi"), said("m2", "assistant", "hello"));
    let version = |text: &str, answer: &str| json!({"id": text, "messages": [hi, hello, said("m3", "user", text), said("m4", "assistant", answer)]});
    let payload = json!({"id": "conv-1", "title": "Greeting", "createdAt": "2026-11-01T10:00:00.000Z", "updatedAt": "2026-11-01T10:00:00.000Z",
        "messages": [hi, hello, said("m3", "user", "first"), said("m4", "assistant", "one")],
        "branches": {"m3": {"messageId": "m3", "activeIndex": 0, "versions": [version("first", "one"), version("second", "two")]}},
        "workspace": {"paths": {"internal_root": "/srv/okc/1"}}, "outputs": {"n": 1.50}});
    let bytes = serde_json::to_vec(&payload).unwrap();
    assert_eq!(detect("x.json", &bytes), Some(Format::Okcvm));
    let (sessions, _) = carry::check(Format::Okcvm, &MemorySource::new("x.json", &bytes));
    let session = &sessions.sessions[0];
    assert_eq!((session.start.cwd.as_str(), session.start.title.as_deref()), ("/srv/okc/1", Some("Greeting")));
    assert_eq!(carry::told(&session.bytes), ["user: hi", "assistant: hello", "user: first", "assistant: one"]);
    let all: Vec<_> = lines(&session.bytes)
        .filter(|line| line["type"] == "message")
        .map(|line| line["message"]["content"][0]["text"].clone())
        .collect();
    assert_eq!(all, ["hi", "hello", "first", "one", "second", "two"]);
    let (written, _) = carry::write(Format::Okcvm, &session.bytes);
    assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), payload);
}

#[test]
fn h6_a_session_becomes_a_table_and_a_table_a_session() {
    let call = ("read".to_owned(), "a.rs".to_owned());
    let log = generate::log(&[
        Event::User("hi".into(), false),
        Event::Answer { text: "I look.".into(), thought: Some("hm".into()), calls: vec![call], answered: true },
        Event::User("one".into(), false),
        Event::Branch(2),
        Event::User("two".into(), false),
    ]);
    let (table, _) = carry::write(Format::Opal, &log);
    assert_eq!(detect("x.dets", &table), Some(Format::Opal));
    let (sessions, report) = carry::check(Format::Opal, &MemorySource::new("x.dets", &table));
    assert_eq!((report.records, carry::told(&sessions.sessions[0].bytes)), (6, carry::told(&log)));
    // Nothing in a table that is cut or changed makes the reader fail.
    for end in (0..table.len()).step_by(11) {
        carry::check_damaged(Format::Opal, &MemorySource::new("x.dets", &table[..end]));
    }
}

#[test]
fn a25_a_trajectory_has_a_step_for_every_word() {
    let call = ("read".to_owned(), "a.rs".to_owned());
    let log = generate::log(&[
        Event::User("hi".into(), false),
        Event::Answer { text: "I look.".into(), thought: Some("hm".into()), calls: vec![call], answered: true },
        Event::Compaction { summary: "sum".into(), back: 0 },
    ]);
    let (written, report) = carry::write(Format::Atif, &log);
    let trajectory: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!((&trajectory["schema_version"], report.records), (&json!("ATIF-v1.8"), 3));
    let step = &trajectory["steps"][1];
    assert_eq!(
        (&step["source"], &step["reasoning_content"], &step["step_id"]),
        (&json!("agent"), &json!("hm"), &json!(2))
    );
    assert_eq!(step["observation"]["results"][0]["source_call_id"], step["tool_calls"][0]["tool_call_id"]);
    assert_eq!(step["metrics"], json!({"prompt_tokens": 13, "completion_tokens": 5, "cached_tokens": 3}));
    assert_eq!(trajectory["final_metrics"]["total_steps"], 3);
}

#[test]
fn h4_a_directory_is_read_and_comes_back() {
    let meta = json!({"id": "session_abc", "projectID": "p", "directory": "/home/ada", "title": "Auth", "version": "1.1.14", "time": {"created": 1_736_708_258_000_u64, "updated": 1_736_708_258_000_u64}, "permission": [{"permission": "*", "action": "allow"}]});
    let files = [
        (
            "message/msg_001.json",
            json!({"id": "msg_001", "role": "user", "time": {"created": 1_736_708_258_000_u64}, "content": [{"type": "text", "text": "Add it"}]}),
        ),
        (
            "message/msg_002.json",
            json!({"id": "msg_002", "role": "assistant", "time": {"created": 1_736_708_260_000_u64}, "content": [{"type": "text", "text": "I will."}, {"type": "tool_use", "id": "t1", "name": "edit", "input": {"a": 1}}], "usage": {"promptTokens": 12, "completionTokens": 5}, "finish_reason": "tool_use"}),
        ),
        (
            "message/msg_003.json",
            json!({"id": "msg_003", "role": "tool", "time": {"created": 1_736_708_261_000_u64}, "content": [{"type": "tool_result", "toolUseId": "t1", "result": "done", "isError": false}]}),
        ),
        ("snapshot/snap_001.json", json!({"id": "snap_001", "files": []})),
        ("todo.json", json!([{"content": "x", "status": "open"}])),
    ];
    let mut source = MemorySource::new("meta.json", meta.to_string().as_bytes());
    for (name, file) in &files {
        source = source.beside(name, file.to_string().as_bytes());
    }
    assert_eq!(detect("meta.json", meta.to_string().as_bytes()), Some(Format::Directory));
    let (sessions, report) = carry::check(Format::Directory, &source);
    assert_eq!(report.records, 6);
    let log = &sessions.sessions[0].bytes;
    assert_eq!(
        carry::told(log),
        ["user: Add it", "assistant: I will.", "assistant: calls edit t1 {\"a\":1}", "toolResult t1: done"]
    );
    let mut target = ramus_interchange::MemoryTarget::default();
    Format::Directory.codec().write(&ramus_interchange::LogPassage::new(log), &mut target).unwrap();
    let written = |name: &str| serde_json::from_slice::<Value>(&target.files[&format!("session_abc/{name}")]).unwrap();
    assert_eq!((target.files.len(), written("meta.json")), (6, meta));
    for (name, file) in files {
        assert_eq!(written(name), file);
    }
}

#[test]
fn a25_the_files_that_opencode_had_are_read() {
    let session = json!({"id": "ses_1", "slug": "s", "projectID": "p", "directory": "/home/ada", "title": "T", "version": "1", "time": {"created": 1, "updated": 2}});
    let user = json!({"id": "msg_1", "sessionID": "ses_1", "role": "user", "time": {"created": 1}});
    let part = json!({"id": "prt_1", "sessionID": "ses_1", "messageID": "msg_1", "type": "text", "text": "hi"});
    let source = MemorySource::new("ses_1.json", session.to_string().as_bytes())
        .beside("message/ses_1/msg_1.json", user.to_string().as_bytes())
        .beside("part/msg_1/prt_1.json", part.to_string().as_bytes());
    let (sessions, _) = carry::check(Format::Opencode, &source);
    assert_eq!(carry::told(&sessions.sessions[0].bytes), ["user: hi"]);
    let (written, _) = carry::write(Format::Opencode, &sessions.sessions[0].bytes);
    assert_eq!(
        serde_json::from_slice::<Value>(&written).unwrap(),
        json!({"info": session, "messages": [{"info": user, "parts": [part]}]})
    );
}
