//! Messages of chat completions: roles, contents, calls, and results directly behind their calls.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::illegal;
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::image::{Images, data_address};
use crate::model_server::judge::{is_object, is_plain, stranger};

/// The longest id of a call.
const LONGEST_ID: usize = 40;

const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Judges the messages of a request.
pub(super) fn judge(messages: &[Value]) -> Result<(), Illegal> {
    let mut walk = Walk::default();
    for (index, message) in messages.iter().enumerate() {
        walk.message(index, message)?;
    }
    walk.answered(messages.len())?;
    if messages.last().and_then(|message| message.get("role")).and_then(Value::as_str) == Some("assistant") {
        let message = "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant";
        return illegal(Rule::Last, "messages", message);
    }
    Ok(())
}

/// What is known while walking through the messages.
#[derive(Default)]
struct Walk<'a> {
    /// Every id of a call so far.
    called: HashSet<&'a str>,
    /// Calls of the last assistant message that have no result yet.
    open: Vec<&'a str>,
    /// Calls of it that have one.
    closed: Vec<&'a str>,
    images: Images,
}

impl<'a> Walk<'a> {
    fn message(&mut self, index: usize, message: &'a Value) -> Result<(), Illegal> {
        let Some(message) = message.as_object() else {
            return illegal(
                Rule::Shape,
                &format!("messages[{index}]"),
                "Invalid type for a message: expected an object.",
            );
        };
        let role = message.get("role").and_then(Value::as_str);
        if role != Some("tool") {
            self.answered(index)?;
            self.closed.clear();
        }
        let known: &[&str] = match role {
            Some("system" | "developer" | "user") => &["role", "content", "name"],
            Some("assistant") => &[
                "role",
                "content",
                "name",
                "tool_calls",
                "refusal",
                "audio",
                "reasoning_content",
                "reasoning",
                "reasoning_details",
            ],
            Some("tool") => &["role", "content", "tool_call_id", "name"],
            None => {
                let param = format!("messages[{index}].role");
                return illegal(Rule::Role, &param, format!("Missing required parameter: '{param}'."));
            }
            Some(role) => {
                let message = format!(
                    "Invalid value: '{role}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'."
                );
                return illegal(Rule::Role, &format!("messages[{index}].role"), message);
            }
        };
        if let Some(name) = stranger(message, known) {
            let param = format!("messages[{index}].{name}");
            return illegal(Rule::Unknown, &param, format!("Unknown parameter: '{param}'."));
        }
        match role {
            Some("assistant") => self.assistant(index, message),
            Some("tool") => self.result(index, message),
            role => self.content(index, message.get("content"), role == Some("user")),
        }
    }

    fn assistant(&mut self, index: usize, message: &'a Map<String, Value>) -> Result<(), Illegal> {
        for name in ["reasoning_content", "reasoning"] {
            if message.get(name).is_some_and(|text| !text.is_string() && !text.is_null()) {
                let param = format!("messages[{index}].{name}");
                return illegal(Rule::Shape, &param, format!("Invalid type for '{param}': expected a string."));
            }
        }
        let silent =
            matches!(message.get("content"), None | Some(Value::Null)) || message.get("content") == Some(&"".into());
        match message.get("tool_calls") {
            None | Some(Value::Null) => self.content(index, message.get("content"), false),
            Some(Value::Array(calls)) if !calls.is_empty() => {
                if !silent {
                    self.content(index, message.get("content"), false)?;
                }
                calls.iter().enumerate().try_for_each(|(number, call)| self.call(index, number, call))
            }
            Some(_) => {
                let param = format!("messages[{index}].tool_calls");
                let message = format!(
                    "Invalid '{param}': empty array. Expected an array with minimum length 1, but got an empty array instead."
                );
                illegal(Rule::Empty, &param, message)
            }
        }
    }

