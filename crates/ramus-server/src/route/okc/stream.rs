//! A turn as it goes on, in the words of a workbench: `token`, `tool_started`, `tool_completed`, then `final` or `error`.

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;
use std::time::Instant;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use ramus_wire::{members, versioned};
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::error::ApiError;
use crate::hub::Reader;

/// How much of what a tool is given and gives back is told, in characters.
const SHORT: usize = 320;

/// What a turn comes to.
type Reply = JoinHandle<Result<Map<String, Value>, ApiError>>;

/// What the events of a session are told in.
type Frames = BoxStream<'static, Result<Bytes, Infallible>>;

/// Tells what a turn does until it ends, and then what came of it; only that of a turn that is over.
pub(super) fn answer(reader: Option<Reader>, ended: Reply) -> Response {
    let frames = reader.map(|reader| reader.into_stream(Bytes::new()).boxed());
    let telling = Telling { frames, ended: Some(ended), started: HashMap::new(), over: HashSet::new() };
    let told = futures_util::stream::unfold(telling, |mut telling| async move {
        let bytes = telling.next().await?;
        Some((Ok::<_, Infallible>(bytes), telling))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(told)).into_response()
}

struct Telling {
    frames: Option<Frames>,
    ended: Option<Reply>,
    /// When calls started.
    started: HashMap<String, Instant>,
    /// Calls whose end was told. What is stored may be told again from the log.
    over: HashSet<String>,
}

impl Telling {
    async fn next(&mut self) -> Option<Bytes> {
        while let Some(frames) = &mut self.frames {
            match frames.next().await {
                Some(Ok(frame)) => {
                    let told = self.translate(&frame);
                    if !told.is_empty() {
                        return Some(told.into());
                    }
                }
                Some(Err(never)) => match never {},
                None => self.frames = None,
            }
        }
        let told = match self.ended.take()?.await {
            Ok(Ok(reply)) => json!({"type": "final", "payload": versioned(reply)}),
            Ok(Err(error)) => with_type("error", error.to_json()),
            Err(_) => json!({"type": "error", "error": {"kind": "io", "message": "the server failed"}}),
        };
        Some(format!("{}{}", spelled(&told), spelled(&json!({"type": "stop"}))).into())
    }

    /// Says what events of the turn mean here. What has no meaning here keeps the connection alive.
    fn translate(&mut self, frame: &[u8]) -> String {
        let text = String::from_utf8_lossy(frame);
        let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let events = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let told: String = events.filter_map(|event| self.event(&event)).map(|event| spelled(&event)).collect();
        if told.is_empty() && text.contains("event: heartbeat") { ": alive\n\n".to_owned() } else { told }
    }

    fn event(&mut self, event: &Value) -> Option<Value> {
        let member = |name: &str| event.get(name).and_then(Value::as_str);
        let call = member("call").unwrap_or_default().to_owned();
        match member("type")? {
            "message.delta" => Some(json!({"type": "token", "delta": member("text")?})),
            "tool.start" => {
                self.started.insert(call.clone(), Instant::now());
                let input = event.get("input").map(|input| short(&input.to_string()));
                let told = json!({"invocation_id": call, "tool_name": member("name"), "input": input});
                Some(with_type("tool_started", told))
            }
            "tool.end" => {
                // One that was not allowed never started.
                let started = self.started.remove(&call);
                if !self.over.insert(call.clone()) {
                    return None;
                }
                let is_error = event.get("error") == Some(&Value::Bool(true));
                let parts = event.get("result").and_then(Value::as_array).into_iter().flatten();
                let output: String = parts.filter_map(|part| part.get("text")?.as_str()).collect();
                let (status, place) = if is_error { ("error", "error") } else { ("success", "output") };
                let millis = started.map(|started| u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
                let mut told = members(json!({
                    "type": "tool_completed", "invocation_id": call, "tool_name": member("name"), "status": status,
                    "duration_ms": event.get("duration_ms").and_then(Value::as_u64).or(millis),
                }));
                told.insert(place.into(), short(&output).into());
                Some(told.into())
            }
            _ => None,
        }
    }
}

fn with_type(name: &str, told: Value) -> Value {
    let mut object = Map::from_iter([("type".to_owned(), Value::from(name))]);
    object.extend(members(told));
    object.into()
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        None => text.to_owned(),
        Some(_) => text.chars().take(SHORT - 1).chain(['…']).collect(),
    }
}

/// JSON has no line breaks of its own, so one line of data is enough.
fn spelled(told: &Value) -> String {
    format!("data: {told}\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_are_cut_at_characters() {
        assert_eq!(short("as it is"), "as it is");
        let long = short(&"ü".repeat(1000));
        assert_eq!((long.chars().count(), long.ends_with('…')), (SHORT, true));
    }

    #[test]
    fn a_call_is_told_once_with_how_it_ended() {
        let mut telling = Telling { frames: None, ended: None, started: HashMap::new(), over: HashSet::new() };
        let start = json!({"type": "tool.start", "call": "c1", "name": "bash", "input": {"command": "ls"}});
        let end = json!({"type": "tool.end", "call": "c1", "name": "bash", "error": true, "result": [{"text": "no"}]});
        let told = telling.event(&start).unwrap_or_default();
        assert_eq!((&told["type"], &told["input"]), (&json!("tool_started"), &json!("{\"command\":\"ls\"}")));
        let told = telling.event(&end).unwrap_or_default();
        assert_eq!((&told["status"], &told["error"]), (&json!("error"), &json!("no")));
        assert_eq!(telling.event(&end), None);
    }
}
