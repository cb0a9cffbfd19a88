//! Answers: a line for each block, as Claude Code writes them.

use super::Writer;
use crate::compose::Composer;
use crate::emit::hash;
use crate::error::Error;
use crate::mapping::{call_id, uuid_of};
use crate::step::{Answer, Part, Step};

impl Writer<'_> {
    /// Writes an answer, a line for each block, as Claude Code does.
    pub(super) fn answer(&mut self, step: &Step<'_>, uuid: String, answer: &Answer<'_>) -> Result<Vec<String>, Error> {
        let is_own = answer.api == "anthropic-messages";
        let mut uuids = Vec::new();
        let mut parent = self.hangs_from(step).map(str::to_owned);
        let written: Vec<_> = answer.parts.iter().filter(|part| self.is_written(part, is_own)).collect();
        self.losses.cost(answer);
        self.losses.ending(answer);
        self.losses.provider(answer, "anthropic");
        if written.is_empty() {
            return self.nothing("answers without content");
        }
        let response = answer.response.as_deref().filter(|id| id.starts_with("msg_"));
        let message_id =
            response.map_or_else(|| format!("msg_{}", hash(&format!("{}:{}", self.session, step.id))), str::to_owned);
        for (at, part) in written.into_iter().enumerate() {
            let own = if at == 0 { uuid.clone() } else { uuid_of(&[&self.session, &step.id, &at.to_string()]) };
            let mut composer = self.begin("assistant", &own, parent.as_deref(), step);
            composer.object("message", |message| {
                message.text("id", &message_id);
                message.text("type", "message");
                message.text("role", "assistant");
                message.text("model", &answer.model);
                message.array("content", |blocks| answer_block(blocks, part));
                message.text("stop_reason", stop_reason(&answer.stop));
                message.null("stop_sequence");
                message.object("usage", |usage| {
                    usage.number("input_tokens", answer.usage.input);
                    usage.number("cache_creation_input_tokens", answer.usage.cache_write);
                    usage.number("cache_read_input_tokens", answer.usage.cache_read);
                    usage.number("output_tokens", answer.usage.output);
                });
            });
            composer.number("apiBlockIndex", at);
            self.composed(composer)?;
            parent = Some(own.clone());
            uuids.push(own);
        }
        Ok(uuids)
    }

    /// Says whether a part can be written. Thoughts are accepted only with a signature of the same kind of model.
    fn is_written(&mut self, part: &Part<'_>, is_own: bool) -> bool {
        match part {
            Part::Text(text) => !text.is_blank(),
            Part::Call { .. } => true,
            Part::Thinking { signature: Some(_), .. } if is_own => true,
            Part::Thinking { .. } => {
                self.losses.lose("thoughts of a model that Claude cannot verify");
                false
            }
            _ => {
                self.losses.lose("parts of answers that are neither text, thought nor call");
                false
            }
        }
    }
}

fn answer_block(blocks: &mut Composer<'_>, part: &Part<'_>) {
    blocks.object("", |block| match part {
        Part::Thinking { signature, redacted: true, .. } => {
            block.text("type", "redacted_thinking");
            if let Some(data) = signature {
                block.raw("data", *data);
            }
        }
        Part::Thinking { text, signature, .. } => {
            block.text("type", "thinking");
            block.raw("thinking", *text);
            if let Some(signature) = signature {
                block.raw("signature", *signature);
            }
        }
        Part::Call { id, name, arguments } => {
            block.text("type", "tool_use");
            block.text("id", &call_id(&id.text().unwrap_or_default()));
            block.raw("name", *name);
            match arguments {
                Some(arguments) => block.raw("input", *arguments),
                None => block.object("input", |_| {}),
            }
        }
        Part::Text(text) => {
            block.text("type", "text");
            block.raw("text", *text);
        }
        Part::Image { .. } | Part::Unknown => {}
    });
}

fn stop_reason(reason: &str) -> &'static str {
    match reason {
        "toolUse" => "tool_use",
        "length" => "max_tokens",
        _ => "end_turn",
    }
}
