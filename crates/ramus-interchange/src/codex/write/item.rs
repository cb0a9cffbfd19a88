//! Items of the conversation: messages, answers with their calls, outcomes, summaries.

use ramus_model::json::Raw;

use super::{Writer, line};
use crate::compose::Composer;
use crate::error::Error;
use crate::mapping::call_id;
use crate::step::{self, Answer, Part, Step};

impl Writer<'_> {
    pub(super) fn message(&mut self, step: &Step<'_>, role: &str, parts: &[Part<'_>]) -> Result<(), Error> {
        let said = if role == "assistant" { "output_text" } else { "input_text" };
        let shown = parts.iter().filter(|part| matches!(part, Part::Text(_) | Part::Image { .. }));
        if shown.clone().count() < parts.len() {
            self.losses.lose("parts that are neither text nor a picture");
        }
        if shown.clone().count() == 0 {
            self.losses.lose("messages without text");
            return Ok(());
        }
        self.item(step, |payload| {
            payload.text("type", "message");
            payload.text("role", role);
            payload.array("content", |content| shown.for_each(|part| piece(content, part, said)));
        })
    }

    pub(super) fn answer(&mut self, step: &Step<'_>, answer: &Answer<'_>) -> Result<(), Error> {
        self.losses.cost(answer);
        self.losses.ending(answer);
        self.asked(step, answer)?;
        for part in &answer.parts {
            match part {
                Part::Text(text) if text.is_blank() => {}
                Part::Text(text) => {
                    self.message(step, "assistant", std::slice::from_ref(part))?;
                    self.event(step, "agent_message", &text.text().unwrap_or_default())?;
                }
                Part::Call { id, name, arguments } => self.item(step, |payload| {
                    payload.text("type", "function_call");
                    payload.raw("name", *name);
                    let spelled = arguments.map_or("{}".into(), |raw| String::from_utf8_lossy(raw.bytes()));
                    payload.text("arguments", &spelled);
                    payload.text("call_id", &call_id(&id.text().unwrap_or_default()));
                })?,
                Part::Thinking { signature, .. } => self.thought(step, *signature)?,
                Part::Image { .. } | Part::Unknown => {
                    self.losses.lose("parts of answers that are neither text, thought nor call");
                }
            }
        }
        self.counted(step, &answer.usage)
    }

    /// Writes a thought. Only one that OpenAI sealed can be sent back.
    fn thought(&mut self, step: &Step<'_>, seal: Option<Raw<'_>>) -> Result<(), Error> {
        let item = seal.and_then(Raw::text).map(|seal| seal.into_owned());
        let is_item = |item: &Raw<'_>| item.field("type").and_then(Raw::text).as_deref() == Some("reasoning");
        let Some(item) = item.as_deref().and_then(|item| Raw::parse(item.as_bytes())).filter(is_item) else {
            self.losses.lose("thoughts of a model that Codex cannot verify");
            return Ok(());
        };
        let mut composer = line("response_item", &step.iso(), self.ordinal);
        composer.raw("payload", item);
        self.composed(composer)
    }

    pub(super) fn output(&mut self, step: &Step<'_>, result: &step::Result<'_>) -> Result<(), Error> {
        let only_text = match result.parts.as_slice() {
            [Part::Text(text)] => Some(*text),
            _ => None,
        };
        if result.is_error {
            self.losses.lose("that calls failed: Codex knows only what they gave");
        }
        self.item(step, |payload| {
            payload.text("type", "function_call_output");
            payload.text("call_id", &call_id(&result.call));
            match only_text {
                Some(text) => payload.raw("output", text),
                None => payload.array("output", |output| {
                    result.parts.iter().for_each(|part| piece(output, part, "input_text"));
                }),
            }
        })
    }

    /// Writes a summary, and with it all that is left of what came before: itself.
    pub(super) fn compaction(&mut self, step: &Step<'_>, summary: Raw<'_>) -> Result<(), Error> {
        let mut composer = line("compacted", &step.iso(), self.ordinal);
        composer.object("payload", |payload| {
            payload.raw("message", summary);
            payload.array("replacement_history", |history| {
                history.object("", |item| {
                    item.text("type", "message");
                    item.text("role", "user");
                    item.array("content", |content| piece(content, &Part::Text(summary), "input_text"));
                });
            });
        });
        self.composed(composer)
    }
}

/// Writes text or a picture.
fn piece(content: &mut Composer<'_>, part: &Part<'_>, said: &str) {
    match part {
        Part::Text(text) => content.object("", |piece| {
            piece.text("type", said);
            piece.raw("text", *text);
        }),
        Part::Image { mime, data } => content.object("", |piece| {
            piece.text("type", "input_image");
            let (mime, data) = (mime.text().unwrap_or_default(), data.text().unwrap_or_default());
            piece.text("image_url", &format!("data:{mime};base64,{data}"));
        }),
        _ => {}
    }
}
