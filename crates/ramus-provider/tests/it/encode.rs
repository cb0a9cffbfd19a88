//! What goes out, format by format.

use ramus_model::context::provider::Outgoing;
use ramus_model::request::{Request, Thinking};
use ramus_model::usage::ModelName;
use ramus_provider::wire::{Api, Dialect};
use ramus_provider::{Control, Facts, Models};
use serde_json::{Value, json};

use crate::requests::*;

/// The first bytes of a PNG, in base64 that goes on.
const PNG: &str = "iVBORw0KGgoA";

const ALL: [(Api, &str, &str); 4] = [
    (Api::Completions, "openai", "gpt-5.2"),
    (Api::Responses, "openai-responses", "gpt-5.2"),
    (Api::Anthropic, "anthropic", "claude-sonnet-4-6"),
    (Api::Gemini, "gemini", "gemini-3.8-flash"),
];

fn encoded(api: Api, request: &Request) -> Value {
    let facts = Models::known().unwrap().facts(&request.model).cloned().unwrap_or_default();
    encoded_with(api, request, &facts)
}

fn encoded_with(api: Api, request: &Request, facts: &Facts) -> Value {
    serde_json::from_slice(&api.encode(request, facts, Dialect::Compatible)).unwrap()
}

/// A conversation with everything in it, by the model that is asked.
fn everything(model: &ModelName) -> Request {
    let seal = match model.provider.as_str() {
        "openai" => "reasoning_content".to_owned(),
        "openai-responses" => {
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA=="}).to_string()
        }
        _ => "c2VhbA==".to_owned(),
    };
    let messages = vec![
        system("Mind the gap."),
        user(&[text("Look at "), text("this:"), image("iVBORw0KGgo=")]),
        assistant(
            model,
            &[
                json!({"type": "thinking", "thinking": "Two files,\nthen.", "thinkingSignature": seal}),
                text("I read both."),
                json!({"type": "toolCall", "id": "call_1", "name": "read", "arguments": {"path": "a\"b", "n": 1e3}, "thoughtSignature": "Y2FsbA=="}),
                call("call_2", "list", json!({})),
            ],
        ),
        result("call_1", "read", false, &[text("line 1"), text("line 2"), image("/9j/4AAQ")]),
        result("call_2", "list", true, &[text("no such directory")]),
        user(&[text("Go on.")]),
    ];
    Request {
        system: "Be brief.".into(),
        tools: vec![tool("read"), tool("list")],
        max_tokens: Some(2_000),
        thinking: Thinking::High,
        cache_key: Some("session-1".into()),
        ..request(model.clone(), messages)
    }
}

#[test]
fn everything_in_every_format() {
    for (api, provider, model) in ALL {
        insta::assert_json_snapshot!(api.name(), encoded(api, &everything(&name(provider, model))));
    }
}

#[test]
fn only_openai_itself_is_told_what_only_openai_knows() {
    let request = everything(&name("openai", "gpt-5.2"));
    let facts = Facts::default();
    for (dialect, most, other) in [
        (Dialect::Original, "max_completion_tokens", "max_tokens"),
        (Dialect::Compatible, "max_tokens", "max_completion_tokens"),
    ] {
        let body: Value = serde_json::from_slice(&Api::Completions.encode(&request, &facts, dialect)).unwrap();
        assert_eq!((&body[most], &body[other]), (&json!(2_000), &Value::Null));
        let key = if dialect == Dialect::Original { json!("session-1") } else { Value::Null };
        assert_eq!(body["prompt_cache_key"], key);
    }
}

/// Everything a thought could be recognised by.
fn mentions(body: &Value, needles: &[&str]) -> bool {
    needles.iter().any(|needle| body.to_string().contains(needle))
}

#[test]
fn thoughts_go_back_to_the_model_that_had_them_and_to_no_other() {
    for (api, provider, model) in ALL {
        let asked = name(provider, model);
        let needles = ["Two files", "c2VhbA==", "gAAA==", "Y2FsbA=="];
        assert!(mentions(&encoded(api, &everything(&asked)), &needles), "{provider}");
        for other in [name(provider, "other-model"), name("other-provider", model), name("", "")] {
            let mut foreign = everything(&other);
            foreign.model = asked.clone();
            let body = encoded(api, &foreign);
            assert!(!mentions(&body, &needles), "{provider}: {body}");
            assert!(mentions(&body, &["I read both."]), "{provider}");
        }
        let mut dated = everything(&name(provider, &format!("{model}-20261115")));
        dated.model = asked;
        assert!(mentions(&encoded(api, &dated), &needles), "{provider}");
    }
}

