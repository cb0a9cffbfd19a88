//! What a source gives, on its way to the home. Sessions that are new are handed on line by line, for a stage; those that are
//! here already are compared and grow in place.

use std::collections::{HashMap, HashSet};
use std::io;
use std::sync::mpsc::SyncSender;
use std::sync::{Mutex, PoisonError};

use ramus_interchange::{Entry, Error, Loss, Sink, Start};
use ramus_model::{Blob, Depth, Header, ImportedFrom, Log, Scope, SessionId, Tree, blob};
use ramus_store::Location;
use sha2::{Digest as _, Sha256};

use super::grow::{Growing, Standing};
use super::source::Looked;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::project;
use crate::session::header_of;
use crate::verb::create::engine_version;

/// How much is handed on at a time.
const CHUNK: usize = 1 << 18;
/// The longest directory and title that a header takes over.
const LONGEST_TEXT: usize = 4096;

/// What is handed on.
pub(super) enum Message {
    /// A session that is not here begins.
    Session(Box<Header>),
    /// Whole lines of it.
    Lines(Vec<u8>),
    /// What its lines refer to.
    Blob(Blob),
    /// It is complete.
    Complete(Summary),
    /// A session that was here is as it should be now.
    Settled(Summary, Change),
    /// The source was read to its end, or as far as it could be.
    Ended(Box<Outcome>),
}

/// How reading a source ended.
pub(super) struct Outcome {
    pub(super) result: Result<(), Failed>,
    pub(super) looked: Looked,
    /// When it was begun.
    pub(super) began: i64,
}

/// Why a source could not be read.
pub(super) enum Failed {
    /// It must be read once more, when what is on its way has come.
    Again,
    /// Nobody reads on.
    Ended,
    /// It is no session, and nobody said that it is one.
    Unknown,
    /// What is wrong with it.
    Reason(String),
    /// What is wrong with the home, which concerns all that come after.
    Home(EngineError),
}

/// What became of one session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Summary {
    pub(super) id: String,
    pub(super) agent: &'static str,
    pub(super) entries: usize,
    pub(super) branches: usize,
    pub(super) added: usize,
    pub(super) changed: usize,
    pub(super) losses: Vec<Loss>,
}

/// Whether a session that was here is another now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Grown,
}

/// Which sessions there are, and which are on their way.
#[derive(Debug, Default)]
pub(super) struct Presence(Mutex<HashMap<SessionId, Option<Location>>>);

impl Presence {
    pub(super) fn of(locations: Vec<Location>) -> Self {
        Self(Mutex::new(locations.into_iter().map(|location| (location.id.clone(), Some(location))).collect()))
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Option<Location>>> {
        // A table of names is never half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says whether a session is there.
    pub(super) fn has(&self, id: &SessionId) -> bool {
        matches!(self.all().get(id), Some(Some(_)))
    }

    /// Takes a name for a session that is about to come, or says who has it.
    fn claim(&self, id: &SessionId) -> Claim {
        match self.all().entry(id.clone()) {
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(None);
                Claim::Free
            }
            std::collections::hash_map::Entry::Occupied(taken) => match taken.get() {
                Some(location) => Claim::Here(location.clone()),
                None => Claim::Coming,
            },
        }
    }

    /// The session is there now.
    pub(super) fn arrived(&self, location: Location) {
        self.all().insert(location.id.clone(), Some(location));
    }

    /// The session does not come after all.
    pub(super) fn gone(&self, id: &SessionId) {
        self.all().remove(id);
    }
}

enum Claim {
    Free,
    Here(Location),
    Coming,
}

/// Why a source must be read once more.
#[derive(Debug, thiserror::Error)]
pub(super) enum Again {
    /// Another source gives the same session, which is not there yet.
    #[error("another file holds the same session")]
    Coming,
    /// Nobody reads on.
    #[error("the import has ended")]
    Ended,
}

/// Directories whose repositories were looked for already.
pub(super) type Projects = Mutex<HashMap<String, Option<ramus_model::Project>>>;

/// What is known of a source from reading it before.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// What it turned out to be to the sessions that it shares an id with and that were not read from it.
    verdicts: HashMap<SessionId, Verdict>,
    /// The sessions of it that are dealt with.
    done: HashSet<SessionId>,
}

impl Passes {
    /// Says whether something was compared and not dealt with.
    pub(super) fn are_due(&self) -> bool {
        self.verdicts.keys().any(|id| !self.done.contains(id))
    }
}

/// What a source is to a session that was read from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It is being compared.
    Open,
    /// A copy.
    Copy,
    /// Another session with the same id.
    Other,
}

