//! `list`: sessions in any order, page by page, found in the catalogue.

mod cursor;
mod reading;

use std::collections::HashMap;

use ramus_catalogue::{After, Held, Recorded};
pub use ramus_catalogue::{Hidden, NATIVE, Sort, SortKey};
use ramus_model::{Project, SessionId};
use ramus_store::Location;

use crate::catalogue::{Trouble, infos_of, with_runners};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{self, Place, Standing};
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
    /// Only sessions with this tag.
    pub tag: Option<String>,
    /// Only starred sessions.
    pub starred: bool,
    /// Only sessions that this one spawned.
    pub parent: Option<SessionId>,
    /// Only sessions of the project with this remote or root, or whose remote or root ends in this name.
    pub project: Option<String>,
    /// Only sessions that came from this agent, or from none: [`NATIVE`].
    pub agent: Option<String>,
    /// The order.
    pub sort: Sort,
    /// At most so many.
    pub limit: Option<usize>,
    /// Whether the ids of all sessions are wanted, from which a short one must be told apart.
    pub ids: bool,
    /// Continue behind this place: the `next_cursor` of the page before, or the id of a session.
    pub cursor: Option<String>,
}

/// What a list found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// The sessions, in order.
    pub sessions: Vec<SessionInfo>,
    /// Where the next page starts, when there is one. It stays good when the sessions around it go.
    pub next_cursor: Option<String>,
    /// What was left out.
    pub hidden: Hidden,
    /// Files that could not be read at all, and why.
    pub unreadable: Vec<(String, String)>,
    /// The ids of all sessions of the home, listed or not, if they were asked for.
    pub ids: Vec<SessionId>,
}

/// A state of the catalogue and what it was asked.
type Question = (i64, ramus_catalogue::Filter);

/// A list as the catalogue gave it, and where the logs of its sessions are.
pub(crate) struct Answered {
    question: Question,
    listing: Listing,
    locations: Vec<Location>,
}

impl Engine {
    /// Lists sessions; files that cannot be read are named, not dropped.
    pub fn list(&self, filter: &Filter) -> Result<Listing, EngineError> {
        let key = filter.sort.key;
        let mut place = filter.directory.place();
        let mut listing = self.consult(&mut |held, current| {
            let after = match &filter.cursor {
                None => None,
                Some(cursor) => Some(match cursor::read(cursor, key) {
                    Some(after) => after,
                    None => match held.find(cursor, filter.sort, filter.owner.as_deref())? {
                        Some(row) => After::row(&row, key),
                        None => return Err(cursor::unknown(cursor).into()),
                    },
                }),
            };
            let moved = place.as_mut().map(|place| moved_to(place, held)).transpose()?.unwrap_or_default();
            let mut last = self.shelf.last();
            let around = filter.project.as_deref().map(|name| around(name, filter, held)).transpose()?;
            let selection = self.selection(filter, after, moved, around.unwrap_or_default());
            let question = (held.state()?, selection);
            let answered = match last.take().filter(|answered| answered.question == question) {
                Some(answered) => answered,
                None => self.answer(held, question)?,
            };
            let Answered { listing, locations, .. } = last.insert(answered);
            let mut listing = listing.clone();
            with_runners(&mut listing.sessions, locations, self.store.as_ref());
            if filter.ids {
                listing.ids = current.ids(self.store.as_ref());
            }
            Ok(listing)
        })?;
        listing.tell_places(filter);
        Ok(listing)
    }

    fn answer(&self, held: &Held<'_>, question: Question) -> Result<Answered, Trouble> {
        let found = held.list(&question.1)?;
        let (sessions, locations) = infos_of(found.rows, self.store.as_ref()).ok_or(Trouble::Disturbed)?;
        let next_cursor = found.next.map(|after| cursor::write(&after, question.1.sort.key));
        let (hidden, unreadable) = (found.hidden, found.unreadable);
        let listing = Listing { sessions, next_cursor, hidden, unreadable, ids: Vec::new() };
        Ok(Answered { question, listing, locations })
    }

    /// Returns the ids of all sessions of the home, without opening them.
    pub fn session_ids(&self) -> Result<Vec<SessionId>, EngineError> {
        Ok(self.store.list()?.into_iter().map(|location| location.id).collect())
    }

    fn selection(
        &self,
        filter: &Filter,
        after: Option<After>,
        moved: Vec<String>,
        around: Vec<String>,
    ) -> ramus_catalogue::Filter {
        let directories = match &filter.directory {
            WhichDirectory::All => None,
            WhichDirectory::One(cwd) => Some(vec![cwd.clone()]),
        };
        ramus_catalogue::Filter {
            directories,
            moved,
            drafts: filter.drafts,
            archived: filter.archived,
            owner: filter.owner.clone(),
            text: filter.text.clone(),
            tag: filter.tag.clone(),
            starred: filter.starred,
            parent: filter.parent.as_ref().map(ToString::to_string),
            project: filter.project.clone(),
            around,
            agent: filter.agent.clone(),
            sort: filter.sort,
            after,
            limit: filter.limit,
        }
    }
}

impl WhichDirectory {
    /// Looks at the directory that this is about, if it is about one.
    pub(crate) fn place(&self) -> Option<Place<'static>> {
        match self {
            Self::All => None,
            Self::One(cwd) => Some(Place::of(cwd)),
        }
    }
}

/// Asks the catalogue for the sessions that are proven to have moved to a place, by the names of their files.
fn moved_to(place: &mut Place<'_>, held: &Held<'_>) -> Result<Vec<String>, Trouble> {
    let Some(project) = place.project().cloned() else { return Ok(Vec::new()) };
    let repository = Recorded { root: project.root, remote: project.remote, git: project.git, ..Recorded::default() };
    let recorded = held.recorded(&repository)?;
    let moved = recorded.into_iter().filter_map(|Recorded { name, cwd, root, remote, git }| {
        let standing = place.standing(&cwd, Some(&Project { root, remote, git }));
        (standing == Standing::Moved).then_some(name)
    });
    Ok(moved.collect())
}

/// Returns the directories around which a project of this name is, among those whose sessions recorded none. Each directory is
/// looked at once.
fn around(name: &str, filter: &Filter, held: &Held<'_>) -> Result<Vec<String>, Trouble> {
    let directories = held.facets(filter.owner.as_deref())?.directories.into_iter().map(|facet| facet.name);
    Ok(directories.filter(|directory| project::find(directory).is_some_and(|found| found.is_called(name))).collect())
}

impl Listing {
    /// Says of each session where it moved to, and which project is around it when none was recorded. Each directory is
    /// looked at once.
    fn tell_places(&mut self, filter: &Filter) {
        let mut found: HashMap<String, Option<Project>> = HashMap::new();
        for info in &mut self.sessions {
            if let WhichDirectory::One(cwd) = &filter.directory {
                info.moved_to = (info.cwd != *cwd).then(|| cwd.clone());
            }
            if info.project.is_none() {
                let project = found.entry(info.cwd.clone()).or_insert_with(|| project::find(&info.cwd));
                info.project.clone_from(project);
            }
        }
    }
}
