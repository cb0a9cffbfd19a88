//! The rules of OpenAI's responses.
//!
//! This provider keeps nothing: a request that refers to earlier responses or stored items is turned away.

mod item;
mod message;

use serde_json::{Map, Value};

use super::chat::schema_message;
use super::tools::{Names, schema_fault};
use super::{is_plain, stranger};
use crate::model_server::format::Format;
use crate::model_server::illegal::{Illegal, Rule};

const MEMBERS: &[&str] = &[
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "max_output_tokens",
    "max_tool_calls",
    "temperature",
    "top_p",
    "top_logprobs",
    "reasoning",
    "text",
    "include",
    "store",
    "metadata",
    "user",
    "service_tier",
    "truncation",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "previous_response_id",
    "conversation",
    "background",
    "prompt",
];

/// The fewest tokens that an answer can be limited to.
const FEWEST_TOKENS: u64 = 16;

/// Judges the body of a request.
pub fn judge(body: &Value) -> Result<(), Illegal> {
    let Some(request) = body.as_object() else {
        return illegal(Rule::Shape, "", "The body of your request must be a JSON object.");
    };
    if let Some(name) = stranger(request, MEMBERS) {
        return illegal(Rule::Unknown, name, format!("Unknown parameter: '{name}'."));
    }
    let Some(model) = request.get("model").and_then(Value::as_str).filter(|model| !model.is_empty()) else {
        return illegal(Rule::Model, "model", "Missing required parameter: 'model'.");
    };
    settings(request)?;
    tools(request)?;
    match request.get("input") {
        None => illegal(Rule::NoMessages, "input", "Missing required parameter: 'input'."),
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        Some(Value::Array(items)) if !items.is_empty() => item::judge(model, items),
        Some(Value::String(_) | Value::Array(_)) => illegal(
            Rule::NoMessages,
            "input",
            "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        ),
        Some(_) => illegal(Rule::Shape, "input", "Invalid type for 'input': expected a string or an array."),
    }
}

fn settings(request: &Map<String, Value>) -> Result<(), Illegal> {
    match request.get("max_output_tokens") {
        None | Some(Value::Null) => {}
        Some(limit) if limit.as_u64().is_some_and(|limit| limit >= FEWEST_TOKENS) => {}
        Some(limit) => {
            let message = format!(
                "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= {FEWEST_TOKENS}, but got \
                 {limit} instead."
            );
            return illegal(Rule::Limit, "max_output_tokens", message);
        }
    }
    if request.get("stream").is_some_and(|stream| !stream.is_boolean()) {
        return illegal(Rule::Shape, "stream", "Invalid type for 'stream': expected a boolean.");
    }
    if request.get("instructions").is_some_and(|text| !text.is_string() && !text.is_null()) {
        return illegal(Rule::Shape, "instructions", "Invalid type for 'instructions': expected a string.");
    }
    if let Some(id) = request.get("previous_response_id").and_then(Value::as_str) {
        let message = format!("Previous response with id '{id}' not found.");
        return illegal(Rule::Setting, "previous_response_id", message);
    }
    Ok(())
}

fn tools(request: &Map<String, Value>) -> Result<(), Illegal> {
    let tools = match request.get("tools") {
        None => return Ok(()),
        Some(Value::Array(tools)) => tools,
        Some(_) => return illegal(Rule::Shape, "tools", "Invalid type for 'tools': expected an array."),
    };
    let mut names = Names::default();
    for (index, tool) in tools.iter().enumerate() {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            let param = format!("tools[{index}].type");
            return illegal(Rule::Part, &param, format!("Invalid value for '{param}': only 'function' is supported."));
        }
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let param = format!("tools[{index}].name");
        if name.is_empty() {
            return illegal(Rule::ToolName, &param, format!("Missing required parameter: '{param}'."));
        }
        if !is_plain(name, 64) {
            return illegal(Rule::ToolName, &param, pattern_message(&param));
        }
        if !names.admit(name) {
            return illegal(Rule::ToolTwice, "tools", format!("Tool names must be unique: '{name}' is defined twice."));
        }
        if let Some(fault) = schema_fault(tool.get("parameters")) {
            return illegal(Rule::ToolSchema, &format!("tools[{index}].parameters"), schema_message(name, &fault));
        }
    }
    Ok(())
}

fn pattern_message(param: &str) -> String {
    format!(
        "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
    )
}

fn illegal<T>(rule: Rule, param: &str, message: impl Into<String>) -> Result<T, Illegal> {
    Err(Illegal::new(Format::Responses, rule, message).at(param))
}
