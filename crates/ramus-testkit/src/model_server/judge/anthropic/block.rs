//! Content blocks of messages to Anthropic: who may send which, and what must be in them.

use serde_json::{Map, Value};

use super::illegal;
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::image::Images;
use crate::model_server::judge::{is_plain, stranger};
use crate::model_server::seal;

const IMAGES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The longest id of a call.
const LONGEST_ID: usize = 64;

/// Judges blocks one after the other.
pub(super) struct Blocks<'a> {
    model: &'a str,
    images: Images,
}

impl<'a> Blocks<'a> {
    /// Judges blocks of a request to `model`.
    pub(super) fn of(model: &'a str) -> Self {
        Self { model, images: Images::default() }
    }

    /// Judges one block in a message of this role.
    pub(super) fn judge(&mut self, path: &str, role: &str, block: &Value) -> Result<(), Illegal> {
        let Some(object) = block.as_object() else {
            return illegal(Rule::Shape, format!("{path}: Input should be a valid dictionary"));
        };
        let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
        let (by, known): (&str, &[&str]) = match kind {
            "text" => (role, &["type", "text", "cache_control", "citations"]),
            "image" => ("user", &["type", "source", "cache_control"]),
            "tool_use" => ("assistant", &["type", "id", "name", "input", "cache_control", "caller"]),
            "tool_result" => ("user", &["type", "tool_use_id", "content", "is_error", "cache_control"]),
            "thinking" => ("assistant", &["type", "thinking", "signature"]),
            "redacted_thinking" => ("assistant", &["type", "data"]),
            _ => {
                let message =
                    format!("{path}: Input tag '{kind}' found using 'type' does not match any of the expected tags");
                return illegal(Rule::Part, message);
            }
        };
        if by != role {
            return illegal(Rule::Part, format!("{path}: `{kind}` blocks can only be in `{by}` messages"));
        }
        if let Some(name) = stranger(object, known) {
            return illegal(Rule::Unknown, format!("{path}.{kind}.{name}: Extra inputs are not permitted"));
        }
        match kind {
            "text" => text(path, object),
            "image" => self.image(path, object),
            "tool_use" => call(path, object),
            "tool_result" => self.result(path, object),
            _ => self.thought(path, kind, object),
        }
    }

    fn thought(&self, path: &str, kind: &str, block: &Map<String, Value>) -> Result<(), Illegal> {
        let text = |name: &str| block.get(name).and_then(Value::as_str);
        let holds = match kind {
            "redacted_thinking" => match text("data") {
                None | Some("") => {
                    return illegal(Rule::Unsealed, format!("{path}.redacted_thinking.data: Field required"));
                }
                Some(data) => seal::is_redacted(self.model, data),
            },
            _ => match (text("thinking"), text("signature")) {
                (None, _) => return illegal(Rule::Shape, format!("{path}.thinking.thinking: Field required")),
                (_, None | Some("")) => {
                    return illegal(Rule::Unsealed, format!("{path}.thinking.signature: Field required"));
                }
                (Some(thinking), Some(signature)) => seal::is_thinking(self.model, thinking, signature),
            },
        };
        if holds {
            return Ok(());
        }
        let member = if kind == "thinking" { "signature" } else { "data" };
        illegal(Rule::Seal, format!("{path}: Invalid `{member}` in `{kind}` block"))
    }

    fn result(&mut self, path: &str, block: &Map<String, Value>) -> Result<(), Illegal> {
        if !block.get("tool_use_id").and_then(Value::as_str).is_some_and(|id| is_plain(id, LONGEST_ID)) {
            let message = format!("{path}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'");
            return illegal(Rule::CallId, message);
        }
        if block.get("is_error").is_some_and(|error| !error.is_boolean()) {
            return illegal(Rule::Shape, format!("{path}.tool_result.is_error: Input should be a valid boolean"));
        }
        let blocks = match block.get("content") {
            // A tool may have nothing to say.
            None | Some(Value::String(_)) => return Ok(()),
            Some(Value::Array(blocks)) => blocks,
            Some(_) => {
                return illegal(
                    Rule::ResultContent,
                    format!("{path}.tool_result.content: Input should be a valid list"),
                );
            }
        };
        for (number, block) in blocks.iter().enumerate() {
            let path = format!("{path}.tool_result.content.{number}");
            match (block.get("type").and_then(Value::as_str), block.as_object()) {
                (Some("text"), Some(block)) => text(&path, block)?,
                (Some("image"), Some(block)) => self.image(&path, block)?,
                _ => {
                    return illegal(Rule::ResultContent, format!("{path}: Input tag does not match 'text' or 'image'"));
                }
            }
        }
        Ok(())
    }

    fn image(&mut self, path: &str, block: &Map<String, Value>) -> Result<(), Illegal> {
        let source = block.get("source");
        let member = |name: &str| source.and_then(|source| source.get(name)).and_then(Value::as_str);
        match (member("type"), member("media_type"), member("data")) {
            (Some("base64"), Some(media_type), Some(data)) => {
                self.images.admit(media_type, data, IMAGES).or_else(|fault| {
                    let status = if fault.rule == Rule::ImagesSize { 413 } else { 400 };
                    let message = format!("{path}.image.source.base64: {}", fault.message);
                    illegal(fault.rule, message).map_err(|error: Illegal| error.with_status(status))
                })
            }
            (Some("base64"), ..) => {
                illegal(Rule::Shape, format!("{path}.image.source.base64: `media_type` and `data` are required"))
            }
            (Some("url"), ..) if member("url").is_some_and(|address| address.starts_with("https://")) => Ok(()),
            _ => illegal(Rule::Shape, format!("{path}.image.source: Field required")),
        }
    }
}

fn text(path: &str, block: &Map<String, Value>) -> Result<(), Illegal> {
    match block.get("text").and_then(Value::as_str) {
        None => illegal(Rule::Shape, format!("{path}.text.text: Field required")),
        Some("") => illegal(Rule::Empty, "messages: text content blocks must be non-empty"),
        Some(text) if text.trim().is_empty() => {
            illegal(Rule::Empty, "messages: text content blocks must contain non-whitespace text")
        }
        Some(_) => Ok(()),
    }
}

fn call(path: &str, block: &Map<String, Value>) -> Result<(), Illegal> {
    if !block.get("id").and_then(Value::as_str).is_some_and(|id| is_plain(id, LONGEST_ID)) {
        let message = format!("{path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
        return illegal(Rule::CallId, message);
    }
    if !block.get("name").and_then(Value::as_str).is_some_and(|name| is_plain(name, 64)) {
        let message = format!("{path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'");
        return illegal(Rule::CallName, message);
    }
    match block.get("input") {
        Some(Value::Object(_)) => Ok(()),
        _ => illegal(Rule::Arguments, format!("{path}.tool_use.input: Input should be a valid dictionary")),
    }
}
