//! `continue_recent`: the session a terminal was last in, or the most recent one of a directory.

use std::path::Path;

use ramus_model::Depth;
use ramus_store::{Breadcrumb, Location, Terminal};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::project::{Place, Standing};
use crate::session::{Session, load};

impl Engine {
    /// Opens the session that `terminal` was last in, when that was in `cwd`, or in what is proven to be `cwd` now, and the
    /// session is still there, else the most recent session of `cwd`.
    pub fn continue_recent(&self, cwd: &str, terminal: Option<&Terminal>) -> Result<Session, EngineError> {
        load(&self.store, self.locate_recent(cwd, terminal)?, Depth::Envelope)
    }

    /// Finds the session that [`Engine::continue_recent`] opens, without reading its log.
    pub fn locate_recent(&self, cwd: &str, terminal: Option<&Terminal>) -> Result<Location, EngineError> {
        let crumb = terminal.map(|terminal| self.store.breadcrumb(terminal)).transpose()?.flatten();
        let found = crumb.map(|crumb| self.follow_breadcrumb(&crumb, cwd)).transpose()?.flatten();
        found.map_or_else(|| self.locate("last", cwd), Ok)
    }

    /// Remembers that `terminal` was in a session, in the directory `cwd`.
    pub fn remember(&self, terminal: &Terminal, cwd: &str, session: &Location) -> Result<(), EngineError> {
        let crumb = Breadcrumb { cwd: cwd.to_owned(), session: session.id.clone(), path: session.path.clone() };
        Ok(self.store.leave_breadcrumb(terminal, &crumb)?)
    }

    /// Follows a breadcrumb that was left in `cwd`, or in a directory that has been there before it moved.
    fn follow_breadcrumb(&self, crumb: &Breadcrumb, cwd: &str) -> Result<Option<Location>, EngineError> {
        let found = self.find_again(crumb)?;
        match found {
            Some(location) if crumb.cwd != cwd && !self.has_moved(&location, crumb, cwd) => Ok(None),
            found => Ok(found),
        }
    }

    /// Says whether the session of a breadcrumb, and with it the directory it was left in, is proven to be in `cwd` now.
    /// A session that cannot be read proves nothing.
    fn has_moved(&self, location: &Location, crumb: &Breadcrumb, cwd: &str) -> bool {
        let session = load(&self.store, location.clone(), Depth::Envelope);
        session.is_ok_and(|session| {
            session.cwd() == crumb.cwd
                && Place::of(cwd).standing(session.cwd(), session.project().as_ref()) == Standing::Moved
        })
    }

    /// A session of the home is looked up by its id, because it may have been published or moved; any other is where it
    /// was or nowhere.
    fn find_again(&self, crumb: &Breadcrumb) -> Result<Option<Location>, EngineError> {
        let found = self.store.list()?.into_iter().find(|location| location.id == crumb.session);
        match (found, crumb.path.as_deref().filter(|path| path.is_file()).and_then(Path::to_str)) {
            (Some(location), _) => Ok(Some(location)),
            (None, Some(path)) => self.locate(path, &crumb.cwd).map(Some),
            (None, None) => Ok(None),
        }
    }
}
