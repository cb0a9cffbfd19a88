//! Entry bodies for the scenarios, one line of JSON each, complete enough for every program that reads them.

use serde_json::json;

/// The fields by which other programs know where an answer came from.
const PROVENANCE: &str = concat!(
    r#""api":"anthropic-messages","provider":"anthropic","model":"claude-sonnet-4-5","#,
    r#""usage":{"input":10,"output":5,"cacheRead":0,"cacheWrite":0,"totalTokens":15,"#,
    r#""cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"#,
    r#""timestamp":1767600000000"#
);

/// A message entry around `message`, which is taken as it stands.
pub(super) fn message(message: &str) -> String {
    format!(r#"{{"type":"message","message":{message}}}"#)
}

/// An answer that thinks, speaks and calls a tool.
pub(super) fn tool_call(call: &str) -> String {
    let content = json!([
        {"type": "thinking", "thinking": "Look first.", "thinkingSignature": "c2ln"},
        {"type": "text", "text": "Looking."},
        {"type": "toolCall", "id": call, "name": "bash", "arguments": {"command": "ls leaves"}},
    ]);
    message(&format!(r#"{{"role":"assistant","content":{content},{PROVENANCE},"stopReason":"toolUse"}}"#))
}

pub(super) fn tool_result(call: &str) -> String {
    let content = json!([{"type": "text", "text": "oak\nash\n"}]);
    let result = json!({
        "role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content, "isError": false,
        "timestamp": 1_767_600_000_000_i64,
    });
    message(&result.to_string())
}

/// A compaction that keeps everything from `first_kept` on.
pub(super) fn compaction(summary: &str, first_kept: &str) -> String {
    let entry = json!({
        "type": "compaction", "summary": summary, "shortSummary": "rings", "firstKeptEntryId": first_kept,
        "tokensBefore": 1_200, "details": {"readFiles": ["a.rs"], "modifiedFiles": []},
    });
    entry.to_string()
}

/// Kinds that usually stand at the start of a session.
pub(super) fn kinds_before() -> Vec<String> {
    let kinds = [
        json!({"type": "session_init", "systemPrompt": "Be brief.", "task": "Prune.", "tools": ["bash"]}),
        json!({"type": "model_change", "provider": "openai", "modelId": "gpt-5", "model": "openai/gpt-5",
            "role": "default"}),
        json!({"type": "model_change", "provider": "google", "modelId": "gem", "model": "google/gem", "role": "smol"}),
        json!({"type": "thinking_level_change", "thinkingLevel": "high"}),
        json!({"type": "mode_change", "mode": "plan", "data": {"file": "plan.md"}}),
    ];
    kinds.iter().map(ToString::to_string).collect()
}

/// The other kinds, and one that nobody knows. Two of them are messages.
pub(super) fn kinds_after(labelled: &str) -> Vec<String> {
    let kinds = [
        json!({"type": "custom", "customType": "grove.count", "data": {"leaves": 7, "rings": [1, 2.5, 1e21]}}),
        json!({"type": "custom_message", "customType": "grove.note", "content": "The ash is sick.", "display": true}),
        json!({"type": "custom_message", "customType": "grove.parts", "display": false, "details": {"n": 1},
            "content": [{"type": "text", "text": "Two"}, {"type": "text", "text": "parts"}]}),
        json!({"type": "label", "targetId": labelled, "label": "first"}),
        json!({"type": "ttsr_injection", "injectedRules": ["no-force-push", "brief"]}),
        json!({"type": "mode_change", "mode": "none"}),
        json!({"type": "thinking_level_change", "thinkingLevel": "low"}),
        json!({"type": "grove_pollen", "wind": "west"}),
    ];
    kinds.iter().map(ToString::to_string).collect()
}

/// A file of the first version: no ids, no parents, a compaction that counts lines from the header.
pub(super) fn version_1() -> String {
    let time = |second: u32| format!("2025-11-03T10:00:{second:02}.000Z");
    let user = |second, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        let message = json!({"role": "user", "content": content, "timestamp": 1_762_164_000_000_i64});
        json!({"type": "message", "timestamp": time(second), "message": message}).to_string()
    };
    let assistant = |second, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        let message = format!(r#"{{"role":"assistant","content":{content},{PROVENANCE},"stopReason":"stop"}}"#);
        format!(r#"{{"type":"message","timestamp":"{}","message":{message}}}"#, time(second))
    };
    let header = json!({
        "type": "session", "id": "5b0c8f52-9a3e-4c1d-8f00-1d2c3b4a5f60", "timestamp": time(0), "cwd": "/home/dev/grove",
        "provider": "anthropic", "modelId": "claude-sonnet-4-5", "thinkingLevel": "off",
    });
    let compaction = json!({
        "type": "compaction", "timestamp": time(5), "summary": "Old rings.", "firstKeptEntryIndex": 3,
        "tokensBefore": 900,
    });
    let lines = [
        header.to_string(),
        user(1, "Oldest."),
        assistant(2, "Old."),
        user(3, "Kept."),
        assistant(4, "Kept too."),
        compaction.to_string(),
    ];
    lines.join("\n") + "\n"
}
