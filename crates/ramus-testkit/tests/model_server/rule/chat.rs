//! The rules of chat completions.

use ramus_testkit::model_server::Format::Chat;
use ramus_testkit::model_server::{Rule, judge};
use serde_json::{Value, json};

use super::{breaks, large_png, schema};
use crate::edit::{before, push, set, swapped, without};

fn legal() -> Value {
    json!({
        "model": "m",
        "stream": true,
        "stream_options": {"include_usage": true},
        "max_tokens": 100,
        "tools": [
            {"type": "function", "function": {"name": "bash", "description": "d", "parameters": schema()}},
            {"type": "function", "function": {"name": "read", "description": "d", "parameters": schema()}},
        ],
        "tool_choice": "auto",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", judge::PIXEL)}},
            ]},
            {"role": "assistant", "content": null, "reasoning_content": "hm", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
                {"id": "call_2", "type": "function", "function": {"name": "read", "arguments": "{\"a\":1}"}},
            ]},
            {"role": "tool", "tool_call_id": "call_2", "content": ""},
            {"role": "tool", "tool_call_id": "call_1", "content": [{"type": "text", "text": "ok"}]},
            {"role": "assistant", "content": "done"},
            {"role": "user", "content": "go on"},
        ],
    })
}

fn strikes(rule: Rule, illegal: &Value) {
    breaks(Chat, rule, &legal(), illegal);
}

#[test]
fn settings() {
    let legal = legal();
    strikes(Rule::Model, &without(&legal, "/model"));
    strikes(Rule::Model, &set(&legal, "/model", ""));
    strikes(Rule::Unknown, &set(&legal, "/max_token", 1));
    strikes(Rule::Limit, &set(&legal, "/max_tokens", 0));
    strikes(Rule::Limit, &set(&legal, "/max_tokens", -1));
    strikes(Rule::Setting, &set(&legal, "/max_completion_tokens", 5));
    strikes(Rule::Setting, &without(&legal, "/stream"));
    strikes(Rule::Shape, &set(&legal, "/stream", "yes"));
    strikes(Rule::Setting, &without(&legal, "/tools"));
}

#[test]
fn tools() {
    let legal = legal();
    strikes(Rule::Shape, &set(&legal, "/tools", json!([])));
    strikes(Rule::Part, &without(&legal, "/tools/0/type"));
    strikes(Rule::ToolName, &without(&legal, "/tools/0/function/name"));
    strikes(Rule::ToolName, &set(&legal, "/tools/0/function/name", "run it"));
    strikes(Rule::ToolName, &set(&legal, "/tools/0/function/name", "x".repeat(65)));
    strikes(Rule::ToolTwice, &set(&legal, "/tools/0/function/name", "read"));
    strikes(Rule::ToolSchema, &without(&legal, "/tools/0/function/parameters"));
    strikes(Rule::ToolSchema, &without(&legal, "/tools/0/function/parameters/type"));
    strikes(Rule::ToolSchema, &set(&legal, "/tools/0/function/parameters/anyOf", json!([])));
    strikes(Rule::ToolSchema, &without(&legal, "/tools/0/function/parameters/properties/list/items"));
}

#[test]
fn messages() {
    let legal = legal();
    strikes(Rule::NoMessages, &without(&legal, "/messages"));
    strikes(Rule::NoMessages, &set(&legal, "/messages", json!([])));
    strikes(Rule::Shape, &set(&legal, "/messages", "hello"));
    strikes(Rule::Shape, &set(&legal, "/messages/0", "hello"));
    strikes(Rule::Role, &without(&legal, "/messages/0/role"));
    strikes(Rule::Role, &set(&legal, "/messages/0/role", "narrator"));
    strikes(Rule::Unknown, &set(&legal, "/messages/6/id", "x"));
    strikes(Rule::Empty, &set(&legal, "/messages/0/content", ""));
    strikes(Rule::Empty, &set(&legal, "/messages/5/content", Value::Null));
    strikes(Rule::Empty, &set(&legal, "/messages/6/content", json!([])));
    strikes(Rule::Empty, &set(&legal, "/messages/1/content/0/text", ""));
    strikes(Rule::Empty, &set(&legal, "/messages/2/tool_calls", json!([])));
    strikes(Rule::Part, &set(&legal, "/messages/1/content/0/type", "input_text"));
    strikes(Rule::Shape, &set(&legal, "/messages/6/content", 5));
    strikes(Rule::Shape, &set(&legal, "/messages/2/reasoning_content", 5));
    strikes(Rule::Last, &without(&legal, "/messages/6"));
}

