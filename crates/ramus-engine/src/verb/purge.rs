//! `purge`: an entry and everything below it is erased from the file, for good.
//!
//! Where something was, a mark stays that says so and nothing else, so `seq` and the numbers of messages mean what they
//! meant. What holds for the whole session stays, wherever it was written. The file is replaced in one move, and only if it
//! is still the one that was read; copies of its old bytes and blobs that nothing needs any more go too.

mod plan;
mod shown;
mod titles;

use std::collections::BTreeSet;

use ramus_model::blob::References;
use ramus_model::json::{Raw, quote};
use ramus_model::{BlobHash, Body, EntryId, Kind, Seq};
use ramus_store::{Hold, Removed, Residence, StoreError};
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::{Session, load};
use crate::shares::Share;
use crate::verb::append::{ATTEMPTS, overtaken};
use crate::verb::branch::branch_target;
use crate::verb::create::new_entry_id;
use crate::verb::family::named;
use plan::{Fate, Plan};
use shown::Shown;
use titles::untitled;

/// How much is erased.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PurgeScope {
    /// The entry and what is below it.
    #[default]
    Subtree,
    /// The whole branch the entry is on, from where it parts from the others.
    Branch,
}

/// What is to be erased, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Purge {
    /// How much.
    pub scope: PurgeScope,
    /// Only say what would go.
    pub dry_run: bool,
}

/// What was erased, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Purged {
    /// The entries of the conversation that are gone.
    pub entries: Vec<EntryId>,
    /// How many messages are among them.
    pub messages: usize,
    /// How many bytes of lines are gone.
    pub bytes: u64,
    /// How many blobs are gone, or only they refer to.
    pub blobs: u64,
    /// Copies of old bytes that are gone.
    pub copies: Removed,
    /// The shares that were taken back, because they show something of what is gone.
    pub shares: Vec<String>,
    /// Entries that stay and tell of what is gone: summaries of the branch.
    pub mentions: Vec<EntryId>,
    /// What was asked there: texts, each with its directory, as the prompt history knows them.
    pub prompts: Vec<(String, String)>,
    /// Where the conversation goes on.
    pub leaf: Option<EntryId>,
}