/// Takes what one source gives.
pub(super) struct Taking<'e> {
    pub(super) engine: &'e Engine,
    pub(super) presence: &'e Presence,
    pub(super) projects: &'e Projects,
    pub(super) messages: &'e SyncSender<Message>,
    pub(super) agent: &'static str,
    pub(super) file: &'e str,
    /// The session that spawned this one, where the place tells it.
    pub(super) parent: Option<&'e str>,
    pub(super) is_dry: bool,
    pub(super) passes: &'e mut Passes,
    pub(super) losses: Vec<Loss>,
    current: Option<Current<'e>>,
    chunk: Vec<u8>,
}

enum Current<'e> {
    /// Dealt with before.
    Done,
    New(SessionId, Box<Log>),
    Here(SessionId, Box<Growing<'e>>),
}

impl<'e> Taking<'e> {
    #[expect(clippy::too_many_arguments, reason = "everything that one source is read with, named where it is made")]
    pub(super) fn new(
        engine: &'e Engine,
        presence: &'e Presence,
        projects: &'e Projects,
        messages: &'e SyncSender<Message>,
        passes: &'e mut Passes,
        (agent, file): (&'static str, &'e str),
        parent: Option<&'e str>,
        is_dry: bool,
    ) -> Self {
        let (losses, current, chunk) = (Vec::new(), None, Vec::new());
        Self { engine, presence, projects, messages, agent, file, parent, is_dry, passes, losses, current, chunk }
    }

    /// Ends the session that was begun last.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        match self.current.take() {
            None | Some(Current::Done) => Ok(()),
            Some(Current::New(id, mut log)) => {
                self.hand_on()?;
                log.finish();
                let summary = Summary {
                    id: id.to_string(),
                    agent: self.agent,
                    entries: log.len(),
                    branches: Tree::of(&log, Scope::Visible).leaves.len(),
                    added: log.len(),
                    changed: 0,
                    losses: std::mem::take(&mut self.losses),
                };
                self.send(Message::Complete(summary))
            }
            Some(Current::Here(id, growing)) => {
                let is_copy = growing.standing() == Standing::Copy;
                let grown = growing.finish().map_err(refused)?;
                let verdict = self.passes.verdicts.get(&id).copied();
                if verdict == Some(Verdict::Open) {
                    let verdict = if grown.tally.is_copy() { Verdict::Copy } else { Verdict::Other };
                    self.passes.verdicts.insert(id, verdict);
                    return Ok(());
                }
                let changed = if is_copy { 0 } else { grown.tally.changed };
                let change = if grown.tally.added + changed > 0 { Change::Grown } else { Change::None };
                let summary = Summary {
                    id: id.to_string(),
                    agent: self.agent,
                    entries: grown.entries,
                    branches: grown.branches,
                    added: grown.tally.added,
                    changed,
                    losses: std::mem::take(&mut self.losses),
                };
                self.send(Message::Settled(summary, change))
            }
        }
    }

    /// Gives up the session that was begun last.
    pub(super) fn abandon(&mut self) {
        if let Some(Current::New(id, _)) = self.current.take() {
            self.presence.gone(&id);
        }
        self.chunk.clear();
    }

    fn send(&self, message: Message) -> Result<(), Error> {
        self.messages.send(message).map_err(|_| refused(Again::Ended))
    }

    fn hand_on(&mut self) -> Result<(), Error> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(CHUNK));
        self.send(Message::Lines(chunk))
    }

    /// Finds the session that a source means: one that is here and was read from it, or is the same; otherwise a new one.
    fn begin(&mut self, start: &Start) -> Result<Current<'e>, Error> {
        let id = session_id(self.agent, &start.id);
        if self.passes.done.contains(&id) {
            return Ok(Current::Done);
        }
        let current = self.find(start, &id)?;
        if self.passes.verdicts.get(&id) != Some(&Verdict::Open) {
            self.passes.done.insert(id);
        }
        Ok(current)
    }

    fn find(&mut self, start: &Start, id: &SessionId) -> Result<Current<'e>, Error> {
        let location = match self.presence.claim(id) {
            Claim::Free => return self.begin_new(start, id.clone()),
            Claim::Coming => return Err(refused(Again::Coming)),
            Claim::Here(location) => location,
        };
        let standing = match self.passes.verdicts.get(id) {
            Some(Verdict::Other) => return self.begin_other(start, id),
            // A file that was moved, renamed or compressed is still what the session follows.
            Some(Verdict::Copy) if self.is_orphan(&location).map_err(refused)? => Standing::Own,
            Some(Verdict::Copy) => Standing::Copy,
            None if self.is_own(&location).map_err(refused)? => Standing::Own,
            Some(Verdict::Open) | None => {
                self.passes.verdicts.insert(id.clone(), Verdict::Open);
                Standing::Compared
            }
        };
        self.grow(id.clone(), location, standing)
    }

    /// Another session has the id. This one gets an id that says where it comes from.
    fn begin_other(&mut self, start: &Start, id: &SessionId) -> Result<Current<'e>, Error> {
        let other = SessionId::new(format!("{id}-{}", hash(&[self.agent, self.file])));
        match self.presence.claim(&other) {
            Claim::Free => self.begin_new(start, other),
            Claim::Coming => Err(refused(Again::Coming)),
            Claim::Here(location) => self.grow(other, location, Standing::Own),
        }
    }

    fn grow(&mut self, id: SessionId, location: Location, standing: Standing) -> Result<Current<'e>, Error> {
        let growing = Growing::new(self.engine, location, standing, self.is_dry).map_err(refused)?;
        Ok(Current::Here(id, Box::new(growing)))
    }

    fn begin_new(&mut self, start: &Start, id: SessionId) -> Result<Current<'e>, Error> {
        let header = self.header(start, id.clone());
        let mut log = Log::new(Depth::Envelope);
        let line = header.to_line();
        log.feed(&line);
        let sent = self.send(Message::Session(Box::new(header)));
        self.chunk.extend(line);
        if sent.is_err() {
            self.presence.gone(&id);
        }
        sent.map(|()| Current::New(id, Box::new(log)))
    }

    /// Says whether a session that is here was read from this source.
    fn is_own(&self, location: &Location) -> Result<bool, EngineError> {
        let header = header_of(self.engine.store.as_ref(), location)?;
        let from = header.and_then(|header| header.ramus.imported_from);
        Ok(from.is_some_and(|from| from.agent == self.agent && from.file == self.file))
    }

    /// Says whether the file that a session was read from is gone.
    fn is_orphan(&self, location: &Location) -> Result<bool, EngineError> {
        let header = header_of(self.engine.store.as_ref(), location)?;
        let from = header.and_then(|header| header.ramus.imported_from).filter(|from| from.agent == self.agent);
        let is_gone = |file: &str| matches!(std::fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound);
        Ok(from.is_some_and(|from| is_gone(&from.file)))
    }

    fn header(&self, start: &Start, id: SessionId) -> Header {
        let mut header = start.header();
        header.id = id;
        if header.cwd.len() > LONGEST_TEXT || header.cwd.contains('\0') {
            header.cwd = String::new();
        }
        header.title = header.title.take().filter(|title| title.len() <= LONGEST_TEXT);
        let parent = start.parent.as_deref().or(self.parent).map(|parent| session_id(self.agent, parent));
        if let Some(origin) = &mut header.ramus.copied_from {
            origin.session = session_id(self.agent, origin.session.as_str());
        }
        header.parent_session = header.parent_session.take().or_else(|| parent.as_ref().map(ToString::to_string));
        header.ramus.parent = parent;
        header.ramus.engine = Some(engine_version());
        header.ramus.project = self.project(&header.cwd);
        header.ramus.imported_from = Some(ImportedFrom { agent: self.agent.to_owned(), file: self.file.to_owned() });
        header
    }

    fn project(&self, cwd: &str) -> Option<ramus_model::Project> {
        let mut known = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(cwd.to_owned()).or_insert_with(|| project::find(cwd)).clone()
    }
}

