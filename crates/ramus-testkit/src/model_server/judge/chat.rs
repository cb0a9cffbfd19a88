//! The rules of chat completions, as OpenAI and the servers compatible with it enforce them.

mod message;

use serde_json::{Map, Value};

use super::tools::{Fault, Names, schema_fault};
use super::{is_plain, stranger};
use crate::model_server::format::Format;
use crate::model_server::illegal::{Illegal, Rule};

/// Members of a request: OpenAI's own, and those that servers compatible with it have added.
const MEMBERS: &[&str] = &[
    "model",
    "messages",
    "tools",
    "tool_choice",
    "parallel_tool_calls",
    "stream",
    "stream_options",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "n",
    "stop",
    "seed",
    "presence_penalty",
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "top_logprobs",
    "user",
    "metadata",
    "store",
    "service_tier",
    "response_format",
    "reasoning_effort",
    "verbosity",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "prediction",
    "modalities",
    "audio",
    "web_search_options",
    "reasoning",
    "thinking",
    "enable_thinking",
    "chat_template_kwargs",
    "cache_prompt",
    "keep_alive",
    "options",
    "top_k",
    "min_p",
    "repetition_penalty",
    "provider",
    "usage",
];

/// Judges the body of a request.
pub fn judge(body: &Value) -> Result<(), Illegal> {
    let Some(request) = body.as_object() else {
        return illegal(Rule::Shape, "", "The body of your request must be a JSON object.");
    };
    if let Some(name) = stranger(request, MEMBERS) {
        return illegal(Rule::Unknown, name, format!("Unrecognized request argument supplied: {name}"));
    }
    if request.get("model").and_then(Value::as_str).is_none_or(str::is_empty) {
        return illegal(Rule::Model, "model", "you must provide a model parameter");
    }
    let no_tools = tools(request)?;
    settings(request, no_tools)?;
    match request.get("messages").map(Value::as_array) {
        None => illegal(Rule::NoMessages, "messages", "Missing required parameter: 'messages'."),
        Some(None) => illegal(Rule::Shape, "messages", "Invalid type for 'messages': expected an array of objects."),
        Some(Some(messages)) if messages.is_empty() => illegal(
            Rule::NoMessages,
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        ),
        Some(Some(messages)) => message::judge(messages),
    }
}

fn settings(request: &Map<String, Value>, no_tools: bool) -> Result<(), Illegal> {
    for name in ["max_tokens", "max_completion_tokens"] {
        match request.get(name) {
            None | Some(Value::Null) => {}
            Some(limit) if limit.as_u64().is_some_and(|limit| limit > 0) => {}
            Some(limit) => {
                let message = format!(
                    "Invalid '{name}': integer below minimum value. Expected a value >= 1, but got {limit} instead."
                );
                return illegal(Rule::Limit, name, message);
            }
        }
    }
    if request.contains_key("max_tokens") && request.contains_key("max_completion_tokens") {
        let message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.";
        return illegal(Rule::Setting, "max_tokens", message);
    }
    let streams = match request.get("stream") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(streams)) => *streams,
        Some(_) => return illegal(Rule::Shape, "stream", "Invalid type for 'stream': expected a boolean."),
    };
    if request.get("stream_options").is_some_and(|options| !options.is_null()) && !streams {
        let message = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
        return illegal(Rule::Setting, "stream_options", message);
    }
    for name in ["tool_choice", "parallel_tool_calls"] {
        if request.contains_key(name) && no_tools {
            let message = format!("Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified.");
            return illegal(Rule::Setting, name, message);
        }
    }
    Ok(())
}

/// Judges the tools, and returns whether there are none.
fn tools(request: &Map<String, Value>) -> Result<bool, Illegal> {
    let mut names = Names::default();
    let tools = match request.get("tools") {
        None => return Ok(true),
        Some(Value::Array(tools)) if !tools.is_empty() => tools,
        Some(_) => return illegal(Rule::Shape, "tools", "Invalid 'tools': expected an array with minimum length 1."),
    };
    for (index, tool) in tools.iter().enumerate() {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            let param = format!("tools[{index}].type");
            return illegal(Rule::Part, &param, format!("Invalid value for '{param}': only 'function' is supported."));
        }
        let function = tool.get("function");
        let name = function.and_then(|function| function.get("name")).and_then(Value::as_str).unwrap_or_default();
        if !is_plain(name, 64) {
            let param = format!("tools[{index}].function.name");
            let message = format!(
                "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]{{1,64}}$'."
            );
            return illegal(Rule::ToolName, &param, message);
        }
        if !names.admit(name) {
            return illegal(Rule::ToolTwice, "tools", format!("Tool names must be unique: '{name}' is defined twice."));
        }
        let parameters = function.and_then(|function| function.get("parameters"));
        if let Some(fault) = schema_fault(parameters) {
            let param = format!("tools[{index}].function.parameters");
            return illegal(Rule::ToolSchema, &param, schema_message(name, &fault));
        }
    }
    Ok(names.is_empty())
}

/// Says what is wrong with a schema as OpenAI says it.
pub(super) fn schema_message(name: &str, fault: &Fault) -> String {
    let start = format!("Invalid schema for function '{name}'");
    match fault {
        Fault::NotObject => format!("{start}: schema must be a JSON Schema of 'type: \"object\"'."),
        Fault::Combined => format!(
            "{start}: schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
        ),
        Fault::List(path) => format!("{start}: In context={path}, array schema missing items."),
    }
}

fn illegal<T>(rule: Rule, param: &str, message: impl Into<String>) -> Result<T, Illegal> {
    Err(Illegal::new(Format::Chat, rule, message).at(param))
}
