//! States of files that nobody asked to be kept: what was there before a turn changed something, and between its calls.
//! They are named as snapshots are, so that there is a way back to where a session began.

use std::collections::HashSet;

use ramus_model::{Record, Role, Seq};
use ramus_snapshot::{Glance, SnapshotId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::snapshot::SnapshotEntry;
use crate::workspace::{Cause, Name, Timeline};

/// How many letters of a prompt are shown, as for the snapshots of turns.
const LABEL: usize = 60;

/// A state that a note tells of.
struct State {
    at: Seq,
    created: String,
    commit: SnapshotId,
    /// Whether it was there before the note's first change.
    is_before: bool,
}

impl Engine {
    /// Lists the snapshots of a session, and what was there before turns that changed something when no snapshot tells of
    /// it; newest first.
    pub fn states(&self, session: &Session) -> Result<Vec<SnapshotEntry>, EngineError> {
        let mut all = self.snapshots(session)?;
        let befores = before_turns(session)?;
        // What the store has lost, or came here without it, is no state to go to.
        let Some(glance) = (if befores.is_empty() { None } else { self.glance_quietly(session) }) else {
            return Ok(all);
        };
        let on_path = session.on_path()?;
        let mut found = Vec::new();
        for state in befores.into_iter().rev().filter(|state| glance.has(state.commit)) {
            let near = all.iter().rev().find(|one| one.seq > state.at).or(all.first());
            let near = near.filter(|near| glance.has(near.commit)).map(|near| (near.commit, near.files));
            // A store that is damaged does not keep what the log says from being listed.
            let Ok(files) = glance.count(state.commit, near) else { continue };
            found.push(SnapshotEntry { files, ..state.entry(session, &on_path)? });
        }
        all.extend(found);
        all.sort_by_key(|one| std::cmp::Reverse((one.since, one.cause == Cause::Call)));
        Ok(all)
    }

    /// Finds states that notes of a session tell of by their names, newest first.
    pub(crate) fn states_between(
        &self,
        session: &Session,
        is_meant: impl Fn(SnapshotId) -> bool,
    ) -> Result<Vec<SnapshotEntry>, EngineError> {
        let on_path = session.on_path()?;
        let mut found = Vec::new();
        for (at, note) in Timeline::of(session)?.moments.into_iter().rev() {
            for (number, (before, after)) in note.steps.iter().enumerate().rev() {
                for (commit, is_before) in [(*after, false), (*before, number == 0)] {
                    if is_meant(commit) {
                        let state = State { at, created: note.timestamp.clone(), commit, is_before };
                        found.push(state.entry(session, &on_path)?);
                    }
                }
            }
        }
        Ok(found)
    }

    /// Opens the snapshots of the session's directory when they are there.
    fn glance_quietly(&self, session: &Session) -> Option<Glance> {
        let (directory, root) = self.vault_of(session).ok()?;
        Glance::open(&directory, &root, &self.apart).ok().flatten()
    }
}

/// What was there before the first change of each turn, oldest first, unless that was told before; what was there before a call
/// that did not come to its end is listed as it is.
fn before_turns(session: &Session) -> Result<Vec<State>, EngineError> {
    let (mut told, mut found, mut begun) = (HashSet::new(), Vec::new(), None);
    for (at, note) in Timeline::of(session)?.moments {
        if let Some((before, _)) = note.steps.first().filter(|_| note.name == Name::Files && !note.is_interrupted) {
            // Another prompt is another turn, also when the one before it never came to its end.
            let turn = Some(prompt_of(session, at));
            if std::mem::replace(&mut begun, turn) != turn && !told.contains(before) {
                found.push(State { at, commit: *before, created: note.timestamp.clone(), is_before: true });
            }
        }
        if note.name == Name::Turn {
            begun = None;
        }
        told.extend(note.steps.iter().flat_map(|(before, after)| [*before, *after]));
        // What was there before a call is what is told here.
        told.extend(note.commit.filter(|_| note.name != Name::Started));
    }
    Ok(found)
}

/// The prompt that an entry came of.
fn prompt_of(session: &Session, at: Seq) -> Option<Seq> {
    let log = session.log();
    log.ancestors(Some(at)).find(|seq| log.record(*seq).is_some_and(|record| record.role == Role::User))
}

impl State {
    fn entry(self, session: &Session, on_path: &[Seq]) -> Result<SnapshotEntry, EngineError> {
        let log = session.log();
        let prompt = prompt_of(session, self.at);
        let said = match prompt {
            Some(seq) => session.view(seq, log.record(seq).and_then(Record::parent))?,
            None => None,
        };
        let said = said.map(|view| view.message.text()).unwrap_or_default();
        let words: String = said.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LABEL).collect();
        let word = if self.is_before { "Before" } else { "Within" };
        // The files were so at the prompt, and what came of it is told from the note on.
        let seq = prompt.filter(|_| self.is_before).unwrap_or(self.at);
        let since = if self.is_before { Seq::new(self.at.number() - 1).unwrap_or(seq) } else { self.at };
        Ok(SnapshotEntry {
            entry: session.entry_id(seq),
            seq,
            since,
            commit: self.commit,
            label: format!("{word}: {words}"),
            files: 0,
            uncovered: 0,
            created: self.created,
            cause: Cause::Call,
            is_on_path: on_path.binary_search(&self.at).is_ok(),
            is_ancestor: on_path.binary_search(&self.at).is_ok(),
        })
    }
}
