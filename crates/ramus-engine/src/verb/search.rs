//! `search`: entries by their words, in all sessions or in one.
//!
//! What is searched is what a session shows: the entries of its tree in their latest version, its labels, its title. An
//! entry is found once, in the session that wrote it; what a deleted session left to its forks belongs to the newest of
//! them. Every hit was judged on the entry itself, whoever proposed it.

mod hit;
mod indexed;
mod origin;
mod scan;
mod spot;

use std::sync::{Mutex, PoisonError};

use ramus_model::Project;
use ramus_model::search::{Query, SessionFacts};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{Place, Standing};
use crate::session::Session;
use crate::verb::list::WhichDirectory;
pub use hit::Hit;
pub(crate) use hit::restored;
pub(crate) use spot::{About, Spot, Whose, spots};

/// How many hits there are when nobody says.
pub(crate) const DEFAULT_HITS: usize = 20;

/// What is looked for, and where.
#[derive(Clone, Debug)]
pub struct Search {
    /// What is looked for.
    pub query: Query,
    /// Which directories' sessions are searched.
    pub directory: WhichDirectory,
    /// Only sessions of this owner.
    pub owner: Option<String>,
    /// The most hits that are returned.
    pub limit: usize,
}

impl Search {
    /// Looks for something in all sessions.
    pub fn new(query: Query) -> Self {
        Self { query, directory: WhichDirectory::All, owner: None, limit: DEFAULT_HITS }
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The best hits, best first: by score, then the newest.
    pub hits: Vec<Hit>,
    /// How many there are in all.
    pub total: usize,
    /// Whether they were counted; otherwise there are more than that, and the newest come first.
    pub is_counted: bool,
    /// The sessions that were searched as far as they can be read, because they are damaged.
    pub damaged: Vec<String>,
    /// The sessions that cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// How much of the home an index knew; none when only one session was searched.
    pub index: Option<IndexState>,
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

/// What is looked for, and which directory that is about.
struct Sought<'s> {
    search: &'s Search,
    place: Option<Mutex<Place<'static>>>,
}

impl Sought<'_> {
    /// Says whether a session is one of those that are searched.
    fn admits(&self, session: &SessionFacts<'_>) -> bool {
        self.search.owner.as_ref().is_none_or(|owner| owner == session.owner)
            && self.search.query.admits(session)
            && self.place.as_ref().is_none_or(|place| {
                // Whoever died holding it had only looked at directories.
                is_at(session, &mut place.lock().unwrap_or_else(PoisonError::into_inner))
            })
    }
}

impl Engine {
    /// Searches the sessions of the home, with the index where there is one.
    pub fn search(&self, search: &Search) -> Result<Hits, EngineError> {
        match indexed::home(self, &Self::sought(search))? {
            Some(hits) => Ok(hits),
            None => self.search_by_scan(search),
        }
    }

    /// Searches the sessions of the home by reading all of them: what an index must agree with.
    pub fn search_by_scan(&self, search: &Search) -> Result<Hits, EngineError> {
        scan::home(&self.store, &Self::sought(search))
    }

    /// Searches one session: everything it shows, what it shares with its origin included.
    pub fn search_session(&self, reference: &str, cwd: &str, search: &Search) -> Result<Hits, EngineError> {
        self.search_open(&self.open(reference, cwd)?, search)
    }

    pub(crate) fn search_open(&self, session: &Session, search: &Search) -> Result<Hits, EngineError> {
        scan::session(session, &Self::sought(search))
    }

    fn sought<'s>(search: &'s Search) -> Sought<'s> {
        Sought { search, place: search.directory.place().map(Mutex::new) }
    }
}

/// Says whether a session belongs to a place, or moved there.
fn is_at(session: &SessionFacts<'_>, place: &mut Place<'_>) -> bool {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let project = known(session.project_root).map(|root| Project {
        root,
        remote: known(session.project_remote),
        git: known(session.project_git),
    });
    place.standing(session.cwd, project.as_ref()) != Standing::Elsewhere
}
