//! Messages of every role, and whether their calls get results: in order, out of it, late, twice, never.

use serde_json::Value;

use super::part::{self, MODELS};
use crate::random::Random;

/// The calls that wait for a result, and those that have one.
#[derive(Default)]
pub(super) struct Calls {
    open: Vec<String>,
    closed: Vec<String>,
}

/// A message as it is spelled.
pub(super) fn message(random: &mut Random, calls: &mut Calls) -> String {
    if !calls.open.is_empty() && random.chance(60) {
        let at = if random.chance(70) { 0 } else { random.below(calls.open.len()) };
        let id = calls.open.remove(at);
        calls.closed.push(id.clone());
        return result(random, &id);
    }
    match random.below(20) {
        0..=6 => format!(r#"{{"role":"user","content":{}}}"#, content(random)),
        7..=13 => answer(random, calls),
        14 => {
            let again = calls.closed.get(random.below(calls.closed.len() + 1)).cloned();
            let id = again.unwrap_or_else(|| part::id(random));
            result(random, &id)
        }
        15 => format!(r#"{{"role":"system","content":{}}}"#, content(random)),
        16 => format!(r#"{{"role":"bashExecution","command":{},"output":"a\nb"}}"#, part::text(random)),
        17 => format!(r#"{{"role":"hookMessage","customType":"note","content":{}}}"#, content(random)),
        18 => format!(r#"{{"role":"user","content":{},"excludeFromContext":true}}"#, content(random)),
        _ => part::any(random, &[r#"{"role":"ghost","content":[]}"#, "null", "{}", r#"{"role":"user"}"#]).to_owned(),
    }
}

/// An answer: thoughts, text, calls, in the order of models or in none; sometimes cut off.
fn answer(random: &mut Random, calls: &mut Calls) -> String {
    let by = MODELS.get(random.below(MODELS.len())).copied().unwrap_or(("shop", "m1"));
    let mut parts = Vec::new();
    for _ in 0..random.below(3) {
        parts.push(part::thought(random, by));
    }
    for _ in 0..random.below(3) {
        parts.push(part::shown(random));
    }
    for _ in 0..random.below(4) {
        let id = part::id(random);
        parts.push(part::call(random, by, &id));
        calls.open.push(id);
    }
    if random.chance(15) {
        parts.push(part::thought(random, by));
    }
    if random.chance(10) && parts.len() > 1 {
        let at = random.below(parts.len());
        let part = parts.remove(at);
        parts.push(part);
    }
    let content = if random.chance(3) { "null".to_owned() } else { format!("[{}]", parts.join(",")) };
    let stop = part::any(random, &["stop", "toolUse", "length", "aborted", "error"]);
    let usage = if random.chance(50) { r#","usage":{"input":900,"output":100,"totalTokens":1000}"# } else { "" };
    let (provider, model) = by;
    format!(
        r#"{{"role":"assistant","content":{content},"provider":"{provider}","model":"{model}","stopReason":"{stop}"{usage}}}"#
    )
}

fn result(random: &mut Random, id: &str) -> String {
    let content = content(random);
    let is_error = random.chance(20);
    let id = if random.chance(3) { Value::Null } else { Value::from(id) };
    format!(r#"{{"role":"toolResult","toolCallId":{id},"toolName":"read","content":{content},"isError":{is_error}}}"#)
}

/// Content of a message that no model made; in damaged ones, even thoughts and calls.
pub(super) fn content(random: &mut Random) -> String {
    match random.below(20) {
        0..=4 => part::text(random).to_owned(),
        5 => "[]".to_owned(),
        6 => {
            let by = ("", "");
            format!("[{},{}]", part::thought(random, by), part::call(random, by, "call_1"))
        }
        _ => {
            let parts: Vec<String> = (0..1 + random.below(3)).map(|_| part::shown(random)).collect();
            format!("[{}]", parts.join(","))
        }
    }
}
