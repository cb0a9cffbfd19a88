//! Importing many sources: read beside each other, written by one, published in batches. A batch appears as a whole; what was
//! read of a source is remembered when its sessions are there.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use ramus_model::{Header, SessionId};
use ramus_store::{BlobHold, Destination, NewLog, Placement, Stage};

use super::database::sweep;
use super::header::Projects;
use super::lineage::Linking;
use super::memory::Memory;
use super::message::{Change, Failed, Message, Outcome, Summary};
use super::presence::Presence;
use super::read::Reading;
use super::source::Located;
use super::{ForeignFailure, ForeignImport, ForeignImported, ForeignProgress, ForeignSession};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::import::file_time;

/// How many sessions, and how many bytes of them, appear together.
const SESSIONS: usize = 1024;
const BYTES: u64 = 512 << 20;
/// How many messages a reader is ahead, and how many sources are read that nobody takes in yet: where readers are quicker than
/// the disk, what they have read waits in memory.
const AHEAD: usize = 32;
const WAITING: usize = 8;
/// Copies of databases that are older than this belong to nobody.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// A source that is being read: its number, and what it gives.
type Job = (usize, Receiver<Message>);

/// Who takes in what readers give.
pub(super) struct Import<'e> {
    engine: &'e Engine,
    sources: &'e [Located],
    options: ForeignImport,
    presence: Presence,
    projects: Projects,
    memory: Memory,
    stage: Option<Box<dyn Stage + 'e>>,
    hold: Option<Box<dyn BlobHold>>,
    batch: Vec<(usize, Summary)>,
    bytes: u64,
    /// Sources that are read to their end, and whose sessions may not be there yet.
    read: Vec<(usize, Outcome, Vec<String>)>,
    again: Vec<usize>,
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
            memory: Memory::at(home.map(|home| &*home.memory)),
            stage: None,
            hold: None,
            batch: Vec::new(),
            bytes: 0,
            read: Vec::new(),
            again: Vec::new(),
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
        let mut due = self.changed(tell);
        while !due.is_empty() {
            let before = self.done.imported.len();
            self.round(&due, tell)?;
            let again = std::mem::take(&mut self.again);
            if again.len() == due.len() && self.done.imported.len() == before {
                // Nothing came that they could have waited for: in a dry run nothing does.
                self.done.unchanged += again.len();
                break;
            }
            due = again;
        }
        if !self.options.dry_run {
            self.link()?;
            // What is not remembered is read again next time, and that is all.
            let _ = self.memory.save();
        }
        Ok(self.done)
    }

    /// Finds out which sessions are forks of which, now that they are there.
    fn link(&mut self) -> Result<(), EngineError> {
        let presence = &self.presence;
        self.memory.forget_gone(|id| presence.has(id));
        let (linked, failed) = Linking::new(self.engine, presence, &mut self.memory).run(&self.met)?;
        self.done.linked = linked;
        self.done.failed.extend(failed);
        Ok(())
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
            match known.map(|known| known.sessions.len()) {
                Some(sessions) => {
                    self.done.unchanged += sessions;
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
        let scratch = self.engine.foreign.as_ref().map(|home| &*home.scratch);
        let reading = Reading {
            engine: self.engine,
            presence: &presence,
            projects: &projects,
            scratch,
            is_dry: self.options.dry_run,
        };
        let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let sources = self.sources;
        let taken = std::thread::scope(|scope| {
            let (jobs, incoming) = sync_channel::<Job>(WAITING);
            for _ in 0..self.options.threads.clamp(1, due.len().max(1)) {
                let (jobs, reading, next, ended) = (jobs.clone(), &reading, &next, &ended);
                scope.spawn(move || work(sources, due, reading, next, ended, &jobs));
            }
            drop(jobs);
            let taken = self.take_all(&incoming, &presence, tell);
            // Whoever still reads finds nobody who listens.
            ended.store(true, Ordering::Relaxed);
            drop(incoming);
            taken
        });
        self.presence = presence;
        self.projects = projects;
        taken
    }

    fn take_all(
        &mut self,
        jobs: &Receiver<Job>,
        presence: &Presence,
        tell: &mut dyn FnMut(ForeignProgress),
    ) -> Result<(), EngineError> {
        for (at, messages) in jobs {
            self.take(at, &messages)?;
            self.progress.sources += 1;
            self.progress.bytes += self.sources.get(at).map_or(0, |source| source.size);
            tell(self.progress);
            if self.batch.len() >= SESSIONS || self.bytes >= BYTES {
                self.publish(presence)?;
            }
        }
        self.publish(presence)
    }

    /// Takes in what one source gives.
    fn take(&mut self, at: usize, messages: &Receiver<Message>) -> Result<(), EngineError> {
        let mut open: Option<Header> = None;
        let mut sessions = Vec::new();
        for message in messages {
            match message {
                Message::Session(header) => {
                    self.stage()?.begin()?;
                    open = Some(*header);
                }
                Message::Lines(lines) => {
                    self.bytes += lines.len() as u64;
                    self.stage()?.write(&lines)?;
                }
                Message::Blob(blob) if !self.options.dry_run => {
                    if let Some(blobs) = self.engine.store.blobs() {
                        blobs.put(&blob)?;
                    }
                }
                Message::Blob(_) => {}
                Message::Complete(summary) => {
                    let Some(header) = open.take() else { continue };
                    let timestamp = file_time(&header.timestamp);
                    let id = SessionId::from(summary.id.as_str());
                    let new = NewLog { id, cwd: &header.cwd, timestamp, placement: Placement::Published };
                    self.stage()?.end(Some(Destination::New(new)))?;
                    sessions.push(summary.id.clone());
                    self.meet(&summary, true);
                    self.batch.push((at, summary));
                }
                Message::Settled(summary, change) => {
                    sessions.push(summary.id.clone());
                    self.meet(&summary, false);
                    match change {
                        Change::None => self.done.unchanged += 1,
                        Change::Grown => self.done.grown.push(self.told(at, summary)),
                    }
                }
                Message::Ended(outcome) => {
                    if open.take().is_some() {
                        self.stage()?.end(None)?;
                    }
                    return self.ended(at, *outcome, sessions);
                }
            }
        }
        Ok(())
    }

    fn ended(&mut self, at: usize, outcome: Outcome, sessions: Vec<String>) -> Result<(), EngineError> {
        let Some(source) = self.sources.get(at) else { return Ok(()) };
        match outcome.result {
            Ok(()) => {}
            Err(Failed::Again) => {
                self.again.push(at);
                self.progress.of_sources += 1;
                self.progress.of_bytes += source.size;
                return Ok(());
            }
            Err(Failed::Ended) => return Ok(()),
            Err(Failed::Unknown) if !source.is_named => return Ok(()),
            Err(Failed::Unknown) => {
                let reason = "it is no session of an agent that ramus knows".to_owned();
                self.done.failed.push(failure(source, reason));
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

    fn stage(&mut self) -> Result<&mut (dyn Stage + 'e), EngineError> {
        let engine = self.engine;
        let stage = match self.stage.take() {
            Some(stage) => stage,
            None => {
                // Blobs come before the lines that refer to them are in a log that collection sees.
                self.hold = engine.store.blobs().map(|blobs| blobs.hold()).transpose()?;
                engine.store.stage()?
            }
        };
        Ok(self.stage.insert(stage).as_mut())
    }

    /// Lets what was staged appear.
    fn publish(&mut self, presence: &Presence) -> Result<(), EngineError> {
        let stage = self.stage.take();
        if let Some(stage) = stage.filter(|_| !self.options.dry_run) {
            for location in stage.publish()? {
                presence.arrived(location);
            }
        }
        self.hold = None;
        self.bytes = 0;
        for (at, summary) in std::mem::take(&mut self.batch) {
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

fn failure(source: &Located, reason: String) -> ForeignFailure {
    ForeignFailure { file: source.path(), agent: source.format.map(ramus_interchange::Format::name), reason }
}

/// Reads sources until there are none left.
fn work(
    sources: &[Located],
    due: &[usize],
    reading: &Reading<'_>,
    next: &AtomicUsize,
    ended: &AtomicBool,
    jobs: &SyncSender<Job>,
) {
    while !ended.load(Ordering::Relaxed) {
        let Some(at) = due.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
        let Some(source) = sources.get(*at) else { continue };
        let (messages, receiver) = sync_channel(AHEAD);
        if jobs.send((*at, receiver)).is_err() {
            return;
        }
        reading.read(source, &messages);
    }
}
