//! `list`: sessions, newest first, correct by reading them all.

use std::collections::HashMap;

use ramus_model::{Depth, Project, SessionId};
use ramus_store::{Location, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{self, Place, Standing};
use crate::session::load_among;
use crate::verb::info::SessionInfo;

/// Which directories' sessions are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WhichDirectory {
    /// All.
    #[default]
    All,
    /// Those of one working directory, and those that are proven to have moved there.
    One(String),
}

/// What is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Which directories.
    pub directory: WhichDirectory,
    /// Whether drafts are listed too.
    pub drafts: bool,
    /// Whether archived sessions are listed too.
    pub archived: bool,
    /// Only sessions of this owner.
    pub owner: Option<String>,
    /// Only sessions whose title or directory contains this, ignoring case.
    pub text: Option<String>,
    /// At most so many.
    pub limit: Option<usize>,
    /// Continue behind this session.
    pub cursor: Option<String>,
}

/// What a list found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The sessions, newest first.
    pub sessions: Vec<SessionInfo>,
    /// Where the next page starts, when there is one.
    pub next_cursor: Option<String>,
    /// What was left out.
    pub hidden: Hidden,
    /// Files that could not be read at all, and why.
    pub unreadable: Vec<(String, String)>,
}

/// How many sessions a list left out, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hidden {
    /// Drafts.
    pub drafts: usize,
    /// Archived sessions.
    pub archived: usize,
    /// Sessions of other directories.
    pub other_directories: usize,
}

impl Engine {
    /// Lists sessions by the time of their newest message; files that cannot be read are named, not dropped.
    pub fn list(&self, filter: &Filter) -> Result<Listing, EngineError> {
        let mut listing = Listing::default();
        let mut place = match &filter.directory {
            WhichDirectory::All => None,
            WhichDirectory::One(cwd) => Some(Place::of(cwd)),
        };
        let known = self.store.list()?;
        for location in &known {
            let name = location.id.to_string();
            let read = |known: &[Location]| {
                load_among(&self.store, location.clone(), Depth::Envelope, known).and_then(|session| session.info())
            };
            let info = match read(&known) {
                // What it was forked from may have been deleted while we were looking: its base is found afresh.
                Err(EngineError::Store(StoreError::NotFound { .. })) => read(&[]),
                info => info,
            };
            match info {
                Ok(info) => listing.take(info, filter, place.as_mut()),
                // Deleted or published while we were looking.
                Err(EngineError::Store(StoreError::NotFound { .. })) => {}
                Err(error) => listing.unreadable.push((name, error.to_string())),
            }
        }
        let newest_first =
            |info: &SessionInfo| (std::cmp::Reverse(info.updated_millis), std::cmp::Reverse(info.id.clone()));
        listing.sessions.sort_by_key(newest_first);
        let mut listing = listing.page(filter)?;
        find_projects(&mut listing.sessions);
        Ok(listing)
    }

    /// Returns the ids of all sessions of the home, without opening them.
    pub fn session_ids(&self) -> Result<Vec<SessionId>, EngineError> {
        Ok(self.store.list()?.into_iter().map(|location| location.id).collect())
    }
}

impl Listing {
    fn take(&mut self, mut info: SessionInfo, filter: &Filter, place: Option<&mut Place<'_>>) {
        if filter.owner.as_ref().is_some_and(|owner| *owner != info.owner) || !matches(&info, filter.text.as_deref()) {
            return;
        }
        let standing = place.map_or(Standing::Here, |place| place.standing(&info.cwd, info.project.as_ref()));
        if let (Standing::Moved, WhichDirectory::One(cwd)) = (standing, &filter.directory) {
            info.moved_to = Some(cwd.clone());
        }
        if standing == Standing::Elsewhere {
            self.hidden.other_directories += 1;
        } else if info.archived_at.is_some() && !filter.archived {
            self.hidden.archived += 1;
        } else if info.residence == Residence::Draft && !filter.drafts {
            self.hidden.drafts += 1;
        } else {
            self.sessions.push(info);
        }
    }

    fn page(mut self, filter: &Filter) -> Result<Self, EngineError> {
        if let Some(cursor) = &filter.cursor {
            let at = self.sessions.iter().position(|info| info.id.as_str() == cursor);
            let at = at.ok_or_else(|| EngineError::Invalid(format!("{cursor:?} is not a cursor of this list")))?;
            self.sessions.drain(..=at);
        }
        if let Some(limit) = filter.limit.filter(|limit| *limit < self.sessions.len()) {
            self.sessions.truncate(limit);
            self.next_cursor = self.sessions.last().map(|info| info.id.to_string());
        }
        Ok(self)
    }
}

/// Looks for the projects of sessions that recorded none, in each directory once.
fn find_projects(sessions: &mut [SessionInfo]) {
    let mut found: HashMap<String, Option<Project>> = HashMap::new();
    for info in sessions.iter_mut().filter(|info| info.project.is_none()) {
        let project = found.entry(info.cwd.clone()).or_insert_with(|| project::find(&info.cwd));
        info.project.clone_from(project);
    }
}

fn matches(info: &SessionInfo, text: Option<&str>) -> bool {
    text.is_none_or(|text| {
        let text = text.to_lowercase();
        info.title.to_lowercase().contains(&text) || info.cwd.to_lowercase().contains(&text)
    })
}
