//! The files of a directory in the order of the log: what was there when, and who changed what since.
//!
//! A directory has one history, whatever branches a conversation has, so the order of the log counts, not the path.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use ramus_model::{Kind, Record, Seq};
use ramus_snapshot::{SnapshotError, SnapshotId, Snapshots};

use super::note::{Cause, Name, Note};
use crate::error::EngineError;
use crate::session::Session;

/// What a session's log says about files, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) moments: Vec<(Seq, Note)>,
}

/// What counts as somebody else's change that must not be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// Every one since, up to a snapshot that somebody asked for: that one keeps it.
    Since(SnapshotId),
    /// Only those of paths that ramus had changed before: what was there when it did comes back.
    Behind,
}

/// Who changed which paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    /// What ramus or an agent changed, and the files before it did so first.
    pub(crate) ours: BTreeMap<PathBuf, SnapshotId>,
    /// In which state ramus or an agent left it.
    pub(crate) left: BTreeMap<PathBuf, SnapshotId>,
    /// What somebody else changed.
    pub(crate) theirs: BTreeSet<PathBuf>,
}

impl Timeline {
    /// Reads what a session's log says. Of what a fork shares with its origin only its path counts, with what hangs behind
    /// it: what the origin did elsewhere is somebody else's.
    pub(crate) fn of(session: &Session) -> Result<Self, EngineError> {
        let log = session.log();
        let mut moments = Vec::new();
        // Behind which entry notes of the origin are this session's too.
        let mut above = None;
        for seq in log.seqs() {
            let Some(record) = log.record(seq) else { continue };
            let (is_ours, is_custom) = (log.belongs(seq), record.kind == Kind::Custom);
            let hangs = is_custom && above.is_some() && Record::parent(record) == above;
            let note = if is_custom && (is_ours || hangs) { Note::read(&session.line(seq)?) } else { None };
            let is_apart = note.as_ref().is_some_and(|note| note.name == Name::Snapshot);
            if is_ours || hangs && !is_apart {
                moments.extend(note.map(|note| (seq, note)));
            }
            if record.is_visible() {
                above = (is_ours || hangs && !is_apart).then_some(seq);
            }
        }
        Ok(Self { moments })
    }

    /// Returns the files as they were at an entry, as far as that is known: what was seen last up to it, or first behind it.
    pub(crate) fn state_at(&self, end: Seq) -> Option<SnapshotId> {
        let before = self.moments.iter().rev().find_map(|(seq, note)| note.commit.filter(|_| *seq <= end));
        let first = |note: &Note| note.steps.first().map(|(before, _)| *before).or(note.commit);
        before.or_else(|| self.moments.iter().filter(|(seq, _)| *seq > end).find_map(|(_, note)| first(note)))
    }

    /// Says why nothing was kept of what a turn behind an entry did, if that is so.
    pub(crate) fn without(&self, since: Option<Seq>) -> Option<String> {
        self.moments.iter().filter(|(seq, _)| Some(*seq) > since).find_map(|(_, note)| note.without.clone())
    }

    /// Says who changed what behind an entry, up to what is there now.
    pub(crate) fn touched(
        &self,
        store: &Snapshots,
        since: Option<Seq>,
        current: SnapshotId,
        blame: Blame,
    ) -> Result<Touched, SnapshotError> {
        let mut touched = Touched::default();
        let mut state = if let Blame::Since(start) = blame { Some(start) } else { None };
        for (_, note) in self.moments.iter().filter(|(seq, _)| Some(*seq) > since) {
            // What happened while the session worked in another directory is none of this one's.
            for (before, after) in note.steps.iter().filter(|(before, after)| store.has(*before) && store.has(*after)) {
                touched.blame(store, state, *before, blame)?;
                for (path, is_shown) in store.changed_or_shown(*before, *after)? {
                    // What happened to one of ours while it was not covered, nobody saw.
                    let is_unseen = is_shown && touched.ours.contains_key(&path);
                    if is_unseen || note.theirs.contains(&path) {
                        touched.note_theirs(path, blame);
                        continue;
                    }
                    if note.unclear.contains(&path) {
                        touched.theirs.insert(path.clone());
                    }
                    touched.left.insert(path.clone(), *after);
                    touched.ours.entry(path).or_insert(*before);
                }
                state = Some(*after);
            }
            if let Some(commit) = note.commit.filter(|commit| store.has(*commit)) {
                touched.blame(store, state, commit, blame)?;
                state = Some(commit);
            }
            let is_elsewhere = note.commit.is_some_and(|commit| !store.has(commit));
            if note.cause == Some(Cause::Asked) && blame != Blame::Behind && !is_elsewhere {
                touched.theirs.clear();
            }
        }
        touched.blame(store, state, current, blame)?;
        Ok(touched)
    }
}

impl Touched {
    /// What differs between two looks was changed by somebody else.
    fn blame(
        &mut self,
        store: &Snapshots,
        old: Option<SnapshotId>,
        new: SnapshotId,
        blame: Blame,
    ) -> Result<(), SnapshotError> {
        let Some(old) = old else { return Ok(()) };
        for path in store.changed(old, new)? {
            self.note_theirs(path, blame);
        }
        Ok(())
    }

    fn note_theirs(&mut self, path: PathBuf, blame: Blame) {
        if blame != Blame::Behind || self.ours.contains_key(&path) {
            self.theirs.insert(path);
        }
    }
}
