//! What each format streams: the events by name, and what they come to; and that an answer given back is legal.

use ramus_testkit::model_server::{Finish, Format, ModelServer, Part, Plan, Reply, Usage, judge, seal, tag};
use serde_json::{Value, json};

use crate::client::{ask, question};
use crate::edit::push;

fn rich() -> Reply {
    Reply::default()
        .think(["I ", "think"])
        .with(Part::Redacted("secret".into()))
        .say(["Grüße", " 🦀"])
        .call("bash", json!({"command": "ls"}))
        .call_as("own_id", "read", json!({"path": "a"}))
        .with_usage(Usage { input: 100, cached: 40, cache_written: 10, output: 20, reasoning: 5 })
}

fn events(format: Format, reply: Reply) -> Vec<(String, Value)> {
    let server = ModelServer::start(Plan::of([reply])).unwrap();
    let answer = ask(&server, format, &question(format, "hello"));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
    answer.events()
}

/// Returns the texts at `pointer` of all events, joined.
fn joined(events: &[(String, Value)], pointer: &str) -> String {
    events.iter().filter_map(|(_, data)| data.pointer(pointer).and_then(Value::as_str)).collect()
}

#[test]
fn chat() {
    let events = events(Format::Chat, rich());
    assert_eq!(joined(&events, "/choices/0/delta/content"), "Grüße 🦀");
    assert_eq!(joined(&events, "/choices/0/delta/reasoning_content"), "I think");
    let calls: Vec<&Value> =
        events.iter().filter_map(|(_, data)| data.pointer("/choices/0/delta/tool_calls/0")).collect();
    let of = |index: usize| calls.iter().filter(move |call| call["index"] == index).copied().collect::<Vec<_>>();
    let arguments =
        |calls: &[&Value]| calls.iter().filter_map(|call| call["function"]["arguments"].as_str()).collect::<String>();
    assert_eq!(of(0)[0]["id"], format!("call_{}0", tag(0)));
    assert_eq!(of(0)[0]["function"]["name"], "bash");
    assert_eq!(arguments(&of(0)), r#"{"command":"ls"}"#);
    assert_eq!((&of(1)[0]["id"], arguments(&of(1)).as_str()), (&json!("own_id"), r#"{"path":"a"}"#));
    assert!(of(1).len() > 2, "arguments come in pieces");
    assert_eq!(joined(&events, "/choices/0/finish_reason"), "tool_calls");
    let [.., (_, usage), (_, done)] = events.as_slice() else { panic!() };
    assert_eq!(*done, json!("[DONE]"));
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["prompt_tokens"], 100);
    assert_eq!(usage["usage"]["prompt_tokens_details"]["cached_tokens"], 40);
    assert_eq!(usage["usage"]["completion_tokens_details"]["reasoning_tokens"], 5);
}

#[test]
fn chat_tells_usage_only_when_asked_and_calls_by_turns_when_planned() {
    let server = ModelServer::start(Plan::of([Reply { interleaved: true, ..rich() }])).unwrap();
    let mut body = question(Format::Chat, "hello");
    body.as_object_mut().unwrap().remove("stream_options");
    let events = ask(&server, Format::Chat, &body).events();
    assert!(events.iter().all(|(_, data)| data.get("usage").is_none()));
    let order: Vec<u64> =
        events.iter().filter_map(|(_, data)| data.pointer("/choices/0/delta/tool_calls/0/index")?.as_u64()).collect();
    assert_eq!(order, [0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn responses() {
    let events = events(Format::Responses, rich());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.strip_prefix("response.").unwrap()).collect();
    let arguments = ["function_call_arguments.delta"; 3];
    let mut expected = vec!["created", "in_progress"];
    expected.extend(["output_item.added", "reasoning_summary_part.added"]);
    expected.extend(["reasoning_summary_text.delta"; 2]);
    expected.extend(["reasoning_summary_text.done", "reasoning_summary_part.done", "output_item.done"]);
    expected.extend(["output_item.added", "content_part.added", "output_text.delta", "output_text.delta"]);
    expected.extend(["output_text.done", "content_part.done", "output_item.done"]);
    for _ in 0..2 {
        expected.push("output_item.added");
        expected.extend(arguments);
        expected.extend(["function_call_arguments.done", "output_item.done"]);
    }
    expected.push("completed");
    assert_eq!(names, expected);
    for (number, (name, data)) in events.iter().enumerate() {
        assert_eq!(data["sequence_number"], number);
        assert_eq!(data["type"], name.as_str());
    }
    let response = &events.last().unwrap().1["response"];
    assert_eq!(response["output"][1]["content"][0]["text"], "Grüße 🦀");
    assert_eq!(response["output"][0]["encrypted_content"], seal::reasoning("m", "I think"));
    assert_eq!(response["usage"]["input_tokens_details"]["cached_tokens"], 40);
}

#[test]
fn anthropic() {
    let events = events(Format::Anthropic, rich());
    let names: Vec<&str> = events.iter().map(|(name, _)| name.as_str()).collect();
    let mut expected = vec!["message_start", "content_block_start", "ping"];
    expected.extend(["content_block_delta"; 3]);
    expected.extend(["content_block_stop", "content_block_start", "content_block_stop", "content_block_start"]);
    expected.extend(["content_block_delta", "content_block_delta", "content_block_stop"]);
    for _ in 0..2 {
        expected.push("content_block_start");
        expected.extend(["content_block_delta"; 4]);
        expected.push("content_block_stop");
    }
    expected.extend(["message_delta", "message_stop"]);
    assert_eq!(names, expected);
    assert!(events.iter().all(|(name, data)| data["type"] == name.as_str()));
    assert_eq!(joined(&events, "/delta/text"), "Grüße 🦀");
    assert_eq!(joined(&events, "/delta/thinking"), "I think");
    assert_eq!(joined(&events, "/delta/signature"), seal::thinking("m", "I think"));
    assert_eq!(joined(&events, "/delta/partial_json"), r#"{"command":"ls"}{"path":"a"}"#);
    let usage = &events[0].1["message"]["usage"];
    assert_eq!((&usage["input_tokens"], &usage["cache_read_input_tokens"]), (&json!(50), &json!(40)));
    assert_eq!(joined(&events, "/delta/stop_reason"), "tool_use");
}

#[test]
fn gemini() {
    let server = ModelServer::start(Plan::of([rich()])).unwrap();
    let answer = ask(&server, Format::Gemini, &question(Format::Gemini, "hello"));
    assert!(answer.text().ends_with("\r\n\r\n"));
    let events = answer.events();
    let parts: Vec<&Value> = events.iter().map(|(_, data)| &data["candidates"][0]["content"]["parts"][0]).collect();
    assert_eq!(*parts[0], json!({"text": "I ", "thought": true}));
    assert_eq!(*parts[3], json!({"text": " 🦀"}));
    assert_eq!(parts[4]["functionCall"], json!({"name": "bash", "args": {"command": "ls"}}));
    assert!(seal::is_thought("gemini-3-pro", parts[4]["thoughtSignature"].as_str().unwrap()));
    assert_eq!(*parts[5], json!({"functionCall": {"name": "read", "args": {"path": "a"}, "id": "own_id"}}));
    let last = &events.last().unwrap().1;
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    assert_eq!(last["usageMetadata"]["thoughtsTokenCount"], 5);
    assert_eq!(last["usageMetadata"]["candidatesTokenCount"], 15);
}

#[test]
fn gemini_sends_a_list_to_whoever_does_not_ask_for_events() {
    let server = ModelServer::start(Plan::of([rich()])).unwrap();
    let mut connection = crate::client::Connection::open(&server);
    let (path, headers) = crate::client::door(Format::Gemini);
    let body = question(Format::Gemini, "hello").to_string();
    connection.send("POST", path.strip_suffix("?alt=sse").unwrap(), &headers, body.as_bytes());
    assert_eq!(connection.answer().json().as_array().unwrap().len(), 6);
}

#[test]
fn why_an_answer_ended_in_the_words_of_each_format() {
    let of = |format, finish| {
        let events = events(format, Reply::text("a").with_finish(finish));
        match format {
            Format::Chat => joined(&events, "/choices/0/finish_reason"),
            Format::Anthropic => joined(&events, "/delta/stop_reason"),
            Format::Gemini => joined(&events, "/candidates/0/finishReason"),
            Format::Responses => {
                let (name, data) = events.last().unwrap();
                let reason = data.pointer("/response/incomplete_details/reason").and_then(Value::as_str);
                format!("{name} {}", reason.unwrap_or_default())
            }
        }
    };
    let all = |finish| Format::ALL.map(|format| of(format, finish));
    assert_eq!(all(Finish::Natural), ["stop", "response.completed ", "end_turn", "STOP"]);
    assert_eq!(all(Finish::Length), ["length", "response.incomplete max_output_tokens", "max_tokens", "MAX_TOKENS"]);
    assert_eq!(all(Finish::Refusal), ["content_filter", "response.incomplete content_filter", "refusal", "SAFETY"]);
}

/// What the server says can be said back to it: thoughts with their seals, calls with their results.
#[test]
fn an_answer_given_back_is_legal() {
    let reply = || Reply::default().think(["hm"]).say(["I look."]).call("bash", json!({"command": "ls"}));
    let responses = events(Format::Responses, reply());
    let mut body = question(Format::Responses, "hello");
    for item in responses.last().unwrap().1["response"]["output"].as_array().unwrap() {
        body = push(&body, "/input", item.clone());
    }
    let id = body["input"][3]["call_id"].clone();
    body = push(&body, "/input", json!({"type": "function_call_output", "call_id": id, "output": "ok"}));
    // The parts of a message that the server added are not for sending back.
    body["input"][2]["content"][0].as_object_mut().unwrap().retain(|name, _| name == "type" || name == "text");
    judge::body(Format::Responses, "", &body).unwrap();

    let gemini = events(Format::Gemini, reply());
    let mut body = question(Format::Gemini, "hello");
    let parts: Vec<Value> =
        gemini.iter().map(|(_, data)| data["candidates"][0]["content"]["parts"][0].clone()).collect();
    body = push(&body, "/contents", json!({"role": "model", "parts": parts}));
    let response = json!({"functionResponse": {"name": "bash", "response": {"output": "ok"}}});
    body = push(&body, "/contents", json!({"role": "user", "parts": [response]}));
    judge::body(Format::Gemini, "gemini-3-pro", &body).unwrap();

    let anthropic = events(Format::Anthropic, reply());
    let block = |index: u64| {
        let start = anthropic.iter().find(|(_, data)| data["content_block"].is_object() && data["index"] == index);
        start.unwrap().1["content_block"].clone()
    };
    let mut content = vec![block(0), block(1), block(2)];
    content[0]["thinking"] = "hm".into();
    content[0]["signature"] = joined(&anthropic, "/delta/signature").into();
    content[1]["text"] = "I look.".into();
    content[2]["input"] = serde_json::from_str(&joined(&anthropic, "/delta/partial_json")).unwrap();
    let result = json!({"type": "tool_result", "tool_use_id": content[2]["id"], "content": "ok"});
    let mut body = question(Format::Anthropic, "hello");
    body = push(&body, "/messages", json!({"role": "assistant", "content": content}));
    body = push(&body, "/messages", json!({"role": "user", "content": [result]}));
    judge::body(Format::Anthropic, "", &body).unwrap();
}
