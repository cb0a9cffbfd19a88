//! Messages to Anthropic: turns that alternate, and results directly behind their calls.

use std::collections::HashSet;

use serde_json::Value;

use super::block::Blocks;
use super::illegal;
use super::setting::Thinking;
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::stranger;

/// Judges the messages of a request to `model`.
pub(super) fn judge(model: &str, thinking: Thinking, messages: &[Value]) -> Result<(), Illegal> {
    let mut walk = Walk { blocks: Blocks::of(model), open: Vec::new(), called: HashSet::new() };
    let mut before = None;
    for (index, message) in messages.iter().enumerate() {
        let role = role(index, message)?;
        if index == 0 && role != "user" {
            return illegal(Rule::First, "messages: first message must use the \"user\" role");
        }
        if before == Some(role) {
            let message = format!(
                "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"{role}\" roles in a row"
            );
            return illegal(Rule::Alternation, message);
        }
        before = Some(role);
        walk.message(index, role, message)?;
    }
    if before == Some("assistant") {
        walk.unanswered(messages.len())?;
        let message =
            "This model does not support assistant message prefill. The conversation must end with a user message.";
        return illegal(Rule::Last, message);
    }
    if thinking == Thinking::On {
        thoughts_first(messages)?;
    }
    Ok(())
}

fn role(index: usize, message: &Value) -> Result<&str, Illegal> {
    let Some(object) = message.as_object() else {
        return illegal(Rule::Shape, format!("messages.{index}: Input should be a valid dictionary"));
    };
    if let Some(name) = stranger(object, &["role", "content"]) {
        return illegal(Rule::Unknown, format!("messages.{index}.{name}: Extra inputs are not permitted"));
    }
    match object.get("role").and_then(Value::as_str) {
        Some(role @ ("user" | "assistant")) => Ok(role),
        Some("system") => {
            let message = "messages: Unexpected role \"system\". The Messages API accepts a top-level `system` parameter, not \
                           \"system\" as an input message role.";
            illegal(Rule::Role, message)
        }
        Some(role) => {
            let message = "Allowed roles are \"user\" or \"assistant\".";
            illegal(Rule::Role, format!("messages: Unexpected role \"{role}\". {message}"))
        }
        None => illegal(Rule::Role, format!("messages.{index}.role: Field required")),
    }
}

/// What is known while walking through the messages.
struct Walk<'a> {
    blocks: Blocks<'a>,
    /// Calls of the message before.
    open: Vec<&'a str>,
    /// Every call so far.
    called: HashSet<&'a str>,
}

impl<'a> Walk<'a> {
    fn message(&mut self, index: usize, role: &str, message: &'a Value) -> Result<(), Illegal> {
        let blocks = match message.get("content") {
            None => return illegal(Rule::Empty, format!("messages.{index}.content: Field required")),
            Some(Value::String(text)) if text.trim().is_empty() => {
                return illegal(Rule::Empty, format!("messages.{index}: user messages must have non-empty content"));
            }
            Some(Value::String(_)) => return self.unanswered(index),
            Some(Value::Array(blocks)) if blocks.is_empty() => {
                let message =
                    "all messages must have non-empty content except for the optional final assistant message";
                return illegal(Rule::Empty, format!("messages.{index}: {message}"));
            }
            Some(Value::Array(blocks)) => blocks,
            Some(_) => {
                return illegal(
                    Rule::Shape,
                    format!("messages.{index}.content: Input should be a valid string or list"),
                );
            }
        };
        if role == "user" {
            self.results(index, blocks)?;
        }
        for (number, block) in blocks.iter().enumerate() {
            let path = format!("messages.{index}.content.{number}");
            self.blocks.judge(&path, role, block)?;
            if let Some(id) = member(block, "tool_use", "id") {
                if !self.called.insert(id) {
                    return illegal(Rule::CallTwice, format!("{path}: `tool_use` ids must be unique"));
                }
                self.open.push(id);
            }
        }
        match blocks.last().and_then(|block| block.get("type")).and_then(Value::as_str) {
            Some(kind @ ("thinking" | "redacted_thinking")) => {
                let message = format!("messages.{index}: The final block in an assistant message cannot be `{kind}`.");
                illegal(Rule::ThoughtPlace, message)
            }
            _ => Ok(()),
        }
    }

    /// Matches the results of a message with the calls of the one before: all of them, each once, before anything else.
    fn results(&mut self, index: usize, blocks: &'a [Value]) -> Result<(), Illegal> {
        let open = std::mem::take(&mut self.open);
        let mut waiting = open.clone();
        let mut leading = true;
        for (number, block) in blocks.iter().enumerate() {
            let Some(id) = member(block, "tool_result", "tool_use_id") else {
                leading &= block.get("type").and_then(Value::as_str) == Some("tool_result");
                continue;
            };
            let path = format!("messages.{index}.content.{number}");
            match waiting.iter().position(|waiting| *waiting == id) {
                Some(place) if leading => {
                    waiting.swap_remove(place);
                }
                Some(_) => {
                    let message = "`tool_result` blocks must come before any other content of the message.";
                    return illegal(Rule::ResultPlace, format!("{path}: {message}"));
                }
                None if open.contains(&id) => {
                    let message =
                        "each tool_use must have a single result. Found multiple `tool_result` blocks with id";
                    return illegal(Rule::ResultTwice, format!("{path}: {message}: {id}"));
                }
                None => {
                    let message = format!(
                        "{path}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must \
                         have a corresponding `tool_use` block in the previous message."
                    );
                    return illegal(Rule::Orphan, message);
                }
            }
        }
        self.open = waiting;
        self.unanswered(index)
    }

    /// Complains if calls of the message before `index` have no result.
    fn unanswered(&self, index: usize) -> Result<(), Illegal> {
        if self.open.is_empty() {
            return Ok(());
        }
        let message = format!(
            "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block \
             must have a corresponding `tool_result` block in the next message.",
            index.saturating_sub(1),
            self.open.join(", ")
        );
        illegal(Rule::Unanswered, message)
    }
}

/// Checks that thoughts come first where the model must think: in the step that the last results belong to, and wherever a
/// message with calls has thoughts at all.
fn thoughts_first(messages: &[Value]) -> Result<(), Illegal> {
    let last = messages.len().saturating_sub(2);
    for (index, message) in messages.iter().enumerate() {
        let Some(blocks) = message.get("content").and_then(Value::as_array) else {
            continue;
        };
        let kinds: Vec<&str> = blocks.iter().filter_map(|block| block.get("type").and_then(Value::as_str)).collect();
        let thought = |kind: &&str| matches!(*kind, "thinking" | "redacted_thinking");
        let Some(first) = kinds.first().filter(|kind| !thought(kind)) else {
            continue;
        };
        if kinds.contains(&"tool_use") && (index == last || kinds.iter().any(thought)) {
            let message = format!(
                "messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When \
                 `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost \
                 set of `tool_use` and `tool_result` blocks)."
            );
            return illegal(Rule::ThoughtPlace, message);
        }
    }
    Ok(())
}

/// Returns a member of a block of this kind.
fn member<'a>(block: &'a Value, kind: &str, name: &str) -> Option<&'a str> {
    (block.get("type").and_then(Value::as_str) == Some(kind)).then(|| block.get(name).and_then(Value::as_str)).flatten()
}
