//! The rules of responses.

use ramus_testkit::model_server::Format::Responses;
use ramus_testkit::model_server::{Rule, judge, seal};
use serde_json::{Value, json};

use super::{breaks, large_png, schema};
use crate::edit::{before, push, set, swapped, without};

fn legal() -> Value {
    json!({
        "model": "m",
        "stream": true,
        "store": false,
        "include": ["reasoning.encrypted_content"],
        "max_output_tokens": 100,
        "instructions": "s",
        "tools": [
            {"type": "function", "name": "bash", "description": "d", "parameters": schema()},
            {"type": "function", "name": "read", "description": "d", "parameters": schema()},
        ],
        "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "look"},
                {"type": "input_image", "image_url": format!("data:image/png;base64,{}", judge::PIXEL)},
            ]},
            {"type": "reasoning", "id": "rs_aa", "summary": [{"type": "summary_text", "text": "hm"}],
             "encrypted_content": seal::reasoning("m", "hm")},
            {"type": "function_call", "id": "fc_aa_r1", "call_id": "call_1", "name": "bash", "arguments": "{}"},
            {"type": "function_call", "call_id": "call_2", "name": "read", "arguments": "{\"a\":1}"},
            {"type": "function_call_output", "call_id": "call_2", "output": ""},
            {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "ok"}]},
            {"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
            {"role": "user", "content": "go on"},
        ],
    })
}

fn strikes(rule: Rule, illegal: &Value) {
    breaks(Responses, rule, &legal(), illegal);
}

#[test]
fn settings_and_tools() {
    let legal = legal();
    strikes(Rule::Model, &without(&legal, "/model"));
    strikes(Rule::Unknown, &set(&legal, "/max_tokens", 1));
    strikes(Rule::Limit, &set(&legal, "/max_output_tokens", 0));
    strikes(Rule::Limit, &set(&legal, "/max_output_tokens", 15));
    strikes(Rule::Setting, &set(&legal, "/previous_response_id", "resp_1"));
    strikes(Rule::Shape, &set(&legal, "/stream", 1));
    strikes(Rule::Shape, &set(&legal, "/instructions", json!([])));
    strikes(Rule::Shape, &set(&legal, "/tools", "bash"));
    strikes(Rule::Part, &set(&legal, "/tools/0/type", "web_search"));
    strikes(Rule::ToolName, &without(&legal, "/tools/0/name"));
    strikes(Rule::ToolName, &set(&legal, "/tools/0/name", "a b"));
    strikes(Rule::ToolTwice, &set(&legal, "/tools/0/name", "read"));
    strikes(Rule::ToolSchema, &set(&legal, "/tools/0/parameters", json!({"type": "string"})));
}

#[test]
fn messages() {
    let legal = legal();
    breaks(Responses, Rule::NoMessages, &set(&legal, "/input", "hello"), &set(&legal, "/input", ""));
    strikes(Rule::NoMessages, &without(&legal, "/input"));
    strikes(Rule::NoMessages, &set(&legal, "/input", json!([])));
    strikes(Rule::Shape, &set(&legal, "/input", 1));
    strikes(Rule::Shape, &set(&legal, "/input/0", "hello"));
    strikes(Rule::Part, &set(&legal, "/input/0/type", "msg"));
    strikes(Rule::Role, &without(&legal, "/input/0/role"));
    strikes(Rule::Role, &set(&legal, "/input/7/role", "tool"));
    strikes(Rule::Unknown, &set(&legal, "/input/7/tool_calls", json!([])));
    strikes(Rule::Empty, &set(&legal, "/input/7/content", ""));
    strikes(Rule::Empty, &without(&legal, "/input/7/content"));
    strikes(Rule::Empty, &set(&legal, "/input/0/content/0/text", ""));
    strikes(Rule::Part, &set(&legal, "/input/0/content/0/type", "text"));
    strikes(Rule::Part, &set(&legal, "/input/6/content/0/type", "input_text"));
    strikes(Rule::CallId, &set(&legal, "/input/6/id", "1"));
    strikes(Rule::Last, &without(&legal, "/input/7"));
}

#[test]
fn calls_and_outputs() {
    let legal = legal();
    strikes(Rule::CallId, &set(&legal, "/input/2/call_id", ""));
    strikes(Rule::CallId, &set(&legal, "/input/2/call_id", "x".repeat(65)));
    strikes(Rule::CallId, &set(&legal, "/input/2/id", "call_1"));
    strikes(Rule::CallId, &set(&legal, "/input/2/id", "fc|1"));
    strikes(Rule::CallTwice, &set(&legal, "/input/2/call_id", "call_2"));
    strikes(Rule::CallName, &set(&legal, "/input/2/name", "a.b"));
    strikes(Rule::Arguments, &set(&legal, "/input/2/arguments", json!({})));
    strikes(Rule::Arguments, &set(&legal, "/input/2/arguments", ""));
    strikes(Rule::Unanswered, &without(&legal, "/input/4"));
    strikes(Rule::Unanswered, &without(&legal, "/input/5"));
    strikes(Rule::Unanswered, &before(&legal, "/input/5", json!({"role": "user", "content": "wait"})));
    strikes(Rule::Unanswered, &before(&legal, "/input/5", json!({"role": "assistant", "content": "wait"})));
    strikes(Rule::Orphan, &without(&legal, "/input/3"));
    strikes(Rule::Orphan, &swapped(&legal, "/input/3"));
    strikes(Rule::ResultTwice, &before(&legal, "/input/6", legal["input"][5].clone()));
    strikes(Rule::ResultContent, &without(&legal, "/input/4/output"));
    strikes(Rule::Part, &set(&legal, "/input/5/output/0/type", "text"));
    let call = json!({"type": "function_call", "call_id": "call_9", "name": "bash", "arguments": "{}"});
    strikes(Rule::Unanswered, &push(&legal, "/input", call));
}

#[test]
fn reasoning() {
    let legal = legal();
    strikes(Rule::Unsealed, &without(&legal, "/input/1/encrypted_content"));
    strikes(Rule::Shape, &without(&legal, "/input/1/summary"));
    strikes(Rule::Seal, &set(&legal, "/input/1/encrypted_content", "gAAAAA=="));
    strikes(Rule::Seal, &set(&legal, "/input/1/encrypted_content", seal::reasoning("other", "hm")));
    strikes(Rule::Seal, &set(&legal, "/input/1/summary/0/text", "ha"));
    strikes(Rule::Seal, &set(&legal, "/model", "other"));
    strikes(Rule::CallId, &set(&legal, "/input/1/id", "reasoning"));
    strikes(Rule::ThoughtPlace, &push(&legal, "/input", legal["input"][1].clone()));
    strikes(Rule::ThoughtPlace, &swapped(&legal, "/input/0"));
    let lost = without(&legal, "/input/1");
    breaks(Responses, Rule::ThoughtPlace, &without(&lost, "/input/1/id"), &lost);
}

#[test]
fn images() {
    let legal = legal();
    let url = "/input/0/content/1/image_url";
    strikes(Rule::Shape, &set(&legal, url, json!({"url": "https://example.org/a.png"})));
    strikes(Rule::ImageData, &set(&legal, url, "data:image/png;base64,@@@@"));
    strikes(Rule::ImageType, &set(&legal, url, format!("data:image/jpeg;base64,{}", judge::PIXEL)));
    strikes(Rule::ImageSize, &set(&legal, url, format!("data:image/png;base64,{}", large_png(5 << 20))));
}
