//! The rules of Anthropic's messages.

use ramus_testkit::model_server::Format::Anthropic;
use ramus_testkit::model_server::{Rule, judge, seal};
use serde_json::{Value, json};

use super::{breaks, large_png, schema};
use crate::edit::{before, push, set, swapped, without};

fn legal() -> Value {
    json!({
        "model": "m",
        "stream": true,
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}],
        "tools": [
            {"name": "bash", "description": "d", "input_schema": schema()},
            {"name": "read", "description": "d", "input_schema": schema()},
        ],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "look"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": judge::PIXEL}},
            ]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm", "signature": seal::thinking("m", "hm")},
                {"type": "redacted_thinking", "data": seal::redacted("m", "secret")},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}},
                {"type": "tool_use", "id": "toolu_2", "name": "read", "input": {"a": 1}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_2", "content": ""},
                {"type": "tool_result", "tool_use_id": "toolu_1", "is_error": true, "content": [{"type": "text", "text": "ok"}]},
                {"type": "text", "text": "go on"},
            ]},
        ],
    })
}

fn strikes(rule: Rule, illegal: &Value) {
    breaks(Anthropic, rule, &legal(), illegal);
}

#[test]
fn settings() {
    let legal = legal();
    strikes(Rule::Model, &without(&legal, "/model"));
    strikes(Rule::Unknown, &set(&legal, "/max_completion_tokens", 1));
    strikes(Rule::Limit, &without(&legal, "/max_tokens"));
    strikes(Rule::Limit, &set(&legal, "/max_tokens", 0));
    strikes(Rule::Limit, &set(&legal, "/max_tokens", -5));
    strikes(Rule::Shape, &set(&legal, "/stream", "yes"));
    strikes(Rule::Setting, &set(&legal, "/thinking/budget_tokens", 1023));
    strikes(Rule::Setting, &set(&legal, "/thinking/budget_tokens", 4000));
    strikes(Rule::Setting, &set(&legal, "/thinking/type", "on"));
    strikes(Rule::Setting, &set(&legal, "/temperature", 0.5));
    strikes(Rule::Setting, &set(&legal, "/tool_choice", json!({"type": "any"})));
    let choosing = set(&legal, "/tool_choice", json!({"type": "auto"}));
    breaks(Anthropic, Rule::Setting, &choosing, &without(&choosing, "/tools"));
    strikes(Rule::Empty, &set(&legal, "/system/0/text", ""));
    strikes(Rule::Part, &set(&legal, "/system/0/type", "image"));
    strikes(Rule::Setting, &set(&legal, "/system/0/cache_control/type", "forever"));
    strikes(Rule::Setting, &set(&legal, "/system/0/cache_control/ttl", "2h"));
    let mut points = legal;
    for pointer in ["/tools/0", "/tools/1", "/messages/0/content/0"] {
        points = set(&points, &format!("{pointer}/cache_control"), json!({"type": "ephemeral"}));
    }
    let more = set(&points, "/messages/2/content/2/cache_control", json!({"type": "ephemeral"}));
    breaks(Anthropic, Rule::Setting, &points, &more);
}

#[test]
fn tools() {
    let legal = legal();
    strikes(Rule::Shape, &set(&legal, "/tools", "bash"));
    strikes(Rule::ToolName, &set(&legal, "/tools/0/name", ""));
    strikes(Rule::ToolName, &set(&legal, "/tools/0/name", "a.b"));
    strikes(Rule::ToolTwice, &set(&legal, "/tools/0/name", "read"));
    strikes(Rule::ToolSchema, &without(&legal, "/tools/0/input_schema"));
    strikes(Rule::ToolSchema, &without(&legal, "/tools/0/input_schema/type"));
    strikes(Rule::ToolSchema, &set(&legal, "/tools/0/input_schema/oneOf", json!([])));
}

#[test]
fn messages() {
    let legal = legal();
    strikes(Rule::NoMessages, &without(&legal, "/messages"));
    strikes(Rule::NoMessages, &set(&legal, "/messages", json!([])));
    strikes(Rule::Shape, &set(&legal, "/messages", "hello"));
    strikes(Rule::Role, &without(&legal, "/messages/0/role"));
    strikes(Rule::Role, &set(&legal, "/messages/0/role", "system"));
    strikes(Rule::Role, &set(&legal, "/messages/0/role", "tool"));
    strikes(Rule::Unknown, &set(&legal, "/messages/0/name", "x"));
    strikes(Rule::First, &without(&legal, "/messages/0"));
    strikes(Rule::Alternation, &before(&legal, "/messages/1", json!({"role": "user", "content": "and"})));
    strikes(Rule::Last, &push(&legal, "/messages", json!({"role": "assistant", "content": "so"})));
    strikes(Rule::Empty, &set(&legal, "/messages/0/content", ""));
    strikes(Rule::Empty, &set(&legal, "/messages/0/content", json!([])));
    strikes(Rule::Empty, &without(&legal, "/messages/0/content"));
    strikes(Rule::Empty, &set(&legal, "/messages/0/content/0/text", ""));
    strikes(Rule::Empty, &set(&legal, "/messages/1/content/2/text", " \n"));
    strikes(Rule::Empty, &set(&legal, "/messages/2/content/1/content/0/text", ""));
    strikes(Rule::Part, &set(&legal, "/messages/0/content/0/type", "input_text"));
    strikes(Rule::Part, &push(&legal, "/messages/0/content", legal["messages"][1]["content"][3].clone()));
    strikes(Rule::Part, &push(&legal, "/messages/1/content", legal["messages"][2]["content"][0].clone()));
    strikes(Rule::Part, &push(&legal, "/messages/1/content", legal["messages"][0]["content"][1].clone()));
    strikes(Rule::Part, &push(&legal, "/messages/2/content", legal["messages"][1]["content"][0].clone()));
    strikes(Rule::Unknown, &set(&legal, "/messages/1/content/0/cache_control", json!({"type": "ephemeral"})));
    strikes(Rule::Shape, &without(&legal, "/messages/0/content/0/text"));
}

