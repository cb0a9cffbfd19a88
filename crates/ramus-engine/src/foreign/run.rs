//! Importing many sources: a [`Crew`] reads them, what it gives is taken in here, and appears in a [`Batch`]. What was read of a
//! source is remembered when its sessions are there.

use std::collections::BTreeSet;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use ramus_model::SessionId;

use super::batch::Batch;
use super::crew::Crew;
use super::database::sweep;
use super::flow::{Carried, Job};
use super::handed::Handed;
use super::header::Projects;
use super::lineage::Linking;
use super::memory::Memory;
use super::message::{Change, Failed, Message, Outcome, Summary};
use super::presence::Presence;
use super::rank::Rank;
use super::read::Reading;
use super::source::Located;
use super::{
    ForeignFailure, ForeignImport, ForeignImported, ForeignLink, ForeignProgress, ForeignSession, ForeignSkip, HERE,
    SHARED, UNKNOWN,
};
use crate::engine::Engine;
use crate::error::EngineError;

/// Copies of databases that are older than this belong to nobody.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Who takes in what readers give.
pub(super) struct Import<'e> {
    engine: &'e Engine,
    sources: &'e [Located],
    options: ForeignImport,
    presence: Presence,
    projects: Projects,
    handed: Handed,
    memory: Memory,
    batch: Batch<'e>,
    /// Sessions of the batch, and the sources that gave them.
    coming: Vec<(usize, Summary)>,
    /// Sources that are read to their end, and whose sessions may not be there yet.
    read: Vec<(usize, Outcome, Vec<String>)>,
    again: Vec<usize>,
    /// Whether somebody else brought a session of them first.
    is_overtaken: bool,
    /// The sessions that were met, by their ids here.
    met: BTreeSet<String>,
    done: ForeignImported,
    progress: ForeignProgress,
}

impl<'e> Import<'e> {
    pub(super) fn new(engine: &'e Engine, sources: &'e [Located], options: ForeignImport) -> Result<Self, EngineError> {
        let home = engine.foreign.as_ref();
        Ok(Self {
            engine,
            sources,
            options,
            presence: Presence::of(engine.store.list()?),
            projects: Projects::default(),
            handed: Handed::at(home.map(|home| &*home.handed)),
            memory: Memory::at(home.map(|home| &*home.memory)),
            batch: Batch::new(engine, options.dry_run),
            coming: Vec::new(),
            read: Vec::new(),
            again: Vec::new(),
            is_overtaken: false,
            met: BTreeSet::new(),
            done: ForeignImported::default(),
            progress: ForeignProgress {
                sources: 0,
                of_sources: sources.len(),
                bytes: 0,
                of_bytes: sources.iter().map(|source| source.size).sum(),
            },
        })
    }

    /// Imports everything that changed.
    pub(super) fn run(mut self, tell: &mut dyn FnMut(ForeignProgress)) -> Result<ForeignImported, EngineError> {
        if let Some(home) = &self.engine.foreign {
            sweep(&home.scratch, ABANDONED);
        }
        let sources = self.sources;
        let is_former = |at: &usize| {
            let rank = |source: &Located| Some(Rank::of_path(source.format?.name(), &source.path()));
            sources.get(*at).and_then(rank) == Some(Rank::Former)
        };
        let (former, others): (Vec<_>, Vec<_>) = self.changed(tell).into_iter().partition(is_former);
        self.rounds(others, tell)?;
        // What an agent moved to another store is there now.
        self.rounds(former, tell)?;
        if !self.options.dry_run {
            self.link()?;
            // What is not remembered is read again next time, and that is all.
            let _ = self.memory.save();
        }
        Ok(self.done)
    }

    /// Reads sources, and once more those that waited for others.
    fn rounds(&mut self, mut due: Vec<usize>, tell: &mut dyn FnMut(ForeignProgress)) -> Result<(), EngineError> {
        while !due.is_empty() {
            let before = self.done.imported.len();
            self.round(&due, tell)?;
            let again = std::mem::take(&mut self.again);
            let is_overtaken = std::mem::take(&mut self.is_overtaken);
            if again.len() == due.len() && self.done.imported.len() == before && !is_overtaken {
                // Nothing came that they could have waited for.
                again.into_iter().for_each(|at| self.skip(at, None, SHARED));
                break;
            }
            due = again;
        }
        Ok(())
    }

