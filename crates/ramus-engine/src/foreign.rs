//! Sessions of other agents, from their files into the home.
//!
//! `find` looks where agents keep sessions, `source` opens the files of one for its codec, `take` and `grow` turn what the codec
//! gives into a new session or into more of one that is here, and `run` does that for many. Nothing of another agent's is
//! written, locked or touched: `ground` is the only way in.

mod database;
mod find;
mod ground;
mod grow;
mod header;
mod lineage;
mod memory;
mod message;
mod name;
mod passes;
mod presence;
mod print;
mod read;
mod run;
mod source;
mod store;
mod take;
mod version;
mod walk;

use std::path::{Path, PathBuf};

use ramus_interchange::place::Root;
use ramus_interchange::{Format, Loss};
use ramus_model::{Origin, SessionId};

use crate::engine::Engine;
use crate::error::EngineError;
use source::Located;

/// Where a home keeps what imports need.
#[derive(Clone, Debug)]
pub(crate) struct ForeignHome {
    /// What is remembered of earlier imports.
    memory: PathBuf,
    /// Where copies of databases go.
    scratch: PathBuf,
}

impl ForeignHome {
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
    sources: Vec<Located>,
}

impl ForeignStore {
    fn of(format: Option<Format>, directory: &Path) -> Self {
        Self { format, directory: directory.to_owned(), failed: Vec::new(), sources: Vec::new() }
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

impl Engine {
    /// Keeps what imports need in a home.
    #[must_use]
    pub fn with_foreign(mut self, home: &Path) -> Self {
        let (memory, scratch) = (home.join("imports.json"), home.join("scratch"));
        self.foreign = Some(ForeignHome { memory, scratch });
        self
    }

    /// Looks for sessions where agents keep them. Nothing is opened but directories.
    pub fn find_foreign(&self, roots: &[Root]) -> Vec<ForeignStore> {
        roots.iter().filter_map(find::in_root).collect()
    }

    /// Looks for sessions in a file or directory.
    pub fn find_foreign_at(&self, path: &Path) -> Result<ForeignStore, EngineError> {
        find::at_path(path).map_err(|error| EngineError::Invalid(format!("{}: {error}", path.display())))
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
        Ok(done)
    }
}