impl Engine {
    /// Erases an entry and what is below it, for good.
    pub fn purge(&self, session: &mut Session, target: Seq, purge: Purge) -> Result<Purged, EngineError> {
        self.check_own(session, "purged")?;
        let id = branch_target(session, target)?;
        if session.log().stored_place(target).is_none_or(|place| place.source != 0) {
            let origin = session.lineage().forked_from.map(|origin| origin.session.to_string()).unwrap_or_default();
            return Err(EngineError::Conflict(format!(
                "{id} belongs to session {origin}, which this one was forked from; it can only be purged there"
            )));
        }
        let _lease = self.store.lease(session.location(), self.now())?;
        if !purge.dry_run {
            // What a rewritten log says last must not be that a restore goes on.
            self.end_or_tell(session);
        }
        let _forks = self.store.hold_forks(Hold::Exclusive)?;
        self.make_writable(session)?;
        let mut shares = Vec::new();
        for _ in 0..ATTEMPTS {
            session.refresh()?;
            session.check_expected(session.log().len())?;
            check_sound(session)?;
            let target = session.resolve(id.as_str())?;
            let plan = Plan::of(session, target, purge.scope)?;
            let is_shared = self.check_forks(session, &plan)?;
            let blobs = self.blobs_of(session, &plan)?;
            let mut purged = self.told(session, &plan, &blobs)?;
            let shown = Shown::of(session, &plan);
            let shows = |share: &Share| shown.is_in(session, &share.entry);
            if purge.dry_run {
                purged.shares = self.end_shares(session.id().as_str(), shows, true)?;
                purged.copies = self.store.forget_copies(session.location(), true)?;
                return Ok(purged);
            }
            let bytes = self.rewritten(session, &plan, is_shared, purged.entries.len())?;
            // A page must not outlive what it shows.
            shares.extend(self.end_shares(session.id().as_str(), shows, false)?);
            // Before the log: when this is interrupted, what was asked for can be asked for again.
            purged.copies = self.store.forget_copies(session.location(), false)?;
            match self.store.rewrite(session.location(), session.position(), &bytes, None) {
                Ok(()) => {
                    session.reload()?;
                    purged.shares = shares;
                    purged.blobs = self.erase_blobs(&blobs)?;
                    return Ok(purged);
                }
                Err(StoreError::Moved { .. } | StoreError::Replaced { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(overtaken(session))
    }

    /// Only what is ours is destroyed.
    pub(crate) fn check_own(&self, session: &Session, done: &str) -> Result<(), EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; only sessions of the home can be";
            return Err(EngineError::Invalid(format!("{reason} {done}")));
        }
        Ok(())
    }

    /// Removes blobs for good, as far as nothing refers to them.
    pub(crate) fn erase_blobs(&self, hashes: &BTreeSet<BlobHash>) -> Result<u64, EngineError> {
        match self.store.blobs().filter(|_| !hashes.is_empty()) {
            Some(blobs) => Ok(blobs.erase(hashes)?.count),
            None => Ok(0),
        }
    }

    /// Nothing goes that a fork shows. Says whether there are forks that count bytes of this log.
    fn check_forks(&self, session: &Session, plan: &Plan) -> Result<bool, EngineError> {
        let forks = self.forks_of(session.location())?;
        let mut showing = Vec::new();
        for fork in &forks {
            let shown = load(&self.store, fork.clone(), ramus_model::Depth::Envelope)?;
            let log = shown.log();
            let shows = |seq: &Seq| log.seq_of(session.log().id(*seq)).is_some_and(|seq| log.belongs(seq));
            if plan.entries.iter().any(shows) {
                showing.push(fork.clone());
            }
        }
        if showing.is_empty() {
            return Ok(!forks.is_empty());
        }
        Err(EngineError::Final {
            message: format!("sessions were forked behind it and show it: {}", named(&showing)),
            hint: "`ramus delete` them first, if they shall forget it too".into(),
        })
    }

    fn blobs_of(&self, session: &Session, plan: &Plan) -> Result<BTreeSet<BlobHash>, EngineError> {
        let mut references = References::default();
        for seq in plan.erased() {
            if let Some(place) = session.log().stored_place(seq) {
                references.feed(&session.line_at(place)?);
                references.end();
            }
        }
        Ok(references.found().clone())
    }

    fn told(&self, session: &Session, plan: &Plan, blobs: &BTreeSet<BlobHash>) -> Result<Purged, EngineError> {
        let log = session.log();
        let mut purged = Purged { blobs: blobs.len() as u64, leaf: plan.leaf.clone(), ..Purged::default() };
        for seq in &plan.entries {
            purged.entries.push(session.entry_id(*seq));
            let record = log.record(*seq);
            purged.messages += usize::from(record.is_some_and(|record| record.kind == Kind::Message));
            if record.is_some_and(|record| record.role == ramus_model::Role::User) {
                let said = session.message(*seq)?.map(|message| message.text());
                purged.prompts.extend(said.map(|said| (said, session.cwd().to_owned())));
            }
        }
        let places = plan.erased().filter_map(|seq| log.stored_place(seq));
        purged.bytes = places.map(|place| u64::from(place.len)).sum();
        purged.mentions = plan.mentions.iter().map(|seq| session.entry_id(*seq)).collect();
        Ok(purged)
    }

    /// The file without what goes. Forks count its bytes, so with forks every line stays where it is.
    fn rewritten(
        &self,
        session: &Session,
        plan: &Plan,
        keeps_places: bool,
        count: usize,
    ) -> Result<Vec<u8>, EngineError> {
        let log = session.log();
        let old = self.whole_file(session)?;
        let changed = || EngineError::Conflict("the file changed while it was read; try again".into());
        let (mut new, mut at) = (Vec::with_capacity(old.len()), 0);
        if plan.titles.header {
            let first = log.header_place().ok_or_else(changed)?;
            let start = usize::try_from(first.offset).map_err(|_| changed())?;
            let end = start + first.len as usize;
            let line = old.get(start..end).ok_or_else(changed)?;
            new.extend_from_slice(old.get(..start).ok_or_else(changed)?);
            new.extend(fitted(untitled(line), line, keeps_places.then_some(line.len())));
            at = end;
        }
        for (seq, fate) in &plan.fates {
            let Some(place) = log.stored_place(*seq) else { continue };
            let start = usize::try_from(place.offset).map_err(|_| changed())?;
            let end = start + place.len as usize;
            new.extend_from_slice(old.get(at..start).ok_or_else(changed)?);
            let line = old.get(start..end).ok_or_else(changed)?;
            let room = keeps_places.then_some(line.len());
            new.extend(match fate {
                Fate::Erased => mark(session, *seq, line, room),
                Fate::Hung => fitted(plan::hung(line, plan.parent.as_ref()), line, room),
            });
            at = end;
        }
        new.extend_from_slice(old.get(at..).ok_or_else(changed)?);
        let id = new_entry_id(|id| log.seq_of(id).is_some());
        let target = plan.leaf.as_ref().map(EntryId::as_str);
        let pointer =
            Doing::one("purge", self).to(session).mark(Body::ramus("leaf", json!({"target": target, "purged": count})));
        new.extend(pointer.to_line(&id, plan.leaf.as_ref(), &self.timestamp()));
        Ok(new)
    }
}

/// A damaged file cannot be taken apart with certainty.
fn check_sound(session: &Session) -> Result<(), EngineError> {
    if session.log().is_damaged() {
        return Err(EngineError::Corrupt("the session is damaged; what is erased must be known for certain".into()));
    }
    Ok(())
}

/// What stands where something was erased: an id, a time, and that it was.
fn mark(session: &Session, seq: Seq, old: &[u8], room: Option<usize>) -> Vec<u8> {
    let log = session.log();
    let is_message = log.record(seq).is_some_and(|record| record.kind == Kind::Message) && log.is_original(seq);
    let id = match log.is_original(seq) {
        true => session.entry_id(seq),
        // The id of a later version is that of the entry.
        false => new_entry_id(|id| log.seq_of(id).is_some()),
    };
    let mut line = b"{\"type\":\"custom\",\"id\":".to_vec();
    quote(id.as_str(), &mut line);
    line.extend_from_slice(b",\"parentId\":null,\"timestamp\":");
    let when = Raw::parse(old).and_then(|raw| raw.field("timestamp")).and_then(Raw::text);
    quote(&when.unwrap_or_default(), &mut line);
    let name: &[u8] = if is_message { b"ramus.purged" } else { b"ramus.purged-entry" };
    line.extend([b",\"customType\":\"".as_slice(), name, b"\"}"].concat());
    match room {
        // What is too short for a mark becomes a blank line, which is read as if it were not there.
        Some(room) if line.len() > room => vec![b' '; room],
        room => fitted(Some(line), &[], room),
    }
}

/// A line that fills the room there is; the old one when the new one does not fit.
fn fitted(new: Option<Vec<u8>>, old: &[u8], room: Option<usize>) -> Vec<u8> {
    match (new, room) {
        (Some(new), None) => new,
        (Some(mut new), Some(room)) if new.len() <= room => {
            // In front of the closing brace spaces mean nothing.
            let end = new.pop();
            new.resize(room.saturating_sub(1), b' ');
            new.extend(end);
            new
        }
        _ => old.to_vec(),
    }
}
