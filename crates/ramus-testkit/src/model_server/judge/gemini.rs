//! The rules of Gemini's content. Names of members may be spelt `likeThis` or `like_this`, as everywhere at Google.

mod content;
mod setting;

use serde_json::{Map, Value};

use crate::model_server::format::Format;
use crate::model_server::illegal::{Illegal, Rule};

const MEMBERS: &[&str] = &[
    "model",
    "contents",
    "systemInstruction",
    "tools",
    "toolConfig",
    "generationConfig",
    "safetySettings",
    "cachedContent",
    "labels",
    "store",
    "serviceTier",
];

/// Judges the body of a request to `model`, which the path names.
pub fn judge(model: &str, body: &Value) -> Result<(), Illegal> {
    let Some(request) = body.as_object() else {
        return illegal(Rule::Shape, "Invalid JSON payload received. Expected an object.");
    };
    if model.is_empty() {
        return illegal(Rule::Model, "* GenerateContentRequest.model: unexpected model name format");
    }
    known(request, MEMBERS, "")?;
    setting::judge(request)?;
    setting::tools(request)?;
    if let Some(system) = member(request, "systemInstruction") {
        instruction(system)?;
    }
    match member(request, "contents") {
        Some(Value::Array(contents)) if !contents.is_empty() => content::judge(model, contents),
        None | Some(Value::Array(_)) => {
            illegal(Rule::NoMessages, "* GenerateContentRequest.contents: contents is not specified\n")
        }
        Some(_) => illegal(Rule::Shape, "Invalid value at 'contents': expected a list"),
    }
}

fn instruction(system: &Value) -> Result<(), Illegal> {
    let parts = system.get("parts").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if parts.is_empty() {
        let message = "* GenerateContentRequest.system_instruction.parts: contents.parts must not be empty.\n";
        return illegal(Rule::Empty, message);
    }
    for part in parts {
        match part.get("text").and_then(Value::as_str) {
            Some(text) if !text.is_empty() => {}
            _ => return illegal(Rule::Empty, "System instruction must have non-empty text parts."),
        }
    }
    Ok(())
}

/// Returns a member by its name `likeThis`, however it is spelt.
fn member<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).or_else(|| object.get(&snake(name))).filter(|value| !value.is_null())
}

/// Complains about a member that is not among the `names`.
fn known(object: &Map<String, Value>, names: &[&str], path: &str) -> Result<(), Illegal> {
    let stranger = object.keys().find(|key| !names.iter().any(|name| *name == *key || snake(name) == **key));
    match stranger {
        None => Ok(()),
        Some(name) => {
            let place = if path.is_empty() { String::new() } else { format!(" at '{path}'") };
            let message = format!("Invalid JSON payload received. Unknown name \"{name}\"{place}: Cannot find field.");
            illegal(Rule::Unknown, message)
        }
    }
}

/// Spells a name `like_this`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if character.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn illegal<T>(rule: Rule, message: impl Into<String>) -> Result<T, Illegal> {
    Err(Illegal::new(Format::Gemini, rule, message))
}
