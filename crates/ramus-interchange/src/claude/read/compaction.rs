//! Summaries that stand for what came before, with the line that announces them.

use std::borrow::Cow;

use ramus_model::json::{Object, Shape};

use super::said::texts;
use super::{Reader, hang};
use crate::compose::Composer;
use crate::emit::New;
use crate::error::Error;
use crate::record::Record;

impl Reader<'_> {
    /// A summary that stands for what came before, with the line that announces it.
    pub(super) fn compaction(
        &mut self,
        boundary: Option<&Record<'_>>,
        record: &Record<'_>,
        object: &Object<'_>,
        uuid: &str,
    ) -> Result<(), Error> {
        let announced = boundary.and_then(Record::object);
        let content = object.field("message").and_then(|message| message.field("content"));
        let between = self.emitter.take_run();
        let id = announced.as_ref().and_then(|boundary| boundary.text("uuid")).unwrap_or(Cow::Borrowed(uuid));
        let metadata = announced.as_ref().and_then(|boundary| boundary.field("compactMetadata")?.object());
        let kept = metadata.as_ref().and_then(|metadata| metadata.field("preservedSegment")?.field("headUuid")?.text());
        let kept = kept.and_then(|uuid| self.emitter.entry_of(&uuid));
        let mut composer = Composer::new(&record.bytes);
        match content.filter(|content| content.shape() == Shape::Text) {
            Some(text) => composer.raw("summary", text),
            None => composer.text("summary", &texts(content)),
        }
        // An entry that keeps from itself on keeps nothing that came before.
        composer.text("firstKeptEntryId", kept.as_ref().map_or(&id, |kept| kept.as_str()));
        let tokens = metadata.as_ref().and_then(|metadata| metadata.field("preTokens")?.unsigned());
        composer.number("tokensBefore", tokens.unwrap_or_default());
        let (members, holes) = composer.finish();
        let records: Vec<_> =
            boundary.map(Record::whole).into_iter().chain(between).chain([record.kept(holes)]).collect();
        let first = announced.as_ref().unwrap_or(object);
        let (parent, logical) = (first.text("parentUuid"), first.text("logicalParentUuid"));
        let time = first.text("timestamp");
        let new = New {
            kind: "compaction",
            id: &id,
            parent: hang(logical.as_deref().or(parent.as_deref())),
            timestamp: time.as_deref(),
            members: &members,
            records: &records,
            inert: false,
        };
        let entry = self.emitter.entry(&new)?;
        self.emitter.alias(uuid, &entry);
        Ok(())
    }
}