#[test]
fn calls_and_results() {
    let legal = legal();
    strikes(Rule::CallId, &set(&legal, "/messages/1/content/3/id", ""));
    strikes(Rule::CallId, &set(&legal, "/messages/1/content/3/id", "functions.bash:0"));
    strikes(Rule::CallTwice, &set(&legal, "/messages/1/content/3/id", "toolu_2"));
    strikes(Rule::CallName, &set(&legal, "/messages/1/content/3/name", "a b"));
    strikes(Rule::Arguments, &set(&legal, "/messages/1/content/3/input", "{}"));
    strikes(Rule::Arguments, &without(&legal, "/messages/1/content/3/input"));
    strikes(Rule::Unanswered, &without(&legal, "/messages/2/content/0"));
    strikes(Rule::Unanswered, &set(&legal, "/messages/2/content", "go on"));
    strikes(Rule::Unanswered, &without(&legal, "/messages/2"));
    strikes(Rule::Orphan, &without(&legal, "/messages/1/content/3"));
    strikes(Rule::Orphan, &set(&legal, "/messages/2/content/0/tool_use_id", "toolu_3"));
    strikes(Rule::ResultTwice, &before(&legal, "/messages/2/content/2", legal["messages"][2]["content"][0].clone()));
    strikes(Rule::ResultPlace, &swapped(&legal, "/messages/2/content/1"));
    strikes(Rule::ResultContent, &set(&legal, "/messages/2/content/0/content", json!({"text": "ok"})));
    strikes(Rule::ResultContent, &set(&legal, "/messages/2/content/1/content/0/type", "thinking"));
    strikes(Rule::Shape, &set(&legal, "/messages/2/content/1/is_error", "yes"));
}

#[test]
fn thoughts() {
    let legal = legal();
    strikes(Rule::Unsealed, &without(&legal, "/messages/1/content/0/signature"));
    strikes(Rule::Unsealed, &set(&legal, "/messages/1/content/0/signature", ""));
    strikes(Rule::Unsealed, &without(&legal, "/messages/1/content/1/data"));
    strikes(Rule::Seal, &set(&legal, "/messages/1/content/0/thinking", "ha"));
    strikes(Rule::Seal, &set(&legal, "/messages/1/content/0/signature", "ErUB"));
    strikes(Rule::Seal, &set(&legal, "/messages/1/content/0/signature", seal::thinking("other", "hm")));
    strikes(Rule::Seal, &set(&legal, "/messages/1/content/1/data", seal::redacted("other", "secret")));
    strikes(Rule::Seal, &set(&legal, "/model", "other"));
    let single = without(&legal, "/messages/1/content/1");
    breaks(Anthropic, Rule::ThoughtPlace, &single, &swapped(&single, "/messages/1/content/0"));
    strikes(Rule::ThoughtPlace, &{
        let first = without(&legal, "/messages/1/content/0");
        without(&first, "/messages/1/content/0")
    });
    strikes(Rule::ThoughtPlace, &{
        let one = without(&legal, "/messages/1/content/4");
        let one = without(&one, "/messages/1/content/3");
        let one = without(&one, "/messages/1/content/2");
        set(&one, "/messages/2/content", "go on")
    });
}

/// The rules on where thoughts stand bind only a model that must think.
#[test]
fn a_model_that_need_not_think_gets_calls_without_thoughts() {
    let bare = without(&without(&legal(), "/messages/1/content/0"), "/messages/1/content/0");
    for thinking in [json!({"type": "adaptive"}), json!({"type": "disabled"})] {
        breaks(Anthropic, Rule::ThoughtPlace, &set(&bare, "/thinking", thinking), &bare);
    }
    // A thought whose text was withheld has a signature all the same.
    let withheld = set(&legal(), "/messages/1/content/0/thinking", "");
    let signed = set(&withheld, "/messages/1/content/0/signature", seal::thinking("m", ""));
    breaks(Anthropic, Rule::Seal, &signed, &withheld);
}

#[test]
fn images() {
    let legal = legal();
    let source = "/messages/0/content/1/source";
    strikes(Rule::ImageData, &set(&legal, &format!("{source}/data"), "@@@@"));
    strikes(Rule::ImageData, &set(&legal, &format!("{source}/data"), "aGVsbG8="));
    strikes(Rule::ImageType, &set(&legal, &format!("{source}/media_type"), "image/jpeg"));
    strikes(Rule::ImageType, &set(&legal, &format!("{source}/media_type"), "image/svg+xml"));
    strikes(Rule::ImageSize, &set(&legal, &format!("{source}/data"), large_png(5 << 20)));
    strikes(Rule::Shape, &without(&legal, &format!("{source}/media_type")));
    strikes(Rule::Shape, &without(&legal, source));
    let image = set(&legal, &format!("{source}/data"), large_png(3 << 20))["messages"][0]["content"][1].clone();
    let five = set(&legal, "/messages/0/content", json!([image, image, image, image, image]));
    let six = push(&five, "/messages/0/content", image);
    breaks(Anthropic, Rule::ImagesSize, &five, &six);
    assert_eq!(judge::anthropic::judge(&six).unwrap_err().status, 413);
}
