//! Messages of a directory into messages of the log.

use hashbrown::HashMap;
use ramus_model::json::{Object, Raw, Shape};

use crate::compose::Composer;
use crate::mapping::Tokens;

/// What a message with outcomes of calls becomes: a message for each of them.
pub(super) enum Block<'a> {
    /// What a call gave, and what stands beside it.
    Outcome(Object<'a>, Vec<Raw<'a>>),
    /// What a person said beside outcomes.
    Said(Vec<Raw<'a>>),
}

/// The outcomes of calls in a message; none at all when it has none. What else a tool says belongs to the outcome before it,
/// and what else a person says comes behind them.
pub(super) fn outcomes<'a>(message: &Object<'a>) -> Vec<Block<'a>> {
    let is_tool = message.text("role").as_deref() == Some("tool");
    let mut found: Vec<Block<'a>> = Vec::new();
    let mut beside = Vec::new();
    if message.text("role").as_deref() == Some("assistant") {
        return found;
    }
    for block in message.field("content").into_iter().flat_map(Raw::items) {
        let result = block.object().filter(|block| block.text("type").as_deref() == Some("tool_result"));
        match (result, found.last_mut()) {
            (Some(result), _) => found.push(Block::Outcome(result, Vec::new())),
            (None, Some(Block::Outcome(_, with))) if is_tool => with.push(block),
            _ => beside.push(block),
        }
    }
    if beside.is_empty() || found.is_empty() {
        return found;
    }
    match found.first_mut() {
        Some(Block::Outcome(_, with)) if is_tool => drop(with.splice(..0, beside)),
        _ => found.push(Block::Said(beside)),
    }
    found
}

/// Writes what a call gave.
pub(super) fn outcome(
    composer: &mut Composer<'_>,
    result: &Object<'_>,
    beside: &[Raw<'_>],
    names: &mut HashMap<String, String>,
) {
    let call = result.text("toolUseId").or_else(|| result.text("tool_use_id")).unwrap_or_default();
    composer.object("message", |said| {
        said.text("role", "toolResult");
        said.text("toolCallId", &call);
        said.text("toolName", &names.remove(&*call).unwrap_or_default());
        said.array("content", |parts| {
            given(parts, result.field("result").or_else(|| result.field("content")));
            beside.iter().for_each(|block| part(parts, *block));
        });
        said.flag("isError", result.field("isError").and_then(Raw::flag).unwrap_or_default());
    });
}

/// Writes what a result holds: text, blocks, or any other value as it is spelled.
fn given(parts: &mut Composer<'_>, result: Option<Raw<'_>>) {
    let is_block = |block: Raw<'_>| block.field("type").is_some_and(|kind| kind.shape() == Shape::Text);
    match result {
        None => {}
        Some(text) if text.shape() == Shape::Text => text_part(parts, Some(text)),
        Some(null) if null.is_null() => {}
        Some(list) if list.shape() == Shape::Array && list.items().all(is_block) => {
            list.items().for_each(|block| part(parts, block));
        }
        Some(other) => parts.object("", |part| {
            part.text("type", "text");
            part.text("text", &String::from_utf8_lossy(other.bytes()));
        }),
    }
}

/// Writes what stood beside outcomes and is none.
pub(super) fn beside(composer: &mut Composer<'_>, blocks: &[Raw<'_>]) {
    composer.object("message", |said| {
        said.text("role", "user");
        said.array("content", |parts| blocks.iter().for_each(|block| part(parts, *block)));
    });
}

/// Writes what a person or the system said.
pub(super) fn said(composer: &mut Composer<'_>, is_system: bool, message: &Object<'_>) {
    composer.object("message", |said| {
        said.text("role", if is_system { "system" } else { "user" });
        said.array("content", |parts| content(parts, message));
    });
}

/// Writes what a model answered, and remembers which tools it calls.
pub(super) fn answer(composer: &mut Composer<'_>, message: &Object<'_>, names: &mut HashMap<String, String>) {
    for call in message.field("content").into_iter().flat_map(Raw::items).filter_map(Raw::object) {
        if call.text("type").as_deref() == Some("tool_use") {
            let text = |name: &str| call.text(name).unwrap_or_default().into_owned();
            names.insert(text("id"), text("name"));
        }
    }
    // A message says its model as one object, or its parts beside each other.
    let model = message.field("model").filter(|model| model.shape() == Shape::Object);
    let named = |inner: &str, name: &str| {
        let inner = model.and_then(|model| model.field(inner)?.text());
        inner.or_else(|| message.text(name)).unwrap_or_default()
    };
    composer.object("message", |said| {
        said.text("role", "assistant");
        said.array("content", |parts| content(parts, message));
        said.text("api", "directory");
        said.text("provider", &named("providerID", "provider"));
        said.text("model", &named("modelID", "model"));
        usage(message).compose(said);
        said.text("stopReason", stop_reason(&message.text("finish_reason").unwrap_or_default()));
        if let Some(error) = message.field("error").filter(|error| error.shape() == Shape::Text) {
            said.raw("errorMessage", error);
        }
    });
}

fn stop_reason(finish: &str) -> &'static str {
    match finish {
        "tool_use" => "toolUse",
        "length" | "max_tokens" => "length",
        "error" => "error",
        "aborted" => "aborted",
        _ => "stop",
    }
}

fn content(parts: &mut Composer<'_>, message: &Object<'_>) {
    text_part(parts, message.field("content"));
    message.field("content").into_iter().flat_map(Raw::items).for_each(|block| part(parts, block));
}

fn part(parts: &mut Composer<'_>, block: Raw<'_>) {
    let Some(object) = block.object() else { return };
    match &*object.text("type").unwrap_or_default() {
        "text" => text_part(parts, object.field("text")),
        "tool_use" => {
            let text = |name: &str| object.text(name).unwrap_or_default().into_owned();
            parts.object("", |part| {
                part.text("type", "toolCall");
                part.text("id", &text("id"));
                part.text("name", &text("name"));
                match object.field("input").filter(|input| input.shape() == Shape::Object) {
                    Some(input) => part.raw("arguments", input),
                    None => part.object("arguments", |_| {}),
                }
            });
        }
        "image" if picture(parts, &object) => {}
        _ => parts.raw("", block),
    }
}

/// Writes a picture that is there as base64. Says whether it is one.
fn picture(parts: &mut Composer<'_>, block: &Object<'_>) -> bool {
    let source = block.field("source").and_then(Raw::object).unwrap_or_default();
    let text = |name: &str| source.field(name).filter(|value| value.shape() == Shape::Text);
    let (Some(data), Some(mime)) = (text("data"), text("media_type")) else { return false };
    parts.object("", |part| {
        part.text("type", "image");
        part.raw("data", data);
        part.raw("mimeType", mime);
    });
    true
}

fn text_part(parts: &mut Composer<'_>, text: Option<Raw<'_>>) {
    if let Some(text) = text.filter(|text| text.shape() == Shape::Text) {
        parts.object("", |part| {
            part.text("type", "text");
            part.raw("text", text);
        });
    }
}

fn usage(message: &Object<'_>) -> Tokens {
    let usage = message.field("usage").and_then(Raw::object).unwrap_or_default();
    let count = |name: &str| usage.field(name).and_then(Raw::unsigned).unwrap_or_default();
    Tokens {
        input: count("promptTokens"),
        output: count("completionTokens"),
        cost: message.field("cost").and_then(Raw::float),
        ..Tokens::default()
    }
}