#[test]
fn calls() {
    let legal = legal();
    let call = "/messages/2/tool_calls/0";
    strikes(Rule::CallId, &without(&legal, &format!("{call}/id")));
    strikes(Rule::CallId, &set(&legal, &format!("{call}/id"), ""));
    strikes(Rule::CallId, &set(&legal, &format!("{call}/id"), "x".repeat(41)));
    strikes(Rule::CallTwice, &set(&legal, &format!("{call}/id"), "call_2"));
    strikes(Rule::Part, &without(&legal, &format!("{call}/type")));
    strikes(Rule::CallName, &set(&legal, &format!("{call}/function/name"), ""));
    strikes(Rule::CallName, &set(&legal, &format!("{call}/function/name"), "a.b"));
    strikes(Rule::Arguments, &set(&legal, &format!("{call}/function/arguments"), json!({})));
    strikes(Rule::Arguments, &set(&legal, &format!("{call}/function/arguments"), "[]"));
    strikes(Rule::Arguments, &set(&legal, &format!("{call}/function/arguments"), "{\"a\":"));
}

#[test]
fn results() {
    let legal = legal();
    strikes(Rule::Unanswered, &without(&legal, "/messages/3"));
    strikes(Rule::Unanswered, &without(&legal, "/messages/4"));
    strikes(Rule::Unanswered, &before(&legal, "/messages/4", json!({"role": "user", "content": "wait"})));
    strikes(Rule::Unanswered, &before(&legal, "/messages/3", json!({"role": "system", "content": "wait"})));
    strikes(Rule::Orphan, &without(&legal, "/messages/2"));
    strikes(Rule::Orphan, &swapped(&legal, "/messages/2"));
    strikes(Rule::Orphan, &set(&legal, "/messages/3/tool_call_id", "call_3"));
    strikes(Rule::CallId, &without(&legal, "/messages/3/tool_call_id"));
    strikes(Rule::ResultTwice, &before(&legal, "/messages/4", legal["messages"][3].clone()));
    strikes(Rule::ResultContent, &without(&legal, "/messages/3/content"));
    let image = json!([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]);
    strikes(Rule::Part, &set(&legal, "/messages/3/content", image));
    let unfinished = json!({"role": "assistant", "tool_calls": [
        {"id": "call_9", "type": "function", "function": {"name": "bash", "arguments": "{}"}},
    ]});
    strikes(Rule::Unanswered, &push(&legal, "/messages", unfinished));
}

#[test]
fn images() {
    let legal = legal();
    let url = "/messages/1/content/1/image_url/url";
    strikes(Rule::ImageData, &set(&legal, url, "data:image/png;base64,@@@@"));
    strikes(Rule::ImageData, &set(&legal, url, "data:image/png;base64,aGVsbG8="));
    strikes(Rule::ImageData, &set(&legal, url, "file:///etc/passwd"));
    strikes(Rule::ImageType, &set(&legal, url, format!("data:image/jpeg;base64,{}", judge::PIXEL)));
    strikes(Rule::ImageType, &set(&legal, url, "data:image/bmp;base64,Qk0="));
    strikes(Rule::ImageSize, &set(&legal, url, format!("data:image/png;base64,{}", large_png(5 << 20))));
    let part =
        json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", large_png(3 << 20))}});
    let five = set(&legal, "/messages/1/content", json!([part, part, part, part, part]));
    let six = set(&legal, "/messages/1/content", json!([part, part, part, part, part, part]));
    breaks(Chat, Rule::ImagesSize, &five, &six);
}
