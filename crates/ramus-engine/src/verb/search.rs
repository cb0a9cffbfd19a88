//! `search`: entries by their words, in all sessions or in one.
//!
//! What is searched is what a session shows: the entries of its tree in their latest version, its labels, its title. An
//! entry is found once, in the session that wrote it; what a deleted session left to its forks belongs to the newest of
//! them. Every hit was judged on the entry itself, whoever proposed it.

mod hit;
mod origin;
mod scan;
mod spot;

use ramus_model::search::Query;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::list::WhichDirectory;
pub use hit::Hit;

/// How many hits there are when nobody says.
pub(crate) const DEFAULT_HITS: usize = 20;

/// What is looked for, and where.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is looked for.
    pub query: Query,
    /// Which directories' sessions are searched.
    pub directory: WhichDirectory,
    /// The most hits that are returned.
    pub limit: usize,
}

impl Search {
    /// Looks for something in all sessions.
    pub fn new(query: Query) -> Self {
        Self { query, directory: WhichDirectory::All, limit: DEFAULT_HITS }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The best hits, best first: by score, then the newest.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: usize,
    /// The sessions that were searched as far as they can be read, because they are damaged.
    pub damaged: Vec<String>,
    /// The sessions that cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// How much of the home an index knew.
    pub index: IndexState,
}

/// How much of the home an index knew when it was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IndexState {
    /// Whether nothing had to be read through.
    pub ready: bool,
    /// How many sessions it knew.
    pub indexed: usize,
    /// How many there are.
    pub sessions: usize,
}

impl Engine {
    /// Searches the sessions of the home.
    pub fn search(&self, search: &Search) -> Result<Hits, EngineError> {
        self.search_by_scan(search)
    }

    /// Searches the sessions of the home by reading all of them.
    pub fn search_by_scan(&self, search: &Search) -> Result<Hits, EngineError> {
        scan::home(&self.store, search)
    }

    /// Searches one session: everything it shows, what it shares with its origin included.
    pub fn search_session(&self, reference: &str, cwd: &str, search: &Search) -> Result<Hits, EngineError> {
        scan::session(&self.open(reference, cwd)?, search)
    }
}
