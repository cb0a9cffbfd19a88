//! Writing: a document that `goose session import` takes.

use std::io::Write;

use ramus_model::json::{Raw, quote};
use ramus_model::time;

use super::AGENT;
use crate::arrange::arranged;
use crate::compose::Composer;
use crate::error::Error;
use crate::losses::Losses;
use crate::mapping::{call_id, uuid_of};
use crate::origin::{restore, with_members};
use crate::passage::Passage;
use crate::sink::{Report, Start};
use crate::step::{self, Answer, Part, Step, What};
use crate::surrogates;

/// Writes a passage.
pub(super) fn write(passage: &dyn Passage, out: &mut dyn Write) -> Result<Report, Error> {
    // What comes before the last summary is not sent any more, which every message says for itself.
    let (mut steps, mut sent_from) = (0_u64, 0);
    arranged(passage, AGENT, &mut |step| {
        steps += 1;
        if matches!(step.what, What::Compaction { .. }) {
            sent_from = steps;
        }
        Ok(())
    })?;
    let start = passage.start();
    let title = start.title.clone();
    let mut writer = Writer {
        out,
        start,
        at: 0,
        sent_from,
        begun: false,
        info: None,
        title,
        messages: 0,
        losses: Losses::default(),
    };
    arranged(passage, AGENT, &mut |step| writer.step(step))?;
    writer.finish()
}

struct Writer<'w> {
    out: &'w mut dyn Write,
    start: &'w Start,
    /// Which step this is, from 1.
    at: u64,
    /// The first step that a model is sent.
    sent_from: u64,
    begun: bool,
    info: Option<Vec<u8>>,
    title: Option<String>,
    messages: u64,
    losses: Losses,
}

