//! Whatever a session holds, what goes out is legal in every format. The judges here know the rules of the formats, not
//! how requests are made.

use std::sync::LazyLock;

use proptest::prelude::*;
use ramus_model::request::{Request, Thinking};
use ramus_model::{Depth, Log, context};
use ramus_provider::wire::{Api, Dialect};
use ramus_provider::{Facts, Models};
use serde_json::{Value, json};

use crate::requests::{name, request, tool};

static MODELS: LazyLock<Models> = LazyLock::new(|| Models::known().unwrap());

/// Texts as they are spelled in a log.
const TEXTS: [&str; 9] = [
    r#""plain""#,
    r#""""#,
    r#"" \n\t ""#,
    r#""\ud83d\ude00 pair""#,
    r#""\ud83d lone""#,
    r#""\udc00\\ud800""#,
    r#""quote \" and \u0000""#,
    r#""Grüße 🙂""#,
    r#""\u00a0""#,
];

const IDS: [&str; 6] = ["call_1", "call_1", "a|b", "call with spaces", "toolu_xyz", ""];

fn part() -> impl Strategy<Value = String> {
    let text = prop::sample::select(TEXTS.to_vec());
    let id = prop::sample::select(IDS.to_vec());
    let seal = prop::sample::select(vec![
        "",
        r#","thinkingSignature":"c2VhbA==""#,
        r#","thinkingSignature":"reasoning_content""#,
        r#","thinkingSignature":"\ud83d""#,
        r#","thinkingSignature":"{\"type\":\"reasoning\",\"id\":\"rs\",\"summary\":[],\"encrypted_content\":\"x\"}""#,
        r#","thinkingSignature":"ZGF0YQ==","redacted":true"#,
    ]);
    let arguments =
        prop::sample::select(vec![r#"{"p":"\ud83d","n":1e3}"#, "{}", "null", "[1]", r#"{"p":{"q":[true]}}"#]);
    prop_oneof![
        4 => text.clone().prop_map(|text| format!(r#"{{"type":"text","text":{text}}}"#)),
        2 => (text, seal).prop_map(|(text, seal)| format!(r#"{{"type":"thinking","thinking":{text}{seal}}}"#)),
        3 => (id, arguments).prop_map(|(id, arguments)| {
            format!(r#"{{"type":"toolCall","id":{},"name":"read/it","arguments":{arguments}}}"#, json!(id))
        }),
        1 => Just(r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#.to_owned()),
        1 => Just(r#"{"type":"image","data":"blob:sha256:00","mimeType":"image/png"}"#.to_owned()),
        1 => Just(r#"{"type":"hologram"}"#.to_owned()),
        1 => Just("17".to_owned()),
    ]
}

fn message() -> impl Strategy<Value = String> {
    let content = prop::collection::vec(part(), 0..4).prop_map(|parts| format!("[{}]", parts.join(","))).boxed();
    let model = prop::sample::select(vec![
        ("openai", "gpt-5.2"),
        ("openai-responses", "gpt-5.2"),
        ("anthropic", "claude-haiku-4-5"),
        ("anthropic", "claude-opus-5-5"),
        ("gemini", "gemini-3.8-flash"),
    ]);
    let id = prop::sample::select(IDS.to_vec());
    prop_oneof![
        3 => content.clone().prop_map(|content| format!(r#"{{"role":"user","content":{content}}}"#)),
        4 => (content.clone(), model).prop_map(|(content, (provider, model))| {
            format!(r#"{{"role":"assistant","content":{content},"provider":"{provider}","model":"{model}","stopReason":"stop"}}"#)
        }),
        4 => (content.clone(), id, any::<bool>()).prop_map(|(content, id, is_error)| {
            let id = json!(id);
            format!(r#"{{"role":"toolResult","toolCallId":{id},"toolName":"read/it","content":{content},"isError":{is_error}}}"#)
        }),
        1 => content.prop_map(|content| format!(r#"{{"role":"system","content":{content}}}"#)),
        1 => Just(r#"{"role":"user","content":"just text"}"#.to_owned()),
        1 => Just(r#"{"role":"bashExecution","command":"ls","output":"a\nb"}"#.to_owned()),
    ]
}

/// Requests from a session with these messages, as the engine would make them.
fn made(messages: &[String]) -> Request {
    let mut file = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-02-16T10:20:30.000Z\",\"cwd\":\"/tmp\"}\n",
    );
    for (at, message) in messages.iter().enumerate() {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |before| format!("\"e{before}\""));
        let time = "2026-02-16T10:20:31.000Z";
        file += &format!(
            "{{\"type\":\"message\",\"id\":\"e{at}\",\"parentId\":{parent},\"timestamp\":\"{time}\",\"message\":{message}}}\n"
        );
    }
    let log = Log::from_bytes(file.as_bytes(), Depth::Envelope);
    let context = context::build(&log, log.leaf(), file.as_bytes()).unwrap();
    let outgoing = context::provider::messages(&log, &context, file.as_bytes()).unwrap();
    Request { tools: vec![tool("read")], ..request(name("", ""), outgoing) }
}

fn encoded(api: Api, provider: &str, model: &str, request: &Request) -> Value {
    let request = Request { model: name(provider, model), ..request.clone() };
    let facts = MODELS.facts(&request.model).cloned().unwrap_or_default();
    let bytes = api.encode(&request, &facts, Dialect::Compatible);
    let spelled = String::from_utf8(bytes).unwrap();
    serde_json::from_str(&spelled).unwrap_or_else(|error| panic!("{error}: {spelled}"))
}

fn is_visible(text: &Value) -> bool {
    text.as_str().is_some_and(|text| !text.trim().is_empty())
}

fn is_id(id: &str) -> bool {
    (1..=40).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

fn assert_unique(ids: &[String]) {
    for (at, id) in ids.iter().enumerate() {
        assert!(is_id(id), "`{id}` is no id");
        assert!(!ids[..at].contains(id), "`{id}` twice");
    }
}

fn texts_of(list: &Value, member: &str) -> Vec<String> {
    let items = list.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item[member].as_str().map(str::to_owned)).collect()
}

fn judge_chat(body: &Value) {
    let messages: Vec<&Value> = body["messages"].as_array().unwrap().iter().filter(|m| m["role"] != "system").collect();
    let role = |at: usize| messages.get(at).map(|message| message["role"].as_str().unwrap());
    assert_eq!(role(0), Some("user"));
    assert_ne!(role(messages.len() - 1), Some("assistant"));
    let (mut ids, mut open) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        if role(at) == Some("tool") {
            assert!(!open.is_empty(), "a result of nothing");
            assert_eq!(message["tool_call_id"], open.remove(0));
            assert!(is_visible(&message["content"]));
            continue;
        }
        assert!(open.is_empty(), "calls without results");
        assert!(at == 0 || role(at) != role(at - 1), "two in a row by one side");
        let calls = texts_of(&message["tool_calls"], "id");
        let said = &message["content"];
        let is_said = is_visible(said) || said.as_array().is_some_and(|parts| !parts.is_empty());
        assert!(is_said || (said.is_null() && !calls.is_empty()), "an empty message");
        for part in said.as_array().into_iter().flatten().filter(|part| part["type"] == "text") {
            assert!(is_visible(&part["text"]));
        }
        open.extend(calls.iter().cloned().map(Value::from));
        ids.extend(calls);
    }
    assert!(open.is_empty());
    assert_unique(&ids);
}

fn judge_anthropic(body: &Value) {
    let messages = body["messages"].as_array().unwrap();
    let (mut ids, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        assert_eq!(message["role"], if at % 2 == 0 { "user" } else { "assistant" });
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let results = blocks.iter().take_while(|block| block["type"] == "tool_result").count();
        let answered: Vec<String> =
            blocks[..results].iter().map(|block| block["tool_use_id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(answered, open);
        open = blocks
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(|block| block["id"].as_str().unwrap().to_owned())
            .collect();
        ids.extend(open.clone());
        assert!(at % 2 == 1 || open.is_empty());
        for block in &blocks[results..] {
            match block["type"].as_str().unwrap() {
                "text" => assert!(is_visible(&block["text"])),
                "tool_use" => assert!(block["input"].is_object()),
                "thinking" => assert!(at % 2 == 1 && is_visible(&block["signature"])),
                "redacted_thinking" => assert!(at % 2 == 1 && is_visible(&block["data"])),
                "image" => assert!(at % 2 == 0 && block["source"]["data"] == "iVBORw0KGgo="),
                other => panic!("{other} is out of place"),
            }
        }
        let has_thoughts = blocks.iter().any(|block| block["type"].as_str().unwrap().contains("thinking"));
        let begins_with_one = blocks[0]["type"].as_str().unwrap().contains("thinking");
        if body["thinking"]["type"] == "enabled" && !open.is_empty() && !begins_with_one {
            assert!(!has_thoughts, "thoughts stand first where there are calls");
            assert_ne!(at + 2, messages.len(), "no thinking over calls without a thought");
        }
        let last = blocks.last().unwrap()["type"].as_str().unwrap();
        assert!(!last.contains("thinking"), "a message ends in a thought");
    }
    assert_eq!(messages.len() % 2, 1, "the user has the last word");
    assert!(open.is_empty());
    assert_unique(&ids);
    assert!(body.to_string().matches("cache_control").count() <= 4);
}

fn judge_responses(body: &Value) {
    let items = body["input"].as_array().unwrap();
    assert_eq!(items[0]["role"], "user");
    assert_ne!(items.last().unwrap()["role"], "assistant");
    let (mut ids, mut open): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut is_thinking = false;
    for item in items {
        let kind = item["type"].as_str().unwrap();
        if kind == "function_call_output" {
            assert_eq!(item["call_id"], open.remove(0));
            assert!(is_visible(&item["output"]) || item["output"].as_array().is_some_and(|parts| !parts.is_empty()));
            continue;
        }
        assert!(open.is_empty() || kind == "function_call" || item["role"] == "assistant" || kind == "reasoning");
        assert!(!is_thinking || item["role"] != "user", "a thought that leads nowhere");
        is_thinking = kind == "reasoning";
        match kind {
            "function_call" => {
                let id = item["call_id"].as_str().unwrap().to_owned();
                let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
                assert!(arguments.is_object());
                open.push(id.clone());
                ids.push(id);
            }
            "message" => {
                let parts = item["content"].as_array().unwrap();
                assert!(!parts.is_empty());
                assert!(parts.iter().all(|part| part["type"] == "input_image" || is_visible(&part["text"])));
            }
            "reasoning" => assert!(is_visible(&item["encrypted_content"])),
            other => panic!("{other} is out of place"),
        }
    }
    assert!(open.is_empty());
    assert_unique(&ids);
}

fn judge_gemini(body: &Value) {
    let contents = body["contents"].as_array().unwrap();
    assert_eq!(contents[0]["role"], "user");
    assert_eq!(contents.last().unwrap()["role"], "user");
    let mut open: Vec<Value> = Vec::new();
    let mut before = "";
    for content in contents {
        let parts = content["parts"].as_array().unwrap();
        assert!(!parts.is_empty());
        let all = |member: &str| {
            parts.iter().filter_map(|part| part.get(member).map(|it| it["name"].clone())).collect::<Vec<_>>()
        };
        let results = all("functionResponse");
        assert_eq!(results, open, "results do not answer the calls in front of them");
        open = all("functionCall");
        assert!(
            parts.iter().take(results.len()).all(|part| part.get("functionResponse").is_some()),
            "results come first"
        );
        let role = content["role"].as_str().unwrap();
        assert_ne!(role, before, "two in a row by one side");
        before = role;
        for part in parts {
            let is_shown =
                ["functionCall", "functionResponse", "inlineData"].iter().any(|kind| part.get(kind).is_some());
            assert!(is_shown || is_visible(&part["text"]) || part["thought"] == true, "{part}");
            assert!(role == "model" || part.get("thoughtSignature").is_none());
        }
        if !open.is_empty() {
            let first = parts.iter().find(|part| part.get("functionCall").is_some()).unwrap();
            assert!(is_visible(&first["thoughtSignature"]), "Gemini 3 wants a seal on the first call");
        }
    }
    assert!(open.is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn in_every_format(messages in prop::collection::vec(message(), 0..14), level in 0..3_u8) {
        let thinking = [Thinking::Off, Thinking::Low, Thinking::Max][usize::from(level)];
        let request = Request { thinking, ..made(&messages) };
        judge_chat(&encoded(Api::Completions, "openai", "gpt-5.2", &request));
        judge_responses(&encoded(Api::Responses, "openai-responses", "gpt-5.2", &request));
        judge_anthropic(&encoded(Api::Anthropic, "anthropic", "claude-haiku-4-5", &request));
        judge_anthropic(&encoded(Api::Anthropic, "anthropic", "claude-opus-5-5", &request));
        judge_gemini(&encoded(Api::Gemini, "gemini", "gemini-3.8-flash", &request));
    }

    /// Messages that nobody repaired may be refused, but they are still JSON, and nothing panics over them.
    #[test]
    fn valid_json_even_of_messages_that_nobody_repaired(messages in prop::collection::vec(message(), 1..8), bytes in prop::collection::vec(any::<u8>(), 0..40), drop in any::<prop::sample::Index>()) {
        let mut request = made(&messages);
        if !request.messages.is_empty() {
            let at = drop.index(request.messages.len());
            request.messages[at].parts.push(bytes);
            request.messages.remove(drop.index(request.messages.len()));
        }
        for api in [Api::Completions, Api::Responses, Api::Anthropic, Api::Gemini] {
            let bytes = api.encode(&request, &Facts::default(), Dialect::Original);
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }
}

/// More of them with `PROPTEST_CASES`.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(2_000)
}
