//! The rules of Gemini's content, for a model that signs its calls.

use ramus_testkit::model_server::Format::Gemini;
use ramus_testkit::model_server::{Rule, judge, seal};
use serde_json::{Value, json};

use super::{breaks, large_png, schema};
use crate::edit::{before, push, set, swapped, without};

const MODEL: &str = "gemini-3-pro";

fn legal() -> Value {
    json!({
        "systemInstruction": {"parts": [{"text": "s"}]},
        "generationConfig": {"maxOutputTokens": 100, "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "high"}},
        "tools": [{"functionDeclarations": [
            {"name": "bash", "description": "d", "parameters": schema()},
            {"name": "read", "description": "d", "parametersJsonSchema": schema()},
        ]}],
        "contents": [
            {"role": "user", "parts": [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": judge::PIXEL}}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": true},
                {"functionCall": {"id": "1", "name": "bash", "args": {}}, "thoughtSignature": seal::thought(MODEL, "a")},
                {"functionCall": {"name": "read", "args": {"a": 1}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "1", "name": "bash", "response": {"output": ""}}},
                {"functionResponse": {"name": "read", "response": {"output": "ok"}}},
            ]},
            {"role": "model", "parts": [{"text": "done"}, {"text": "", "thoughtSignature": seal::thought(MODEL, "b")}]},
            {"role": "user", "parts": [{"text": "go on"}]},
        ],
    })
}

fn strikes(rule: Rule, illegal: &Value) {
    breaks(Gemini, rule, &legal(), illegal);
}

#[test]
fn settings_and_tools() {
    let legal = legal();
    assert_eq!(judge::gemini::judge("", &legal).unwrap_err().rule, Rule::Model);
    strikes(Rule::Unknown, &set(&legal, "/messages", json!([])));
    strikes(Rule::Limit, &set(&legal, "/generationConfig/maxOutputTokens", 0));
    strikes(Rule::Setting, &set(&legal, "/generationConfig/thinkingConfig/thinkingBudget", 100));
    strikes(Rule::Unknown, &set(&legal, "/generationConfig/thinkingConfig/effort", "high"));
    strikes(Rule::Empty, &set(&legal, "/systemInstruction/parts/0/text", ""));
    strikes(Rule::Empty, &set(&legal, "/systemInstruction/parts", json!([])));
    let declared = "/tools/0/functionDeclarations";
    strikes(Rule::Shape, &set(&legal, "/tools/0", json!({"name": "bash"})));
    strikes(Rule::ToolName, &set(&legal, &format!("{declared}/0/name"), "1st"));
    strikes(Rule::ToolName, &set(&legal, &format!("{declared}/0/name"), "x".repeat(65)));
    strikes(Rule::ToolTwice, &set(&legal, &format!("{declared}/0/name"), "read"));
    strikes(Rule::ToolSchema, &set(&legal, &format!("{declared}/0/parameters/type"), "string"));
    strikes(Rule::ToolSchema, &set(&legal, &format!("{declared}/0/parameters/additionalProperties"), false));
    strikes(Rule::ToolSchema, &set(&legal, &format!("{declared}/0/parameters/properties/command/$ref"), "#"));
    strikes(Rule::ToolSchema, &without(&legal, &format!("{declared}/0/parameters/properties/command/type")));
    strikes(Rule::ToolSchema, &without(&legal, &format!("{declared}/0/parameters/properties/list/items")));
    strikes(Rule::ToolSchema, &set(&legal, &format!("{declared}/1/parameters"), schema()));
    strikes(Rule::ToolSchema, &set(&legal, &format!("{declared}/1/parametersJsonSchema/type"), "array"));
}

#[test]
fn contents() {
    let legal = legal();
    strikes(Rule::NoMessages, &without(&legal, "/contents"));
    strikes(Rule::NoMessages, &set(&legal, "/contents", json!([])));
    strikes(Rule::Shape, &set(&legal, "/contents", "hello"));
    strikes(Rule::Role, &without(&legal, "/contents/0/role"));
    strikes(Rule::Role, &set(&legal, "/contents/0/role", "system"));
    strikes(Rule::Role, &set(&legal, "/contents/1/role", "assistant"));
    strikes(Rule::Unknown, &set(&legal, "/contents/0/content", "x"));
    strikes(Rule::First, &without(&legal, "/contents/0"));
    strikes(Rule::Alternation, &before(&legal, "/contents/0", json!({"role": "user", "parts": [{"text": "a"}]})));
    strikes(Rule::Last, &without(&legal, "/contents/4"));
    strikes(Rule::Empty, &set(&legal, "/contents/0/parts", json!([])));
    strikes(Rule::Empty, &without(&legal, "/contents/0/parts"));
    strikes(Rule::Empty, &set(&legal, "/contents/0/parts/0/text", ""));
    strikes(Rule::Empty, &without(&legal, "/contents/3/parts/1/thoughtSignature"));
    strikes(Rule::Part, &set(&legal, "/contents/0/parts/0", json!({})));
    strikes(Rule::Part, &set(&legal, "/contents/0/parts/1/text", "both"));
    strikes(Rule::Unknown, &set(&legal, "/contents/0/parts/0/type", "text"));
    strikes(Rule::Part, &push(&legal, "/contents/3/parts", legal["contents"][0]["parts"][1].clone()));
    strikes(Rule::Part, &push(&legal, "/contents/0/parts", legal["contents"][1]["parts"][2].clone()));
    strikes(Rule::Part, &push(&legal, "/contents/3/parts", legal["contents"][2]["parts"][1].clone()));
}

