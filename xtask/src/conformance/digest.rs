//! Messages reduced to what must agree: role, origin, and a digest of the text in the judges' own rendering.
//!
//! The judges are JavaScript, so lengths count UTF-16 units and missing values are spelt the way JavaScript does.

use std::fmt;

use anyhow::{Context, Result};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// One message of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Digest {
    pub(super) role: String,
    custom_type: Option<String>,
    tool_call: Option<String>,
    /// Length of the text in UTF-16 units.
    length: u64,
    /// The first 16 hexadecimal digits of the text's SHA-256.
    hash: String,
}

/// What a context says besides its messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    models: Value,
    thinking_level: String,
    mode: String,
    rules: Value,
}

impl Digest {
    /// The digest of a message in `ramus context --dialect v3 --json`.
    pub(super) fn of_message(message: &Value) -> Self {
        let present = |name: &&str| message.get(*name).filter(|value| !value.is_null());
        let body = ["content", "summary", "output"].iter().find_map(present);
        let text = body.map(render).unwrap_or_default();
        let hash = hex::encode(Sha256::digest(text.as_bytes())).chars().take(16).collect();
        Self {
            role: text_of(message, "role").unwrap_or_default(),
            custom_type: text_of(message, "customType"),
            tool_call: text_of(message, "toolCallId"),
            length: text.encode_utf16().count() as u64,
            hash,
        }
    }

    /// The digest that a judge has computed itself.
    pub(super) fn of_oracle(message: &Value) -> Self {
        Self {
            role: text_of(message, "role").unwrap_or_default(),
            custom_type: text_of(message, "customType"),
            tool_call: text_of(message, "toolCallId"),
            length: message.get("len").and_then(Value::as_u64).unwrap_or(u64::MAX),
            hash: text_of(message, "sha").unwrap_or_default(),
        }
    }
}

impl State {
    /// The state in `ramus context --json`.
    pub(super) fn of_ramus(context: &Value) -> Self {
        Self {
            models: context.get("models").cloned().unwrap_or_default(),
            thinking_level: text_of(context, "thinking_level").unwrap_or_default(),
            mode: text_of(context, "mode").unwrap_or_default(),
            rules: context.get("rules").cloned().unwrap_or_default(),
        }
    }

    pub(super) fn of_oracle(context: &Value) -> Self {
        Self {
            models: context.get("models").cloned().unwrap_or_default(),
            thinking_level: text_of(context, "thinkingLevel").unwrap_or_default(),
            mode: text_of(context, "mode").unwrap_or_default(),
            rules: context.get("injectedTtsrRules").cloned().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} units, {})", self.role, self.length, self.hash)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { models, thinking_level, mode, rules } = self;
        write!(f, "models {models}, thinking {thinking_level}, mode {mode}, rules {rules}")
    }
}

/// Where two contexts part, or `None` when they are the same.
pub(super) fn difference(ours: &[Digest], theirs: &[Digest]) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let at = ours.iter().zip(theirs).take_while(|(ours, theirs)| ours == theirs).count();
    let show = |messages: &[Digest]| messages.get(at).map_or_else(|| "nothing".to_owned(), Digest::to_string);
    let (ramus, other) = (show(ours), show(theirs));
    let counts = format!("{} messages, theirs {}", ours.len(), theirs.len());
    Some(format!("ours {counts}; message {at}: ours {ramus}, theirs {other}"))
}

/// The roles of a context in one line; long ones are cut.
pub(super) fn roles(messages: &[Digest]) -> String {
    let names: Vec<_> = messages.iter().take(8).map(|message| message.role.as_str()).collect();
    let rest = messages.len().saturating_sub(8);
    if rest > 0 { format!("{} and {rest} more", names.join(",")) } else { names.join(",") }
}

/// Parses JSON in which a string may hold half of a surrogate pair, which JavaScript allows.
///
/// Each half becomes U+FFFD: one UTF-16 unit as before, and what the judges hash in its place.
pub(super) fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(&replace_lone_surrogates(text)).context("not JSON")
}

fn replace_lone_surrogates(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        result.push_str(before);
        let length = match (surrogate(escape), surrogate(escape.get(6..).unwrap_or_default())) {
            (Some(Half::High), Some(Half::Low)) => 12,
            (Some(_), _) => {
                result.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // The escaped character goes with its backslash, so that `\\u` is never taken for an escape.
            (None, _) => 1 + escape.chars().nth(1).map_or(0, char::len_utf8),
        };
        let (escape, after) = escape.split_at(length);
        result.push_str(escape);
        rest = after;
    }
    result + rest
}

enum Half {
    High,
    Low,
}

fn surrogate(text: &str) -> Option<Half> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xd800..=0xdbff => Some(Half::High),
        0xdc00..=0xdfff => Some(Half::Low),
        _ => None,
    }
}

/// The text of a message's content: parts joined by `|`, anything that is not text named in angle brackets.
fn render(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(render_part).collect::<Vec<_>>().join("|"),
        _ => String::new(),
    }
}

fn render_part(part: &Value) -> String {
    let spelt = |name: &str| part.get(name).map_or_else(|| "undefined".to_owned(), spell);
    match part.get("type").and_then(Value::as_str) {
        Some("text") => part.get("text").filter(|text| !text.is_null()).map(spell).unwrap_or_default(),
        Some("toolCall") => format!("<call {} {}>", spelt("name"), spelt("id")),
        _ => format!("<{}>", spelt("type")),
    }
}

fn spell(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A field that is a string with something in it.
fn text_of(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_is_hashed_as_the_judges_do() {
        let message = json!({"role": "user", "content": "u1"});
        let judged = json!({"role": "user", "len": 2, "sha": "bb82030dbc2bcaba"});
        assert_eq!(Digest::of_message(&message), Digest::of_oracle(&judged));
    }

    #[test]
    fn parts_are_joined_and_named() {
        let content = json!([
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "so"},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}},
            {"type": "toolCall"},
        ]);
        assert_eq!(render(&content), "<thinking>|so|<call bash c1>|<call undefined undefined>");
        assert_eq!(render(&Value::Null), "");
    }

    #[test]
    fn an_absent_body_is_looked_for_elsewhere() {
        let summary = Digest::of_message(&json!({"role": "compactionSummary", "content": null, "summary": "s"}));
        assert_eq!(summary.length, 1);
    }

    #[test]
    fn halves_of_surrogate_pairs_count_as_one_unit() {
        let value = parse(r#"{"a":"\ud83d x","b":"\ud83d\ude00","c":"\\ud83d","d":"\ude00\ud83d"}"#).unwrap();
        assert_eq!(value, json!({"a": "\u{fffd} x", "b": "😀", "c": "\\ud83d", "d": "\u{fffd}\u{fffd}"}));
    }

    #[test]
    fn a_difference_names_the_first_message() {
        let digest = |text: &str| Digest::of_message(&json!({"role": "user", "content": text}));
        assert_eq!(difference(&[digest("a")], &[digest("a")]), None);
        let told = difference(&[digest("a"), digest("b")], &[digest("a")]).unwrap();
        assert!(told.contains("message 1") && told.contains("theirs nothing"), "{told}");
    }
}
