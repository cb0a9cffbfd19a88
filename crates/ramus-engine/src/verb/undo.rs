//! `undo`, `redo`: the last operation on a session is taken back, whatever it was, and done again.
//!
//! Both append. What an operation changed is found by reading its entries, and what was there before by reading the log up
//! to where it began. Doing something again is taking back what took it back, so both are one piece of code, and going back
//! and forward any number of steps leads to where it began.

mod changed;

use ramus_model::operation::{Operation, REDO, UNDO, Way};
use ramus_model::{Body, EntryId, Record, Seq, operation};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::{Session, load_as_of, unknown};
use crate::verb::create::{new_entry_id, title_body};
use crate::verb::replace_segment::close_tail;
use crate::verb::restore::{RestoreOptions, RestoreReport};
use crate::verb::revert::Way as WayOfFiles;
use crate::workspace::Timeline;
use changed::Changed;

/// What was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenBack {
    /// What had been done.
    pub operation: Operation,
    /// What became of the files.
    pub files: RestoreReport,
    /// Where the conversation goes on; none when the next entry becomes a root.
    pub leaf: Option<EntryId>,
    /// Whether anything was done.
    pub is_done: bool,
}

impl Engine {
    /// Takes the last operation back that was not taken back yet. Files go back when it changed some, and those that
    /// somebody else changed since are left alone unless that is forced.
    pub fn undo(&self, session: &mut Session, options: &RestoreOptions) -> Result<TakenBack, EngineError> {
        self.take_back(session, Way::Undo, options)
    }

    /// Does again what was taken back last, as long as nothing was done since.
    pub fn redo(&self, session: &mut Session, options: &RestoreOptions) -> Result<TakenBack, EngineError> {
        self.take_back(session, Way::Redo, options)
    }

    fn take_back(&self, session: &mut Session, way: Way, options: &RestoreOptions) -> Result<TakenBack, EngineError> {
        self.make_writable(session)?;
        let _lease = self.store.lease(session.location(), self.now())?;
        session.refresh()?;
        let (name, nothing) = match way {
            Way::Undo => (UNDO, "there is nothing to undo"),
            Way::Redo => (REDO, "there is nothing to redo: nothing was undone, or something was done since"),
        };
        let found = operation::next(session.log(), &session.lines(), way)?;
        let operation = found.ok_or_else(|| EngineError::Conflict(nothing.into()))?;
        refuse_final(&operation)?;
        let earlier = before(session, &operation)?;
        let changed = Changed::by(session, &operation)?;
        let leaf = if changed.moves_leaf { earlier.leaf() } else { session.leaf() };
        let files = self.files_back(session, &operation, &changed, options)?;
        if options.dry_run {
            let files = RestoreReport { plan: files.plan, ..RestoreReport::default() };
            return Ok(TakenBack { operation, files, leaf, is_done: false });
        }
        let mut doing = Doing::several(name, self, session);
        let what = format!("what {} changed", operation.name);
        let done = self.carry_out(session, files, (options.force, &what), None, &mut doing)?;
        // Only now it is taken back: a process that ends before has only kept a snapshot.
        let doing = doing.taking_back(&operation.id);
        let notes: Vec<Body> = done.drafts.into_iter().map(|draft| draft.body).collect();
        let known = session.log().len();
        self.rewriting(session, |engine, session| {
            // Where files are back already, what somebody else wrote meanwhile stays a branch.
            if session.log().len() != known && notes.is_empty() {
                return Err(EngineError::Conflict("something was done to the session meanwhile; try again".into()));
            }
            let writing = Writing::new(engine, session, doing.clone(), leaf.clone());
            Ok((writing.lines(&changed, &earlier, &notes)?, ()))
        })?;
        self.publish_if_answered(session);
        if changed.meta.contains("cwd") {
            self.settle(session)?;
        }
        Ok(TakenBack { operation, files: done.files, leaf, is_done: true })
    }

    /// Finds the way back for files that an operation changed.
    fn files_back(
        &self,
        session: &mut Session,
        operation: &Operation,
        changed: &Changed,
        options: &RestoreOptions,
    ) -> Result<WayOfFiles, EngineError> {
        if !changed.has_files {
            return Ok(WayOfFiles::default());
        }
        let since = operation.first().and_then(|first| Seq::new(first.number() - 1));
        let timeline = Timeline::of(session)?;
        self.way_back(session, &timeline, since, options)
    }
}

