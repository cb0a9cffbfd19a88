//! A restore that was interrupted between files and conversation: both go on to the end together, or neither does.
//!
//! The snapshot that is kept before files are restored says what shall come of it. When that entry is the last word of the
//! log, nobody got to the end. If files are as they shall be, the rest is done; if none is, nothing was begun, and the
//! conversation stays where it is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ramus_model::json::Raw;
use ramus_model::{Kind, Record, Seq};
use ramus_snapshot::{About, SnapshotId, Taken};
use ramus_store::{Lease, StoreError};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::restore::note_restored;
use crate::verb::revert::{completed, pointer};
use crate::verb::snapshot::{SnapshotEntry, describe};
use crate::workspace::{Cause, paths_to_json};

/// So many paths are named that a snapshot does not keep.
const NAMED: usize = 1_000;

/// What shall come of a restore.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Intent {
    /// The files as they shall be.
    pub(crate) expected: SnapshotId,
    /// What is restored, in words.
    pub(crate) what: String,
    /// What becomes of the conversation, if anything does.
    pub(crate) then: Option<Then>,
}

/// What becomes of the conversation when files were restored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Then {
    /// The leaf is moved: what the pointer says.
    Move(Value),
    /// The operation of this name is taken back.
    TakeBack(String),
}

impl Intent {
    fn to_json(&self) -> Value {
        let (expected, what) = (self.expected.to_string(), &self.what);
        match &self.then {
            Some(Then::Move(pointer)) => json!({"expected": expected, "what": what, "pointer": pointer}),
            Some(Then::TakeBack(id)) => json!({"expected": expected, "what": what, "takes_back": id}),
            None => json!({"expected": expected, "what": what}),
        }
    }

    /// Reads what the entry of a snapshot says.
    fn read(line: &[u8]) -> Option<Self> {
        let raw = Raw::parse(line)?.field("data")?.field("intent")?;
        let value: Value = serde_json::from_slice(raw.bytes()).ok()?;
        let pointer = value.get("pointer").filter(|pointer| !pointer.is_null()).cloned().map(Then::Move);
        let takes_back = || Some(Then::TakeBack(value.get("takes_back")?.as_str()?.to_owned()));
        Some(Self {
            expected: SnapshotId::parse(value.get("expected")?.as_str()?).ok()?,
            what: value.get("what")?.as_str()?.to_owned(),
            then: pointer.or_else(takes_back),
        })
    }
}

impl Engine {
    /// Notes what is there before files are restored, and what shall come of it.
    pub(crate) fn note_safety(
        &self,
        session: &mut Session,
        (taken, label, lost): (&Taken, &str, &[&Path]),
        intent: Option<&Intent>,
        doing: &mut Doing,
    ) -> Result<SnapshotEntry, EngineError> {
        let mut data = describe(taken, label, Cause::Safety);
        if let (Some(object), Some(intent)) = (data.as_object_mut(), intent) {
            object.insert("intent".into(), intent.to_json());
        }
        // What goes all the same, and is not in it.
        if let Some(object) = data.as_object_mut().filter(|_| !lost.is_empty()) {
            object.insert("not_kept".into(), paths_to_json(lost.iter().copied().take(NAMED)));
        }
        self.note_snapshot(session, data, doing)
    }

    /// Takes the right to change the files of a session, and ends what was interrupted: every verb that puts files back or
    /// takes something back begins with this, so that what it finds is whole. With `dry_run` nothing is written: what is
    /// half done is in the way then, and whoever is at it.
    pub(crate) fn begin_travel(
        &self,
        session: &mut Session,
        dry_run: bool,
    ) -> Result<Option<Box<dyn Lease>>, EngineError> {
        if dry_run {
            session.refresh()?;
            return self.check_ended(session).map(|()| None);
        }
        let lease = self.store.lease(session.location(), self.now())?;
        session.refresh()?;
        self.end_travel(session)?;
        self.close_calls(session)?;
        Ok(Some(lease))
    }

    /// Refuses to look at what is half done.
    fn check_ended(&self, session: &Session) -> Result<(), EngineError> {
        if let Some(runner) = self.store.runner(session.location())? {
            return Err(StoreError::Running { session: session.location().id.to_string(), runner }.into());
        }
        let what = match session.intent()? {
            Some(_) => "a restore of its files",
            None if self.left_step(session)?.is_some() => "a turn",
            None => return Ok(()),
        };
        Err(EngineError::Unended {
            message: format!("{what} was interrupted: what would happen is known when that is ended"),
            hint: format!("`ramus recover {}` ends it", session.id()),
        })
    }

