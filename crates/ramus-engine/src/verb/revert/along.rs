//! `branch --files`: every branch of a conversation brings its own files along.

use ramus_model::Seq;
use ramus_snapshot::{Conflict, SnapshotId, Step, Taken};
use serde_json::json;

use super::{RevertReport, Way, check_here};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::branch::branch_target;
use crate::verb::restore::{RestoreOptions, RestoreReport, mind, note_ignored, towards};
use crate::verb::travel::Then;
use crate::workspace::{Blame, Timeline};

impl Engine {
    /// Moves the leaf to an entry, and brings the files of that branch along: they become what they were when its path was
    /// last seen. What the branch that is left has is kept in a snapshot, and comes back with it.
    ///
    /// Files that somebody else changed are left alone, unless that is forced.
    pub fn branch_with_files(
        &self,
        session: &mut Session,
        target: Seq,
        options: &RestoreOptions,
    ) -> Result<RevertReport, EngineError> {
        let _lease = self.begin_travel(session, options.dry_run)?;
        let id = branch_target(session, target)?;
        let timeline = Timeline::of(session)?;
        let unseen = || EngineError::Invalid(format!("no snapshot tells what the files were at {id}"));
        let (since, commit) = session.files_at(target, &timeline)?.ok_or_else(unseen)?;
        let mut sight = self.sight(session, options.dry_run)?;
        check_here(session, &sight, [commit])?;
        let Taken { id: current, mut uncovered, .. } = sight.look(session)?;
        note_ignored(&mut uncovered, sight.ignored_since(current, sight.info(commit)?.created)?);
        let touched = timeline.touched(&sight, Some(since), current, Blame::Since(commit))?;
        let mut plan = towards(&sight, commit, current, &options.only)?;
        mind(&sight, &mut plan, &touched, (current, options.force))?;
        let is_possible = |step: &Step| match step.conflict {
            None => true,
            Some(Conflict::Changed) => options.force,
            Some(Conflict::Uncovered | Conflict::Forbidden) => false,
        };
        let is_there = session.leaf().as_ref() == Some(&id) && !plan.steps.iter().any(is_possible);
        if options.dry_run || is_there {
            let files = RestoreReport { plan, uncovered, ..RestoreReport::default() };
            return Ok(RevertReport { files, leaf: id, snapshot: None, is_done: false });
        }
        let data = json!({"op": "branch", "client": self.client_of(session), "target": id.as_str()});
        let way = Way { plan, store: sight.near(), uncovered, without: None };
        let mut doing = Doing::several("branch", self, session);
        let what = format!("the files of {id}");
        let done = self.carry_out(session, way, (options.force, &what), Then::Move(data), &mut doing)?;
        self.record(session, &mut doing, done.drafts)?;
        Ok(RevertReport { files: done.files, leaf: id, snapshot: None, is_done: true })
    }
}

impl Session {
    /// Returns the files as they were last seen on the path to an entry, and where that is told; what was there before the
    /// first change behind it when they were never seen before.
    pub(super) fn files_at(&self, entry: Seq, timeline: &Timeline) -> Result<Option<(Seq, SnapshotId)>, EngineError> {
        for note in self.path_notes(Some(entry)) {
            let (seq, note) = note?;
            if let Some(commit) = note.commit.or(note.latest) {
                return Ok(Some((seq, commit)));
            }
        }
        let end = self.end_of(entry)?;
        Ok(timeline.state_at(end).map(|commit| (end, commit)))
    }
}
