//! Chunks of a chat completion. Thoughts come as `reasoning_content`, as most compatible servers send them.

use serde_json::{Value, json};

use super::{Asked, Event, call_id, calls, data, pieces};
use crate::model_server::plan::{Finish, Part, Reply};

pub(super) fn events(asked: &Asked<'_>, reply: &Reply) -> Vec<Event> {
    let options = asked.body.get("stream_options").and_then(|options| options.get("include_usage"));
    let usage = options.and_then(Value::as_bool).unwrap_or_default();
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        data(&envelope(asked, json!([choice]), usage.then_some(Value::Null)))
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null)];
    for part in &reply.parts {
        let (member, texts) = match part {
            Part::Text(texts) => ("content", texts),
            Part::Thinking(texts) => ("reasoning_content", texts),
            Part::Redacted(_) | Part::Call { .. } => continue,
        };
        events.extend(texts.iter().map(|text| chunk(json!({ member: text }), Value::Null)));
    }
    events.extend(call_deltas(asked, reply).into_iter().map(|call| chunk(json!({"tool_calls": [call]}), Value::Null)));
    let finish = match reply.finish {
        Finish::Natural if calls(reply) => "tool_calls",
        Finish::Natural => "stop",
        Finish::Length => "length",
        Finish::Refusal => "content_filter",
    };
    events.push(chunk(json!({}), finish.into()));
    if usage {
        events.push(data(&envelope(asked, json!([]), Some(spent(reply)))));
    }
    events.push("data: [DONE]\n\n".to_owned());
    events
}

fn envelope(asked: &Asked<'_>, choices: Value, usage: Option<Value>) -> Value {
    let mut chunk = json!({
        "id": format!("chatcmpl-{}", asked.tag),
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": null,
        "choices": choices,
    });
    if let (Some(chunk), Some(usage)) = (chunk.as_object_mut(), usage) {
        chunk.insert("usage".to_owned(), usage);
    }
    chunk
}

/// Returns the pieces of all calls: one call after the other, or by turns.
fn call_deltas(asked: &Asked<'_>, reply: &Reply) -> Vec<Value> {
    let mut columns = Vec::new();
    for part in &reply.parts {
        if let Part::Call { id, name, arguments, pieces: count } = part {
            let index = columns.len();
            let id = call_id(reply, asked, "call_", index, id.as_deref());
            let first = json!({
                "index": index,
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": ""},
            });
            let rest = pieces(&arguments.to_string(), *count);
            let rest = rest.into_iter().map(|piece| json!({"index": index, "function": {"arguments": piece}}));
            columns.push(std::iter::once(first).chain(rest).collect::<Vec<_>>());
        }
    }
    if !reply.interleaved {
        return columns.concat();
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or_default();
    (0..rows).flat_map(|row| columns.iter().filter_map(move |column| column.get(row).cloned())).collect()
}

fn spent(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}
