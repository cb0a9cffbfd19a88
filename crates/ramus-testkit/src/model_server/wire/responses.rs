//! Events of OpenAI's responses. Every event has a number; every item comes in pieces first and whole at its end.

use serde_json::{Value, json};

use super::{Asked, Event, call_id, named, pieces};
use crate::model_server::plan::{Finish, Part, Reply};
use crate::model_server::{refusal, seal};

pub(super) fn events(asked: &Asked<'_>, reply: &Reply) -> Vec<Event> {
    let mut stream = Stream::default();
    stream
        .send("response.created", json!({"response": response(asked, "in_progress", &[], &Value::Null, &Value::Null)}));
    stream.send(
        "response.in_progress",
        json!({"response": response(asked, "in_progress", &[], &Value::Null, &Value::Null)}),
    );
    // Items that were made with reasoning say so in their ids, so that a judge can ask for it.
    let thinks = reply.parts.iter().any(|part| matches!(part, Part::Thinking(_)));
    let mark = if thinks { "_r" } else { "_" };
    let mut calls = 0;
    for part in &reply.parts {
        let index = stream.items.len();
        let id = |kind: &str| format!("{kind}_{}{mark}{index}", asked.tag);
        match part {
            Part::Redacted(_) => {}
            Part::Thinking(texts) => stream.reasoning(asked, texts),
            Part::Text(texts) => stream.message(id("msg"), texts),
            Part::Call { id: own, name, arguments, pieces } => {
                let call = call_id(reply, asked, "call_", calls, own.as_deref());
                calls += 1;
                stream.call(id("fc"), &call, name, &arguments.to_string(), *pieces);
            }
        }
    }
    let reason = match reply.finish {
        Finish::Natural => None,
        Finish::Length => Some("max_output_tokens"),
        Finish::Refusal => Some("content_filter"),
    };
    let status = if reason.is_some() { "incomplete" } else { "completed" };
    let details = reason.map_or(Value::Null, |reason| json!({"reason": reason}));
    let whole = response(asked, status, &stream.items, &spent(reply), &details);
    stream.send(&format!("response.{status}"), json!({"response": whole}));
    stream.events
}

/// Returns the event of a response that failed.
pub(super) fn failure() -> Event {
    let message = refusal::message(crate::model_server::Format::Responses, 503);
    let error = json!({"code": "server_error", "message": message});
    let response = json!({"id": "resp_failed", "object": "response", "status": "failed", "error": error, "output": []});
    named("response.failed", &json!({"type": "response.failed", "sequence_number": 0, "response": response}))
}

/// Events so far, and the items they made.
#[derive(Default)]
struct Stream {
    events: Vec<Event>,
    items: Vec<Value>,
}

impl Stream {
    fn send(&mut self, kind: &str, members: Value) {
        let mut event = json!({"type": kind, "sequence_number": self.events.len()});
        if let (Some(event), Value::Object(members)) = (event.as_object_mut(), members) {
            event.extend(members);
        }
        self.events.push(named(kind, &event));
    }

    fn open(&mut self, item: &Value) -> usize {
        let index = self.items.len();
        self.send("response.output_item.added", json!({"output_index": index, "item": item}));
        index
    }

    fn close(&mut self, item: Value) {
        let index = self.items.len();
        self.send("response.output_item.done", json!({"output_index": index, "item": item}));
        self.items.push(item);
    }

    fn reasoning(&mut self, asked: &Asked<'_>, texts: &[String]) {
        let id = match self.items.len() {
            0 => format!("rs_{}", asked.tag),
            index => format!("rs_{}-{index}", asked.tag),
        };
        let text = texts.concat();
        let include = asked.body.get("include").and_then(Value::as_array);
        let sealed = include.is_some_and(|names| names.contains(&"reasoning.encrypted_content".into()));
        let sealed = sealed.then(|| seal::reasoning(asked.model, &text));
        let summary =
            |parts: Value| json!({"id": id, "type": "reasoning", "encrypted_content": sealed, "summary": parts});
        let index = self.open(&summary(json!([])));
        let place = |mut members: Value| {
            if let Some(members) = members.as_object_mut() {
                members.insert("item_id".to_owned(), id.clone().into());
                members.insert("output_index".to_owned(), index.into());
                members.insert("summary_index".to_owned(), 0.into());
            }
            members
        };
        if texts.is_empty() {
            return self.close(summary(json!([])));
        }
        let part = json!({"type": "summary_text", "text": ""});
        self.send("response.reasoning_summary_part.added", place(json!({"part": part})));
        for text in texts {
            self.send("response.reasoning_summary_text.delta", place(json!({"delta": text})));
        }
        self.send("response.reasoning_summary_text.done", place(json!({"text": text})));
        let part = json!({"type": "summary_text", "text": text});
        self.send("response.reasoning_summary_part.done", place(json!({"part": part})));
        self.close(summary(json!([part])));
    }

    fn message(&mut self, id: String, texts: &[String]) {
        let item = |status: &str, content: Value| json!({"id": id, "type": "message", "status": status, "role": "assistant", "content": content});
        let part = |text: &str| json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text});
        let index = self.open(&item("in_progress", json!([])));
        let at = json!({"item_id": id, "output_index": index, "content_index": 0});
        let place = |name: &str, value: Value| {
            let mut at = at.clone();
            if let Some(at) = at.as_object_mut() {
                at.insert(name.to_owned(), value);
            }
            at
        };
        self.send("response.content_part.added", place("part", part("")));
        for text in texts {
            self.send("response.output_text.delta", place("delta", text.as_str().into()));
        }
        let whole = texts.concat();
        self.send("response.output_text.done", place("text", whole.as_str().into()));
        self.send("response.content_part.done", place("part", part(&whole)));
        self.close(item("completed", json!([part(&whole)])));
    }

    fn call(&mut self, id: String, call: &str, name: &str, arguments: &str, count: usize) {
        let item = |status: &str, arguments: &str| {
            json!({
                "id": id, "type": "function_call", "status": status, "arguments": arguments, "call_id": call, "name": name,
            })
        };
        let index = self.open(&item("in_progress", ""));
        for piece in pieces(arguments, count) {
            let delta = json!({"item_id": id, "output_index": index, "delta": piece});
            self.send("response.function_call_arguments.delta", delta);
        }
        let done = json!({"item_id": id, "output_index": index, "arguments": arguments});
        self.send("response.function_call_arguments.done", done);
        self.close(item("completed", arguments));
    }
}

fn response(asked: &Asked<'_>, status: &str, output: &[Value], usage: &Value, incomplete: &Value) -> Value {
    json!({
        "id": format!("resp_{}", asked.tag),
        "object": "response",
        "created_at": 1_760_000_000,
        "status": status,
        "background": false,
        "error": null,
        "incomplete_details": incomplete,
        "model": asked.model,
        "output": output,
        "parallel_tool_calls": true,
        "store": false,
        "usage": usage,
    })
}

fn spent(reply: &Reply) -> Value {
    let usage = reply.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}
