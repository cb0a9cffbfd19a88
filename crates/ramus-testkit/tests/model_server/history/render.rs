//! Histories in the words of each format, with everything that is allowed in them.

use ramus_testkit::model_server::{Format, judge, seal};
use serde_json::{Value, json};

use super::generate::{Call, Step};

/// Returns a request with this history.
pub(crate) fn body(format: Format, model: &str, history: &[Step]) -> Value {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let names = ["bash", "read"];
    match format {
        Format::Chat => json!({
            "model": model,
            "stream": true,
            "max_completion_tokens": 100,
            "tools": names.map(|name| json!({"type": "function", "function": {"name": name, "parameters": schema}})),
            "messages": with_system(history.iter().flat_map(chat).collect()),
        }),
        Format::Responses => json!({
            "model": model,
            "stream": true,
            "max_output_tokens": 100,
            "tools": names.map(|name| json!({"type": "function", "name": name, "parameters": schema})),
            "input": history.iter().flat_map(|step| responses(model, step)).collect::<Vec<_>>(),
        }),
        Format::Anthropic => json!({
            "model": model,
            "stream": true,
            "max_tokens": 2000,
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "tools": names.map(|name| json!({"name": name, "input_schema": schema})),
            "messages": history.iter().map(|step| anthropic(model, step)).collect::<Vec<_>>(),
        }),
        Format::Gemini => json!({
            "generationConfig": {"maxOutputTokens": 100},
            "tools": [{"functionDeclarations": names.map(|name| json!({"name": name, "parameters": schema}))}],
            "contents": history.iter().map(|step| gemini(model, step)).collect::<Vec<_>>(),
        }),
    }
}

fn with_system(mut messages: Vec<Value>) -> Value {
    messages.insert(0, json!({"role": "system", "content": "s"}));
    messages.into()
}

fn picture() -> String {
    format!("data:image/png;base64,{}", judge::PIXEL)
}

fn chat(step: &Step) -> Vec<Value> {
    match step {
        Step::User { texts, images } => {
            let mut parts: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            parts.extend((0..*images).map(|_| json!({"type": "image_url", "image_url": {"url": picture()}})));
            vec![json!({"role": "user", "content": parts})]
        }
        Step::Model { text, calls, .. } if calls.is_empty() => vec![json!({"role": "assistant", "content": text})],
        Step::Model { text, calls, .. } => {
            let call = |call: &Call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": "{\"path\":\"a\"}"}});
            vec![
                json!({"role": "assistant", "content": text, "tool_calls": calls.iter().map(call).collect::<Vec<_>>()}),
            ]
        }
        Step::Results { calls, meanwhile } => {
            let results =
                calls.iter().map(|call| json!({"role": "tool", "tool_call_id": call.id, "content": call.result}));
            results.chain(meanwhile.iter().map(|text| json!({"role": "user", "content": text}))).collect()
        }
    }
}

fn responses(model: &str, step: &Step) -> Vec<Value> {
    match step {
        Step::User { texts, images } => {
            let mut parts: Vec<Value> = texts.iter().map(|text| json!({"type": "input_text", "text": text})).collect();
            parts.extend((0..*images).map(|_| json!({"type": "input_image", "image_url": picture()})));
            vec![json!({"role": "user", "content": parts})]
        }
        Step::Model { thought, text, calls } => {
            let thought = thought.iter().map(|thought| {
                let summary = json!([{"type": "summary_text", "text": thought}]);
                json!({"type": "reasoning", "summary": summary, "encrypted_content": seal::reasoning(model, thought)})
            });
            let said = |text| json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]});
            let call = |call: &Call| json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": "{}"});
            thought.chain(text.iter().map(said)).chain(calls.iter().map(call)).collect()
        }
        Step::Results { calls, meanwhile } => {
            let output =
                |call: &Call| json!({"type": "function_call_output", "call_id": call.id, "output": call.result});
            let said = meanwhile.iter().map(|text| json!({"role": "user", "content": text}));
            calls.iter().map(output).chain(said).collect()
        }
    }
}

fn anthropic(model: &str, step: &Step) -> Value {
    let text = |text: &String| json!({"type": "text", "text": text});
    match step {
        Step::User { texts, images } => {
            let source = json!({"type": "base64", "media_type": "image/png", "data": judge::PIXEL});
            let mut blocks: Vec<Value> = texts.iter().map(text).collect();
            blocks.extend((0..*images).map(|_| json!({"type": "image", "source": source})));
            json!({"role": "user", "content": blocks})
        }
        Step::Model { thought, text: said, calls } => {
            let thought = thought.iter().map(
                |thought| json!({"type": "thinking", "thinking": thought, "signature": seal::thinking(model, thought)}),
            );
            let call =
                |call: &Call| json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {"path": "a"}});
            let blocks: Vec<Value> = thought.chain(said.iter().map(text)).chain(calls.iter().map(call)).collect();
            json!({"role": "assistant", "content": blocks})
        }
        Step::Results { calls, meanwhile } => {
            let result = |call: &Call| json!({"type": "tool_result", "tool_use_id": call.id, "content": call.result});
            let blocks: Vec<Value> = calls.iter().map(result).chain(meanwhile.iter().map(text)).collect();
            json!({"role": "user", "content": blocks})
        }
    }
}

fn gemini(model: &str, step: &Step) -> Value {
    let text = |text: &String| json!({"text": text});
    match step {
        Step::User { texts, images } => {
            let mut parts: Vec<Value> = texts.iter().map(text).collect();
            parts.extend((0..*images).map(|_| json!({"inlineData": {"mimeType": "image/png", "data": judge::PIXEL}})));
            json!({"role": "user", "parts": parts})
        }
        Step::Model { thought, text: said, calls } => {
            let thought = thought.iter().map(|thought| json!({"text": thought, "thought": true}));
            let call = |(index, call): (usize, &Call)| {
                let mut part = json!({"functionCall": {"id": call.id, "name": call.name, "args": {"path": "a"}}});
                if index == 0 {
                    part["thoughtSignature"] = seal::thought(model, &call.id).into();
                }
                part
            };
            let calls = calls.iter().enumerate().map(call);
            let parts: Vec<Value> = thought.chain(said.iter().map(text)).chain(calls).collect();
            json!({"role": "model", "parts": parts})
        }
        Step::Results { calls, meanwhile } => {
            let response = |call: &Call| json!({"functionResponse": {"id": call.id, "name": call.name, "response": {"output": call.result}}});
            let parts: Vec<Value> = calls.iter().map(response).chain(meanwhile.iter().map(text)).collect();
            json!({"role": "user", "parts": parts})
        }
    }
}
