//! goose.

use ramus_interchange::{Format, MemorySource};
use serde_json::{Value, json};

use crate::carry;

/// Calls that were made at once: several requests in one message, their outcomes in the next.
fn at_once() -> Value {
    let message = |id: &str, role: &str, content: Value| {
        let metadata = json!({"userVisible": true, "agentVisible": true});
        json!({"id": id, "role": role, "created": 1_794_726_695, "content": content, "metadata": metadata})
    };
    let request = |id: &str, path: &str| {
        let value = json!({"name": "read", "arguments": {"path": path}});
        json!({"type": "toolRequest", "id": id, "toolCall": {"status": "success", "value": value}})
    };
    let response = |id: &str, text: &str, failed: bool| {
        let value = json!({"content": [{"type": "text", "text": text}], "isError": failed});
        json!({"type": "toolResponse", "id": id, "toolResult": {"status": "success", "value": value}})
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    json!({
        "id": "20261115_1", "working_dir": "/x", "name": "two files", "created_at": "2026-11-15 07:11:35",
        "conversation": [
            message("msg_1", "user", json!([text("read both")])),
            message("msg_2", "assistant", json!([text("At once."), request("call_a", "a.txt"), request("call_b", "b.txt")])),
            message("msg_3", "user", json!([response("call_a", "one", false), response("call_b", "no such file", true)])),
            message("msg_4", "assistant", json!([text("One is there.")])),
        ],
    })
}

#[test]
fn a25_calls_made_at_once_stay_together() {
    let document = at_once();
    let bytes = document.to_string().into_bytes();
    let (sessions, _) = carry::check(Format::Goose, &MemorySource::new("x.json", &bytes));
    let log = &sessions.sessions[0].bytes;
    let told = carry::told(log);
    let calls = told.iter().filter(|line| line.starts_with("assistant: calls")).count();
    assert_eq!((calls, told.len()), (2, 7), "{told:?}");
    // Back to goose: the same messages.
    let (written, report) = carry::write(Format::Goose, log);
    let written: Value = serde_json::from_slice(&written).unwrap();
    assert!(report.losses.is_empty(), "{:?}", report.losses);
    assert_eq!(written["conversation"], document["conversation"]);
    // By way of another agent: every call still has its own outcome.
    for other in [Format::Claude, Format::Gemini, Format::Opencode] {
        let (there, _) = carry::write(other, log);
        let (read, _) = carry::check(other, &MemorySource::new("there.jsonl", &there));
        let (back, _) = carry::write(Format::Goose, &read.sessions[0].bytes);
        let (again, _) = carry::check(Format::Goose, &MemorySource::new("x.json", &back));
        assert_eq!(carry::told(&again.sessions[0].bytes), told, "{other:?}");
    }
}

/// Older versions had a file of lines for each session: one about the session, then the messages.
#[test]
fn a25_lines_of_an_older_version_are_read() {
    let said = |role: &str, text: &str| {
        json!({"role": role, "created": 1_754_900_000, "content": [{"type": "text", "text": text}]}).to_string()
    };
    let info =
        json!({"working_dir": "/x", "description": "Two lines", "message_count": 2, "total_tokens": 10}).to_string();
    let file = format!("{info}\n{}\n{}\n{{\"role\":\n", said("user", "hello"), said("assistant", "hi"));
    assert_eq!(ramus_interchange::detect("20250811_101500.jsonl", file.as_bytes()), Some(Format::Goose));
    let (sessions, report) = carry::check(Format::Goose, &MemorySource::new("20250811_101500.jsonl", file.as_bytes()));
    assert_eq!((report.records, report.lost, report.losses.len()), (4, 0, 1));
    let session = &sessions.sessions[0];
    let start = &session.start;
    assert_eq!((start.id.as_str(), start.cwd.as_str()), ("goose-20250811_101500", "/x"));
    assert_eq!(start.title.as_deref(), Some("Two lines"));
    assert_eq!(carry::told(&session.bytes), ["user: hello", "assistant: hi"]);
    let messages = said("user", "hello") + "\n";
    let read = Format::Goose
        .codec()
        .read(&MemorySource::new("x.jsonl", messages.as_bytes()), &mut ramus_interchange::Jsonl::default());
    assert!(matches!(read, Err(ramus_interchange::Error::NotThisFormat { .. })));
}
