//! How a session that comes in begins: its header says which agent and file it was read from, and grants nothing.

use std::collections::HashMap;
use std::io;
use std::sync::{Mutex, PoisonError};

use ramus_interchange::Start;
use ramus_model::{Header, ImportedFrom, SessionId};
use ramus_store::Location;

use super::name::session_id;
use super::take::Taking;
use crate::error::EngineError;
use crate::project;
use crate::session::header_of;
use crate::verb::create::engine_version;

/// The longest directory and title that a header takes over.
const LONGEST_TEXT: usize = 4096;

/// Directories whose repositories were looked for already.
pub(super) type Projects = Mutex<HashMap<String, Option<ramus_model::Project>>>;

impl Taking<'_> {
    /// Says whether a session that is here was read from this source.
    pub(super) fn is_own(&self, location: &Location) -> Result<bool, EngineError> {
        let header = header_of(self.engine.store.as_ref(), location)?;
        let from = header.and_then(|header| header.ramus.imported_from);
        Ok(from.is_some_and(|from| from.agent == self.agent && from.file == self.file))
    }

    /// Says whether the file that a session was read from is gone.
    pub(super) fn is_orphan(&self, location: &Location) -> Result<bool, EngineError> {
        let header = header_of(self.engine.store.as_ref(), location)?;
        let from = header.and_then(|header| header.ramus.imported_from).filter(|from| from.agent == self.agent);
        let is_gone = |file: &str| matches!(std::fs::symlink_metadata(file), Err(error) if error.kind() == io::ErrorKind::NotFound);
        Ok(from.is_some_and(|from| is_gone(&from.file)))
    }

    pub(super) fn header(&self, start: &Start, id: SessionId) -> Header {
        let mut header = start.header();
        header.id = id;
        if header.cwd.len() > LONGEST_TEXT || header.cwd.contains('\0') {
            header.cwd = String::new();
        }
        header.title = header.title.take().filter(|title| title.len() <= LONGEST_TEXT);
        let parent = start.parent.as_deref().or(self.parent).map(|parent| session_id(self.agent, parent));
        if let Some(origin) = &mut header.ramus.copied_from {
            origin.session = session_id(self.agent, origin.session.as_str());
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
