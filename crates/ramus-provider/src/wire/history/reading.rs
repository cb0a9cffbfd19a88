//! Reading stored messages: which of their parts go out, and as what.

use std::borrow::Cow;

use ramus_model::context::provider::{NO_OUTPUT, Outgoing};
use ramus_model::json::{Object, Raw, Shape};
use ramus_model::message::ToolResult;
use ramus_model::request::Request;

use super::{Answer, Call, Piece, Rules, Thought};
use crate::wire::images::{self, Sight};
use crate::wire::json::{Text, is_clean};
use crate::wire::names::{self, CallIds};

/// What must be remembered while messages are read.
pub(super) struct Reading<'a> {
    request: &'a Request,
    sight: Sight,
    rules: Rules,
    ids: CallIds,
    /// The calls of the last message that have no result yet: the stored id, the one that goes out, and the tool.
    open: Vec<(Cow<'a, str>, String, String)>,
}

impl<'a> Reading<'a> {
    pub(super) fn new(request: &'a Request, sight: Sight, rules: Rules) -> Self {
        Self { request, sight, rules, ids: CallIds::default(), open: Vec::new() }
    }

    pub(super) fn pieces(&mut self, message: &'a Outgoing, is_model: bool) -> Vec<Piece<'a>> {
        let is_own = message.by.as_ref().is_some_and(|by| names::is_same_model(&self.request.model, by));
        let mut pieces = Vec::with_capacity(message.parts.len());
        for part in &message.parts {
            pieces.extend(Object::parse(part).and_then(|part| self.piece(&part, is_model, is_own)));
        }
        if is_model {
            self.open = pieces.iter().filter_map(open_call).collect();
        }
        pieces
    }

    fn piece(&mut self, part: &Object<'a>, is_model: bool, is_own: bool) -> Option<Piece<'a>> {
        match &*part.text("type")? {
            "text" => {
                let text = Text::Stored(part.field("text").filter(|text| text.shape() == Shape::Text)?);
                (!text.is_blank()).then_some(Piece::Text(text))
            }
            // No format lets a model show pictures.
            "image" if is_model => Some(Piece::Text(Text::Own(Cow::Borrowed("[A picture.]")))),
            "image" => Some(images::read(part, self.sight)),
            "thinking" if is_model && is_own => thought(part).filter(self.rules.keeps).map(Piece::Thought),
            "thinking" => None,
            "toolCall" if is_model => self.call(part, "arguments", is_own).map(Piece::Call),
            "tool_use" if is_model => self.call(part, "input", is_own).map(Piece::Call),
            "toolCall" | "tool_use" => None,
            other => {
                Some(Piece::Text(Text::Own(Cow::Owned(format!("[Content of type {other}, which cannot be shown.]")))))
            }
        }
    }

    fn call(&mut self, part: &Object<'a>, arguments: &str, is_own: bool) -> Option<Call<'a>> {
        let (stored, name) = (part.text("id")?, part.text("name")?);
        if stored.is_empty() || name.is_empty() {
            return None;
        }
        let is_sealed = |seal: &Raw<'_>| is_own && seal.bytes().len() > 2 && is_clean(seal.bytes());
        Some(Call {
            id: self.ids.next(&stored),
            name: names::tool(&name).into_owned(),
            arguments: part.field(arguments).filter(|raw| raw.shape() == Shape::Object),
            seal: part.field("thoughtSignature").filter(|seal| seal.shape() == Shape::Text).filter(is_sealed),
            stored,
        })
    }

    pub(super) fn ends_in_thought(&self, pieces: &[Piece<'a>]) -> bool {
        match pieces {
            [.., Piece::Text(_), Piece::Thought(thought)] => !(self.rules.seals_text && thought.is_only_seal()),
            [.., Piece::Thought(_)] => true,
            _ => false,
        }
    }

    /// A result whose call is not open belongs to nothing.
    pub(super) fn answer(&mut self, message: &'a Outgoing, result: &ToolResult) -> Option<Answer<'a>> {
        let at = self.open.iter().position(|(stored, ..)| *stored == result.call)?;
        let (_, id, name) = self.open.remove(at);
        let mut pieces = self.pieces(message, false);
        if pieces.is_empty() {
            pieces.push(Piece::Text(Text::Own(Cow::Borrowed(NO_OUTPUT))));
        }
        Some(Answer { id, name, is_error: result.is_error, pieces })
    }
}

fn open_call<'a>(piece: &Piece<'a>) -> Option<(Cow<'a, str>, String, String)> {
    if let Piece::Call(call) = piece { Some((call.stored.clone(), call.id.clone(), call.name.clone())) } else { None }
}

/// A thought that is no Unicode cannot go back as it came, so it does not go back.
fn thought<'a>(part: &Object<'a>) -> Option<Thought<'a>> {
    let text = part.field("thinking").filter(|text| text.shape() == Shape::Text && is_clean(text.bytes()))?;
    let seal = part.field("thinkingSignature").filter(|seal| seal.shape() == Shape::Text && seal.bytes().len() > 2);
    if seal.is_some_and(|seal| !is_clean(seal.bytes())) {
        return None;
    }
    Some(Thought { text, seal, is_redacted: part.field("redacted").and_then(Raw::flag) == Some(true) })
}
