//! Making requests.

use ramus_model::context::provider::{Call, Outgoing, Speaker};
use ramus_model::message::ToolResult;
use ramus_model::request::{Request, Thinking, ToolDefinition};
use ramus_model::usage::ModelName;
use serde_json::{Value, json};

pub(crate) fn name(provider: &str, model: &str) -> ModelName {
    ModelName { provider: provider.into(), model: model.into() }
}

pub(crate) fn request(model: ModelName, messages: Vec<Outgoing>) -> Request {
    Request {
        model,
        system: String::new(),
        messages,
        tools: Vec::new(),
        max_tokens: None,
        thinking: Thinking::Off,
        cache_key: None,
    }
}

fn parts(parts: &[Value]) -> Vec<Vec<u8>> {
    parts.iter().map(|part| part.to_string().into_bytes()).collect()
}

fn outgoing(speaker: Speaker, content: &[Value], by: Option<ModelName>) -> Outgoing {
    Outgoing { entry: None, speaker, parts: parts(content), by }
}

pub(crate) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(crate) fn image(data: &str) -> Value {
    json!({"type": "image", "data": data, "mimeType": "image/png"})
}

pub(crate) fn system(content: &str) -> Outgoing {
    outgoing(Speaker::System, &[text(content)], None)
}

pub(crate) fn user(content: &[Value]) -> Outgoing {
    outgoing(Speaker::User, content, None)
}

pub(crate) fn assistant(by: &ModelName, content: &[Value]) -> Outgoing {
    let calls = content.iter().filter(|part| part["type"] == "toolCall");
    let of = |part: &Value, name: &str| part[name].as_str().unwrap_or_default().to_owned();
    let calls = calls.map(|part| Call { id: of(part, "id"), name: of(part, "name") }).collect();
    outgoing(Speaker::Assistant(calls), content, Some(by.clone()))
}

pub(crate) fn call(id: &str, name: &str, arguments: Value) -> Value {
    json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments})
}

pub(crate) fn result(call: &str, tool: &str, is_error: bool, content: &[Value]) -> Outgoing {
    let result = ToolResult { call: call.into(), name: tool.into(), is_error };
    outgoing(Speaker::Tool(result), content, None)
}

pub(crate) fn tool(name: &str) -> ToolDefinition {
    let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolDefinition { name: name.into(), description: format!("Does {name}."), parameters }
}