impl Sink for Taking<'_> {
    fn session(&mut self, start: &Start) -> Result<(), Error> {
        self.complete()?;
        self.current = Some(self.begin(start)?);
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let external = blob::externalise_whole(&entry.line);
        let (line, blobs) = match &external {
            Some(external) => (&*external.line, &*external.blobs),
            None => (&*entry.line, &[][..]),
        };
        match &mut self.current {
            None | Some(Current::Done) => Ok(()),
            Some(Current::Here(_, growing)) => growing.entry(entry, line, blobs).map_err(refused),
            Some(Current::New(_, log)) => {
                log.feed(line);
                self.chunk.extend_from_slice(line);
                for blob in external.into_iter().flat_map(|external| external.blobs) {
                    self.send(Message::Blob(blob))?;
                }
                if self.chunk.len() >= CHUNK { self.hand_on() } else { Ok(()) }
            }
        }
    }

    fn loss(&mut self, loss: &Loss) -> Result<(), Error> {
        const LISTED: usize = 100;
        if let Some(known) = self.losses.iter_mut().find(|known| known.why == loss.why) {
            known.count += loss.count;
        } else if self.losses.len() < LISTED {
            self.losses.push(loss.clone());
        }
        Ok(())
    }
}

fn refused(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Refused(Box::new(error))
}

/// The id that a session has here: the agent's own, when it can be one.
fn session_id(agent: &str, id: &str) -> SessionId {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // `last` and `this` are words of the command line, and short names are no ids.
    let is_tame = (8..=128).contains(&id.len()) && id.bytes().all(is_plain) && !id.starts_with('.');
    if is_tame { SessionId::from(id) } else { SessionId::new(format!("{agent}-{}", hash(&[agent, id]))) }
}

fn hash(words: &[&str]) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    let mut digest = hex::encode(hash.finalize());
    digest.truncate(16);
    digest
}
