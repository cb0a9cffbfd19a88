//! `import`: sessions of a bundle, all of them or none.
//!
//! Logs are staged and appear when the whole bundle was read and its checksum fits. A session that is here already is left
//! alone, one that the bundle continues is extended, and one that went another way is a conflict. What comes in is marked:
//! no rule of it allows anything here.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::io::BufRead;
use std::path::Path;

use ramus_model::json::Raw;
use ramus_model::{Blob, Depth, Header, Log, Scope, SessionId, Tree};
use ramus_publish::bundle::{Item, Limits, Object, Reader, SessionHead};
use ramus_snapshot::{Carried, Carrier, Snapshots};
use ramus_store::{Destination, Location, NewLog, Placement, Position, Stage};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{find, load};
use crate::verb::bundle::is_reference;
use crate::verb::create::new_session_id;
use crate::verb::snapshot::key;

/// How sessions are taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// Whether to say only what would happen.
    pub dry_run: bool,
    /// Whether every session gets a new id, whatever is here.
    pub as_new: bool,
    /// Whether what is kept of deleted sessions is taken in too. Forks that are here already would stand on it, so this is
    /// for homes that hold nothing but what the bundle's writer says.
    pub bases: bool,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// The sessions that are new here, or longer than before.
    pub imported: Vec<ImportedSession>,
    /// The sessions that were here already, with the reason.
    pub skipped: Vec<(SessionId, &'static str)>,
    /// How many snapshots came along.
    pub snapshots: usize,
}

/// A session that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedSession {
    /// Its id here.
    pub id: SessionId,
    /// Its id in the bundle.
    pub origin: SessionId,
    /// How many entries it has.
    pub entries: usize,
    /// How many branches.
    pub branches: usize,
    /// Whether a session that was here became longer.
    pub extended: bool,
}

/// The session of a bundle that is being read.
struct Incoming {
    head: SessionHead,
    id: SessionId,
    log: Log,
    len: u64,
    /// Whether its header may still come.
    awaits_header: bool,
}

/// What a staged log is to a session that is here.
enum Relation {
    Same,
    Older,
    Continues(Position),
    Diverged,
}

impl Engine {
    /// Takes the sessions of a bundle in, all of them or none.
    pub fn import_bundle(&self, input: impl BufRead, options: ImportOptions) -> Result<Imported, EngineError> {
        let mut reader = Reader::new(input, Limits::default())?;
        // Blobs come before the lines that refer to them are in a log that collection sees.
        let _hold = self.store.blobs().map(|blobs| blobs.hold()).transpose()?;
        let mut stage = self.store.stage()?;
        let (mut done, mut ids) = (Imported::default(), HashMap::new());
        let mut seen = HashSet::new();
        let mut incoming: Option<Incoming> = None;
        // Kept open until the logs are there that name the snapshots.
        let mut carriers: HashMap<String, Carrier> = HashMap::new();
        while let Some(item) = reader.next_item()? {
            match item {
                Item::Session(head) => {
                    self.complete(incoming.take(), stage.as_mut(), &mut done, options)?;
                    let next = Incoming::new(head, options.as_new)?;
                    if !seen.insert(next.head.id.clone()) {
                        let id = &next.head.id;
                        return Err(EngineError::Invalid(format!("the bundle holds session {id} twice")));
                    }
                    ids.insert(next.head.id.clone(), next.id.clone());
                    stage.begin()?;
                    incoming = Some(next);
                }
                Item::Log(bytes) => {
                    if let Some(incoming) = &mut incoming {
                        incoming.take(bytes, &ids, options.as_new, stage.as_mut())?;
                    }
                }
                Item::Blob(_, bytes) if !options.dry_run => {
                    if let Some(blobs) = self.store.blobs() {
                        blobs.put(&Blob::new(bytes))?;
                    }
                }
                Item::Object(object) if !options.dry_run => {
                    if let Some(incoming) = &incoming {
                        self.carry_in(&incoming.head.cwd, object, &mut carriers)?;
                    }
                }
                Item::Blob(..) | Item::Object(_) => {}
            }
        }
        self.complete(incoming.take(), stage.as_mut(), &mut done, options)?;
        for carrier in carriers.values_mut() {
            done.snapshots += carrier.finish()?;
        }
        if !options.dry_run {
            stage.publish()?;
        }
        Ok(done)
    }

