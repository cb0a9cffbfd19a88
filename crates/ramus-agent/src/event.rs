//! What whoever watches a turn is told.

use ramus_model::message::Usage;
use serde_json::{Value, json};

/// Something to tell. The names are those of the events that every surface shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An answer begins.
    MessageStart,
    /// More of what the model says.
    MessageDelta(String),
    /// The answer is stored.
    MessageEnd {
        /// Why it ended.
        stop_reason: String,
    },
    /// More of what the model thinks.
    ThinkingDelta(String),
    /// A call starts.
    ToolStart {
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// The arguments.
        input: Value,
    },
    /// A call ended.
    ToolEnd {
        /// The call's id.
        call: String,
        /// The tool.
        name: String,
        /// What came of it.
        result: Vec<Value>,
        /// Whether it failed.
        is_error: bool,
        /// What programs may want to know about it.
        details: Option<Value>,
    },
    /// What was used so far.
    Usage(Usage),
    /// The request is sent again.
    Retry {
        /// For the how-manyth time.
        attempt: usize,
        /// After how many milliseconds.
        delay_ms: u64,
        /// Why.
        reason: String,
    },
    /// The older part of the path is being summarised.
    CompactionStart,
    /// It was, or could not be and why.
    CompactionEnd {
        /// What went wrong, if something did.
        error: Option<String>,
    },
    /// What a person said waits, or does not any more.
    QueueChanged {
        /// How many texts wait for the next request.
        steer: usize,
        /// How many wait for the end of the turn.
        follow_up: usize,
    },
    /// A child session starts.
    ChildStarted {
        /// Its id.
        child: String,
        /// The agent that it is.
        agent: String,
        /// What it does, in a few words.
        description: String,
    },
    /// Something happened in a child session.
    ChildEvent {
        /// Its id.
        child: String,
        /// What.
        event: Box<Event>,
    },
    /// A child session came to its end.
    ChildFinished {
        /// Its id.
        child: String,
        /// Why, in one word.
        finish_reason: String,
    },
    /// The session has another title.
    TitleChanged(String),
}

impl Event {
    /// Returns the event as JSON, without the session it belongs to.
    pub fn to_json(&self) -> Value {
        match self {
            Self::MessageStart => json!({"type": "message.start"}),
            Self::MessageDelta(text) => json!({"type": "message.delta", "text": text}),
            Self::MessageEnd { stop_reason } => json!({"type": "message.end", "stop_reason": stop_reason}),
            Self::ThinkingDelta(text) => json!({"type": "thinking.delta", "text": text}),
            Self::ToolStart { call, name, input } => {
                json!({"type": "tool.start", "call": call, "name": name, "input": input})
            }
            Self::ToolEnd { call, name, result, is_error, details } => json!({
                "type": "tool.end", "call": call, "name": name, "result": result, "error": is_error, "details": details,
            }),
            Self::Usage(usage) => json!({"type": "usage.updated", "usage": {
                "input": usage.input, "output": usage.output,
                "cache_read": usage.cache_read, "cache_write": usage.cache_write,
            }}),
            Self::Retry { attempt, delay_ms, reason } => {
                json!({"type": "retry", "attempt": attempt, "delay_ms": delay_ms, "reason": reason})
            }
            Self::CompactionStart => json!({"type": "compaction.start"}),
            Self::CompactionEnd { error } => json!({"type": "compaction.end", "error": error}),
            Self::QueueChanged { steer, follow_up } => {
                json!({"type": "queue.changed", "steer": steer, "follow_up": follow_up})
            }
            Self::ChildStarted { child, agent, description } => {
                json!({"type": "child.started", "child": child, "agent": agent, "description": description})
            }
            Self::ChildEvent { child, event } => {
                json!({"type": "child.event", "child": child, "event": event.to_json()})
            }
            Self::ChildFinished { child, finish_reason } => {
                json!({"type": "child.finished", "child": child, "finish_reason": finish_reason})
            }
            Self::TitleChanged(title) => json!({"type": "title.changed", "title": title}),
        }
    }
}