    /// Finds out which sessions are forks of which, now that they are there.
    fn link(&mut self) -> Result<(), EngineError> {
        let presence = &self.presence;
        self.memory.forget_gone(|id| presence.has(id));
        let (linked, failed) = Linking::new(self.engine, presence, &mut self.memory).run(&self.met)?;
        self.done.linked = linked;
        self.done.failed.extend(failed);
        self.tell_handed();
        Ok(())
    }

    /// Tells of sessions that were handed over and came back: their headers say already what they are copies of.
    fn tell_handed(&mut self) {
        for session in &self.done.imported {
            let origin = self.handed.origin(session.id.as_str(), &session.file.to_string_lossy());
            let Some(origin) = origin.filter(|origin| self.presence.has(&origin.session)) else { continue };
            if !self.done.linked.iter().any(|link| link.id == session.id) {
                self.done.linked.push(ForeignLink { id: session.id.clone(), origin: origin.clone() });
            }
        }
    }

    /// Takes note of a session that is there, or about to be.
    fn meet(&mut self, summary: &Summary, is_new: bool) {
        self.memory.remember_print(&summary.id, &summary.print, is_new);
        self.met.insert(summary.id.clone());
    }

    /// The sources that must be read.
    fn changed(&mut self, tell: &mut dyn FnMut(ForeignProgress)) -> Vec<usize> {
        let mut changed = Vec::new();
        for (at, source) in self.sources.iter().enumerate() {
            let known = self.memory.unchanged(source, |id| self.presence.has(id));
            match known {
                Some(known) => {
                    self.done.unchanged += known.sessions.len();
                    self.done.skipped.extend(known.sessions.iter().map(|id| skipped(source, Some(id.as_str()), HERE)));
                    self.progress.sources += 1;
                    self.progress.of_bytes -= source.size;
                }
                None => changed.push(at),
            }
        }
        tell(self.progress);
        changed
    }

    /// Reads some sources and publishes what they give.
    fn round(&mut self, due: &[usize], tell: &mut dyn FnMut(ForeignProgress)) -> Result<(), EngineError> {
        let (presence, projects) = (std::mem::take(&mut self.presence), std::mem::take(&mut self.projects));
        let handed = std::mem::take(&mut self.handed);
        let scratch = self.engine.foreign.as_ref().map(|home| &*home.scratch);
        let reading = Reading {
            engine: self.engine,
            presence: &presence,
            projects: &projects,
            handed: &handed,
            scratch,
            is_dry: self.options.dry_run,
        };
        let crew = Crew { reading: &reading, sources: self.sources, due, threads: self.options.threads };
        let taken = crew.work(|jobs| self.take_all(jobs, &presence, tell));
        (self.presence, self.projects, self.handed) = (presence, projects, handed);
        taken
    }

    fn take_all(
        &mut self,
        jobs: &Receiver<Job>,
        presence: &Presence,
        tell: &mut dyn FnMut(ForeignProgress),
    ) -> Result<(), EngineError> {
        for job in jobs {
            let at = job.source;
            self.take(&job, presence)?;
            self.progress.sources += 1;
            self.progress.bytes += self.sources.get(at).map_or(0, |source| source.size);
            tell(self.progress);
            if self.batch.is_full() {
                self.publish(presence)?;
            }
        }
        self.publish(presence)
    }

