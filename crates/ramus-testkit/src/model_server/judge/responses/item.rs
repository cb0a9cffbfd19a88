//! Items of a response's input: calls and their outputs, reasoning and what must follow it.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{illegal, message, pattern_message};
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::image::Images;
use crate::model_server::judge::{is_object, is_plain, stranger};
use crate::model_server::seal;

/// The longest id of a call or an item.
const LONGEST_ID: usize = 64;

/// Judges the items of a request to `model`.
pub(super) fn judge(model: &str, items: &[Value]) -> Result<(), Illegal> {
    let mut walk = Walk { model, ..Walk::default() };
    for (index, item) in items.iter().enumerate() {
        walk.item(index, item)?;
    }
    walk.answered()?;
    walk.followed()?;
    if items.last().is_some_and(|item| item.get("role").and_then(Value::as_str) == Some("assistant")) {
        return illegal(Rule::Last, "input", "The conversation must not end with a message of the assistant.");
    }
    Ok(())
}

/// What is known while walking through the items.
#[derive(Default)]
struct Walk<'a> {
    model: &'a str,
    /// Every id of a call so far.
    called: HashSet<&'a str>,
    /// Calls without an output.
    open: Vec<&'a str>,
    /// Every call that has an output.
    closed: HashSet<&'a str>,
    /// Whether outputs of the open calls have begun.
    answering: bool,
    /// The reasoning that nothing has followed yet.
    pending: Option<&'a str>,
    /// Reasoning since the model was last asked.
    reasoned: Vec<Option<&'a str>>,
    images: Images,
}

impl<'a> Walk<'a> {
    fn item(&mut self, index: usize, item: &'a Value) -> Result<(), Illegal> {
        let path = format!("input[{index}]");
        let Some(item) = item.as_object() else {
            return illegal(Rule::Shape, &path, format!("Invalid type for '{path}': expected an object."));
        };
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        let known: &[&str] = match kind {
            "message" => &["type", "role", "content", "id", "status", "phase"],
            "function_call" => &["type", "id", "call_id", "name", "arguments", "status"],
            "function_call_output" => &["type", "id", "call_id", "output", "status"],
            "reasoning" => &["type", "id", "summary", "content", "encrypted_content", "status"],
            _ => {
                let message = format!(
                    "Invalid value: '{kind}'. Supported values are: 'message', 'function_call', 'function_call_output', and \
                     'reasoning'."
                );
                return illegal(Rule::Part, &format!("{path}.type"), message);
            }
        };
        if let Some(name) = stranger(item, known) {
            return illegal(Rule::Unknown, &path, format!("Unknown parameter: '{path}.{name}'."));
        }
        let by_model = match kind {
            "message" => item.get("role").and_then(Value::as_str) == Some("assistant"),
            "function_call_output" => false,
            _ => true,
        };
        if by_model {
            if self.answering {
                self.answered()?;
            }
        } else {
            self.followed()?;
            self.reasoned.clear();
        }
        match kind {
            "message" => {
                if !by_model {
                    self.answered()?;
                }
                self.belongs(&path, item, "message", "msg")?;
                message::judge(&path, item, &mut self.images)
            }
            "function_call" => self.call(&path, item),
            "function_call_output" => self.output(&path, item),
            _ => self.reasoning(&path, item),
        }
    }

    fn call(&mut self, path: &str, item: &'a Map<String, Value>) -> Result<(), Illegal> {
        self.belongs(path, item, "function_call", "fc")?;
        let id = call_id(path, item)?;
        if !self.called.insert(id) {
            return illegal(
                Rule::CallTwice,
                &format!("{path}.call_id"),
                format!("Duplicate function call id: '{id}'."),
            );
        }
        let param = format!("{path}.name");
        if !item.get("name").and_then(Value::as_str).is_some_and(|name| is_plain(name, 64)) {
            return illegal(Rule::CallName, &param, pattern_message(&param));
        }
        if !item.get("arguments").and_then(Value::as_str).is_some_and(is_object) {
            let param = format!("{path}.arguments");
            return illegal(
                Rule::Arguments,
                &param,
                format!("Invalid '{param}': expected a string that is a JSON object."),
            );
        }
        self.open.push(id);
        Ok(())
    }

    fn output(&mut self, path: &str, item: &'a Map<String, Value>) -> Result<(), Illegal> {
        let id = call_id(path, item)?;
        let Some(place) = self.open.iter().position(|open| *open == id) else {
            if self.closed.contains(id) {
                let message = format!("Duplicate function call output with call_id {id}.");
                return illegal(Rule::ResultTwice, "input", message);
            }
            let message = format!("No tool call found for function call output with call_id {id}.");
            return illegal(Rule::Orphan, "input", message);
        };
        self.closed.insert(self.open.swap_remove(place));
        self.answering = !self.open.is_empty();
        let param = format!("{path}.output");
        match item.get("output") {
            Some(Value::String(_)) => Ok(()),
            Some(Value::Array(parts)) if !parts.is_empty() => {
                let kinds = ["input_text", "input_image"];
                parts.iter().enumerate().try_for_each(|(number, part)| {
                    message::part(&format!("{param}[{number}]"), part, &kinds, &mut self.images)
                })
            }
            _ => illegal(Rule::ResultContent, &param, format!("Missing required parameter: '{param}'.")),
        }
    }