#[test]
fn thoughts_that_lead_nowhere_or_cannot_be_kept_whole_leave_nothing_behind() {
    let by = name("anthropic", "claude-haiku-4-5");
    let thought =
        |thinking: &str, seal: Value| json!({"type": "thinking", "thinking": thinking, "thinkingSignature": seal});
    let messages = vec![
        user(&[text("a")]),
        assistant(&by, &[thought("unsealed", Value::Null)]),
        user(&[text("b")]),
        assistant(&by, &[thought("sealed", json!("s"))]),
        user(&[text("c")]),
        assistant(&by, &[text("said"), thought("last", json!("s"))]),
        user(&[text("d")]),
    ];
    let body = encoded(Api::Anthropic, &request(by, messages));
    let block = |text: &str| json!({"type": "text", "text": text});
    let mark = |text: &str| json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [block("a"), block("b"), mark("c")]},
            {"role": "assistant", "content": [block("said")]},
            {"role": "user", "content": [mark("d")]},
        ])
    );
}

#[test]
fn redacted_thoughts_go_back_as_they_came() {
    let by = name("anthropic", "claude-haiku-4-5");
    let redacted = json!({"type": "thinking", "thinking": "", "thinkingSignature": "ZGF0YQ==", "redacted": true});
    let body = encoded(
        Api::Anthropic,
        &request(by.clone(), vec![user(&[text("a")]), assistant(&by, &[redacted, text("b")]), user(&[text("c")])]),
    );
    assert_eq!(body["messages"][1]["content"][0], json!({"type": "redacted_thinking", "data": "ZGF0YQ=="}));
}

#[test]
fn a_conversation_begins_and_ends_with_the_user() {
    for (api, provider, model) in ALL {
        let by = name(provider, model);
        let body = encoded(api, &request(by.clone(), vec![assistant(&by, &[text("Mid-sentence")])]));
        let list = body.get("messages").or(body.get("input")).or(body.get("contents")).unwrap();
        let roles: Vec<&str> = list.as_array().unwrap().iter().map(|turn| turn["role"].as_str().unwrap()).collect();
        assert_eq!(roles[0], "user", "{provider}");
        assert_eq!(roles[2], "user", "{provider}");
        let empty = encoded(api, &request(by, Vec::new()));
        let list = empty.get("messages").or(empty.get("input")).or(empty.get("contents")).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 1, "{provider}");
    }
}

