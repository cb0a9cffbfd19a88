//! Every rule of every judge: a legal body, and the smallest change that breaks the rule.

mod anthropic;
mod body;
mod chat;
mod gemini;
mod responses;

use ramus_testkit::model_server::{Format, Rule, judge};
use serde_json::{Value, json};

/// Checks that `legal` is, and that `illegal` breaks this rule and no other.
fn breaks(format: Format, rule: Rule, legal: &Value, illegal: &Value) {
    if let Err(error) = judge::body(format, "gemini-3-pro", legal) {
        panic!("the legal twin for {rule:?} is not: {error}\n{legal}");
    }
    match judge::body(format, "gemini-3-pro", illegal) {
        Ok(()) => panic!("{rule:?} does not strike:\n{illegal}"),
        Err(error) => {
            assert_eq!(error.rule, rule, "{error}\n{illegal}");
            assert!(!error.message.is_empty());
            let named = error.body().to_string();
            assert!(named.contains("\"error\""), "{named}");
        }
    }
}

/// Base64 of this many bytes that start like a PNG.
fn large_png(length: usize) -> String {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(length, 0);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"command": {"type": "string"}, "list": {"type": "array", "items": {"type": "string"}}}})
}
