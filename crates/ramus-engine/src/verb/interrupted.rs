//! What a killed turn left open: its calls get results that say what is known, and what they changed is noted, so that it
//! can be looked at and taken back like anything else.
//!
//! What was there before a call is in the log before the call runs. What is there now is taken for its work, as far as it
//! became so while the pulse of the session still beat; of the rest nobody knows, and it counts as both the call's and a
//! person's: a revert lists it and leaves it alone unless it is forced.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_agent::Unanswered;
use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use ramus_model::{Body, Draft, Kind, Role, Seq};
use ramus_snapshot::{About, SnapshotId, Snapshots};
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::run::answered;
use crate::session::Session;
use crate::verb::append::Written;
use crate::verb::snapshot::{describe, key, root_of};
use crate::workspace::{Cause, FILES, Name, Note, Pulse, SNAPSHOT, Summary, is_later, paths_to_json};

/// How many entries are looked through for calls that were killed.
const FAR: usize = 4096;

/// A note, where it is, and of which call it is.
type LateNote = (Seq, Note, Option<String>);

/// What a call that was killed changed, as far as the log tells.
pub(crate) struct OpenStep {
    /// The call, and the entry that says that it started.
    call: String,
    started: Seq,
    /// The files as they were last seen.
    before: SnapshotId,
}

impl Engine {
    /// Ends what a turn of ours left when it was killed. The caller has the lease.
    pub(crate) fn close_calls(&self, session: &mut Session) -> Result<(), EngineError> {
        let Some((step, open)) = self.left_step(session)? else { return Ok(()) };
        let mut doing = self.doing_of(session, step.started)?;
        let now = self.now();
        let drafts: Vec<Draft> = open.iter().map(|open| Draft::new(answered(open, now))).collect();
        self.record(session, &mut doing, drafts)?;
        self.close_step(session, step).map(drop)
    }

    /// Finds what a turn of ours left.
    pub(crate) fn left_step(&self, session: &Session) -> Result<Option<(OpenStep, Vec<Unanswered>)>, EngineError> {
        let notes = session.notes_at_the_end()?;
        if !notes.iter().any(|(_, note, _)| note.name == Name::Started) {
            return Ok(None);
        }
        let open = session.open_calls()?;
        Ok(self.open_among(session, notes, &open).map(|step| (step, open)))
    }

    /// Finds a call that started and whose changes were never noted: one of these that have no result, or one whose pulse is
    /// still there.
    pub(crate) fn open_step(&self, session: &Session, open: &[Unanswered]) -> Result<Option<OpenStep>, EngineError> {
        Ok(self.open_among(session, session.notes_at_the_end()?, open))
    }

    fn open_among(&self, session: &Session, notes: Vec<LateNote>, open: &[Unanswered]) -> Option<OpenStep> {
        let (mut before, mut noted, mut has_pulse) = (None, HashSet::new(), None);
        for (seq, note, call) in notes {
            before = before.or(note.commit);
            match (note.name, call, before) {
                (Name::Started, Some(call), Some(before)) => {
                    let is_open = open.iter().any(|open| open.call == call)
                        || !noted.contains(&call) && *has_pulse.get_or_insert_with(|| self.has_pulse(session));
                    if is_open {
                        return Some(OpenStep { call, started: seq, before });
                    }
                }
                (_, Some(call), _) => drop(noted.insert(call)),
                _ => {}
            }
        }
        None
    }

    /// Notes what a call changed that was killed: the entries belong to its turn. Trouble with files is told, and no trouble
    /// for what is to be done next.
    pub(crate) fn close_step(&self, session: &mut Session, step: OpenStep) -> Result<Vec<Written>, EngineError> {
        let pulse = self.pulse_of(session);
        let drafts = match self.describe_step(session, &step, pulse.as_ref()) {
            Ok(drafts) => drafts,
            Err(error) => {
                session.notices.push(format!("what a killed call changed cannot be taken back: {error}"));
                return Ok(Vec::new());
            }
        };
        let mut doing = self.doing_of(session, step.started)?;
        let written = self.record(session, &mut doing, drafts)?.entries;
        if let Some(pulse) = pulse {
            pulse.stop();
        }
        Ok(written)
    }

