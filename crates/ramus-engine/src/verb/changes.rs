//! `changes`: what turns did to files on a part of a path.

use ramus_model::Seq;
use ramus_snapshot::{FileDiff, SnapshotError, SnapshotId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;

impl Engine {
    /// Shows how files differ between the first change behind `since` on the path to `end`, and the last one. Without `since` the
    /// whole path counts. Nothing when no call there changed anything.
    pub fn changes(&self, session: &mut Session, since: Option<Seq>, end: Seq) -> Result<Vec<FileDiff>, EngineError> {
        let (mut before, mut after): (Option<SnapshotId>, Option<SnapshotId>) = (None, None);
        for note in session.path_notes(Some(end)) {
            let (seq, note) = note?;
            if Some(seq) < since {
                break;
            }
            before = note.steps.first().map(|(before, _)| *before).or(before);
            after = after.or(note.steps.last().map(|(_, after)| *after));
        }
        match (before, after) {
            (Some(before), Some(after)) => {
                let missing = || SnapshotError::NotFound(before.to_string());
                Ok(self.glance_at_snapshots(session)?.ok_or_else(missing)?.diff(before, after, &[])?)
            }
            _ => Ok(Vec::new()),
        }
    }
}
