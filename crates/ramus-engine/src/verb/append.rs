//! `append`: entries under the leaf or a named parent; a batch is all or nothing.
//!
//! Writers do not exclude each other: each reads, decides, and writes at the position it read up to. Who was too slow is
//! told by the store, reads on and decides again, so an entry that names no parent always hangs from the leaf as it is at
//! the moment of writing.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use ramus_model::json::Raw;
use ramus_model::operation::Mark;
use ramus_model::{Body, Draft, EntryId, Kind, Log, Parent, Record, Role, Seq};
use ramus_store::{Flush, Residence, StoreError};
use serde_json::json;

use crate::blobs::{names_one_of, strange_blob};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, find};
use crate::verb::create::new_entry_id;
use crate::verb::replace_segment::close_tail;

/// How often a writer that others outrun tries again.
pub(crate) const ATTEMPTS: usize = 10_000;

/// Where a batch goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// To the leaf, whatever it is at the moment of writing.
    #[default]
    Leaf,
    /// Under this entry, where a turn or an open view stands. When someone was faster the batch becomes a sibling and
    /// the leaf stays where it is.
    At(EntryId),
    /// To the leaf, if the log holds exactly so many entries at the moment of writing; otherwise nothing is written.
    Expecting(u64),
}

/// What an append wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// The entries, in the order they were given.
    pub entries: Vec<Written>,
    /// Whether someone was faster: the batch became a sibling and the leaf stayed where it was.
    pub is_sibling: bool,
}

/// One entry that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its id.
    pub id: EntryId,
    /// Its position.
    pub seq: Seq,
    /// What it hangs from.
    pub parent: Option<EntryId>,
}

impl Engine {
    /// Appends a batch and returns when it is durable.
    pub fn append(&self, session: &mut Session, drafts: &[Draft], cursor: &Cursor) -> Result<Appended, EngineError> {
        let mut outcomes = self.append_together(session, &[(drafts, cursor)])?;
        outcomes.pop().unwrap_or_else(|| Ok(Appended::default()))
    }

    /// Appends several batches with one write, each as if it came after the one before. A batch that cannot be appended
    /// fails alone; when writing fails, nothing was written.
    pub(crate) fn append_together(
        &self,
        session: &mut Session,
        requests: &[(&[Draft], &Cursor)],
    ) -> Result<Vec<Result<Appended, EngineError>>, EngineError> {
        if requests.iter().all(|(drafts, _)| drafts.is_empty()) {
            return Ok(requests.iter().map(|_| Ok(Appended::default())).collect());
        }
        self.begin_writing(session)?;
        let strange = self.strange_blobs(session, requests.iter().flat_map(|(drafts, _)| *drafts))?;
        let mut blobs = Vec::new();
        let mut smaller = Vec::with_capacity(requests.len());
        for (drafts, cursor) in requests {
            let external = self.externalise(session, drafts);
            blobs.extend(external.blobs);
            let is_strange = !strange.is_empty() && names_one_of(drafts, &strange);
            smaller.push((external.drafts, *cursor, is_strange));
        }
        // Blobs come before the lines that refer to them, and no collection comes in between.
        let _hold = self.keep_blobs(&blobs)?;
        for _ in 0..ATTEMPTS {
            let mut batch = Batch::after(session);
            let now = self.timestamp();
            let plan = |(drafts, cursor, is_strange): &(Cow<'_, [Draft]>, &Cursor, bool)| match is_strange {
                true => Err(strange_blob()),
                false => self.plan(session, &mut batch, drafts, cursor, &now),
            };
            let planned: Vec<_> = smaller.iter().map(plan).collect();
            if batch.written.is_empty() {
                return Ok(planned.into_iter().map(|planned| planned.map(|_| Appended::default())).collect());
            }
            match self.write(session, &batch.bytes) {
                Ok(()) => {
                    self.keep_blobs_late(&blobs)?;
                    self.publish_if_answered(session);
                    let report = |planned: Planned| self.report(session, &batch, &planned);
                    return Ok(planned.into_iter().map(|planned| planned.map(report)).collect());
                }
                Err(error) => self.catch_up(session, error)?,
            }
        }
        Err(overtaken(session))
    }

