//! Lines that change what came before them: summaries, turns that are taken back, titles.

use ramus_model::json::{Object, Raw, Shape};

use super::super::item::{self, Item};
use super::{Reader, history_text, stamp};
use crate::compose::Composer;
use crate::emit::{Hang, New};
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// A summary that stands for everything before. What Codex sends instead is kept with it.
    pub(super) fn compaction(
        &mut self,
        record: &Record<'_>,
        line: &Object<'_>,
        payload: &Object<'_>,
    ) -> Result<(), Error> {
        self.settle()?;
        let id = self.id_of(record);
        let mut composer = Composer::new(&record.bytes);
        match payload.field("message").filter(|text| text.shape() == Shape::Text && !text.is_blank()) {
            Some(text) => composer.raw("summary", text),
            None => composer.text("summary", &history_text(payload)),
        }
        // An entry that keeps from itself on keeps nothing that came before.
        composer.text("firstKeptEntryId", &id);
        composer.number("tokensBefore", 0);
        self.give("compaction", record, line, composer)?;
        self.kept_prompts(&id, line, payload)
    }

    /// What people said before a summary and Codex goes on sending with it. It is said once more behind the summary, because
    /// the answers in between are not sent; the record of the summary has the words.
    fn kept_prompts(&mut self, id: &str, line: &Object<'_>, payload: &Object<'_>) -> Result<(), Error> {
        let Some(summary) = payload.text("message").filter(|text| !text.trim().is_empty()) else { return Ok(()) };
        let is_summary = |item: &Object<'_>| {
            let content = item.field("content").into_iter().flat_map(Raw::items);
            content.filter_map(|part| part.field("text")?.text()).any(|text| text.contains(&*summary))
        };
        let items = payload.field("replacement_history").into_iter().flat_map(Raw::items).filter_map(Raw::object);
        let prompts = items.filter(|item| Item::of(item) == Item::User && !is_summary(item));
        for (at, item) in (1..).zip(prompts) {
            let mut composer = Composer::default();
            composer.object("message", |message| {
                message.text("role", "user");
                item::content(message, item.field("content"));
                stamp(message, line);
            });
            let (members, _) = composer.finish();
            let (own, time) = (format!("{id}.k{at}"), line.text("timestamp"));
            let new =
                New { kind: "message", id: &own, timestamp: time.as_deref(), members: &members, ..New::default() };
            self.emitter.entry(&new)?;
        }
        Ok(())
    }

    /// Turns that were undone: they stay, as a branch.
    pub(super) fn roll_back(
        &mut self,
        record: &Record<'_>,
        line: &Object<'_>,
        payload: &Object<'_>,
    ) -> Result<(), Error> {
        self.settle()?;
        let count = payload.field("num_turns").and_then(Raw::unsigned).unwrap_or_default();
        let left = self.turns.len().saturating_sub(usize::try_from(count).unwrap_or(usize::MAX));
        let target = match self.turns.get(left) {
            Some(target) => target.clone(),
            None => self.emitter.last().cloned(),
        };
        self.turns.truncate(left);
        let mut composer = Composer::new(&record.bytes);
        composer.text("customType", "ramus.leaf");
        composer.object("data", |data| data.text("op", "import"));
        let (members, holes) = composer.finish();
        let (id, time, records) = (self.id_of(record), line.text("timestamp"), [record.kept(holes)]);
        let new = New {
            kind: "custom",
            id: &id,
            parent: target.as_ref().map_or(Hang::Root, Hang::Entry),
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            inert: true,
        };
        self.emitter.entry(&new)?;
        self.emitter.move_to(target);
        Ok(())
    }

    pub(super) fn title(&mut self, record: &Record<'_>, line: &Object<'_>, payload: &Object<'_>) -> Result<(), Error> {
        let name = payload.field("thread_name").or_else(|| payload.field("name"));
        let Some(name) = name.filter(|name| name.shape() == Shape::Text && !name.is_blank()) else {
            self.wait(record);
            return Ok(());
        };
        self.settle()?;
        let mut composer = Composer::new(&record.bytes);
        composer.raw("name", name);
        let (members, holes) = composer.finish();
        let (id, time, records) = (self.id_of(record), line.text("timestamp"), [record.kept(holes)]);
        let new = New {
            kind: "session_info",
            id: &id,
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            inert: true,
            ..New::default()
        };
        self.emitter.entry(&new).map(drop)
    }
}
