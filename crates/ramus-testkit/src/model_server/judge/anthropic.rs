//! The rules of Anthropic's messages.

mod block;
mod message;
mod setting;

use serde_json::{Map, Value};

use super::stranger;
use crate::model_server::format::Format;
use crate::model_server::illegal::{Illegal, Rule};

const MEMBERS: &[&str] = &[
    "model",
    "messages",
    "system",
    "tools",
    "tool_choice",
    "max_tokens",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "service_tier",
    "container",
    "mcp_servers",
    "context_management",
    "betas",
    "output_config",
    "inference_geo",
    "speed",
    "cache_control",
];

/// The most blocks of a request after which its cache may end.
const MOST_CACHE_POINTS: usize = 4;

/// Judges the body of a request.
pub fn judge(body: &Value) -> Result<(), Illegal> {
    let Some(request) = body.as_object() else {
        return illegal(Rule::Shape, "Input should be a valid dictionary");
    };
    if let Some(name) = stranger(request, MEMBERS) {
        return illegal(Rule::Unknown, format!("{name}: Extra inputs are not permitted"));
    }
    let Some(model) = request.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) else {
        return illegal(Rule::Model, "model: Field required");
    };
    let thinking = setting::judge(request)?;
    setting::tools(request)?;
    system(request)?;
    cache_points(request)?;
    match request.get("messages") {
        None => illegal(Rule::NoMessages, "messages: Field required"),
        Some(Value::Array(messages)) if messages.is_empty() => {
            illegal(Rule::NoMessages, "messages: at least one message is required")
        }
        Some(Value::Array(messages)) => message::judge(model, thinking, messages),
        Some(_) => illegal(Rule::Shape, "messages: Input should be a valid list"),
    }
}

fn system(request: &Map<String, Value>) -> Result<(), Illegal> {
    match request.get("system") {
        None | Some(Value::String(_)) => Ok(()),
        Some(Value::Array(blocks)) => blocks.iter().enumerate().try_for_each(|(index, block)| {
            if block.get("type").and_then(Value::as_str) != Some("text") {
                return illegal(Rule::Part, format!("system.{index}.type: Input should be 'text'"));
            }
            match block.get("text").and_then(Value::as_str) {
                Some(text) if !text.trim().is_empty() => Ok(()),
                _ => illegal(Rule::Empty, "system: text content blocks must be non-empty"),
            }
        }),
        Some(_) => illegal(Rule::Shape, "system: Input should be a valid string or list"),
    }
}

/// Counts the blocks that end a cache: in the system prompt, in tools and in messages.
fn cache_points(request: &Map<String, Value>) -> Result<(), Illegal> {
    let messages = list(request.get("messages")).iter().flat_map(|message| list(message.get("content")));
    let blocks = list(request.get("system")).iter().chain(list(request.get("tools"))).chain(messages);
    let mut points = 0;
    for control in blocks.filter_map(|block| block.get("cache_control")).filter(|control| !control.is_null()) {
        points += 1;
        if control.get("type").and_then(Value::as_str) != Some("ephemeral") {
            return illegal(Rule::Setting, "cache_control.type: Input should be 'ephemeral'");
        }
        if let Some(span) = control.get("ttl")
            && !matches!(span.as_str(), Some("5m" | "1h"))
        {
            return illegal(Rule::Setting, "cache_control.ephemeral.ttl: Input should be '5m' or '1h'");
        }
    }
    if points > MOST_CACHE_POINTS {
        let message =
            format!("A maximum of {MOST_CACHE_POINTS} blocks with cache_control may be provided. Found {points}.");
        return illegal(Rule::Setting, message);
    }
    Ok(())
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn illegal<T>(rule: Rule, message: impl Into<String>) -> Result<T, Illegal> {
    Err(Illegal::new(Format::Anthropic, rule, message))
}