    /// Takes in an object of a snapshot of a directory, which need not be there.
    fn carry_in(&self, cwd: &str, object: Object, carriers: &mut HashMap<String, Carrier>) -> Result<(), EngineError> {
        let Some(home) = &self.snapshots else { return Ok(()) };
        let directory = Path::new(cwd);
        if !directory.is_absolute() {
            return Err(EngineError::Invalid(format!("snapshots of {cwd:?}, which is no absolute path")));
        }
        let carrier = match carriers.entry(cwd.to_owned()) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(vacant) => {
                let root = if directory.exists() { Snapshots::root_of(directory)? } else { directory.to_owned() };
                vacant.insert(Carrier::open(&home.join(key(&root)), &root)?)
            }
        };
        let Object { name, kind, bytes } = object;
        Ok(carrier.take(&Carried { name, kind, bytes })?)
    }

    /// Finishes what an interrupted import had decided. Returns how many sessions appeared.
    pub fn settle_imports(&self) -> Result<usize, EngineError> {
        Ok(self.store.settle_staged()?)
    }

    /// Decides what becomes of a session that was read to its end.
    fn complete(
        &self,
        incoming: Option<Incoming>,
        stage: &mut dyn Stage,
        done: &mut Imported,
        options: ImportOptions,
    ) -> Result<(), EngineError> {
        let Some(mut incoming) = incoming else { return Ok(()) };
        incoming.log.finish();
        if incoming.head.base {
            return self.take_base(&incoming, stage, options);
        }
        let Some(here) = find(self.store.as_ref(), &incoming.id)? else {
            let timestamp = file_time(&incoming.head.created);
            let placement = if incoming.head.draft { Placement::Draft } else { Placement::Published };
            let new = NewLog { id: incoming.id.clone(), cwd: &incoming.head.cwd, timestamp, placement };
            stage.end(Some(Destination::New(new)))?;
            done.imported.push(incoming.imported(false));
            return Ok(());
        };
        match self.relation(&incoming, stage, &here)? {
            Relation::Same => done.skipped.push((incoming.id, "it is here already")),
            Relation::Older => done.skipped.push((incoming.id, "it is here already, and longer")),
            Relation::Continues(position) => {
                stage.end(Some(Destination::Extends(&here, position)))?;
                done.imported.push(incoming.imported(true));
                return Ok(());
            }
            Relation::Diverged => {
                return Err(EngineError::Diverged(incoming.id.to_string()));
            }
        }
        Ok(stage.end(None)?)
    }

    /// Keeps what is left of a deleted session, for the fork that follows.
    fn take_base(&self, incoming: &Incoming, stage: &mut dyn Stage, options: ImportOptions) -> Result<(), EngineError> {
        if !options.bases {
            let id = &incoming.head.id;
            return Err(EngineError::Invalid(format!(
                "the bundle holds what is left of session {id}, which was deleted; it was made to be looked at, not imported"
            )));
        }
        if !options.dry_run {
            let bytes = stage.read_at(0, usize::try_from(incoming.len).unwrap_or(usize::MAX))?;
            self.store.put_base(&incoming.id, &bytes)?;
        }
        Ok(stage.end(None)?)
    }

    fn relation(&self, incoming: &Incoming, stage: &dyn Stage, here: &Location) -> Result<Relation, EngineError> {
        let session = load(&self.store, here.clone(), Depth::Envelope)?;
        let mut compared = Compared { stage, at: 0, is_same: true, failed: None, last: None };
        let comes_alone = incoming.log.header().is_none_or(|header| header.ramus.forked_from.is_none());
        let position = if is_reference(&session) && comes_alone {
            compared.take(&self.standalone(&session)?);
            None
        } else {
            Some(self.store.read(here, 0, &mut |chunk| compared.take(chunk))?)
        };
        if let Some(error) = compared.failed {
            return Err(error);
        }
        // What is behind the end of the shorter one decides nothing: both begin alike.
        Ok(match (compared.is_same, compared.at.cmp(&incoming.len), position) {
            (false, ..) => Relation::Diverged,
            (true, std::cmp::Ordering::Equal, _) => Relation::Same,
            (true, std::cmp::Ordering::Greater, _) => Relation::Older,
            (true, std::cmp::Ordering::Less, Some(position)) if compared.last == Some(b'\n') => {
                Relation::Continues(position)
            }
            _ => Relation::Diverged,
        })
    }
}

