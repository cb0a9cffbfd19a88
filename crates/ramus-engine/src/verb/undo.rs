//! `undo`, `redo`: the last operation on a session is taken back, whatever it was, and done again.
//!
//! Both append. What an operation changed is found by reading its entries, and what was there before by reading the log up
//! to where it began. Doing something again is taking back what took it back, so both are one piece of code, and going back
//! and forward any number of steps leads to where it began.

mod changed;

use ramus_model::operation::{Operation, REDO, UNDO, Way};
use ramus_model::{Body, Draft, EntryId, Record, Seq, operation};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::{Session, load_as_of, unknown};
use crate::verb::create::{new_entry_id, title_body};
use crate::verb::replace_segment::close_tail;
use crate::verb::restore::{RestoreOptions, RestoreReport};
use crate::verb::revert::Way as WayOfFiles;
use crate::verb::travel::Then;
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

/// An operation that is taken back, and what there is to know about it.
struct Back {
    operation: Operation,
    /// The session as it was before.
    earlier: Session,
    changed: Changed,
    /// Where the conversation goes on.
    leaf: Option<EntryId>,
}

impl Engine {
    /// Takes the last operation back that was not taken back yet. Files go back when it changed some, and those that
    /// somebody else changed since are left alone unless that is forced.
    pub fn undo(&self, session: &mut Session, options: &RestoreOptions) -> Result<TakenBack, EngineError> {
        self.take_back(session, (Way::Undo, None), options)
    }

    /// Does again what was taken back last, as long as nothing was done since.
    pub fn redo(&self, session: &mut Session, options: &RestoreOptions) -> Result<TakenBack, EngineError> {
        self.take_back(session, (Way::Redo, None), options)
    }

    /// Takes back or does again exactly one operation, named by its id or by one of its entries: when another one would be
    /// next, nothing happens.
    pub fn take_back_this(
        &self,
        session: &mut Session,
        (way, operation): (Way, &str),
        options: &RestoreOptions,
    ) -> Result<TakenBack, EngineError> {
        self.take_back(session, (way, Some(operation)), options)
    }

    fn take_back(
        &self,
        session: &mut Session,
        (way, wanted): (Way, Option<&str>),
        options: &RestoreOptions,
    ) -> Result<TakenBack, EngineError> {
        if !options.dry_run {
            self.make_writable(session)?;
        }
        let _lease = self.begin_travel(session, options.dry_run)?;
        let (name, nothing) = match way {
            Way::Undo => (UNDO, "there is nothing to undo"),
            Way::Redo => (REDO, "there is nothing to redo: nothing was undone, or something was done since"),
        };
        let found = operation::next(session.log(), &session.lines(), way)?;
        let operation = found.ok_or_else(|| EngineError::Conflict(nothing.into()))?;
        if wanted.is_some_and(|wanted| !is_named(session, &operation, wanted)) {
            return Err(EngineError::Conflict("something else was done to the session since".into()));
        }
        refuse_final(&operation)?;
        let earlier = before(session, &operation)?;
        let changed = Changed::by(session, &operation)?;
        if changed.ends_share {
            let message = "something that was shared was taken back last, and that cannot be undone: its address never works again";
            let hint = "share it again, under another address";
            return Err(EngineError::Final { message: message.into(), hint: hint.into() });
        }
        let leaf = if changed.moves_leaf { earlier.leaf() } else { session.leaf() };
        let files = self.files_back(session, &operation, &changed, options)?;
        if options.dry_run {
            return Ok(TakenBack { operation, files: files.planned(), leaf, is_done: false });
        }
        let mut doing = Doing::several(name, self, session);
        let what = format!("what {} changed", operation.name);
        let then = Then::TakeBack(operation.id.clone());
        let done = self.carry_out(session, files, (options.force, &what), then, &mut doing)?;
        let notes: Vec<Body> = done.drafts.into_iter().map(|draft| draft.body).collect();
        let back = Back { operation, earlier, changed, leaf };
        self.write_back(session, &back, doing, &notes)?;
        Ok(TakenBack { operation: back.operation, files: done.files, leaf: back.leaf, is_done: true })
    }

    /// Writes what takes an operation back, once its files are as they were.
    fn write_back(&self, session: &mut Session, back: &Back, doing: Doing, notes: &[Body]) -> Result<(), EngineError> {
        // Only now it is taken back: a process that ends before has only kept a snapshot.
        let doing = doing.taking_back(&back.operation.id);
        let known = session.log().len();
        // First: what the log says is taken back must not be open.
        self.revoke_shares_called(session.id().as_str(), &back.changed.shares)?;
        self.rewriting(session, |engine, session| {
            // Where files are back already, what somebody else wrote meanwhile stays a branch.
            if session.log().len() != known && notes.is_empty() {
                return Err(EngineError::Conflict("something was done to the session meanwhile; try again".into()));
            }
            let writing = Writing::new(engine, session, doing.clone(), back.leaf.clone());
            Ok((writing.lines(&back.changed, &back.earlier, notes)?, ()))
        })?;
        self.publish_if_answered(session);
        if back.changed.meta.contains("cwd") {
            self.settle(session)?;
        }
        Ok(())
    }

    /// Ends what was interrupted after its files were restored: `safety` is the entry that says so.
    pub(crate) fn end_take_back(
        &self,
        session: &mut Session,
        safety: Seq,
        operation: &str,
        (doing, note): (Doing, Draft),
    ) -> Result<(), EngineError> {
        let gone = || EngineError::Corrupt(format!("operation {operation}, which was to be taken back, is not there"));
        let operation = operation::find(session.log(), &session.lines(), operation)?.ok_or_else(gone)?;
        let earlier = before(session, &operation)?;
        let changed = Changed::by(session, &operation)?;
        // Where the conversation was before that entry.
        let was = session.log().record(safety).and_then(Record::parent).map(|parent| session.entry_id(parent));
        let leaf = if changed.moves_leaf { earlier.leaf() } else { was };
        self.write_back(session, &Back { operation, earlier, changed, leaf }, doing, &[note.body])
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

/// Says whether a name means an operation: its id, that of one of its entries, or of what it took back.
fn is_named(session: &Session, operation: &Operation, name: &str) -> bool {
    let is_entry = |seq: &Seq| session.log().id(*seq) == name;
    operation.id == name || operation.takes_back.as_deref() == Some(name) || operation.entries.iter().any(is_entry)
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
        bodies.extend(changed.shares.iter().map(|id| Body::ramus("share", json!({"id": id}))));
        let moves = hung != self.leaf || !changed.versions.is_empty() || !changed.segments.is_empty();
        if moves || bodies.is_empty() {
            let pointer = self.pointer(earlier)?;
            // The pointer of a revert says that it is one where others say what they are part of: that is said before it.
            if pointer.get("op").is_some() && bodies.is_empty() && notes.is_empty() && changed.versions.is_empty() {
                bodies.push(Body::ramus("leaf", json!({"target": self.leaf.as_ref().map(EntryId::as_str)})));
            }
            bodies.push(Body::ramus("leaf", pointer));
        }
        for body in bodies {
            self.line(body, self.leaf.clone());
        }
        Ok(self.bytes)
    }

    /// What moves the leaf. A revert that was in force before is so again, and can be taken back.
    fn pointer(&self, earlier: &Session) -> Result<Value, EngineError> {
        let target = self.leaf.as_ref().map(EntryId::as_str);
        let revert = earlier.revert_in_force()?.map(|revert| revert.data);
        let revert = revert.filter(|data| data.get("target").and_then(Value::as_str) == target);
        Ok(revert.unwrap_or_else(|| json!({"target": target})))
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
