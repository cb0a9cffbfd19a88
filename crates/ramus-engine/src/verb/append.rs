//! `append`: entries under the leaf or a named parent; a batch is all or nothing.
//!
//! Writers do not exclude each other: each reads, decides, and writes at the position it read up to. Who was too slow is
//! told by the store, reads on and decides again, so an entry that names no parent always hangs from the leaf as it is at
//! the moment of writing.

use std::collections::HashSet;

use ramus_model::{Body, Draft, EntryId, Kind, Log, Parent, Role, Seq};
use ramus_store::{Residence, StoreError};
use serde_json::json;

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
        if drafts.is_empty() {
            return Ok(Appended::default());
        }
        self.make_writable(session)?;
        let external = self.externalise(session, drafts);
        // Blobs come before the lines that refer to them, and no collection comes in between.
        let _hold = self.keep_blobs(&external.blobs)?;
        for _ in 0..ATTEMPTS {
            let batch = self.plan_batch(session, &external.drafts, cursor)?;
            match self.write(session, &batch.bytes) {
                Ok(()) => {
                    self.keep_blobs_late(&external.blobs)?;
                    self.publish_if_answered(session);
                    return Ok(self.report(session, &batch));
                }
                Err(error) => self.catch_up(session, error)?,
            }
        }
        Err(overtaken(session))
    }

    /// Reads what others did that made a write fail; any other error is handed back.
    pub(crate) fn catch_up(&self, session: &mut Session, error: StoreError) -> Result<(), EngineError> {
        match error {
            StoreError::Moved { .. } => session.refresh()?,
            StoreError::Replaced { .. } => session.reload()?,
            StoreError::NotFound { .. } => self.look_up_again(session)?,
            error => return Err(error.into()),
        }
        // What others left may need an upgrade or a repair of its own.
        self.make_writable(session)
    }

    /// Writes bytes at the end of the log as it was read, and takes them in.
    pub(crate) fn write(&self, session: &mut Session, bytes: &[u8]) -> Result<(), StoreError> {
        let position = session.position();
        session.writer()?.append(position, bytes, self.durability.flush())?;
        session.log.feed(bytes);
        session.log.finish();
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
    fn publish_if_answered(&self, session: &mut Session) {
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

    fn plan_batch(&self, session: &Session, drafts: &[Draft], cursor: &Cursor) -> Result<Batch, EngineError> {
        let log = session.log();
        let leaf = session.leaf();
        let now = self.timestamp();
        let mut batch = Batch::after(session);
        let first = match cursor {
            Cursor::Leaf => leaf.clone(),
            Cursor::At(entry) => Some(entry.clone()),
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
            check_targets(session, &batch, draft).map_err(wrong)?;
            batch.push(&draft.body, id.clone(), parent, draft.timestamp.as_deref().unwrap_or(&now));
            if !draft.body.is_inert() {
                last = Some(id);
            }
        }
        if let (Cursor::At(_), true) = (cursor, first != leaf) {
            batch.sibling = true;
            let id = new_entry_id(|id| batch.has(log, id));
            let data = json!({"op": "append", "client": self.client, "target": leaf.as_ref().map(EntryId::as_str)});
            batch.bytes.extend(Body::ramus("leaf", data).to_line(&id, leaf.as_ref(), &now));
        }
        Ok(batch)
    }

    fn report(&self, session: &Session, batch: &Batch) -> Appended {
        let entries = batch.written.iter().filter_map(|(id, parent)| {
            let seq = session.log.seq_of(id.as_str())?;
            Some(Written { id: id.clone(), seq, parent: parent.clone() })
        });
        Appended { entries: entries.collect(), is_sibling: batch.sibling }
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
fn check_targets(session: &Session, batch: &Batch, draft: &Draft) -> Result<(), String> {
    let names = match draft.body.kind() {
        Kind::Label | Kind::ContextEdit => ["targetId"],
        Kind::Compaction => ["firstKeptEntryId"],
        _ => return Ok(()),
    };
    for name in names {
        let target = draft.body.member(name).and_then(|raw| raw.text().map(|text| text.into_owned()));
        if let Some(target) = target.filter(|target| !target.is_empty())
            && !batch.has(session.log(), &target)
        {
            return Err(format!("{name} names {target}, which is not in the session"));
        }
    }
    Ok(())
}

/// Lines about to be written.
struct Batch {
    bytes: Vec<u8>,
    written: Vec<(EntryId, Option<EntryId>)>,
    ids: HashSet<String>,
    sibling: bool,
}

impl Batch {
    fn after(session: &Session) -> Self {
        Self { bytes: close_tail(session), written: Vec::new(), ids: HashSet::new(), sibling: false }
    }

    /// Says whether an entry can hang from this one: it is in the batch or part of the session.
    fn holds(&self, log: &Log, id: &str) -> bool {
        self.ids.contains(id) || log.seq_of(id).is_some_and(|seq| log.belongs(seq))
    }

    /// Says whether an id is taken.
    fn has(&self, log: &Log, id: &str) -> bool {
        self.ids.contains(id) || log.seq_of(id).is_some()
    }

    fn push(&mut self, body: &Body, id: EntryId, parent: Option<EntryId>, timestamp: &str) {
        self.bytes.extend(body.to_line(&id, parent.as_ref(), timestamp));
        self.ids.insert(id.to_string());
        self.written.push((id, parent));
    }
}