    /// Reads what others did that made a write fail; any other error is handed back.
    pub(crate) fn catch_up(&self, session: &mut Session, error: StoreError) -> Result<(), EngineError> {
        let last = session.log().seqs().next_back().map(|seq| session.entry_id(seq));
        match error {
            StoreError::Moved { .. } => session.refresh()?,
            StoreError::Replaced { .. } => session.reload()?,
            StoreError::NotFound { .. } => self.look_up_again(session)?,
            error => return Err(error.into()),
        }
        // They were durable, so whoever relies on them must be told.
        if last.is_some_and(|last| session.log().seq_of(last.as_str()).is_none()) {
            session.notices.push("something else replaced or cut the file: entries that were in it are gone".into());
        }
        // What others left may need an upgrade or a repair of its own, or be a restore that nobody ended.
        self.make_writable(session)?;
        self.end_what_was_interrupted(session);
        Ok(())
    }

    /// Writes bytes at the end of the log as it was read, and takes them in.
    pub(crate) fn write(&self, session: &mut Session, bytes: &[u8]) -> Result<(), StoreError> {
        let position = session.position();
        session.writer()?.append(position, bytes, self.durability.flush())?;
        session.log.feed(bytes);
        session.log.finish();
        session.wrote = true;
        session.expected = None;
        session.unconfirmed |= self.durability.flush() == Flush::Later;
        session.save_sidecar_when_worthwhile();
        self.bus.wrote(session.id(), session.log().len());
        Ok(())
    }

    /// The file is not where it was: it may have been published or moved by another process.
    pub(crate) fn look_up_again(&self, session: &mut Session) -> Result<(), EngineError> {
        let gone = || EngineError::SessionNotFound(session.location().id.to_string());
        let found = find(self.store.as_ref(), &session.location().id)?.ok_or_else(gone)?;
        if found == *session.location() {
            return Err(gone());
        }
        session.relocate(found);
        session.refresh()
    }

    /// A draft that holds an answer is a session that people look for. What was appended is safe either way, so trouble
    /// with publishing is told, not failed with: the next writer publishes.
    pub(crate) fn publish_if_answered(&self, session: &mut Session) {
        if session.residence() != Residence::Draft || !session.has_answer() {
            return;
        }
        let cwd = session.cwd().to_owned();
        let published = match self.store.settle(session.location(), &cwd) {
            Ok(location) => {
                session.relocate(location);
                Ok(())
            }
            // Another writer published it first.
            Err(StoreError::NotFound { .. }) => self.look_up_again(session),
            Err(error) => Err(error.into()),
        };
        if let Err(error) = published {
            session.notices.push(format!("the session stays a draft: {error}"));
        }
    }

    /// Plans one request behind those that are in the batch already. When it cannot be done, the batch stays as it was.
    fn plan(
        &self,
        session: &Session,
        batch: &mut Batch,
        drafts: &[Draft],
        cursor: &Cursor,
        now: &str,
    ) -> Result<Planned, EngineError> {
        let before = batch.mark();
        self.plan_into(session, batch, drafts, cursor, now).inspect_err(|_| batch.reset(before))
    }

