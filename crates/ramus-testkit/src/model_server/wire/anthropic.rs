//! Events of Anthropic's messages.

use serde_json::{Value, json};

use super::{Asked, Event, call_id, calls, named, pieces};
use crate::model_server::plan::{Finish, Part, Reply};
use crate::model_server::seal;

pub(super) fn events(asked: &Asked<'_>, reply: &Reply) -> Vec<Event> {
    let mut events = vec![start(asked, reply)];
    let mut calls_so_far = 0;
    for (index, part) in reply.parts.iter().enumerate() {
        let (block, deltas) = match part {
            Part::Text(texts) => {
                let deltas = texts.iter().map(|text| json!({"type": "text_delta", "text": text})).collect();
                (json!({"type": "text", "text": ""}), deltas)
            }
            Part::Thinking(texts) => {
                (json!({"type": "thinking", "thinking": "", "signature": ""}), thought(asked, texts))
            }
            Part::Redacted(text) => {
                (json!({"type": "redacted_thinking", "data": seal::redacted(asked.model, text)}), Vec::new())
            }
            Part::Call { id, name, arguments, pieces: count } => {
                let id = call_id(reply, asked, "toolu_", calls_so_far, id.as_deref());
                calls_so_far += 1;
                // The first piece is always empty.
                let texts = std::iter::once(String::new()).chain(pieces(&arguments.to_string(), *count));
                let deltas = texts.map(|text| json!({"type": "input_json_delta", "partial_json": text})).collect();
                (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas)
            }
        };
        events.push(event(json!({"type": "content_block_start", "index": index, "content_block": block})));
        if index == 0 {
            events.push(event(json!({"type": "ping"})));
        }
        let deltas: Vec<Value> = deltas;
        let deltas =
            deltas.into_iter().map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.extend(deltas.map(event));
        events.push(event(json!({"type": "content_block_stop", "index": index})));
    }
    let reason = match reply.finish {
        Finish::Natural if calls(reply) => "tool_use",
        Finish::Natural => "end_turn",
        Finish::Length => "max_tokens",
        Finish::Refusal => "refusal",
    };
    events.push(event(json!({
        "type": "message_delta",
        "delta": {"stop_reason": reason, "stop_sequence": null},
        "usage": {"output_tokens": reply.usage.output},
    })));
    events.push(event(json!({"type": "message_stop"})));
    events
}

fn thought(asked: &Asked<'_>, texts: &[String]) -> Vec<Value> {
    let signature = seal::thinking(asked.model, &texts.concat());
    let mut deltas: Vec<Value> = texts.iter().map(|text| json!({"type": "thinking_delta", "thinking": text})).collect();
    deltas.push(json!({"type": "signature_delta", "signature": signature}));
    deltas
}

fn start(asked: &Asked<'_>, reply: &Reply) -> Event {
    let usage = reply.usage;
    event(json!({"type": "message_start", "message": {
        "model": asked.model,
        "id": format!("msg_{}", asked.tag),
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": {
            "input_tokens": usage.input.saturating_sub(usage.cached + usage.cache_written),
            "cache_creation_input_tokens": usage.cache_written,
            "cache_read_input_tokens": usage.cached,
            "output_tokens": 1,
            "service_tier": "standard",
        },
    }}))
}

fn event(value: Value) -> Event {
    let name = value.get("type").and_then(Value::as_str).unwrap_or_default();
    named(name, &value)
}