    /// Makes a log ready to be written to, and ends what was interrupted: every verb that writes begins with this, because
    /// what comes behind an interrupted restore would hide it.
    pub(crate) fn begin_writing(&self, session: &mut Session) -> Result<(), EngineError> {
        self.make_writable(session)?;
        self.keep_what_was_left(session);
        self.end_what_was_interrupted(session);
        Ok(())
    }

    /// Ends what was interrupted, before something is written, unless somebody is at it. Looked for once, and again when
    /// somebody else has written.
    pub(crate) fn end_what_was_interrupted(&self, session: &mut Session) {
        if std::mem::replace(&mut session.looked_for_intent, true) {
            return;
        }
        let has_intent = matches!(session.intent(), Ok(Some(_)));
        if !has_intent && !matches!(self.left_step(session), Ok(Some(_))) {
            return;
        }
        // Whoever has the lease is not done yet.
        let Ok(_lease) = self.store.lease(session.location(), self.now()) else { return };
        // Somebody may have ended it meanwhile. What cannot be read cannot be written to either, and that is told then.
        if session.refresh().is_ok() {
            self.end_or_tell(session);
        }
    }

    /// Ends what was interrupted; trouble with that is told, and no trouble for what is to be done next. The caller has the
    /// lease.
    pub(crate) fn end_or_tell(&self, session: &mut Session) {
        if let Err(error) = self.end_travel(session) {
            session.notices.push(format!("a restore that was interrupted could not be ended yet: {error}"));
        }
        if let Err(error) = self.close_calls(session) {
            session.notices.push(format!("what a killed turn changed could not be noted yet: {error}"));
        }
    }

    /// Ends a restore that was interrupted. The caller has the lease.
    pub(crate) fn end_travel(&self, session: &mut Session) -> Result<(), EngineError> {
        session.looked_for_intent = true;
        let Some((seq, intent)) = session.intent()? else { return Ok(()) };
        let Some(safety) = session.snapshot_at(seq)? else { return Ok(()) };
        // What of the files was begun is carried out by opening the store.
        let mut store = self.snapshot_store(session)?;
        if !store.has(safety.commit) {
            let what = &intent.what;
            session
                .notices
                .push(format!("restoring {what} was interrupted in another directory, and is not ended from here"));
            return Ok(());
        }
        let now = store.take_since(safety.commit, &About::default())?.id;
        let other: HashSet<PathBuf> = store.changed(intent.expected, now)?.into_iter().collect();
        let done: Vec<PathBuf> =
            store.changed(safety.commit, intent.expected)?.into_iter().filter(|path| !other.contains(path)).collect();
        let what = &intent.what;
        let mut doing = Doing::found(&session.line(seq)?, self);
        if done.is_empty() {
            let label = format!("Not restored: {what}");
            let taken =
                store.take_since(safety.commit, &About { label: label.clone(), parents: vec![safety.commit] })?;
            self.note_safety(session, (&taken, &label, &[]), None, &mut doing)?;
            session.notices.push(format!("restoring {what} was interrupted before it began; nothing was changed"));
            return Ok(());
        }
        self.keep_standard_directories(session)?;
        let (draft, now) = note_restored(&mut store, &safety, what, &done)?;
        match intent.then {
            None => drop(self.record(session, &mut doing, vec![draft])?),
            Some(Then::Move(data)) => {
                let pointer = pointer(completed(data, &store, &safety, now)?)?;
                self.record(session, &mut doing, vec![draft, pointer])?;
            }
            Some(Then::TakeBack(operation)) => self.end_take_back(session, seq, &operation, (doing, draft))?,
        }
        session.notices.push(format!("restoring {what} was interrupted and is now done"));
        Ok(())
    }
}

impl Session {
    /// Finds a restore that nobody ended: the last word of the log says what shall come of it.
    fn intent(&self) -> Result<Option<(Seq, Intent)>, EngineError> {
        let log = self.log();
        let last = log.seqs().rev().find(|seq| log.record(*seq).is_some_and(Record::is_visible));
        let Some(seq) = last.filter(|seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Custom)) else {
            return Ok(None);
        };
        // What a fork shares was begun by another session.
        if Some(seq) != log.leaf() || !log.is_own(seq) {
            return Ok(None);
        }
        Ok(Intent::read(&self.line(seq)?).map(|intent| (seq, intent)))
    }
}
