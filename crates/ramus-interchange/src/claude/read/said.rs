//! Lines that say something, or that only have a place: prompts, words that were put into the user's mouth, titles,
//! attachments.

use ramus_model::json::{Object, Raw, Shape};

use super::super::block;
use super::front::leaf;
use super::{Pending, Reader, stamp};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// Takes a line that is no part of the tree: a title, or something that is only kept.
    pub(super) fn beside(&mut self, record: &Record<'_>, object: &Object<'_>, kind: &str) -> Result<(), Error> {
        let (name, given) = match kind {
            "custom-title" => ("customTitle", true),
            "ai-title" => ("aiTitle", false),
            "summary" => ("summary", false),
            _ => ("", false),
        };
        let title = object.field(name).filter(|title| title.shape() == Shape::Text && !title.is_blank());
        // A summary may be about another session.
        let title = title.filter(|_| leaf(object).is_none_or(|leaf| self.has(&leaf)));
        let Some(title) = title.filter(|_| given || !self.named) else {
            self.emitter.keep(record.whole());
            return Ok(());
        };
        self.named |= given;
        self.settle()?;
        let mut composer = Composer::new(&record.bytes);
        composer.raw("name", title);
        let (members, holes) = composer.finish();
        let id = format!("title-{}", record.line);
        let records = [record.kept(holes)];
        let new =
            New { kind: "session_info", id: &id, members: &members, records: &records, inert: true, ..New::default() };
        self.emitter.entry(&new).map(drop)
    }

    /// Says whether a line with this id is in the file.
    fn has(&self, uuid: &str) -> bool {
        let is_pending = match &self.pending {
            Pending::Answer(answer) => answer.uuids().any(|known| known == uuid),
            _ => false,
        };
        is_pending || self.emitter.knows(uuid) || self.leaves.contains(uuid)
    }

    pub(super) fn user(
        &mut self,
        record: &Record<'_>,
        object: &Object<'_>,
        uuid: &str,
        message: &Object<'_>,
    ) -> Result<(), Error> {
        let content = message.field("content");
        let is_result = |block: &Raw<'_>| block.field("type").and_then(Raw::text).as_deref() == Some("tool_result");
        let blocks = || content.into_iter().flat_map(Raw::items);
        let results = blocks().filter(is_result).count();
        if results > 0 {
            return self.results(record, object, uuid, content, results == 1 && blocks().count() == 1);
        }
        let meta = object.field("isMeta").and_then(Raw::flag).unwrap_or_default();
        let injected = meta || is_command(&texts(content));
        let mut composer = Composer::new(&record.bytes);
        if injected {
            composer.text("customType", if meta { "claude.meta" } else { "claude.command" });
            block::parts(&mut composer, content);
            composer.flag("display", !meta);
        } else {
            composer.object("message", |message| {
                message.text("role", "user");
                block::parts(message, content);
                stamp(message, object);
            });
        }
        let kind = if injected { "custom_message" } else { "message" };
        self.give(kind, record, object, uuid, composer, false)
    }

    /// Context that was injected. Only what a person typed while the agent was busy is a message.
    pub(super) fn attachment(&mut self, record: &Record<'_>, object: &Object<'_>, uuid: &str) -> Result<(), Error> {
        let attachment = object.field("attachment").and_then(Raw::object);
        let queued = attachment.filter(|attachment| attachment.text("type").as_deref() == Some("queued_command"));
        let Some(prompt) = queued.and_then(|attachment| attachment.field("prompt")) else {
            return self.other(record, object, uuid);
        };
        let mut composer = Composer::new(&record.bytes);
        composer.object("message", |message| {
            message.text("role", "user");
            block::parts(message, Some(prompt));
            stamp(message, object);
        });
        self.give("message", record, object, uuid, composer, false)
    }

    /// A line that has a place in the tree and no meaning in the conversation.
    pub(super) fn other(&mut self, record: &Record<'_>, object: &Object<'_>, uuid: &str) -> Result<(), Error> {
        let mut composer = Composer::new(&record.bytes);
        composer.text("customType", "ramus.origin");
        composer.object("data", |data| data.text("op", "import"));
        self.give("custom", record, object, uuid, composer, true)
    }
}

/// The text of content, whatever its form.
pub(super) fn texts(content: Option<Raw<'_>>) -> String {
    match content {
        Some(text) if text.shape() == Shape::Text => text.text().unwrap_or_default().into_owned(),
        Some(blocks) => {
            let texts = blocks.items().filter_map(|block| block.field("text")?.text());
            texts.collect::<Vec<_>>().join("\n")
        }
        None => String::new(),
    }
}

/// Says whether a text is not what a person said to the model, but a command to the program or what it printed.
fn is_command(text: &str) -> bool {
    const TAGS: [&str; 7] = [
        "<command-name>",
        "<command-message>",
        "<local-command-stdout>",
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-input>",
        "<bash-stdout>",
    ];
    TAGS.iter().any(|tag| text.trim_start().starts_with(tag))
}