/// Compares what is here with what is staged, as far as both go.
struct Compared<'s> {
    stage: &'s dyn Stage,
    at: u64,
    is_same: bool,
    failed: Option<EngineError>,
    last: Option<u8>,
}

impl Compared<'_> {
    fn take(&mut self, chunk: &[u8]) {
        if self.is_same && self.failed.is_none() {
            match self.stage.read_at(self.at, chunk.len()) {
                Ok(staged) => self.is_same = chunk.starts_with(&staged),
                Err(error) => self.failed = Some(error.into()),
            }
        }
        self.at += chunk.len() as u64;
        self.last = chunk.last().copied().or(self.last);
    }
}

impl Incoming {
    fn new(head: SessionHead, as_new: bool) -> Result<Self, EngineError> {
        if !is_tame(&head.id) {
            return Err(EngineError::Invalid(format!("{:?} cannot be the id of a session here", head.id)));
        }
        if head.cwd.len() > 4096 || head.cwd.contains('\0') {
            return Err(EngineError::Invalid(format!("session {} names no directory", head.id)));
        }
        let id = if as_new { new_session_id() } else { SessionId::from(&*head.id) };
        Ok(Self { head, id, log: Log::new(Depth::Envelope), len: 0, awaits_header: true })
    }

    fn take(
        &mut self,
        mut bytes: Vec<u8>,
        ids: &HashMap<String, SessionId>,
        as_new: bool,
        stage: &mut dyn Stage,
    ) -> Result<(), EngineError> {
        if as_new && self.awaits_header {
            let header = bytes.strip_suffix(b"\n").and_then(Raw::parse).and_then(Header::read);
            if let Some(mut header) = header {
                header.parent_session = Some(header.id.to_string());
                header.id = self.id.clone();
                header.ramus.parent =
                    header.ramus.parent.map(|parent| ids.get(parent.as_str()).cloned().unwrap_or(parent));
                bytes = header.to_line();
                self.awaits_header = false;
            }
        }
        self.len += bytes.len() as u64;
        self.log.feed(&bytes);
        Ok(stage.write(&bytes)?)
    }

    fn imported(&self, extended: bool) -> ImportedSession {
        ImportedSession {
            id: self.id.clone(),
            origin: SessionId::from(&*self.head.id),
            entries: self.log.len(),
            branches: Tree::of(&self.log, Scope::Visible).leaves.len(),
            extended,
        }
    }
}

/// Says whether a session that comes from elsewhere may be called so.
pub(crate) fn is_tame(id: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=128).contains(&id.len()) && id.bytes().all(is_name) && !id.starts_with('.')
}

/// The time that a file is named after. It comes from elsewhere, and only what looks like a time becomes part of a name.
pub(crate) fn file_time(created: &str) -> &str {
    let is_time = created.len() >= 10
        && created.len() <= 40
        && created.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'T' | b'Z' | b':' | b'.' | b'-' | b'+'));
    if is_time { created } else { "1970-01-01T00:00:00.000Z" }
}
