//! Summaries: a line that announces one and says what is kept, and the summary itself.

use ramus_model::json::Raw;

use super::Writer;
use crate::error::Error;
use crate::mapping::uuid_of;
use crate::step::Step;

impl Writer<'_> {
    /// Writes a summary: a line that announces it and says what is kept, and the summary itself.
    pub(super) fn compaction(
        &mut self,
        step: &Step<'_>,
        uuid: String,
        summary: Raw<'_>,
        first_kept: Option<&str>,
        tokens: u64,
    ) -> Result<Vec<String>, Error> {
        let behind = uuid_of(&[&self.session, &step.id, "summary"]);
        let kept = self.kept(step, first_kept);
        let mut composer = self.begin("system", &uuid, None, step);
        match self.hangs_from(step) {
            Some(parent) => composer.text("logicalParentUuid", parent),
            None => composer.null("logicalParentUuid"),
        }
        composer.text("subtype", "compact_boundary");
        composer.text("content", "Conversation compacted");
        composer.flag("isMeta", false);
        composer.text("level", "info");
        composer.object("compactMetadata", |metadata| {
            metadata.text("trigger", "manual");
            metadata.number("preTokens", tokens);
            if let (Some(head), Some(tail)) = (kept.first(), kept.last()) {
                metadata.object("preservedSegment", |segment| {
                    segment.text("headUuid", head);
                    segment.text("anchorUuid", &behind);
                    segment.text("tailUuid", tail);
                });
                metadata.object("preservedMessages", |messages| {
                    messages.text("anchorUuid", &behind);
                    for name in ["uuids", "allUuids"] {
                        messages.array(name, |uuids| kept.iter().for_each(|uuid| uuids.text("", uuid)));
                    }
                });
            }
        });
        self.composed(composer)?;
        let mut composer = self.begin("user", &behind, Some(&uuid), step);
        composer.flag("isVisibleInTranscriptOnly", true);
        composer.flag("isCompactSummary", true);
        composer.object("message", |message| {
            message.text("role", "user");
            message.raw("content", summary);
        });
        self.composed(composer)?;
        Ok(vec![uuid, behind])
    }

    /// The lines that a compaction keeps, oldest first.
    fn kept(&self, step: &Step<'_>, first_kept: Option<&str>) -> Vec<String> {
        let mut kept = Vec::new();
        let mut at = step.parent.as_deref();
        while let Some((id, written)) = at.and_then(|id| Some((id, self.written.get(id)?))) {
            kept.extend(written.uuids.iter().rev().cloned());
            if Some(id) == first_kept {
                kept.reverse();
                return kept;
            }
            at = written.parent.as_deref();
        }
        Vec::new()
    }
}