    fn reasoning(&mut self, path: &str, item: &'a Map<String, Value>) -> Result<(), Illegal> {
        let id = item_id(path, item, "rs")?;
        let Some(summary) = item.get("summary").and_then(Value::as_array) else {
            let param = format!("{path}.summary");
            return illegal(Rule::Shape, &param, format!("Missing required parameter: '{param}'."));
        };
        let named = id.unwrap_or("rs_unnamed");
        let Some(encrypted) = item.get("encrypted_content").and_then(Value::as_str) else {
            let message = format!(
                "Item with id '{named}' not found. Items are not persisted when `store` is set to false. Try again with `store` \
                 set to true, or remove this item from your input."
            );
            return illegal(Rule::Unsealed, "input", message).map_err(|error: Illegal| error.with_status(404));
        };
        let text: String = summary.iter().filter_map(|part| part.get("text").and_then(Value::as_str)).collect();
        let sealed = seal::read_reasoning(self.model, encrypted);
        if !sealed.is_some_and(|sealed| summary.is_empty() || sealed == text) {
            let start: String = encrypted.chars().take(4).collect();
            let message = format!("The encrypted content {start}... could not be verified.");
            return illegal(Rule::Seal, "input", message);
        }
        self.pending = Some(named);
        self.reasoned.push(id);
        Ok(())
    }

    /// Checks the id of something the model made: of the right kind, and with the reasoning that it was made with.
    fn belongs(&mut self, path: &str, item: &'a Map<String, Value>, kind: &str, prefix: &str) -> Result<(), Illegal> {
        if let Some(id) = item_id(path, item, prefix)?
            && let Some(reasoning) = reasoning_behind(id)
            && !self.reasoned.iter().any(|seen| seen.is_none_or(|seen| seen == reasoning))
        {
            let message = format!(
                "Item '{id}' of type '{kind}' was provided without its required 'reasoning' item: '{reasoning}'."
            );
            return illegal(Rule::ThoughtPlace, "input", message);
        }
        self.pending = None;
        Ok(())
    }

    /// Complains if calls have no output.
    fn answered(&self) -> Result<(), Illegal> {
        match self.open.first() {
            None => Ok(()),
            Some(id) => illegal(Rule::Unanswered, "input", format!("No tool output found for function call {id}.")),
        }
    }

    /// Complains if nothing of the model follows its reasoning.
    fn followed(&self) -> Result<(), Illegal> {
        match self.pending {
            None => Ok(()),
            Some(id) => {
                let message =
                    format!("Item '{id}' of type 'reasoning' was provided without its required following item.");
                illegal(Rule::ThoughtPlace, "input", message)
            }
        }
    }
}

/// Returns the id of the reasoning that an item was made with, which the ids of this server tell.
fn reasoning_behind(id: &str) -> Option<String> {
    let (_, rest) = id.split_once('_')?;
    let (tag, _) = rest.split_once("_r")?;
    Some(format!("rs_{tag}"))
}

fn call_id<'a>(path: &str, item: &'a Map<String, Value>) -> Result<&'a str, Illegal> {
    let id = item.get("call_id").and_then(Value::as_str).unwrap_or_default();
    if (1..=LONGEST_ID).contains(&id.len()) {
        return Ok(id);
    }
    let length = id.len();
    let message = format!(
        "Invalid '{path}.call_id': expected a string with length 1 to {LONGEST_ID}, but got a string with length {length} \
         instead."
    );
    illegal(Rule::CallId, &format!("{path}.call_id"), message)
}

fn item_id<'a>(path: &str, item: &'a Map<String, Value>, prefix: &str) -> Result<Option<&'a str>, Illegal> {
    let param = format!("{path}.id");
    match item.get("id") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(id)) if !is_plain(id, LONGEST_ID) => {
            let message = format!(
                "Invalid '{param}': '{id}'. Expected an ID of at most {LONGEST_ID} letters, numbers, underscores, or dashes."
            );
            illegal(Rule::CallId, &param, message)
        }
        Some(Value::String(id)) if id.starts_with(prefix) => Ok(Some(id)),
        Some(id) => {
            let message = format!("Invalid '{param}': {id}. Expected an ID that begins with '{prefix}'.");
            illegal(Rule::CallId, &param, message)
        }
    }
}
