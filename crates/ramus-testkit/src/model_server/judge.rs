//! Judges of requests, one for each format: pure functions from a body to the rule it breaks.
//!
//! The invariant: a body that a judge lets pass is legal by the published rules of its format, and one that it turns away
//! breaks a rule that at least one deployment of the format enforces.

pub mod anthropic;
pub mod chat;
pub mod gemini;
mod image;
pub mod responses;
mod tools;

pub use image::PIXEL;

use serde_json::Value;

use super::format::Format;
use super::illegal::{Illegal, Rule};

/// Judges the bytes of a body, and returns what they say. `model` is the model that the path names, for formats that do.
pub fn bytes(format: Format, model: &str, bytes: &[u8]) -> Result<Value, Illegal> {
    let body: Value = serde_json::from_slice(bytes).map_err(|error| not_json(format, &error))?;
    self::body(format, model, &body)?;
    Ok(body)
}

/// Judges a body. `model` is the model that the path names, for formats that do.
pub fn body(format: Format, model: &str, body: &Value) -> Result<(), Illegal> {
    match format {
        Format::Chat => chat::judge(body),
        Format::Responses => responses::judge(body),
        Format::Anthropic => anthropic::judge(body),
        Format::Gemini => gemini::judge(model, body),
    }
}

fn not_json(format: Format, error: &serde_json::Error) -> Illegal {
    let text = error.to_string();
    // The parser knows lone surrogates by two names, depending on what follows them.
    let rule =
        if text.contains("surrogate") || text.contains("end of hex escape") { Rule::Surrogate } else { Rule::NotJson };
    let message = match (format, rule) {
        (Format::Chat | Format::Responses, _) => format!(
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library \
             correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON: {text})"
        ),
        (Format::Anthropic, Rule::Surrogate) => {
            format!("The request body is not valid JSON: no low surrogate in string: {text}")
        }
        (Format::Anthropic, _) => format!("The request body is not valid JSON: {text}"),
        (Format::Gemini, _) => format!("Invalid JSON payload received. {text}"),
    };
    Illegal::new(format, rule, message)
}

/// Returns whether `name` has 1 to `most` letters, digits, underscores and dashes.
fn is_plain(name: &str, most: usize) -> bool {
    (1..=most).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// Returns whether text is JSON of an object.
fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

/// Returns the first member of an object that is not among the `known` ones.
fn stranger<'a>(object: &'a serde_json::Map<String, Value>, known: &[&str]) -> Option<&'a str> {
    object.keys().map(String::as_str).find(|name| !known.contains(name))
}
