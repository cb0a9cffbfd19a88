//! What a source gives, on its way to the home. Sessions that are new are handed on line by line, for a stage, as soon as it is
//! known what they are called; those that are here already are compared and grow in place.

use ramus_interchange::{Entry, Error, Loss, Sink, Start};
use ramus_model::{Depth, Log, Scope, SessionId, Tree, blob};
use ramus_store::Location;

use super::flow::Outlet;
use super::grow::{Files, Growing, Standing};
use super::handed::Handed;
use super::header::{Projects, called};
use super::message::{Again, Change, Message, Summary};
use super::name::{hash, pointed_to, session_id};
use super::opening::Opening;
use super::passes::{Passes, Verdict};
use super::presence::{Claim, Presence};
use super::print::Printing;
use super::rank::Rank;
use super::title::{Titling, comes_from};
use super::{MOVED, SHARED};
use crate::engine::Engine;
use crate::error::EngineError;

/// How much is handed on at a time.
const CHUNK: usize = 1 << 18;

/// Takes what one source gives.
pub(super) struct Taking<'e> {
    pub(super) engine: &'e Engine,
    pub(super) presence: &'e Presence,
    pub(super) projects: &'e Projects,
    pub(super) messages: &'e Outlet,
    pub(super) agent: &'static str,
    pub(super) file: &'e str,
    /// The session that spawned this one, where the place tells it.
    pub(super) parent: Option<&'e str>,
    pub(super) is_dry: bool,
    pub(super) rank: Rank,
    pub(super) handed: Option<&'e Handed>,
    pub(super) passes: &'e mut Passes,
    pub(super) losses: Vec<Loss>,
    current: Option<Current<'e>>,
    printing: Printing,
    /// What the source calls the session.
    given: Option<String>,
    pub(super) titling: Titling,
    pub(super) opening: Option<Opening>,
    pub(super) chunk: Vec<u8>,
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
        messages: &'e Outlet,
        passes: &'e mut Passes,
        (agent, file): (&'static str, &'e str),
        parent: Option<&'e str>,
        is_dry: bool,
    ) -> Self {
        let (losses, current, given, opening, chunk) = (Vec::new(), None, None, None, Vec::new());
        let (printing, titling) = (Printing::default(), Titling::default());
        Self {
            engine,
            presence,
            projects,
            messages,
            agent,
            file,
            parent,
            is_dry,
            rank: Rank::default(),
            handed: None,
            passes,
            losses,
            current,
            printing,
            given,
            titling,
            opening,
            chunk,
        }
    }

    /// Ends the session that was begun last.
    pub(super) fn complete(&mut self) -> Result<(), Error> {
        let print = std::mem::take(&mut self.printing).finish();
        match self.current.take() {
            None | Some(Current::Done) => Ok(()),
            Some(Current::New(id, mut log)) => {
                self.open()?;
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
                    print,
                };
                self.send(Message::Complete(summary))
            }
            Some(Current::Here(id, growing)) => {
                let is_copy = growing.standing() == Standing::Copy;
                let is_compared = growing.standing() == Standing::Compared;
                let is_orphan = is_compared && self.is_orphan(growing.location()).map_err(refused)?;
                let (given, made) = (self.given.take(), std::mem::take(&mut self.titling).title());
                let grown = growing.finish(given.as_deref(), made.as_deref()).map_err(refused)?;
                let verdict = self.passes.verdicts.get(&id).copied();
                if verdict == Some(Verdict::Open) {
                    let is_copy = grown.tally.is_copy(Files::of(self.agent), is_orphan);
                    let verdict = if is_copy { Verdict::Copy } else { Verdict::Other };
                    self.passes.verdicts.insert(id, verdict);
                    return Ok(());
                }
                let changed = if is_copy { 0 } else { grown.tally.changed };
                let is_grown = grown.tally.added + changed > 0 || grown.is_renamed;
                let change = if is_grown { Change::Grown } else { Change::None };
                let summary = Summary {
                    id: id.to_string(),
                    agent: self.agent,
                    entries: grown.entries,
                    branches: grown.branches,
                    added: grown.tally.added,
                    changed,
                    losses: std::mem::take(&mut self.losses),
                    print,
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
        self.opening = None;
        self.chunk.clear();
    }

    pub(super) fn send(&self, message: Message) -> Result<(), Error> {
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
        let id = self.named(start).map_err(refused)?;
        if self.passes.done.contains(&id) {
            return Ok(Current::Done);
        }
        let current = self.find(start, &id)?;
        if self.passes.verdicts.get(&id) != Some(&Verdict::Open) {
            self.passes.done.insert(id);
        }
        Ok(current)
    }

    /// What a session is called here: as it was when it came in, or else by its id.
    fn named(&self, start: &Start) -> Result<SessionId, EngineError> {
        let id = session_id(self.agent, &start.id);
        let Some(former) = start.former_id.as_deref().filter(|_| self.presence.location(&id).is_none()) else {
            return Ok(id);
        };
        let former = session_id(self.agent, former);
        let is_former = match self.presence.location(&former) {
            Some(location) => self.is_own(&location)?,
            None => false,
        };
        Ok(if is_former { former } else { id })
    }

    fn find(&mut self, start: &Start, id: &SessionId) -> Result<Current<'e>, Error> {
        let location = match self.presence.claim(id) {
            Claim::Free => return Ok(self.begin_new(start, id.clone())),
            // In a dry run it never arrives, and nothing can be compared with it.
            Claim::Coming if self.is_dry => return self.skip(id, SHARED),
            Claim::Coming => return Err(refused(Again::Coming)),
            Claim::Here(location) => location,
        };
        let standing = match self.passes.verdicts.get(id) {
            Some(Verdict::Other) => return self.begin_other(start, id),
            // A file that was moved, renamed or compressed is still what the session follows.
            Some(Verdict::Copy) if self.is_orphan(&location).map_err(refused)? => Standing::Own,
            Some(Verdict::Copy) => Standing::Copy,
            None if self.is_own(&location).map_err(refused)? => Standing::Own,
            None if self.is_moved(&location).map_err(refused)? => {
                return self.skip(id, MOVED);
            }
            Some(Verdict::Open) | None => {
                self.passes.verdicts.insert(id.clone(), Verdict::Open);
                Standing::Compared
            }
        };
        self.grow(id.clone(), location, standing)
    }

    fn skip(&self, id: &SessionId, why: &'static str) -> Result<Current<'e>, Error> {
        self.send(Message::Skipped(id.to_string(), why))?;
        Ok(Current::Done)
    }

    /// Another session has the id. This one gets an id that says where it comes from.
    fn begin_other(&mut self, start: &Start, id: &SessionId) -> Result<Current<'e>, Error> {
        let other = SessionId::new(format!("{id}-{}", hash(&[self.agent, self.file])));
        match self.presence.claim(&other) {
            Claim::Free => Ok(self.begin_new(start, other)),
            Claim::Coming => Err(refused(Again::Coming)),
            Claim::Here(location) => self.grow(other, location, Standing::Own),
        }
    }

    fn grow(&mut self, id: SessionId, location: Location, standing: Standing) -> Result<Current<'e>, Error> {
        let growing = Growing::new(self.engine, location, standing, self.is_dry).map_err(refused)?;
        Ok(Current::Here(id, Box::new(growing)))
    }

    fn begin_new(&mut self, start: &Start, id: SessionId) -> Current<'e> {
        let header = self.header(start, id.clone());
        let mut log = Log::new(Depth::Envelope);
        log.feed(&header.to_line());
        self.opening = Some(Opening::of(header));
        Current::New(id, Box::new(log))
    }
}

impl Sink for Taking<'_> {
    fn session(&mut self, start: &Start) -> Result<(), Error> {
        self.complete()?;
        (self.given, self.titling) = (called(start), Titling::default());
        self.current = Some(self.begin(start)?);
        let is_spawned = start.parent.is_some() || self.parent.is_some();
        let forked_from = start.forked_from.as_ref().map(|fork| pointed_to(self.agent, &fork.session).to_string());
        // One that another spawned has a parent and needs no other origin.
        self.printing = if is_spawned { Printing::default() } else { Printing::of(self.agent, forked_from) };
        Ok(())
    }

    fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        self.printing.take(&entry.line);
        match &self.current {
            // What was erased here gives the session no name either.
            Some(Current::Here(_, growing)) if growing.has_erased(entry) => {
                self.given.take_if(|given| comes_from(given, &entry.line));
            }
            _ => self.titling.take(&entry.line),
        }
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
                let blobs = external.map(|external| external.blobs).unwrap_or_default();
                if self.holds(blobs)? || self.chunk.len() < CHUNK { Ok(()) } else { self.hand_on() }
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
