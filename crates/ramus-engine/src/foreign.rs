//! Sessions of other agents, from their files into the home.
//!
//! `find` looks where agents keep sessions, `source` opens the files of one for its codec, `take` and `grow` turn what the codec
//! gives into a new session or into more of one that is here, and `run` does that for many: a `crew` reads, a `flow` bounds what is on
//! its way, and what is new appears a `batch` at a time. Nothing of another agent's is
//! written, locked or touched: `ground` is the only way in.

mod batch;
mod crew;
mod database;
mod find;
mod flow;
mod ground;
mod grow;
mod handed;
mod header;
mod lineage;
mod memory;
mod message;
mod name;
mod opening;
mod passes;
mod presence;
mod print;
mod rank;
mod read;
mod recognise;
mod run;
mod source;
mod store;
mod take;
mod title;
mod version;
mod walk;

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ramus_interchange::place::Root;
use ramus_interchange::{Format, Loss};
use ramus_model::{Origin, SessionId};

use crate::engine::Engine;
use crate::error::EngineError;
use source::Located;
pub(crate) use title::comes_from;

/// Where a home keeps what imports need.
#[derive(Clone, Debug)]
pub(crate) struct ForeignHome {
    /// What is remembered of earlier imports.
    memory: PathBuf,
    /// Which sessions were handed to other agents.
    handed: PathBuf,
    /// Where copies of databases go.
    scratch: PathBuf,
}

impl ForeignHome {
    /// Remembers that a session was handed to another agent, so that it is known when it comes back.
    pub(crate) fn note_handed(&self, id: &SessionId, file: &Path, origin: &Origin) -> std::io::Result<()> {
        handed::note(&self.handed, id, file, origin)
    }

    /// Returns where files are put for a while.
    pub(crate) fn scratch(&self) -> &Path {
        &self.scratch
    }
}

/// Sessions that were found in one place.
#[derive(Clone, Debug)]
pub struct ForeignStore {
    /// The agent whose they are, where the place tells it.
    pub format: Option<Format>,
    /// The place.
    pub directory: PathBuf,
    /// What could not be looked at.
    pub failed: Vec<ForeignFailure>,
    /// Files that are called like sessions and are none.
    pub skipped: Vec<ForeignSkip>,
    sources: Vec<Located>,
}

impl ForeignStore {
    fn of(format: Option<Format>, directory: &Path) -> Self {
        Self { format, directory: directory.to_owned(), failed: Vec::new(), skipped: Vec::new(), sources: Vec::new() }
    }

    /// Returns how many files hold sessions.
    pub fn files(&self) -> usize {
        self.sources.len()
    }

    /// Returns how large they are together.
    pub fn bytes(&self) -> u64 {
        self.sources.iter().map(|source| source.size).sum()
    }
}

/// How sessions of other agents are taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignImport {
    /// Whether to say only what would happen.
    pub dry_run: bool,
    /// How many sources are read at the same time.
    pub threads: usize,
}

impl Default for ForeignImport {
    fn default() -> Self {
        Self { dry_run: false, threads: 2 }
    }
}

/// How far an import has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForeignProgress {
    /// Sources that are done with.
    pub sources: usize,
    /// Of how many.
    pub of_sources: usize,
    /// Bytes that were read.
    pub bytes: u64,
    /// Of how many.
    pub of_bytes: u64,
}

/// What an import did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForeignImported {
    /// Sessions that are new here.
    pub imported: Vec<ForeignSession>,
    /// Sessions that became longer, or of which something changed.
    pub grown: Vec<ForeignSession>,
    /// Sessions that turned out to be forks of others.
    pub linked: Vec<ForeignLink>,
    /// How many sessions were here already.
    pub unchanged: usize,
    /// Those sessions, and files that are none.
    pub skipped: Vec<ForeignSkip>,
    /// What could not be imported.
    pub failed: Vec<ForeignFailure>,
}

