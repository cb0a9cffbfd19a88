//! `changes`: what turns did to files on a part of a path.

use ramus_model::{Kind, Seq};
use ramus_snapshot::{FileDiff, SnapshotId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::Note;

impl Engine {
    /// Shows how files differ between the first change behind `since` on the path to `end`, and the last one. Without `since` the
    /// whole path counts. Nothing when no call there changed anything.
    pub fn changes(&self, session: &mut Session, since: Option<Seq>, end: Seq) -> Result<Vec<FileDiff>, EngineError> {
        let log = session.log();
        let (mut before, mut after): (Option<SnapshotId>, Option<SnapshotId>) = (None, None);
        for seq in log.ancestors(Some(end)) {
            if log.record(seq).is_some_and(|record| record.kind == Kind::Custom)
                && let Some(note) = Note::read(&session.line(seq)?)
            {
                before = note.steps.first().map(|(before, _)| *before).or(before);
                after = after.or(note.steps.last().map(|(_, after)| *after));
            }
            if Some(seq) == since {
                break;
            }
        }
        match (before, after) {
            (Some(before), Some(after)) => Ok(self.snapshot_store(session)?.diff(before, after, &[])?),
            _ => Ok(Vec::new()),
        }
    }
}
