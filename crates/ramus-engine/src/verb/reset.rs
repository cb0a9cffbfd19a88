//! `reset`: a session as if nothing had ever been said in it. Its history is erased, a workspace that was made for it is
//! emptied, and messages are numbered anew under another name.
//!
//! What a session is stays: its id, directory, owner, title, tags, rules and metadata.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use ramus_model::blob::References;
use ramus_model::json::Raw;
use ramus_model::resolve::NAMESPACE;
use ramus_model::{BlobHash, Body, EntryId, Kind};
use ramus_store::{Hold, Removed, StoreError};
use serde_json::{Map, Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::append::{ATTEMPTS, overtaken};
use crate::verb::create::{new_entry_id, title_body};
use crate::verb::family::named;
use crate::verb::snapshot_name::is_of_snapshots;
use crate::workspace::io;

/// What a reset removed, or would remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reset {
    /// How many messages are gone.
    pub messages: usize,
    /// How many entries are gone, inert ones included.
    pub entries: usize,
    /// How many bytes of lines are gone.
    pub bytes: u64,
    /// How many blobs are gone, or only they refer to.
    pub blobs: u64,
    /// Copies of old bytes that are gone.
    pub copies: Removed,
    /// The shares that were taken back, because they show what is gone.
    pub shares: Vec<String>,
    /// The workspace that was emptied, if the session has one of its own.
    pub workspace: Option<PathBuf>,
    /// What messages are numbered under from now on.
    pub namespace: String,
}

impl Engine {
    /// Erases everything that was said and done in a session, for good. With `dry_run`, says what would go.
    pub fn reset(&self, session: &mut Session, dry_run: bool) -> Result<Reset, EngineError> {
        self.check_own(session, "reset")?;
        let _lease = self.store.lease(session.location(), self.now())?;
        let _forks = self.store.hold_forks(Hold::Exclusive)?;
        let forks = self.forks_of(session.location())?;
        if !forks.is_empty() {
            return Err(EngineError::Final {
                message: format!("sessions were forked from it and read its history: {}", named(&forks)),
                hint: "`ramus delete` them first, or `ramus reset-leaf` to start over without erasing anything".into(),
            });
        }
        if session.log().header().is_some_and(|header| header.ramus.forked_from.is_some()) {
            return Err(EngineError::Final {
                message: "a fork shows what its origin says, and cannot be reset".into(),
                hint: "`ramus delete` it, or `ramus reset-leaf` to start over without erasing anything".into(),
            });
        }
        self.make_writable(session)?;
        let mut shares = Vec::new();
        for _ in 0..ATTEMPTS {
            session.refresh()?;
            session.check_expected(session.log().len())?;
            let old = self.whole_file(session)?;
            let blobs = blobs_in(&old);
            let namespace = format!("ramus-{}", new_entry_id(|_| false));
            let (bytes, mut reset) = self.fresh(session, &old, &namespace)?;
            reset.blobs = blobs.len() as u64;
            // First: a page must not outlive what it shows, and what is interrupted can be asked for again.
            let ended = self.end_shares(session.id().as_str(), |_| true, dry_run)?;
            shares.extend(ended);
            if dry_run {
                reset.shares = shares;
                reset.copies = self.store.forget_copies(session.location(), true)?;
                return Ok(reset);
            }
            reset.copies = self.store.forget_copies(session.location(), false)?;
            match self.store.rewrite(session.location(), session.position(), &bytes, None) {
                Ok(()) => {
                    session.reload()?;
                    reset.shares = shares;
                    reset.blobs = self.erase_blobs(&blobs)?;
                    self.empty_workspace(session, reset.workspace.as_ref())?;
                    return Ok(reset);
                }
                Err(StoreError::Moved { .. } | StoreError::Replaced { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(overtaken(session))
    }

    /// The file with nothing in it but what the session is.
    fn fresh(&self, session: &Session, old: &[u8], namespace: &str) -> Result<(Vec<u8>, Reset), EngineError> {
        let log = session.log();
        let first = log
            .seqs()
            .next()
            .and_then(|seq| log.stored_place(seq))
            .map_or(old.len(), |place| usize::try_from(place.offset).unwrap_or(usize::MAX).min(old.len()));
        let header = old.get(..first).unwrap_or_default();
        let mut bytes = header.to_vec();
        let mut doing = Doing::several("reset", self, session);
        let now = self.timestamp();
        let mut set: Map<String, Value> = log.facts().meta().clone();
        set.insert(NAMESPACE.to_owned(), namespace.into());
        // What they stand for is erased.
        set.retain(|key, _| !is_of_snapshots(key));
        let title = log.facts().title().map(|(title, _)| title_body(title));
        let bodies = [Body::ramus("meta", json!({"set": set}))].into_iter().chain(title);
        let mut last: Option<EntryId> = None;
        for body in bodies.map(|body| doing.mark(body)) {
            let id = new_entry_id(|id| last.as_ref().is_some_and(|last| last.as_str() == id));
            bytes.extend(body.to_line(&id, None, &now));
            last = Some(id);
        }
        let is_message = |seq: &ramus_model::Seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Message);
        let reset = Reset {
            messages: log.visible().filter(is_message).count(),
            entries: log.len(),
            bytes: (old.len() - header.len()) as u64,
            workspace: self.owned_workspace(session),
            namespace: namespace.to_owned(),
            ..Reset::default()
        };
        Ok((bytes, reset))
    }

    /// Empties a workspace that this home made for the session, and makes its standard directories.
    fn empty_workspace(&self, session: &Session, root: Option<&PathBuf>) -> Result<(), EngineError> {
        let Some(root) = root else { return Ok(()) };
        let failed = |error| io("empty", root)(error);
        for entry in fs::read_dir(root).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // A link is removed, never what it points to.
            let is_directory = entry.file_type().map_err(failed)?.is_dir();
            let path = entry.path();
            let gone = if is_directory { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.map_err(failed)?;
        }
        self.keep_standard_directories(session)
    }
}

fn blobs_in(bytes: &[u8]) -> BTreeSet<BlobHash> {
    let mut references = References::default();
    references.feed(bytes);
    references.end();
    references.found().clone()
}

impl Session {
    /// Returns what tells positions in this log from those in another one that had its id, before a reset or a deletion. None
    /// when no other can have had it.
    pub fn epoch(&self) -> Option<String> {
        self.log().facts().meta().get(NAMESPACE).and_then(Value::as_str).map(str::to_owned)
    }

    /// Returns what its messages are numbered under.
    pub fn namespace(&self) -> String {
        self.epoch().unwrap_or_else(|| ramus_model::alias_namespace(self.id()))
    }

    /// Returns what an entry says under a name of its `data`.
    pub(crate) fn data_of(&self, seq: ramus_model::Seq) -> Result<Option<Map<String, Value>>, EngineError> {
        let line = self.line(seq)?;
        let data = Raw::parse(&line).and_then(|raw| raw.field("data")).map(|data| data.bytes().to_vec());
        Ok(data.and_then(|data| serde_json::from_slice(&data).ok()))
    }
}
