//! Rollouts of the first versions of Codex: items without an envelope, behind a line that says who they are.

use ramus_interchange::{Format, MemorySource, detect};
use serde_json::json;

use crate::carry::{self, lines};

const THREAD: &str = "5973b6c0-94b8-487b-a530-2aeb6098ae0e";

fn rollout() -> Vec<u8> {
    let user =
        |text: &str| json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]});
    carry::file(&[
        json!({"id": THREAD, "timestamp": "2025-05-07T17:24:21.597Z", "instructions": null, "git": {"branch": "main"}}),
        json!({"record_type": "state"}),
        user("<environment_context>\n  <cwd>/home/ada/shop</cwd>\n</environment_context>"),
        user("fix the old bug"),
        json!({"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "where is it?"}]}),
        json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a.rs\"}"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "fixed"}]}),
        json!({"record_type": "state"}),
    ])
}

#[test]
fn a25_bare_rollouts_are_known_and_read() {
    let (name, file) = (format!("rollout-2025-05-07T17-24-21-{THREAD}.jsonl"), rollout());
    assert_eq!(detect("x.jsonl", &file), Some(Format::Codex));
    let (sessions, report) = carry::check(Format::Codex, &MemorySource::new(&name, &file));
    assert_eq!(report.records, 9);
    let header = lines(&sessions.sessions[0].bytes).next().unwrap();
    assert_eq!((&header["id"], &header["timestamp"]), (&json!(THREAD), &json!("2025-05-07T17:24:21.597Z")));
    let said: Vec<_> = lines(&sessions.sessions[0].bytes)
        .filter(|line| line["type"] == "message")
        .map(|line| (line["message"]["role"].clone(), line["message"]["content"].as_array().unwrap().len()))
        .collect();
    let expected = [("user", 1), ("assistant", 2), ("toolResult", 1), ("assistant", 1)];
    assert_eq!(said, expected.map(|(role, parts)| (json!(role), parts)));
}

#[test]
fn a25_bare_rollouts_go_back_line_for_line() {
    let (name, file) = (format!("rollout-2025-05-07T17-24-21-{THREAD}.jsonl"), rollout());
    carry::comes_back(Format::Codex, &MemorySource::new(&name, &file), &file);
}
