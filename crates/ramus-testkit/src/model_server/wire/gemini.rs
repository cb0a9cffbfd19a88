//! Chunks of Gemini's content. Lines end as Google ends them, with a carriage return.

use serde_json::{Value, json};

use super::{Asked, Event, call_id};
use crate::model_server::plan::{Fault, Finish, Part, Reply};
use crate::model_server::seal;

pub(super) fn events(asked: &Asked<'_>, reply: &Reply) -> Vec<Event> {
    let mut parts = Vec::new();
    let mut thought = false;
    let mut calls = 0;
    for part in &reply.parts {
        match part {
            Part::Text(texts) => parts.extend(texts.iter().map(|text| json!({"text": text}))),
            Part::Thinking(texts) => {
                thought = true;
                parts.extend(texts.iter().map(|text| json!({"text": text, "thought": true})));
            }
            Part::Redacted(_) => {}
            Part::Call { id, name, arguments, .. } => {
                let mut call = json!({"name": name, "args": arguments});
                let given = id.is_some() || reply.fault == Some(Fault::OneCallId);
                if let (Some(call), true) = (call.as_object_mut(), given) {
                    call.insert("id".to_owned(), call_id(reply, asked, "", calls, id.as_deref()).into());
                }
                let mut part = json!({"functionCall": call});
                // The first call of a step carries the signature of all.
                if let (Some(part), 0) = (part.as_object_mut(), calls) {
                    part.insert("thoughtSignature".to_owned(), seal::thought(asked.model, &asked.tag).into());
                }
                parts.push(part);
                calls += 1;
            }
        }
    }
    if thought && calls == 0 {
        // Without calls the signature comes last, with no text of its own.
        parts.push(json!({"text": "", "thoughtSignature": seal::thought(asked.model, &asked.tag)}));
    }
    if parts.is_empty() {
        parts.push(json!({"text": ""}));
    }
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(|(index, part)| event(&chunk(asked, reply, part, index == last))).collect()
}

/// Returns one event of the stream.
pub(super) fn event(value: &Value) -> Event {
    format!("data: {value}\r\n\r\n")
}

fn chunk(asked: &Asked<'_>, reply: &Reply, part: Value, last: bool) -> Value {
    let usage = reply.usage;
    let mut candidate = json!({"content": {"parts": [part], "role": "model"}, "index": 0});
    let mut spent = json!({"promptTokenCount": usage.input, "totalTokenCount": usage.input + usage.output});
    if let (Some(candidate), Some(spent), true) = (candidate.as_object_mut(), spent.as_object_mut(), last) {
        let reason = match reply.finish {
            Finish::Natural => "STOP",
            Finish::Length => "MAX_TOKENS",
            Finish::Refusal => "SAFETY",
        };
        candidate.insert("finishReason".to_owned(), reason.into());
        spent.insert("candidatesTokenCount".to_owned(), usage.output.saturating_sub(usage.reasoning).into());
        if usage.reasoning > 0 {
            spent.insert("thoughtsTokenCount".to_owned(), usage.reasoning.into());
        }
        if usage.cached > 0 {
            spent.insert("cachedContentTokenCount".to_owned(), usage.cached.into());
        }
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": spent,
        "modelVersion": asked.model,
        "responseId": asked.tag,
    })
}
