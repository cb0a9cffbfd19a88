//! Messages among the items: who may say what.

use serde_json::{Map, Value};

use super::illegal;
use crate::model_server::illegal::{Illegal, Rule};
use crate::model_server::judge::image::{Images, data_address};

const IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Judges a message.
pub(super) fn judge(path: &str, item: &Map<String, Value>, images: &mut Images) -> Result<(), Illegal> {
    let kinds: &[&str] = match item.get("role").and_then(Value::as_str) {
        Some("user") => &["input_text", "input_image"],
        Some("system" | "developer") => &["input_text"],
        Some("assistant") => &["output_text", "refusal"],
        None => {
            let param = format!("{path}.role");
            return illegal(Rule::Role, &param, format!("Missing required parameter: '{param}'."));
        }
        Some(role) => {
            let message = format!(
                "Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
            );
            return illegal(Rule::Role, &format!("{path}.role"), message);
        }
    };
    let param = format!("{path}.content");
    match item.get("content") {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        Some(Value::Array(parts)) if !parts.is_empty() => parts
            .iter()
            .enumerate()
            .try_for_each(|(number, part)| self::part(&format!("{param}[{number}]"), part, kinds, images)),
        Some(Value::String(_) | Value::Array(_)) => {
            illegal(Rule::Empty, &param, format!("Invalid '{param}': the message must not be empty."))
        }
        None | Some(Value::Null) => illegal(Rule::Empty, &param, format!("Missing required parameter: '{param}'.")),
        Some(_) => illegal(Rule::Shape, &param, format!("Invalid type for '{param}': expected a string or an array.")),
    }
}

/// Judges a part of a message or an output, which may be of these kinds.
pub(super) fn part(path: &str, part: &Value, kinds: &[&str], images: &mut Images) -> Result<(), Illegal> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
    if !kinds.contains(&kind) {
        let kinds = kinds.join("' and '");
        let message = format!("Invalid value: '{kind}'. Supported values are: '{kinds}'.");
        return illegal(Rule::Part, &format!("{path}.type"), message);
    }
    match kind {
        "input_image" => image(path, part, images),
        _ => {
            let member = if kind == "refusal" { "refusal" } else { "text" };
            match part.get(member).and_then(Value::as_str) {
                Some(text) if !text.is_empty() => Ok(()),
                _ => illegal(
                    Rule::Empty,
                    &format!("{path}.{member}"),
                    format!("Invalid '{path}.{member}': must not be empty."),
                ),
            }
        }
    }
}

fn image(path: &str, part: &Value, images: &mut Images) -> Result<(), Illegal> {
    let param = format!("{path}.image_url");
    match part.get("image_url").and_then(Value::as_str) {
        Some(address) if address.starts_with("https://") || address.starts_with("http://") => Ok(()),
        Some(address) => match data_address(address) {
            Some((media_type, data)) => images.admit(media_type, data, IMAGES).or_else(|fault| {
                let message = "The image data you provided does not represent a valid image.";
                illegal(fault.rule, &param, format!("{message} {}", fault.message))
            }),
            None => illegal(Rule::ImageData, &param, format!("Invalid '{param}'. Expected a base64-encoded data URL.")),
        },
        None => illegal(Rule::Shape, &param, format!("Missing required parameter: '{param}'.")),
    }
}