#[test]
fn calls_and_responses() {
    let legal = legal();
    let call = "/contents/1/parts/1/functionCall";
    strikes(Rule::CallId, &set(&legal, &format!("{call}/id"), ""));
    strikes(Rule::CallName, &set(&legal, &format!("{call}/name"), ""));
    strikes(Rule::CallName, &set(&legal, &format!("{call}/name"), "a b"));
    strikes(Rule::Arguments, &set(&legal, &format!("{call}/args"), "{}"));
    let twice = set(&legal, "/contents/1/parts/2/functionCall/id", "1");
    strikes(Rule::CallTwice, &set(&twice, "/contents/2/parts/1/functionResponse/id", "1"));
    strikes(Rule::Unanswered, &without(&legal, "/contents/2/parts/0"));
    strikes(Rule::Unanswered, &set(&legal, "/contents/2/parts", json!([{"text": "go on"}])));
    strikes(Rule::Orphan, &push(&legal, "/contents/4/parts", legal["contents"][2]["parts"][1].clone()));
    strikes(Rule::ResultTwice, &push(&legal, "/contents/2/parts", legal["contents"][2]["parts"][1].clone()));
    strikes(Rule::ResultPlace, &swapped(&legal, "/contents/2/parts/0"));
    strikes(Rule::ResultPlace, &before(&legal, "/contents/2/parts/0", json!({"text": "here"})));
    strikes(Rule::ResultPlace, &set(&legal, "/contents/2/parts/0/functionResponse/id", "2"));
    strikes(Rule::ResultContent, &set(&legal, "/contents/2/parts/0/functionResponse/response", "ok"));
    strikes(Rule::ResultContent, &without(&legal, "/contents/2/parts/0/functionResponse/response"));
    let open = without(&without(&without(&legal, "/contents/4"), "/contents/3"), "/contents/2");
    strikes(Rule::Unanswered, &open);
}

#[test]
fn signatures() {
    let legal = legal();
    let signature = "/contents/1/parts/1/thoughtSignature";
    strikes(Rule::Seal, &set(&legal, signature, "Q29ycnVwdA=="));
    strikes(Rule::Seal, &set(&legal, signature, seal::thought("gemini-3-flash", "a")));
    strikes(Rule::Shape, &set(&legal, signature, 5));
    // Only the turn that is under way needs its signatures.
    let underway = without(&without(&legal, "/contents/4"), "/contents/3");
    breaks(Gemini, Rule::Unsealed, &underway, &without(&underway, signature));
    breaks(Gemini, Rule::Seal, &without(&legal, signature), &set(&legal, signature, "x"));
    breaks(
        Gemini,
        Rule::Seal,
        &set(&underway, signature, "skip_thought_signature_validator"),
        &set(&underway, signature, "x"),
    );
    assert!(
        judge::gemini::judge("gemini-2.5-pro", &without(&without(&legal, signature), "/contents/3/parts/1")).is_ok()
    );
}

#[test]
fn images() {
    let legal = legal();
    let image = "/contents/0/parts/1/inlineData";
    strikes(Rule::Shape, &without(&legal, &format!("{image}/mimeType")));
    strikes(Rule::ImageData, &set(&legal, &format!("{image}/data"), "@@@@"));
    strikes(Rule::ImageType, &set(&legal, &format!("{image}/mimeType"), "image/gif"));
    strikes(Rule::ImageType, &set(&legal, &format!("{image}/mimeType"), "image/jpeg"));
    strikes(Rule::ImageSize, &set(&legal, &format!("{image}/data"), large_png(5 << 20)));
}

/// Google's own client sends bytes in the other alphabet.
#[test]
fn bytes_may_be_spelt_either_way() {
    let legal = legal();
    let signature = "/contents/1/parts/1/thoughtSignature";
    let other =
        |text: &Value| text.as_str().unwrap().replace('+', "-").replace('/', "_").trim_end_matches('=').to_owned();
    let spelt = set(&legal, signature, other(legal.pointer(signature).unwrap()));
    let image = "/contents/0/parts/1/inlineData/data";
    let spelt = set(&spelt, image, other(legal.pointer(image).unwrap()));
    assert_ne!(spelt, legal);
    breaks(Gemini, Rule::ImageData, &spelt, &set(&spelt, image, "iVBORw0KGgo!"));
}

#[test]
fn names_may_be_spelt_either_way() {
    let contents = json!([
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": judge::PIXEL}}]},
        {"role": "model", "parts": [{"function_call": {"name": "bash", "args": {}}, "thought_signature": seal::thought(MODEL, "")}]},
        {"role": "user", "parts": [{"function_response": {"name": "bash", "response": {}}}]},
    ]);
    let body = json!({"contents": contents, "system_instruction": {"parts": [{"text": "s"}]},
                      "generation_config": {"max_output_tokens": 1}});
    breaks(Gemini, Rule::Limit, &body, &set(&body, "/generation_config/max_output_tokens", 0));
}
