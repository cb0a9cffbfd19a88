//! What a client sends: lists of messages, a title, times.

use ramus_model::time;
use serde_json::{Map, Value};

use super::diff::Said;
use crate::error::EngineError;

/// The longest name of a message that becomes the id of an entry.
const LONGEST_ID: usize = 64;

/// Reads the lists of a payload, the one that counts last; none when it says nothing about messages.
pub(super) fn lists(payload: &Map<String, Value>) -> Result<Option<Vec<Vec<Said>>>, EngineError> {
    let Some(messages) = payload.get("messages").filter(|messages| !messages.is_null()) else { return Ok(None) };
    let mut lists = Vec::new();
    let branches = match payload.get("branches") {
        None | Some(Value::Null) => None,
        Some(Value::Object(branches)) => Some(branches),
        Some(_) => return Err(wrong("`branches` is an object")),
    };
    for branch in branches.into_iter().flat_map(Map::values) {
        let versions = match branch.get("versions") {
            None | Some(Value::Null) => continue,
            Some(Value::Array(versions)) => versions,
            Some(_) => return Err(wrong("`versions` of a branch is a list")),
        };
        for version in versions {
            if let Some(messages) = version.get("messages").filter(|messages| !messages.is_null()) {
                lists.push(list(messages)?);
            }
        }
    }
    lists.push(list(messages)?);
    Ok(Some(lists))
}

fn list(messages: &Value) -> Result<Vec<Said>, EngineError> {
    let messages = messages.as_array().ok_or_else(|| wrong("`messages` is a list"))?;
    let said = messages.iter().enumerate().map(|(at, message)| said(at, message));
    said.filter_map(Result::transpose).collect()
}

/// Reads a message; none of one that is still being written.
fn said(at: usize, message: &Value) -> Result<Option<Said>, EngineError> {
    let message = message.as_object().ok_or_else(|| wrong("a message is an object"))?;
    if message.get("pending") == Some(&Value::Bool(true)) {
        return Ok(None);
    }
    let text = match message.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(_) => return Err(wrong("the `content` of a message is text")),
    };
    let id = message.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let role = match message.get("role").and_then(Value::as_str) {
        Some("assistant") => "assistant",
        Some("system") => "system",
        _ => "user",
    };
    Ok(Some(Said {
        id: id.map_or_else(|| format!("message-{at}"), str::to_owned),
        role: role.to_owned(),
        text,
        timestamp: moment(message.get("timestamp")).map(time::format),
    }))
}

/// Reads the title; a blank one is none.
pub(super) fn title(payload: &Map<String, Value>) -> Result<Option<String>, EngineError> {
    match payload.get("title") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(title)) if title.trim().is_empty() => Ok(None),
        Some(Value::String(title)) => Ok(Some(title.clone())),
        Some(_) => Err(wrong("a title is text")),
    }
}

/// Reads a time, as text or in milliseconds. One without a zone is of UTC.
pub(super) fn moment(value: Option<&Value>) -> Option<i64> {
    let value = value?;
    let text = || value.as_str().map(str::trim);
    value.as_i64().or_else(|| time::parse(text()?)).or_else(|| time::parse(&format!("{}Z", text()?)))
}

/// Says whether what a client calls a message can be the id of an entry.
pub(super) fn can_be_id(name: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
    (1..=LONGEST_ID).contains(&name.len())
        && name.bytes().all(is_usual)
        && name.bytes().any(|byte| byte.is_ascii_alphanumeric())
}

fn wrong(reason: &str) -> EngineError {
    EngineError::Invalid(format!("the conversation is not what is expected: {reason}"))
}
