//! What a request tells the model, in one form for every format: who said what, which calls were made, what they gave.

use ramus_testkit::model_server::Format;
use serde_json::Value;

/// One thing in a history. Thoughts, instructions and pictures are left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    User(String),
    Assistant(String),
    Call { id: String, name: String, arguments: Value },
    Result { id: String, text: String },
}

/// Reads the history of a request.
pub(super) fn items(format: Format, body: &Value) -> Vec<Item> {
    let list = |name: &str| body.get(name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut items = Vec::new();
    match format {
        Format::Anthropic => list("messages").iter().for_each(|message| anthropic(message, &mut items)),
        Format::Chat => list("messages").iter().for_each(|message| chat(message, &mut items)),
        Format::Responses => list("input").iter().for_each(|item| response(item, &mut items)),
        Format::Gemini => list("contents").iter().for_each(|content| gemini(content, &mut items)),
    }
    items
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The texts of a content that is a text or a list of parts.
fn texts(content: Option<&Value>) -> Vec<String> {
    match content {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| Some(part.get("text")?.as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

fn say(role: &str, content: Vec<String>, items: &mut Vec<Item>) {
    let spoken = content.into_iter().filter(|text| !text.is_empty());
    match role {
        "user" => items.extend(spoken.map(Item::User)),
        "assistant" | "model" => items.extend(spoken.map(Item::Assistant)),
        _ => {}
    }
}

fn anthropic(message: &Value, items: &mut Vec<Item>) {
    let role = text(message, "role");
    let Some(Value::Array(blocks)) = message.get("content") else {
        return say(&role, texts(message.get("content")), items);
    };
    for block in blocks {
        match block.get("type").and_then(Value::as_str) {
            Some("text") => say(&role, vec![text(block, "text")], items),
            Some("tool_use") => items.push(Item::Call {
                id: text(block, "id"),
                name: text(block, "name"),
                arguments: block.get("input").cloned().unwrap_or_default(),
            }),
            Some("tool_result") => {
                items.push(Item::Result { id: text(block, "tool_use_id"), text: texts(block.get("content")).concat() });
            }
            _ => {}
        }
    }
}

fn chat(message: &Value, items: &mut Vec<Item>) {
    let role = text(message, "role");
    if role == "tool" {
        let text = texts(message.get("content")).concat();
        return items.push(Item::Result { id: self::text(message, "tool_call_id"), text });
    }
    say(&role, texts(message.get("content")), items);
    for call in message.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
        let function = call.get("function").unwrap_or(&Value::Null);
        items.push(Item::Call {
            id: text(call, "id"),
            name: text(function, "name"),
            arguments: spelled(function.get("arguments")),
        });
    }
}

/// Arguments that are a text that spells them.
fn spelled(arguments: Option<&Value>) -> Value {
    let text = arguments.and_then(Value::as_str).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

fn response(item: &Value, items: &mut Vec<Item>) {
    match item.get("type").and_then(Value::as_str) {
        Some("message") | None => say(&text(item, "role"), texts(item.get("content")), items),
        Some("function_call") => items.push(Item::Call {
            id: text(item, "call_id"),
            name: text(item, "name"),
            arguments: spelled(item.get("arguments")),
        }),
        Some("custom_tool_call") => items.push(Item::Call {
            id: text(item, "call_id"),
            name: text(item, "name"),
            arguments: item.get("input").cloned().unwrap_or_default(),
        }),
        Some("function_call_output" | "custom_tool_call_output") => {
            items.push(Item::Result { id: text(item, "call_id"), text: texts(item.get("output")).concat() });
        }
        _ => {}
    }
}

fn gemini(content: &Value, items: &mut Vec<Item>) {
    let role = text(content, "role");
    for part in content.get("parts").and_then(Value::as_array).into_iter().flatten() {
        let is_thought = part.get("thought") == Some(&Value::Bool(true));
        if let Some(call) = part.get("functionCall") {
            let arguments = call.get("args").cloned().unwrap_or_default();
            items.push(Item::Call { id: text(call, "id"), name: text(call, "name"), arguments });
        } else if let Some(given) = part.get("functionResponse") {
            let response = given.get("response").unwrap_or(&Value::Null);
            let spoken = response.get("output").or_else(|| response.get("error"));
            let text = spoken.and_then(Value::as_str).map_or_else(|| response.to_string(), str::to_owned);
            items.push(Item::Result { id: self::text(given, "id"), text });
        } else if !is_thought {
            say(&role, vec![text(part, "text")], items);
        }
    }
}