    fn call(&mut self, index: usize, number: usize, call: &'a Value) -> Result<(), Illegal> {
        let path = format!("messages[{index}].tool_calls[{number}]");
        if call.get("type").and_then(Value::as_str) != Some("function") {
            return illegal(
                Rule::Part,
                &format!("{path}.type"),
                format!("Invalid value for '{path}.type': expected 'function'."),
            );
        }
        let id = call.get("id").and_then(Value::as_str).unwrap_or_default();
        if !(1..=LONGEST_ID).contains(&id.len()) {
            let message = format!(
                "Invalid '{path}.id': expected a string with length 1 to {LONGEST_ID}, but got a string with length {} instead.",
                id.len()
            );
            return illegal(Rule::CallId, &format!("{path}.id"), message);
        }
        if !self.called.insert(id) {
            let message = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{index}].");
            return illegal(Rule::CallTwice, &format!("{path}.id"), message);
        }
        let function = call.get("function");
        let name = function.and_then(|function| function.get("name")).and_then(Value::as_str).unwrap_or_default();
        if !is_plain(name, 64) {
            let param = format!("{path}.function.name");
            let message = format!(
                "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern \
                 '^[a-zA-Z0-9_-]{{1,64}}$'."
            );
            return illegal(Rule::CallName, &param, message);
        }
        let arguments = function.and_then(|function| function.get("arguments")).and_then(Value::as_str);
        if !arguments.is_some_and(is_object) {
            let param = format!("{path}.function.arguments");
            return illegal(
                Rule::Arguments,
                &param,
                format!("Invalid '{param}': expected a string that is a JSON object."),
            );
        }
        self.open.push(id);
        Ok(())
    }

    fn result(&mut self, index: usize, message: &'a Map<String, Value>) -> Result<(), Illegal> {
        let Some(id) = message.get("tool_call_id").and_then(Value::as_str) else {
            let param = format!("messages[{index}].tool_call_id");
            return illegal(Rule::CallId, &param, format!("Missing required parameter: '{param}'."));
        };
        let param = format!("messages.[{index}].role");
        let Some(place) = self.open.iter().position(|open| *open == id) else {
            if self.closed.contains(&id) {
                let message = format!("Duplicate value for 'tool_call_id' of '{id}' in message[{index}].");
                return illegal(Rule::ResultTwice, &param, message);
            }
            let message = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
            return illegal(Rule::Orphan, &param, message);
        };
        self.closed.push(self.open.swap_remove(place));
        match message.get("content") {
            // A tool may have nothing to say.
            Some(Value::String(_)) => Ok(()),
            Some(Value::Array(_)) => self.content(index, message.get("content"), false),
            _ => {
                let param = format!("messages[{index}].content");
                illegal(Rule::ResultContent, &param, format!("Missing required parameter: '{param}'."))
            }
        }
    }

    /// Complains if calls have no result where the message `index` starts.
    fn answered(&self, index: usize) -> Result<(), Illegal> {
        if self.open.is_empty() {
            return Ok(());
        }
        let message = format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The \
             following tool_call_ids did not have response messages: {}",
            self.open.join(", ")
        );
        illegal(Rule::Unanswered, &format!("messages.[{index}].role"), message)
    }

    fn content(&mut self, index: usize, content: Option<&'a Value>, images: bool) -> Result<(), Illegal> {
        let param = format!("messages[{index}].content");
        match content {
            Some(Value::String(text)) if !text.is_empty() => Ok(()),
            Some(Value::Array(parts)) if !parts.is_empty() => parts
                .iter()
                .enumerate()
                .try_for_each(|(number, part)| self.part(&format!("{param}[{number}]"), part, images)),
            Some(Value::String(_) | Value::Array(_)) => {
                illegal(Rule::Empty, &param, format!("Invalid '{param}': the message must not be empty."))
            }
            None | Some(Value::Null) => {
                illegal(Rule::Empty, &param, "Invalid value for 'content': expected a string, got null.")
            }
            Some(_) => {
                illegal(Rule::Shape, &param, format!("Invalid type for '{param}': expected a string or an array."))
            }
        }
    }

    fn part(&mut self, path: &str, part: &'a Value, images: bool) -> Result<(), Illegal> {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => match part.get("text").and_then(Value::as_str) {
                Some(text) if !text.is_empty() => Ok(()),
                _ => illegal(
                    Rule::Empty,
                    &format!("{path}.text"),
                    format!("Invalid '{path}.text': text must not be empty."),
                ),
            },
            Some("image_url") if images => self.image(path, part),
            Some("image_url") => {
                let message = "Image URLs are only allowed for messages with role 'user'.";
                illegal(Rule::Part, path, format!("Invalid '{path}'. {message}"))
            }
            kind => {
                let kind = kind.unwrap_or_default();
                let message = format!("Invalid value: '{kind}'. Supported values are: 'text' and 'image_url'.");
                illegal(Rule::Part, &format!("{path}.type"), message)
            }
        }
    }

    fn image(&mut self, path: &str, part: &'a Value) -> Result<(), Illegal> {
        let param = format!("{path}.image_url.url");
        let address = part.get("image_url").and_then(|image| image.get("url")).and_then(Value::as_str);
        match address {
            Some(address) if address.starts_with("https://") || address.starts_with("http://") => Ok(()),
            Some(address) => match data_address(address) {
                Some((media_type, data)) => self.images.admit(media_type, data, IMAGES).or_else(|fault| {
                    illegal(fault.rule, &param, format!("You uploaded an unsupported image. {}", fault.message))
                }),
                None => {
                    illegal(Rule::ImageData, &param, format!("Invalid '{param}': expected a base64-encoded data URL."))
                }
            },
            None => illegal(Rule::Shape, &param, format!("Missing required parameter: '{param}'.")),
        }
    }
}
