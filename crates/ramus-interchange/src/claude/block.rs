//! Blocks of content, as the Anthropic API spells them, into parts.

use ramus_model::json::{Object, Raw, Shape};

use crate::compose::Composer;

/// Writes the parts of a message's content, which is one text or an array of blocks.
pub(super) fn parts(composer: &mut Composer<'_>, content: Option<Raw<'_>>) {
    composer.array("content", |parts| match content {
        Some(text) if text.shape() == Shape::Text => text_part(parts, text),
        Some(blocks) => blocks.items().for_each(|block| part(parts, block)),
        None => {}
    });
}

/// Writes one block as a part. Blocks that the log has no word for stay what they are.
pub(super) fn part(parts: &mut Composer<'_>, block: Raw<'_>) {
    let Some(object) = block.object() else {
        if block.shape() == Shape::Text {
            text_part(parts, block);
        }
        return;
    };
    let text = |name: &str| object.field(name).filter(|value| value.shape() == Shape::Text);
    match &*object.text("type").unwrap_or_default() {
        "text" if text("text").is_some() => {
            if let Some(text) = text("text") {
                text_part(parts, text);
            }
        }
        "thinking" => thinking(parts, &object),
        "redacted_thinking" => redacted(parts, &object),
        "tool_use" => call(parts, &object),
        "image" if image(parts, &object) => {}
        _ => parts.raw("", block),
    }
}

fn text_part(parts: &mut Composer<'_>, text: Raw<'_>) {
    parts.object("", |part| {
        part.text("type", "text");
        part.raw("text", text);
    });
}

fn thinking(parts: &mut Composer<'_>, block: &Object<'_>) {
    parts.object("", |part| {
        part.text("type", "thinking");
        match block.field("thinking").filter(|text| text.shape() == Shape::Text) {
            Some(text) => part.raw("thinking", text),
            None => part.text("thinking", ""),
        }
        if let Some(signature) = block.field("signature") {
            part.raw("thinkingSignature", signature);
        }
    });
}

fn redacted(parts: &mut Composer<'_>, block: &Object<'_>) {
    parts.object("", |part| {
        part.text("type", "thinking");
        part.text("thinking", "");
        part.flag("redacted", true);
        if let Some(data) = block.field("data") {
            part.raw("thinkingSignature", data);
        }
    });
}

fn call(parts: &mut Composer<'_>, block: &Object<'_>) {
    parts.object("", |part| {
        part.text("type", "toolCall");
        for name in ["id", "name"] {
            match block.field(name).filter(|value| value.shape() == Shape::Text) {
                Some(value) => part.raw(name, value),
                None => part.text(name, ""),
            }
        }
        match block.field("input").filter(|input| input.shape() == Shape::Object) {
            Some(input) => part.raw("arguments", input),
            None => part.object("arguments", |_| {}),
        }
    });
}

/// Writes a picture that is in the file; one that is elsewhere stays what it is.
fn image(parts: &mut Composer<'_>, block: &Object<'_>) -> bool {
    let source = block.field("source").and_then(Raw::object);
    let found = source.as_ref().and_then(|source| Some((source.field("data")?, source.field("media_type")?)));
    let Some((data, mime)) = found.filter(|(data, mime)| [data, mime].iter().all(|raw| raw.shape() == Shape::Text))
    else {
        return false;
    };
    parts.object("", |part| {
        part.text("type", "image");
        part.raw("data", data);
        part.raw("mimeType", mime);
    });
    true
}