/// Some things are done for good.
fn refuse_final(operation: &Operation) -> Result<(), EngineError> {
    let (message, hint) = match operation.name.as_str() {
        "create" => ("there is nothing to undo: the session is as it was made", "`ramus delete` removes it"),
        "fork" => ("the session is as it was forked, and a fork cannot be undone", "`ramus delete` removes the fork"),
        "reset" => ("the session is as it was reset, and what a reset removes is gone", "nothing brings it back"),
        "purge" => ("something was purged last, and that cannot be undone", "nothing brings it back"),
        "revoke" => (
            "an approval was taken back last, and that cannot be undone: it would allow something unasked",
            "the approval is asked for again when it is needed",
        ),
        _ => return Ok(()),
    };
    Err(EngineError::Final { message: message.into(), hint: hint.into() })
}

/// The session as it was before an operation.
fn before(session: &Session, operation: &Operation) -> Result<Session, EngineError> {
    let place = operation.first().and_then(|first| session.log().stored_place(first));
    load_as_of(session, place.map_or(0, |place| place.offset), &unknown)
}

/// Lines that bring back what was there.
struct Writing<'w> {
    session: &'w Session,
    doing: Doing,
    leaf: Option<EntryId>,
    now: String,
    bytes: Vec<u8>,
    taken: Vec<EntryId>,
}

impl<'w> Writing<'w> {
    fn new(engine: &Engine, session: &'w Session, doing: Doing, leaf: Option<EntryId>) -> Self {
        Self { session, doing, leaf, now: engine.timestamp(), bytes: close_tail(session), taken: Vec::new() }
    }

    fn lines(mut self, changed: &Changed, earlier: &Session, notes: &[Body]) -> Result<Vec<u8>, EngineError> {
        let mut hung = self.session.leaf();
        for note in notes {
            hung = Some(self.line(note.clone(), hung));
        }
        for id in &changed.versions {
            self.version(id, earlier)?;
        }
        let facts = earlier.log().facts();
        let mut bodies: Vec<Body> = changed.segments.iter().rev().map(changed::reversed).collect();
        if !changed.meta.is_empty() {
            let value = |key: &String| (key.clone(), facts.meta().get(key).cloned().unwrap_or(Value::Null));
            let set: Map<String, Value> = changed.meta.iter().map(value).collect();
            bodies.push(Body::ramus("meta", json!({"set": set})));
        }
        for target in &changed.labels {
            let mut members = vec![("targetId", Value::from(target.as_str()))];
            members.extend(facts.label(target).map(|label| ("label", Value::from(label))));
            bodies.push(Body::new("label", members));
        }
        if changed.has_title {
            bodies.push(title_body(facts.title().map_or("", |(title, _)| title)));
        }
        let moves = hung != self.leaf || !changed.versions.is_empty() || !changed.segments.is_empty();
        if moves || bodies.is_empty() {
            let target = self.leaf.as_ref().map(EntryId::as_str);
            bodies.push(Body::ramus("leaf", json!({"target": target})));
        }
        for body in bodies {
            self.line(body, self.leaf.clone());
        }
        Ok(self.bytes)
    }

    /// Writes a new entry.
    fn line(&mut self, body: Body, parent: Option<EntryId>) -> EntryId {
        let log = self.session.log();
        let id = new_entry_id(|id| log.seq_of(id).is_some() || self.taken.iter().any(|known| known.as_str() == id));
        self.bytes.extend(self.doing.mark(body).to_line(&id, parent.as_ref(), &self.now));
        self.taken.push(id.clone());
        id
    }

    /// Writes an entry again as it was.
    fn version(&mut self, id: &str, earlier: &Session) -> Result<(), EngineError> {
        let log = earlier.log();
        let Some(seq) = log.seq_of(id) else { return Ok(()) };
        let (body, timestamp) = changed::stored(earlier, seq)?;
        let parent = log.record(seq).and_then(Record::parent).map(|parent| earlier.entry_id(parent));
        let line = self.doing.mark(body.superseding()).to_line(&EntryId::from(id), parent.as_ref(), &timestamp);
        self.bytes.extend(line);
        Ok(())
    }
}
