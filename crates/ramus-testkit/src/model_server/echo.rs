//! The last text of the user, for replies that repeat it.

use serde_json::Value;

use super::format::Format;

/// Returns the last text that the user sent, or nothing.
pub(super) fn last_user_text(format: Format, body: &Value) -> String {
    let list = match format {
        Format::Chat | Format::Anthropic => body.get("messages"),
        Format::Responses => match body.get("input") {
            Some(Value::String(text)) => return text.clone(),
            input => input,
        },
        Format::Gemini => body.get("contents"),
    };
    let messages = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let by_user = messages.iter().rev().filter(|message| message.get("role").and_then(Value::as_str) == Some("user"));
    by_user.map(text).find(|text| !text.is_empty()).unwrap_or_default()
}

fn text(message: &Value) -> String {
    match message.get("content").or_else(|| message.get("parts")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect(),
        _ => String::new(),
    }
}