/// A session of another agent that was taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSession {
    /// Its id here.
    pub id: SessionId,
    /// The agent.
    pub agent: &'static str,
    /// The file it was read from.
    pub file: PathBuf,
    /// How many entries it has.
    pub entries: usize,
    /// How many branches.
    pub branches: usize,
    /// How many entries are new.
    pub added: usize,
    /// How many entries got a later version.
    pub changed: usize,
    /// What was not carried over, or not whole.
    pub losses: Vec<Loss>,
}

/// A session that is a fork of another, which its agent did not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignLink {
    /// The fork.
    pub id: SessionId,
    /// The last entry that both have, in the session it was forked from.
    pub origin: Origin,
}

/// What was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignSkip {
    /// The session, when it is one.
    pub id: Option<SessionId>,
    /// The agent, where that is known.
    pub agent: Option<&'static str>,
    /// The file.
    pub file: PathBuf,
    /// Why.
    pub reason: &'static str,
}

/// Why a session is left alone.
const HERE: &str = "it is here already and did not change";
/// Why a session is left alone whose agent has moved it.
const MOVED: &str = "it is here already, from where its agent keeps it now";
/// Why it cannot be said what would become of a session.
const SHARED: &str = "another file holds the same session; whether this one adds to it shows when they are imported";
/// Why a file is left alone.
const UNKNOWN: &str = "it is no session of an agent that ramus knows";

/// A file that could not be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFailure {
    /// The file.
    pub file: PathBuf,
    /// The agent, where the place tells it.
    pub agent: Option<&'static str>,
    /// What is wrong.
    pub reason: String,
}

/// Returns how a file begins, with so many bytes at most, without a trace of its having been looked at.
pub fn foreign_front(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let path = path.canonicalize()?;
    let ground = ground::Ground::open(path.parent().unwrap_or(&path))?;
    let name = ground::relative(&path, ground.path()).ok_or(io::ErrorKind::InvalidInput)?;
    let opened = ground.file(&name)?.ok_or(io::ErrorKind::NotFound)?;
    let mut front = Vec::new();
    opened.file.take(most as u64).read_to_end(&mut front)?;
    Ok(front)
}

impl Engine {
    /// Keeps what imports need in a home.
    #[must_use]
    pub fn with_foreign(mut self, home: &Path) -> Self {
        let (memory, handed, scratch) = (home.join("imports.json"), home.join("handed.jsonl"), home.join("scratch"));
        self.foreign = Some(ForeignHome { memory, handed, scratch });
        self
    }

    /// Looks for sessions where agents keep them. Nothing is opened but directories.
    pub fn find_foreign(&self, roots: &[Root]) -> Vec<ForeignStore> {
        find::apart(roots).filter_map(|(root, is_shared)| find::in_root(root, is_shared)).collect()
    }

    /// Looks for sessions in a file or directory. `given` says whose they are; otherwise what is in them does.
    pub fn find_foreign_at(&self, path: &Path, given: Option<Format>) -> Result<ForeignStore, EngineError> {
        find::at_path(path, given).map_err(|error| EngineError::Invalid(format!("{}: {error}", path.display())))
    }

    /// Takes in the sessions that were found: those that are new, and what is new of those that are here. What cannot be read is
    /// reported, and the rest is imported. What comes in allows nothing here.
    pub fn import_foreign(
        &self,
        stores: &[ForeignStore],
        options: ForeignImport,
        tell: &mut dyn FnMut(ForeignProgress),
    ) -> Result<ForeignImported, EngineError> {
        let sources: Vec<Located> = stores.iter().flat_map(|store| store.sources.iter().cloned()).collect();
        let mut done = run::Import::new(self, &sources, options)?.run(tell)?;
        let failed = stores.iter().flat_map(|store| store.failed.iter().cloned());
        done.failed.splice(..0, failed);
        done.skipped.extend(stores.iter().flat_map(|store| store.skipped.iter().cloned()));
        Ok(done)
    }
}