    /// Takes in what one source gives.
    fn take(&mut self, job: &Job, presence: &Presence) -> Result<(), EngineError> {
        let at = job.source;
        let (mut sessions, mut is_overtaken) = (Vec::new(), false);
        for Carried { message, room: _room } in job.messages() {
            match message {
                Message::Session(header) => {
                    if let Some(location) = self.batch.begin(*header)? {
                        presence.arrived(location);
                        is_overtaken = true;
                    }
                }
                Message::Lines(lines) => self.batch.lines(&lines)?,
                Message::Blob(blob) => self.batch.blob(&blob)?,
                Message::Complete(summary) => {
                    if self.batch.complete(&summary.id)? {
                        sessions.push(summary.id.clone());
                        self.meet(&summary, true);
                        self.coming.push((at, summary));
                    }
                }
                Message::Settled(summary, change) => {
                    sessions.push(summary.id.clone());
                    self.meet(&summary, false);
                    match change {
                        Change::None => self.skip(at, Some(&summary.id), HERE),
                        Change::Grown => self.done.grown.push(self.told(at, summary)),
                    }
                }
                Message::Skipped(id, why) => {
                    self.skip(at, Some(&id), why);
                    sessions.push(id);
                }
                Message::Ended(outcome) => {
                    self.batch.abandon()?;
                    if is_overtaken && outcome.result.is_ok() {
                        self.is_overtaken = true;
                        self.wait(at);
                        return Ok(());
                    }
                    return self.ended(at, *outcome, sessions);
                }
            }
        }
        self.batch.abandon()
    }

    fn ended(&mut self, at: usize, outcome: Outcome, sessions: Vec<String>) -> Result<(), EngineError> {
        let Some(source) = self.sources.get(at) else { return Ok(()) };
        match outcome.result {
            Ok(()) => {}
            Err(Failed::Again) => {
                self.wait(at);
                return Ok(());
            }
            Err(Failed::Ended) => return Ok(()),
            Err(Failed::Unknown) if !source.is_named => return Ok(()),
            Err(Failed::Unknown) => {
                self.done.failed.push(failure(source, UNKNOWN.to_owned()));
                return Ok(());
            }
            Err(Failed::Reason(reason)) => {
                self.done.failed.push(failure(source, reason));
                return Ok(());
            }
            Err(Failed::Home(error)) => return Err(error),
        }
        self.read.push((at, outcome, sessions));
        Ok(())
    }

    /// Has a source read once more.
    fn wait(&mut self, at: usize) {
        let Some(source) = self.sources.get(at) else { return };
        self.again.push(at);
        self.progress.of_sources += 1;
        self.progress.of_bytes += source.size;
    }

    /// Lets what was staged appear.
    fn publish(&mut self, presence: &Presence) -> Result<(), EngineError> {
        for location in self.batch.publish()? {
            presence.arrived(location);
        }
        for (at, summary) in std::mem::take(&mut self.coming) {
            let session = self.told(at, summary);
            self.done.imported.push(session);
        }
        for (at, outcome, sessions) in std::mem::take(&mut self.read) {
            if let Some(source) = self.sources.get(at) {
                self.memory.remember(source, outcome.looked, sessions, outcome.began);
            }
        }
        Ok(())
    }

    /// Takes note of a session that is left alone.
    fn skip(&mut self, at: usize, id: Option<&str>, why: &'static str) {
        self.done.unchanged += 1;
        self.done.skipped.extend(self.sources.get(at).map(|source| skipped(source, id, why)));
    }

    fn told(&self, at: usize, summary: Summary) -> ForeignSession {
        let source = self.sources.get(at);
        ForeignSession {
            id: SessionId::from(summary.id.as_str()),
            file: source.map(Located::path).unwrap_or_default(),
            agent: summary.agent,
            entries: summary.entries,
            branches: summary.branches,
            added: summary.added,
            changed: summary.changed,
            losses: summary.losses,
        }
    }
}

fn skipped(source: &Located, id: Option<&str>, reason: &'static str) -> ForeignSkip {
    let agent = source.format.map(ramus_interchange::Format::name);
    ForeignSkip { id: id.map(SessionId::from), agent, file: source.path(), reason }
}

fn failure(source: &Located, reason: String) -> ForeignFailure {
    ForeignFailure { file: source.path(), agent: source.format.map(ramus_interchange::Format::name), reason }
}