    fn plan_into(
        &self,
        session: &Session,
        batch: &mut Batch,
        drafts: &[Draft],
        cursor: &Cursor,
        now: &str,
    ) -> Result<Planned, EngineError> {
        let log = session.log();
        let leaf = batch.leaf.clone();
        let start = batch.written.len();
        session.check_expected(log.len() + start)?;
        let first = match cursor {
            Cursor::Leaf => leaf.clone(),
            Cursor::Expecting(expected) => {
                let found = (log.len() + start) as u64;
                if found != *expected {
                    return Err(EngineError::Moved { found, expected: *expected });
                }
                leaf.clone()
            }
            Cursor::At(entry) if drafts.is_empty() || batch.holds(log, entry.as_str()) => Some(entry.clone()),
            Cursor::At(entry) => {
                return Err(EngineError::Invalid(format!("the cursor stands on {entry}, which is not in the session")));
            }
        };
        let mut last = first.clone();
        for (at, draft) in drafts.iter().enumerate() {
            let wrong = |reason: String| EngineError::InvalidLine { line: at + 1, reason };
            let id = match &draft.id {
                Some(id) if batch.has(log, id.as_str()) => {
                    return Err(wrong(format!("the id {id} is taken")));
                }
                Some(id) => id.clone(),
                None => new_entry_id(|id| batch.has(log, id)),
            };
            let parent = match &draft.parent {
                Parent::Leaf => last.clone(),
                Parent::Root => None,
                Parent::Entry(parent) if batch.holds(log, parent.as_str()) => Some(parent.clone()),
                Parent::Entry(parent) => return Err(wrong(format!("the parent {parent} is not in the session"))),
            };
            check_circle(log, &id, parent.as_ref()).map_err(wrong)?;
            check_targets(session, batch, draft, &id).map_err(wrong)?;
            if !draft.body.is_inert() {
                last = Some(id.clone());
            }
            batch.push(log, &draft.body, id, parent, draft.timestamp.as_deref().unwrap_or(now));
        }
        let entries = start..batch.written.len();
        let is_sibling = matches!(cursor, Cursor::At(_)) && !drafts.is_empty() && first != leaf;
        if is_sibling {
            let id = new_entry_id(|id| batch.has(log, id));
            let data = json!({"target": leaf.as_ref().map(EntryId::as_str)});
            let pointer =
                Body::ramus("leaf", data).marked(&self.mark_behind(session, drafts, batch.written.get(start)));
            batch.push(log, &pointer, id, leaf, now);
        }
        Ok(Planned { entries, is_sibling })
    }

    /// The mark of a pointer behind a batch: it belongs to the operation of the batch.
    fn mark_behind(&self, session: &Session, drafts: &[Draft], first: Option<&New>) -> Mark {
        let line = |draft: &Draft| draft.body.to_line(&EntryId::from(""), None, "");
        let marked = drafts.first().map(line).and_then(|line| Raw::parse(&line).and_then(Mark::read));
        let id = first.map(|first| first.id.to_string());
        match marked {
            Some(mark) => Mark { of: mark.id.or(mark.of), id: None, ..mark },
            None => {
                Mark { name: "append".into(), client: self.client_of(session).to_owned(), from: id, ..Mark::default() }
            }
        }
    }

    fn report(&self, session: &Session, batch: &Batch, planned: &Planned) -> Appended {
        let written = batch.written.get(planned.entries.clone()).unwrap_or_default();
        let entries = written.iter().filter_map(|entry| {
            let seq = session.log.seq_of(entry.id.as_str())?;
            Some(Written { id: entry.id.clone(), seq, parent: entry.parent.clone() })
        });
        Appended { entries: entries.collect(), is_sibling: planned.is_sibling }
    }
}

/// Writers that are outrun again and again give up in the end.
pub(crate) fn overtaken(session: &Session) -> EngineError {
    StoreError::Busy { session: session.id().to_string(), seconds: 0 }.into()
}

impl Session {
    /// Says whether a model has answered in this session. Entries that were looked at are not looked at again.
    pub(crate) fn has_answer(&mut self) -> bool {
        let is_answer = |seq: Seq| self.log.record(seq).is_some_and(|record| record.role == Role::Assistant);
        let found = self.log.seqs().skip(self.unanswered).find(|seq| is_answer(*seq) && self.log.belongs(*seq));
        if found.is_none() {
            self.unanswered = self.log.len();
        }
        found.is_some()
    }
}

/// Refuses an entry that others already wait for as their parent when it would hang from one of them.
fn check_circle(log: &Log, id: &EntryId, parent: Option<&EntryId>) -> Result<(), String> {
    let waiting: Vec<Seq> = log.awaiting(id.as_str()).collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let parent = parent.and_then(|parent| log.seq_of(parent.as_str()));
    match log.ancestors(parent).find(|seq| waiting.contains(seq)) {
        Some(seq) => Err(format!("{id} is the missing parent of {} and cannot hang from it", log.id(seq))),
        None => Ok(()),
    }
}