    fn describe_step(
        &self,
        session: &mut Session,
        step: &OpenStep,
        pulse: Option<&Pulse>,
    ) -> Result<Vec<Draft>, EngineError> {
        let mut store = self.snapshot_store(session)?;
        // A session that moved since has other files.
        if !store.has(step.before) {
            return Ok(Vec::new());
        }
        let label = format!("After {}, interrupted", session.tool_of(step.started)?);
        let about = About { label: label.clone(), parents: vec![step.before] };
        let taken = store.take_since(step.before, &about)?;
        let paths = store.changed(step.before, taken.id)?;
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let root = root_of(session)?;
        let until = pulse.and_then(Pulse::until);
        let unclear: Vec<&Path> =
            paths.iter().map(PathBuf::as_path).filter(|path| is_later(&root, path, until)).collect();
        let summary = Summary::of(&store.diff(step.before, taken.id, &[])?);
        let mut data = json!({
            "call": step.call, "steps": [[step.before.to_string(), taken.id.to_string()]], "summary": summary,
            "interrupted": true,
        });
        if let Some(object) = data.as_object_mut().filter(|_| !unclear.is_empty()) {
            object.insert("unclear".into(), paths_to_json(unclear.into_iter()));
        }
        let snapshot = describe(&taken, &label, Cause::Turn);
        Ok(vec![Draft::new(Body::ramus(FILES, data)), Draft::new(Body::ramus(SNAPSHOT, snapshot))])
    }

    /// The operation that an entry belongs to.
    fn doing_of(&self, session: &Session, seq: Seq) -> Result<Doing, EngineError> {
        let line = session.line(seq)?;
        let is_marked = Raw::parse(&line).and_then(Mark::read).is_some();
        Ok(if is_marked { Doing::found(&line, self) } else { Doing::several("recover", self, session) })
    }

    fn has_pulse(&self, session: &Session) -> bool {
        self.pulse_of(session).is_some_and(|pulse| pulse.until().is_some())
    }

    fn pulse_of(&self, session: &Session) -> Option<Pulse> {
        let root = Snapshots::root_of(Path::new(session.cwd())).ok()?;
        Some(Pulse::of(&self.snapshots.as_ref()?.join(key(&root)), session.id()))
    }
}

impl Session {
    /// Returns what was noted of the calls of the last answer, unless its turn ended, newest first. The last entries of a log
    /// are enough: a turn writes few behind its calls.
    fn notes_at_the_end(&self) -> Result<Vec<LateNote>, EngineError> {
        let log = self.log();
        let mut notes = Vec::new();
        for seq in log.seqs().rev().take(FAR) {
            let Some(record) = log.record(seq).filter(|record| record.is_visible()) else { continue };
            // What a fork shares was begun by another session.
            if !log.is_own(seq) || record.role == Role::Assistant {
                break;
            }
            if record.kind != Kind::Custom {
                continue;
            }
            let line = self.line(seq)?;
            let Some(note) = Note::read(&line) else { continue };
            if note.name == Name::Turn {
                break;
            }
            let call = Raw::parse(&line).and_then(|raw| raw.field("data")?.field("call")?.text());
            notes.push((seq, note, call.map(|call| call.into_owned())));
        }
        Ok(notes)
    }

    /// Returns which tool a call starts.
    fn tool_of(&self, started: Seq) -> Result<String, EngineError> {
        let line = self.line(started)?;
        let name = Raw::parse(&line).and_then(|raw| raw.field("data")?.field("name")?.text());
        Ok(name.map_or_else(|| "a call".to_owned(), |name| name.into_owned()))
    }
}
