//! Which parts of a stored message go out, as the bytes they are stored in.

use std::collections::HashSet;

use super::{Call, text_part};
use crate::json::{Node, Object, Shape};

/// What stands for a picture where there can be none.
const PICTURE: &str = "[A picture.]";

/// What becomes of pictures.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pictures {
    /// They go out.
    Shown,
    /// A line says that there was one.
    Described,
}

/// What a part is.
enum Kind {
    /// Text that can be seen.
    Text,
    Picture,
    Thought,
    Call(Call),
    /// Something that only encoders can judge.
    Other,
    /// Nothing that can go out: blank text, a call that cannot be answered, no part at all.
    Nothing,
}

/// The parts of a message that no model made: thoughts and calls have no place in it.
pub(super) fn shown(content: Option<Node<'_, '_>>, pictures: Pictures) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    each(content, |part, kind| match kind {
        Kind::Picture if pictures == Pictures::Described => parts.push(text_part(PICTURE)),
        Kind::Text | Kind::Picture | Kind::Other => parts.push(part.to_vec()),
        Kind::Thought | Kind::Call(_) | Kind::Nothing => {}
    });
    parts
}

/// The parts of an answer, and its calls. A call that repeats an id of the same answer is the same call.
pub(super) fn answered(content: Option<Node<'_, '_>>) -> (Vec<Vec<u8>>, Vec<Call>) {
    let (mut parts, mut calls) = (Vec::new(), Vec::new());
    let mut known = HashSet::new();
    each(content, |part, kind| match kind {
        // No format lets a model show pictures.
        Kind::Picture => parts.push(text_part(PICTURE)),
        Kind::Text | Kind::Thought | Kind::Other => parts.push(part.to_vec()),
        Kind::Call(call) => {
            if known.insert(call.id.clone()) {
                calls.push(call);
                parts.push(part.to_vec());
            }
        }
        Kind::Nothing => {}
    });
    (parts, calls)
}

fn each(content: Option<Node<'_, '_>>, mut take: impl FnMut(&[u8], Kind)) {
    let Some(content) = content else { return };
    if content.shape() == Shape::Text {
        // Content that is one string is a text like any other.
        let part = [b"{\"type\":\"text\",\"text\":", content.raw().bytes(), b"}"].concat();
        if !content.raw().is_blank() {
            take(&part, Kind::Text);
        }
        return;
    }
    for part in content.items() {
        take(part.raw().bytes(), kind(part));
    }
}

fn kind(part: Node<'_, '_>) -> Kind {
    let Some(part) = part.object() else { return Kind::Nothing };
    let Some(name) = part.text("type") else { return Kind::Nothing };
    match &*name {
        "text" => match part.field("text").filter(|text| text.shape() == Shape::Text) {
            Some(text) if !text.is_blank() => Kind::Text,
            _ => Kind::Nothing,
        },
        "image" => Kind::Picture,
        "thinking" => Kind::Thought,
        "toolCall" | "tool_use" => call(&part).map_or(Kind::Nothing, Kind::Call),
        _ => Kind::Other,
    }
}

/// A call without an id or a name cannot be answered.
fn call(part: &Object<'_>) -> Option<Call> {
    let member = |name| part.text(name).filter(|text| !text.is_empty()).map(|text| text.into_owned());
    Some(Call { id: member("id")?, name: member("name")? })
}