/// Entries that point at others must point at something.
fn check_targets(session: &Session, batch: &Batch, draft: &Draft, own: &EntryId) -> Result<(), String> {
    let names = match draft.body.kind() {
        Kind::Label | Kind::ContextEdit => ["targetId"],
        Kind::Compaction => ["firstKeptEntryId"],
        _ => return Ok(()),
    };
    for name in names {
        let target = draft.body.member(name).and_then(|raw| raw.text().map(|text| text.into_owned()));
        // A compaction that keeps nothing names itself.
        if let Some(target) = target.filter(|target| !target.is_empty() && *target != own.as_str())
            && !batch.has(session.log(), &target)
        {
            return Err(format!("{name} names {target}, which is not in the session"));
        }
    }
    Ok(())
}

/// What became of one request.
struct Planned {
    /// Its entries among those of the batch.
    entries: Range<usize>,
    is_sibling: bool,
}

/// Lines about to be written.
struct Batch {
    bytes: Vec<u8>,
    written: Vec<New>,
    /// Where each entry is among the written ones.
    ids: HashMap<EntryId, usize>,
    /// What the leaf will be.
    leaf: Option<EntryId>,
}

/// An entry about to be written.
struct New {
    id: EntryId,
    parent: Option<EntryId>,
    is_inert: bool,
}

/// Where a batch stood.
struct Standing {
    bytes: usize,
    written: usize,
    leaf: Option<EntryId>,
}

impl Batch {
    fn after(session: &Session) -> Self {
        Self { bytes: close_tail(session), written: Vec::new(), ids: HashMap::new(), leaf: session.leaf() }
    }

    /// Says whether an entry can hang from this one: it is in the batch or part of the session.
    fn holds(&self, log: &Log, id: &str) -> bool {
        self.is_new(id) || log.seq_of(id).is_some_and(|seq| log.belongs(seq))
    }

    /// Says whether an id is taken.
    fn has(&self, log: &Log, id: &str) -> bool {
        self.is_new(id) || log.seq_of(id).is_some()
    }

    fn is_new(&self, id: &str) -> bool {
        !self.ids.is_empty() && self.ids.contains_key(&EntryId::from(id))
    }

    fn push(&mut self, log: &Log, body: &Body, id: EntryId, parent: Option<EntryId>, timestamp: &str) {
        self.bytes.extend(body.to_line(&id, parent.as_ref(), timestamp));
        let is_inert = body.is_inert();
        self.leaf = if is_inert { self.nearest_visible(log, parent.clone()) } else { Some(id.clone()) };
        self.ids.insert(id.clone(), self.written.len());
        self.written.push(New { id, parent, is_inert });
    }

    /// Where the leaf is when the last entry is an inert one that hangs from `from`.
    fn nearest_visible(&self, log: &Log, mut from: Option<EntryId>) -> Option<EntryId> {
        while let Some(id) = &from {
            match self.ids.get(id).and_then(|at| self.written.get(*at)) {
                Some(new) if new.is_inert => from = new.parent.clone(),
                Some(_) => return from,
                None => {
                    let mut path = log.ancestors(log.seq_of(id.as_str()));
                    let visible = path.find(|seq| log.record(*seq).is_some_and(Record::is_visible));
                    return visible.map(|seq| EntryId::from(log.id(seq)));
                }
            }
        }
        None
    }

    fn mark(&self) -> Standing {
        Standing { bytes: self.bytes.len(), written: self.written.len(), leaf: self.leaf.clone() }
    }

    fn reset(&mut self, mark: Standing) {
        for new in self.written.drain(mark.written..) {
            self.ids.remove(&new.id);
        }
        self.bytes.truncate(mark.bytes);
        self.leaf = mark.leaf;
    }
}
