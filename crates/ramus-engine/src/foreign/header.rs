//! How a session that comes in begins: its header says which agent and file it was read from, and grants nothing.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use ramus_interchange::Start;
use ramus_model::{Header, ImportedFrom, SessionId};
use ramus_store::Location;

use super::name::session_id;
use super::rank::{Rank, is_database_at};
use super::take::Taking;
use crate::error::EngineError;
use crate::project;
use crate::session::header_of;
use crate::verb::create::engine_version;

/// The longest directory and title that a header takes over.
const LONGEST_TEXT: usize = 4096;

/// Directories whose repositories were looked for already.
pub(super) type Projects = Mutex<HashMap<String, Option<ramus_model::Project>>>;

/// What a source calls a session, when that can be a title.
pub(super) fn called(start: &Start) -> Option<String> {
    start.title.clone().filter(|title| !title.trim().is_empty() && title.len() <= LONGEST_TEXT)
}

impl Taking<'_> {
    /// Says whether a session that is here was read from this source, or from one that its agent moved to this one.
    pub(super) fn is_own(&self, location: &Location) -> Result<bool, EngineError> {
        let is_former = |file: &str| Rank::of_path(self.agent, Path::new(file)) == Rank::Former;
        let from = self.read_from(location)?;
        Ok(from.is_some_and(|from| from.file == self.file || self.rank == Rank::Present && is_former(&from.file)))
    }

    /// Says whether a session that is here was read from the store that its agent moved this source to.
    pub(super) fn is_moved(&self, location: &Location) -> Result<bool, EngineError> {
        let from = self.read_from(location)?.filter(|_| self.rank == Rank::Former);
        Ok(from.is_some_and(|from| is_database_at(Path::new(&from.file))))
    }

    /// Returns where a session that is here was read from, when that was of the same agent.
    fn read_from(&self, location: &Location) -> Result<Option<ImportedFrom>, EngineError> {
        let header = header_of(self.engine.store.as_ref(), location)?;
        let from = header.and_then(|header| header.ramus.imported_from);
        Ok(from.filter(|from| from.agent == self.agent))
    }

    /// Says whether the file that a session was read from is gone.
    pub(super) fn is_orphan(&self, location: &Location) -> Result<bool, EngineError> {
        let from = self.read_from(location)?;
        let is_gone = |file: &str| matches!(std::fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound);
        Ok(from.is_some_and(|from| is_gone(&from.file)))
    }

    pub(super) fn header(&self, start: &Start, id: SessionId) -> Header {
        let mut header = start.header();
        header.ramus.owner.clone_from(&self.engine.owner);
        header.id = id;
        if header.cwd.len() > LONGEST_TEXT || header.cwd.contains('\0') {
            header.cwd = String::new();
        }
        header.title = called(start);
        let parent = start.parent.as_deref().or(self.parent).map(|parent| session_id(self.agent, parent));
        if let Some(origin) = &mut header.ramus.copied_from {
            origin.session = session_id(self.agent, origin.session.as_str());
        }
        if header.ramus.copied_from.is_none() && parent.is_none() {
            let origin = self.handed.and_then(|handed| handed.origin(&start.id, self.file));
            header.ramus.copied_from = origin.filter(|origin| self.presence.has(&origin.session)).cloned();
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
