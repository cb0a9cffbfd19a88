//! Contents of a request to Gemini: turns that alternate, and responses that match the calls of the turn before.

use std::collections::HashSet;

use serde_json::Value;

use super::{illegal, known, member};
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::image::Images;

mod part;

use part::{Kind, Parts};

/// Judges the contents of a request to `model`.
pub(super) fn judge(model: &str, contents: &[Value]) -> Result<(), Illegal> {
    let mut parts = Parts { model, images: Images::default() };
    let mut calls = Vec::new();
    let mut called = HashSet::new();
    let mut before = None;
    for (index, content) in contents.iter().enumerate() {
        let role = role(index, content)?;
        if index == 0 && role != "user" {
            return illegal(Rule::First, "Please ensure that multiturn requests start with a user turn.");
        }
        if before == Some(role) {
            return illegal(
                Rule::Alternation,
                "Please ensure that multiturn requests alternate between user and model.",
            );
        }
        before = Some(role);
        let kinds = parts.judge(index, role, content)?;
        responses(&calls, &kinds)?;
        for kind in &kinds {
            if let Kind::Call { id: Some(id), .. } = kind
                && !called.insert(*id)
            {
                return illegal(Rule::CallTwice, format!("Duplicate function call id: {id}"));
            }
        }
        calls = kinds.into_iter().filter(|kind| matches!(kind, Kind::Call { .. })).collect();
    }
    if !calls.is_empty() {
        return illegal(Rule::Unanswered, UNEQUAL);
    }
    if before == Some("model") {
        return illegal(
            Rule::Last,
            "Please ensure that multiturn requests end with a user role or a function response.",
        );
    }
    signatures(model, contents)
}

const UNEQUAL: &str = "Please ensure that the number of function response parts is equal to the number of function call parts \
                       of the function call turn.";

fn role(index: usize, content: &Value) -> Result<&str, Illegal> {
    let Some(object) = content.as_object() else {
        return illegal(Rule::Shape, format!("Invalid value at 'contents[{index}]': expected an object"));
    };
    known(object, &["role", "parts"], &format!("contents[{index}]"))?;
    match object.get("role").and_then(Value::as_str) {
        Some(role @ ("user" | "model")) => Ok(role),
        _ => illegal(Rule::Role, "Please use a valid role: user, model."),
    }
}

/// Matches the responses of a turn with the calls of the one before: as many, in the same order, before anything else.
fn responses(calls: &[Kind<'_>], kinds: &[Kind<'_>]) -> Result<(), Illegal> {
    let responses: Vec<&Kind<'_>> = kinds.iter().filter(|kind| matches!(kind, Kind::Response { .. })).collect();
    if calls.is_empty() && !responses.is_empty() {
        let message = "Please ensure that function response turn comes immediately after a function call turn.";
        return illegal(Rule::Orphan, message);
    }
    if responses.len() < calls.len() {
        return illegal(Rule::Unanswered, UNEQUAL);
    }
    if responses.len() > calls.len() {
        return illegal(Rule::ResultTwice, UNEQUAL);
    }
    if kinds.iter().take(responses.len()).any(|kind| !matches!(kind, Kind::Response { .. })) {
        let message = "Please ensure that function response parts come first in the function response turn.";
        return illegal(Rule::ResultPlace, message);
    }
    for (call, response) in calls.iter().zip(responses) {
        if let (Kind::Call { id, name }, Kind::Response { id: of, name: by }) = (call, response) {
            let matches = name == by && (id == of || (id.is_some() && of.is_none()));
            if !matches {
                let message =
                    format!("Function response for `{by}` does not match the function call `{name}` in its place.");
                return illegal(Rule::ResultPlace, message);
            }
        }
    }
    Ok(())
}

/// Checks that models which sign their calls get the first one of each step of the current turn back with its signature.
fn signatures(model: &str, contents: &[Value]) -> Result<(), Illegal> {
    if !model.starts_with("gemini-3") {
        return Ok(());
    }
    let says = |content: &Value| {
        let parts = content.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        content.get("role").and_then(Value::as_str) == Some("user")
            && parts.iter().any(|part| part.as_object().is_some_and(|part| member(part, "functionResponse").is_none()))
    };
    let turn = contents.iter().rposition(says).unwrap_or_default();
    for (index, content) in contents.iter().enumerate().skip(turn) {
        let parts = content.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut calls = parts.iter().filter_map(Value::as_object).filter(|part| member(part, "functionCall").is_some());
        if let Some(part) = calls.next()
            && member(part, "thoughtSignature").is_none()
        {
            let name = member(part, "functionCall").and_then(|call| call.get("name")).and_then(Value::as_str);
            let message = format!(
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work \
                 correctly, and missing thought_signature may lead to degraded model performance. Additional data, function \
                 call `default_api:{}` , position {}.",
                name.unwrap_or_default(),
                index + 1
            );
            return illegal(Rule::Unsealed, message);
        }
    }
    Ok(())
}
