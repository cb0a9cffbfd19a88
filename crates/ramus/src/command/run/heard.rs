//! Events of a turn as they come from a server, made what the watcher of a turn is told here.

use ramus_agent::{Event, Piece};
use ramus_model::EntryId;
use serde_json::{Map, Value};

use crate::render::Answer as _;

/// Reads an event; none when nobody is shown it.
pub(super) fn event(name: &str, data: &Map<String, Value>) -> Option<Event> {
    let text = |name: &str| data.word(name).to_owned();
    Some(match name {
        "message.delta" => Event::MessageDelta(piece(data)),
        "thinking.delta" => Event::ThinkingDelta(piece(data)),
        "message.end" => Event::MessageEnd { stop_reason: text("stop_reason"), seq: None },
        "tool.start" => Event::ToolStart {
            call: text("call"),
            name: text("name"),
            input: data.get("input").cloned().unwrap_or_default(),
        },
        "tool.end" => Event::ToolEnd {
            call: text("call"),
            name: text("name"),
            result: data.items("result").to_vec(),
            is_error: data.says("error"),
            details: data.get("details").filter(|details| !details.is_null()).cloned(),
            duration_ms: data.get("duration_ms").and_then(Value::as_u64),
            seq: None,
        },
        "permission.asked" => Event::PermissionAsked {
            question: text("question"),
            call: text("call"),
            name: text("name"),
            permission: text("permission"),
            exact: text("exact"),
            because: text("because"),
        },
        "retry" => {
            Event::Retry { attempt: data.count("attempt"), delay_ms: data.number("delay_ms"), reason: text("reason") }
        }
        "stall" => Event::Stall { seconds: data.number("seconds") },
        "turn.interrupted" => Event::TurnInterrupted {
            turn: data.maybe("turn").map(str::to_owned),
            answer: data.maybe("answer").map(EntryId::new),
            calls: data.words("calls").into_iter().map(str::to_owned).collect(),
        },
        "compaction.start" => Event::CompactionStart,
        "compaction.end" => Event::CompactionEnd { error: data.maybe("error").map(str::to_owned) },
        "queue.changed" => Event::QueueChanged {
            steer: data.count("steer"),
            follow_up: data.count("follow_up"),
            texts: data.words("texts").into_iter().map(str::to_owned).collect(),
            taken_out: data.maybe("taken_out").map(str::to_owned),
        },
        "child.started" => {
            Event::ChildStarted { child: text("child"), agent: text("agent"), description: text("description") }
        }
        "child.event" => {
            let inner = data.get("event").and_then(Value::as_object)?;
            Event::ChildEvent { child: text("child"), event: Box::new(event(inner.word("type"), inner)?) }
        }
        "title.changed" => Event::TitleChanged(text("title")),
        _ => return None,
    })
}

fn piece(data: &Map<String, Value>) -> Piece {
    Piece { text: data.word("text").to_owned(), answer: data.count("answer"), number: data.count("piece") }
}
