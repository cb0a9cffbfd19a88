//! `open`: a session by id, unique prefix, `last`, or path.

use std::path::{Path, PathBuf};

use ramus_model::{Depth, SessionId};
use ramus_store::{Location, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, header_of, load};
use crate::verb::list::{Filter, WhichDirectory};

/// The shortest prefix of a session id that is looked at.
const MIN_PREFIX: usize = 4;

impl Engine {
    /// Opens the session a reference names: a path to a file, a whole id, a unique prefix, or `last`, the most recent
    /// session of `cwd`. Reading changes nothing.
    pub fn open(&self, reference: &str, cwd: &str) -> Result<Session, EngineError> {
        self.open_at(reference, cwd, Depth::Envelope)
    }

    /// Like [`Engine::open`], checking as much as `depth` says.
    pub fn open_at(&self, reference: &str, cwd: &str, depth: Depth) -> Result<Session, EngineError> {
        match load(&self.store, self.locate(reference, cwd)?, depth) {
            // A draft that was published between looking and reading is found at the second look.
            Err(EngineError::Store(StoreError::NotFound { .. })) => {
                load(&self.store, self.locate(reference, cwd)?, depth)
            }
            result => result,
        }
    }

    /// Says whether a reference names a session, without reading its log.
    pub fn locate(&self, reference: &str, cwd: &str) -> Result<Location, EngineError> {
        if reference == "last" {
            return self.locate_last(cwd);
        }
        if !is_path(reference) {
            return self.locate_id(reference);
        }
        let path = Path::new(reference);
        if path.is_file() {
            return self.locate_path(path);
        }
        Err(EngineError::SessionNotFound(reference.to_owned()))
    }

    fn locate_id(&self, reference: &str) -> Result<Location, EngineError> {
        let mut all = self.store.list()?;
        if let Some(exact) = all.iter().position(|location| location.id.as_str() == reference) {
            return Ok(all.swap_remove(exact));
        }
        if reference.len() >= MIN_PREFIX {
            all.retain(|location| location.id.can_be_cut_to(reference));
            match all.len() {
                0 => {}
                1 => return all.pop().ok_or_else(|| EngineError::SessionNotFound(reference.to_owned())),
                _ => {
                    let candidates = all.iter().take(10).map(|location| location.id.to_string()).collect();
                    return Err(EngineError::SessionAmbiguous { reference: reference.to_owned(), candidates });
                }
            }
        }
        Err(EngineError::SessionNotFound(reference.to_owned()))
    }

    /// A path of our own home is the session that lives there; any other is opened where it is.
    fn locate_path(&self, path: &Path) -> Result<Location, EngineError> {
        let real = canonical(path);
        for location in self.store.list()?.into_iter().filter(|location| has_name_of(location, &real)) {
            if location.path.as_deref().map(canonical).as_ref() == Some(&real) {
                return Ok(location);
            }
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut location = Location::in_place(SessionId::from(&*name), &real);
        match header_of(self.store.as_ref(), &location)? {
            Some(header) => location.id = header.id,
            // A log may have lost its header. Any other file is no session only because somebody named it.
            None if path.extension().is_none_or(|extension| extension != "jsonl") => {
                return Err(EngineError::Invalid(format!("{} is no session", path.display())));
            }
            None => {}
        }
        Ok(location)
    }

    fn locate_last(&self, cwd: &str) -> Result<Location, EngineError> {
        let filter = Filter {
            directory: WhichDirectory::One(cwd.to_owned()),
            drafts: true,
            limit: Some(1),
            ..Filter::default()
        };
        let listing = self.list(&filter)?;
        // Drafts count: who has just started a session means that one.
        let recent = listing.sessions.first().ok_or_else(|| EngineError::NoRecentSession(cwd.to_owned()))?;
        self.locate_id(recent.id.as_str())
    }
}

/// Says whether a reference is the path of a file: whatever else lies in the current directory, words and ids stay what they
/// are.
pub fn is_path(reference: &str) -> bool {
    reference.contains('/') || reference.ends_with(".jsonl")
}

/// Asking the system what a name really means takes time, and a file keeps its last name whatever leads to it.
fn has_name_of(location: &Location, path: &Path) -> bool {
    location.path.as_ref().is_some_and(|location| location.file_name() == path.file_name())
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