#[test]
fn nothing_that_is_no_unicode_goes_out() {
    let raw = |part: &[u8]| Outgoing { parts: vec![part.to_vec()], ..user(&[]) };
    for (api, provider, model) in ALL {
        let by = name(provider, model);
        let mut calls = assistant(&by, &[]);
        calls.parts = vec![br#"{"type":"toolCall","id":"x\udead","name":"r","arguments":{"p":"\ud83d"}}"#.to_vec()];
        let messages = vec![
            raw(br#"{"type":"text","text":"lone \ud83d here"}"#),
            raw(b"{\"type\":\"text\",\"text\":\"bytes \xff\xfe here\"}"),
            calls,
            result("x\u{fffd}", "r", false, &[text("ok")]),
        ];
        let bytes = api.encode(&request(by, messages), &Facts::default(), Dialect::Compatible);
        let spelled = String::from_utf8(bytes).unwrap();
        let value: Value = serde_json::from_str(&spelled).unwrap();
        assert!(value.to_string().contains("lone \u{fffd} here"), "{provider}: {spelled}");
        assert!(!spelled.contains("\\ud83d") && !spelled.contains("\\udead"), "{provider}: {spelled}");
    }
}

#[test]
fn ids_that_repeat_or_are_not_allowed_get_others_with_their_results() {
    let by = name("other", "m");
    let turn = |id: &str| {
        vec![assistant(&by, &[call(id, "read/file", json!({}))]), result(id, "read/file", false, &[text("r")])]
    };
    let messages = [vec![user(&[text("a")])], turn("call|1"), turn("call|1"), turn("")].concat();
    let body = encoded(Api::Anthropic, &request(name("anthropic", "m"), messages));
    let blocks: Vec<Value> = body["messages"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|turn| turn["content"].as_array().unwrap().clone())
        .collect();
    let ids = |kind: &str, member: &str| -> Vec<String> {
        let of_kind = blocks.iter().filter(|block| block["type"] == kind);
        of_kind.map(|block| block[member].as_str().unwrap().to_owned()).collect()
    };
    let made = ids("tool_use", "id");
    assert_eq!(made.len(), 2);
    assert_ne!(made[0], made[1]);
    assert!(made.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')), "{made:?}");
    assert_eq!(ids("tool_result", "tool_use_id"), made);
    assert_eq!(ids("tool_use", "name"), ["read_file", "read_file"]);
}

#[test]
fn pictures_fit_and_the_newest_stay() {
    let large = format!("{PNG}{}", "A".repeat(6 * 1024 * 1024));
    let many = vec![image(&format!("{PNG}{}", "A".repeat(1_000_000 - PNG.len()))); 30];
    for (api, provider, model) in ALL {
        let messages = vec![user(&[image(&large)]), user(&many), user(&[text("?")])];
        let request = request(name(provider, model), messages);
        let bytes = api.encode(&request, &Facts::default(), Dialect::Compatible);
        assert!(bytes.len() > 18_000_000 && bytes.len() < 21_000_000, "{provider}: {}", bytes.len());
        let spelled = String::from_utf8(bytes).unwrap();
        assert_eq!(spelled.matches("too large to be shown").count(), 1, "{provider}");
        assert_eq!(spelled.matches("not shown any more").count(), 11, "{provider}");
    }
    let blind = Facts { images: false, ..Facts::default() };
    let body = encoded_with(Api::Completions, &request(name("o", "m"), vec![user(&[image(PNG)])]), &blind);
    assert_eq!(body["messages"][0]["content"], "[A picture. You cannot see pictures.]");
}

#[test]
fn pictures_that_are_not_there_or_in_no_known_format_are_said_to_be() {
    let blob = json!({"type": "image", "data": "blob:sha256:00", "mimeType": "image/png"});
    let tiff = json!({"type": "image", "data": "SUkqAAgA", "mimeType": "image/tiff"});
    let cut = json!({"type": "image", "data": "iVBORw0KG", "mimeType": "image/png"});
    let file = json!({"type": "file", "url": "x"});
    let body = encoded(Api::Completions, &request(name("o", "m"), vec![user(&[blob, tiff, cut, file])]));
    let said = body["messages"][0]["content"].as_str().unwrap();
    assert_eq!(said.lines().count(), 4, "{said}");
    // What it is counts, not what it is said to be; and not every format takes everything.
    let gif = request(name("o", "m"), vec![user(&[image("R0lGODlh")])]);
    let body = encoded(Api::Anthropic, &gif);
    assert_eq!(body["messages"][0]["content"][0]["source"]["media_type"], "image/gif");
    assert_eq!(
        encoded(Api::Gemini, &gif)["contents"][0]["parts"],
        json!([{"text": "[A picture in a format that cannot be shown.]"}])
    );
}

#[test]
fn how_much_a_model_shall_think() {
    let thinking = |api: Api, provider: &str, model: &str, level: Thinking| {
        let asked = Request { thinking: level, ..request(name(provider, model), vec![user(&[text("a")])]) };
        let body = encoded(api, &asked);
        let named = ["reasoning_effort", "reasoning", "thinking", "output_config", "generationConfig"];
        named.iter().filter_map(|member| body.get(*member).map(|value| value.to_string())).collect::<Vec<_>>().join(" ")
    };
    use Thinking::{High, Max, Minimal, Off};
    assert_eq!(thinking(Api::Completions, "openai", "gpt-5", Max), r#""high""#);
    assert_eq!(thinking(Api::Completions, "openai", "gpt-5", Off), "");
    assert_eq!(thinking(Api::Completions, "openai", "gpt-4o", High), "");
    assert_eq!(thinking(Api::Completions, "openai", "gpt-5.2-2025-12-11", Off), r#""none""#);
    assert_eq!(thinking(Api::Responses, "openai-responses", "gpt-5.2", Max), r#"{"effort":"xhigh","summary":"auto"}"#);
    assert_eq!(
        thinking(Api::Anthropic, "anthropic", "claude-haiku-4-5", High),
        r#"{"type":"enabled","budget_tokens":20480}"#
    );
    assert_eq!(thinking(Api::Anthropic, "anthropic", "claude-haiku-4-5", Off), "");
    assert_eq!(
        thinking(Api::Anthropic, "anthropic", "claude-opus-5-5", Minimal),
        r#"{"type":"adaptive","display":"summarized"} {"effort":"low"}"#
    );
    assert_eq!(thinking(Api::Anthropic, "anthropic", "claude-opus-5", Off), r#"{"type":"disabled"}"#);
    assert_eq!(thinking(Api::Gemini, "gemini", "gemini-2.5-flash", Off), r#"{"thinkingConfig":{"thinkingBudget":0}}"#);
    assert_eq!(
        thinking(Api::Gemini, "gemini", "gemini-3.8-flash", Max),
        r#"{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"HIGH"}}"#
    );
}

/// Anthropic refuses to think on over calls that were made without a thought.
#[test]
fn no_thinking_over_calls_of_another_model() {
    let asked = name("anthropic", "claude-haiku-4-5");
    let other = name("openai", "gpt-5");
    let messages = vec![
        user(&[text("a")]),
        assistant(&other, &[call("c", "read", json!({}))]),
        result("c", "read", false, &[text("r")]),
    ];
    let mut open = Request { thinking: Thinking::High, ..request(asked, messages) };
    assert_eq!(encoded(Api::Anthropic, &open)["thinking"], Value::Null);
    open.messages.push(user(&[text("Meanwhile")]));
    assert_eq!(encoded(Api::Anthropic, &open)["thinking"], Value::Null);
    open.messages.push(assistant(&other, &[text("Done.")]));
    open.messages.push(user(&[text("b")]));
    assert_ne!(encoded(Api::Anthropic, &open)["thinking"], Value::Null);
}

/// Gemini 3 refuses calls without a seal, and says what stands for one.
#[test]
fn calls_of_another_model_are_marked_as_such_for_gemini() {
    let other = name("openai", "gpt-5");
    let messages = vec![
        user(&[text("a")]),
        assistant(&other, &[call("c", "read", json!({})), call("d", "read", json!({}))]),
        result("c", "read", false, &[text("r")]),
        result("d", "read", false, &[text("r")]),
    ];
    let seals = |model: &str| {
        let body = encoded(Api::Gemini, &request(name("gemini", model), messages.clone()));
        let parts = body["contents"][1]["parts"].as_array().unwrap().clone();
        parts.iter().map(|part| part.get("thoughtSignature").is_some()).collect::<Vec<_>>()
    };
    assert_eq!(seals("gemini-3.8-flash"), [true, false]);
    assert_eq!(seals("gemini-2.5-pro"), [false, false]);
}

#[test]
fn models_are_known() {
    let models = Models::known().unwrap();
    assert!(models.iter().count() >= 40);
    assert_eq!(models.as_of(), "2026-11-15");
    for (model, facts) in models.iter() {
        assert!(facts.window.unwrap() >= facts.output.unwrap(), "{model}");
        if let Control::Levels(levels) = &facts.control {
            let words = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
            assert!(!levels.is_empty() && levels.iter().all(|level| words.contains(&level.as_str())), "{model}");
        }
    }
    let dated = models.facts(&name("openai-responses", "gpt-5-2025-08-07")).unwrap();
    assert_eq!(Some(dated), models.facts(&name("openai", "gpt-5")));
    assert_eq!(models.facts(&name("openai", "gpt-nobody-knows")), None);
    let mut models = models;
    models.lay_over("[models.ollama]\nqwen = { window = 8192, images = false }", "mine").unwrap();
    let own = models.facts(&name("ollama", "qwen")).unwrap();
    assert_eq!((own.window, own.images, &own.control), (Some(8_192), false, &Control::Never));
    let error = models.lay_over("[models.ollama]\nqwen = { windows = 8192 }", "mine").unwrap_err().to_string();
    assert!(error.starts_with("mine: ") && error.contains("windows"), "{error}");
}