impl Writer<'_> {
    fn step(&mut self, step: &Step<'_>) -> Result<(), Error> {
        self.losses.entry();
        self.at += 1;
        if let Some(records) = restore(step.raw, AGENT) {
            return records.iter().try_for_each(|record| self.restored(record));
        }
        match &step.what {
            What::User(parts) | What::Note(parts) => {
                self.fresh(step, "user", true, |items, losses| said(items, parts, losses))
            }
            What::Result(result) => self.fresh(step, "user", true, |items, losses| outcome(items, result, losses)),
            What::Answer(answer) => self.answer(step, answer),
            What::Compaction { summary, .. } => {
                self.fresh(step, "user", false, |items, losses| said(items, &[Part::Text(*summary)], losses))
            }
            What::Title(title) => {
                self.title = title.text().map(|title| title.into_owned());
                Ok(())
            }
            What::Other(kind) if kind.starts_with("ramus.") => {
                self.losses.own(kind);
                Ok(())
            }
            What::Records => self.nothing("records that only another agent understands"),
            What::System => self.nothing("instructions: goose has its own"),
            What::Model { .. } => self.nothing("a change of model: each answer names its own"),
            What::Other(kind) => {
                self.losses.kind(kind);
                Ok(())
            }
        }
    }

    fn nothing(&mut self, why: &str) -> Result<(), Error> {
        self.losses.lose(why);
        Ok(())
    }

    /// Writes a message as it was, except that a later summary may have taken its place.
    fn restored(&mut self, record: &[u8]) -> Result<(), Error> {
        let Some(object) = Raw::parse(record).and_then(Raw::object) else { return self.nothing("damaged messages") };
        if object.field("working_dir").is_some() && object.field("role").is_none() {
            self.info = self.info.take().or_else(|| Some(record.to_vec()));
            self.losses.record(true);
            return Ok(());
        }
        let metadata = object.field("metadata").filter(|_| self.at < self.sent_from);
        let sent = metadata.and_then(|metadata| metadata.field("agentVisible")).and_then(Raw::flag).unwrap_or_default();
        let hidden = metadata
            .filter(|_| sent)
            .and_then(|metadata| with_members(metadata.bytes(), &[("agentVisible", Some(b"false"))]));
        let changed = hidden.and_then(|metadata| with_members(record, &[("metadata", Some(&metadata))]));
        self.message(changed.as_deref().unwrap_or(record), true)
    }

    fn message(&mut self, message: &[u8], original: bool) -> Result<(), Error> {
        let front: &[u8] = if self.begun { b",\n" } else { b"{\"conversation\":[\n" };
        self.begun = true;
        self.messages += 1;
        self.out.write_all(front)?;
        self.out.write_all(message)?;
        self.losses.record(original);
        Ok(())
    }

    fn fresh(
        &mut self,
        step: &Step<'_>,
        role: &str,
        shown: bool,
        content: impl FnOnce(&mut Composer<'_>, &mut Losses),
    ) -> Result<(), Error> {
        let mut composer = self.begin(step, role);
        composer.array("content", |items| content(items, &mut self.losses));
        composer.object("metadata", |metadata| self.visibility(metadata, shown));
        self.composed(composer)
    }

    fn begin(&self, step: &Step<'_>, role: &str) -> Composer<'static> {
        let id = if step.id.starts_with("msg_") {
            step.id.clone().into_owned()
        } else {
            format!("msg_{}", uuid_of(&[&self.start.id, &step.id]))
        };
        let mut composer = Composer::default();
        composer.text("id", &id);
        composer.text("role", role);
        composer.number("created", step.millis().div_euclid(1000));
        composer
    }

    fn visibility(&self, metadata: &mut Composer<'_>, shown: bool) {
        metadata.flag("userVisible", shown);
        metadata.flag("agentVisible", self.at >= self.sent_from);
    }

    fn composed(&mut self, composer: Composer<'_>) -> Result<(), Error> {
        let mut message = b"{".to_vec();
        message.extend(composer.finish().0);
        message.push(b'}');
        surrogates::replace(&mut message, &mut self.losses);
        self.message(&message, false)
    }

    fn answer(&mut self, step: &Step<'_>, answer: &Answer<'_>) -> Result<(), Error> {
        let mut composer = self.begin(step, "assistant");
        composer.array("content", |items| answered(items, answer, &mut self.losses));
        let usage = answer.usage;
        self.losses.ending(answer);
        composer.object("metadata", |metadata| {
            self.visibility(metadata, true);
            metadata.object("inference", |inference| {
                inference.text("provider", &answer.provider);
                inference.text("requestedModel", &answer.model);
            });
            metadata.object("usage", |counts| {
                counts.number("inputTokens", usage.prompt());
                counts.number("outputTokens", usage.output);
                counts.number("totalTokens", usage.tokens());
                counts.number("cacheReadTokens", usage.cache_read);
                counts.number("cacheWriteTokens", usage.cache_write);
                if let Some(micros) = usage.cost_micros.filter(|micros| *micros > 0) {
                    counts.number("cost", micros as f64 / 1e6);
                }
            });
        });
        self.composed(composer)
    }

    /// Ends the document with what is known about the session.
    fn finish(mut self) -> Result<Report, Error> {
        if !self.begun {
            self.out.write_all(b"{\"conversation\":[\n")?;
        }
        self.out.write_all(b"\n]")?;
        let info = self.info.take().and_then(|info| self.known(&info)).unwrap_or_else(|| self.new_info());
        // The members of the object, in that of the document.
        self.out.write_all(b",\n")?;
        self.out.write_all(info.get(1..).unwrap_or_default())?;
        self.out.write_all(b"\n")?;
        Ok(self.losses.finish())
    }

    fn known(&self, info: &[u8]) -> Option<Vec<u8>> {
        let object = Raw::parse(info)?.object()?;
        let mut changes: Vec<(&str, Option<Vec<u8>>)> = Vec::new();
        for (name, value) in [("working_dir", Some(&self.start.cwd)), ("name", self.title.as_ref())] {
            if let Some(value) = value.filter(|value| object.text(name).as_deref() != Some(value)) {
                let mut text = Vec::new();
                quote(value, &mut text);
                changes.push((name, Some(text)));
            }
        }
        let changes: Vec<_> = changes.iter().map(|(name, value)| (*name, value.as_deref())).collect();
        let mut info = with_members(info, &changes)?.trim_ascii_end().to_vec();
        // The database counts messages when it is asked; an import wants to be told.
        if object.field("message_count").is_none() {
            info.splice(..1, format!("{{\"message_count\":{},", self.messages).into_bytes());
        }
        Some(info)
    }

    fn new_info(&self) -> Vec<u8> {
        let created = time::format(time::parse(&self.start.created).unwrap_or_default());
        let mut composer = Composer::default();
        composer.text("id", self.start.id.strip_prefix("goose-").unwrap_or(&self.start.id));
        composer.text("working_dir", &self.start.cwd);
        composer.text("name", self.title.as_deref().unwrap_or("Imported session"));
        composer.flag("user_set_name", self.title.is_some());
        composer.text("session_type", "user");
        composer.text("created_at", &created);
        composer.text("updated_at", &created);
        composer.object("extension_data", |_| {});
        composer.number("message_count", self.messages);
        composer.text("goose_mode", "auto");
        let mut info = b"{".to_vec();
        info.extend(composer.finish().0);
        info.push(b'}');
        info
    }
}

/// Writes what a person said.
fn said(items: &mut Composer<'_>, parts: &[Part<'_>], losses: &mut Losses) {
    for part in parts {
        match part {
            Part::Text(text) => items.object("", |item| {
                item.text("type", "text");
                item.raw("text", *text);
            }),
            Part::Image { mime, data } => items.object("", |item| {
                item.text("type", "image");
                item.raw("data", *data);
                item.raw("mimeType", *mime);
            }),
            _ => losses.lose("parts that are neither text nor a picture"),
        }
    }
}

fn answered(items: &mut Composer<'_>, answer: &Answer<'_>, losses: &mut Losses) {
    for part in &answer.parts {
        match part {
            Part::Thinking { signature: Some(data), redacted: true, .. } => items.object("", |item| {
                item.text("type", "redactedThinking");
                item.raw("data", *data);
            }),
            Part::Thinking { text, signature, .. } => items.object("", |item| {
                item.text("type", "thinking");
                item.raw("thinking", *text);
                match signature {
                    Some(signature) => item.raw("signature", *signature),
                    None => item.text("signature", ""),
                }
            }),
            Part::Call { id, name, arguments } => items.object("", |item| {
                item.text("type", "toolRequest");
                item.text("id", &call_id(&id.text().unwrap_or_default()));
                item.object("toolCall", |call| {
                    call.text("status", "success");
                    call.object("value", |value| {
                        value.raw("name", *name);
                        match arguments {
                            Some(arguments) => value.raw("arguments", *arguments),
                            None => value.object("arguments", |_| {}),
                        }
                    });
                });
            }),
            other => said(items, &[*other], losses),
        }
    }
}

fn outcome(items: &mut Composer<'_>, result: &step::Result<'_>, losses: &mut Losses) {
    items.object("", |item| {
        item.text("type", "toolResponse");
        item.text("id", &call_id(&result.call));
        item.object("toolResult", |outcome| {
            outcome.text("status", "success");
            outcome.object("value", |value| {
                value.array("content", |content| said(content, &result.parts, losses));
                value.flag("isError", result.is_error);
            });
        });
    });
}
