//! Workspaces that this home made for sessions: which they are, and their removal.
//!
//! The invariant: a directory counts as ours only because the home says so, and is removed only if it still is what was
//! made: a directory, no link, with the name of its session.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use ramus_model::{Depth, SessionId};
use ramus_store::{Location, Removed, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, load};

/// A workspace, and the note in the home that it is ours.
pub(crate) struct Owned {
    pub(crate) root: PathBuf,
    note: PathBuf,
}

impl Engine {
    /// Returns the workspace that this home made for a session.
    pub(crate) fn owned_workspace(&self, session: &Session) -> Option<PathBuf> {
        self.owned(&session.location().id).map(|owned| owned.root)
    }

    /// The same, and the note of it.
    pub(crate) fn owned_by(&self, session: &Session) -> Option<Owned> {
        self.owned(&session.location().id)
    }

    /// Notes that a workspace was made for a session.
    pub(crate) fn note_workspace(&self, session: &Session, root: &Path) -> Result<(), EngineError> {
        let none = || EngineError::Invalid("this home keeps no workspaces".into());
        let path = self.workspace_note(&session.location().id).ok_or_else(none)?;
        let write = || {
            path.parent().map_or(Ok(()), make)?;
            // What an earlier one says is not so any more, or this would not be called.
            let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
            writeln!(file, "{}", root.display())?;
            file.sync_all()
        };
        write().map_err(io("write", &path))
    }

    /// Returns the workspaces that go when these sessions do: their own, and those that they work in when the session
    /// that one was made for is gone already.
    pub(crate) fn owned_workspaces(&self, going: &[&Location]) -> Result<Vec<Owned>, EngineError> {
        let mut found: Vec<Owned> = going.iter().filter_map(|location| self.owned(&location.id)).collect();
        let Some(directory) = self.workspace_notes() else { return Ok(found) };
        let Ok(notes) = fs::read_dir(&directory) else { return Ok(found) };
        let cwds = going.iter().map(|location| self.cwd_of(location)).collect::<Result<Vec<_>, _>>()?;
        let known = self.store.list()?;
        for note in notes {
            let note = note.map_err(io("read", &directory))?;
            let Some(id) = note.file_name().to_str().map(SessionId::from) else { continue };
            if known.iter().any(|location| location.id == id) {
                continue;
            }
            found.extend(self.owned(&id).filter(|owned| cwds.iter().any(|cwd| owned.is_around(cwd))));
        }
        Ok(found)
    }

    fn cwd_of(&self, at: &Location) -> Result<PathBuf, EngineError> {
        let session = load(&self.store, at.clone(), Depth::Envelope)?;
        Ok(PathBuf::from(session.cwd()))
    }

    fn owned(&self, session: &SessionId) -> Option<Owned> {
        let note = self.workspace_note(session)?;
        let root = PathBuf::from(fs::read_to_string(&note).ok()?.trim_end_matches('\n'));
        let is_there = fs::symlink_metadata(&root).is_ok_and(|found| found.is_dir());
        let is_named = root.file_name().and_then(|name| name.to_str()) == Some(session.as_str());
        (root.is_absolute() && is_there && is_named).then_some(Owned { root, note })
    }

    fn workspace_notes(&self) -> Option<PathBuf> {
        Some(self.snapshots.as_ref()?.parent()?.join("workspaces"))
    }

    fn workspace_note(&self, session: &SessionId) -> Option<PathBuf> {
        let name: String = session.as_str().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        Some(self.workspace_notes()?.join(name))
    }
}

impl Owned {
    /// Says whether a directory is the workspace or in it.
    pub(crate) fn is_around(&self, directory: &Path) -> bool {
        directory.starts_with(&self.root)
    }

    /// Removes it with everything in it, links not followed. With `dry_run`, says what that would come to.
    pub(crate) fn remove(&self, dry_run: bool) -> Result<Removed, EngineError> {
        let bytes = size_of(&self.root).map_err(io("measure", &self.root))?;
        let note = fs::metadata(&self.note).map_or(0, |found| found.len());
        if !dry_run {
            fs::remove_dir_all(&self.root).map_err(io("remove", &self.root))?;
            fs::remove_file(&self.note).map_err(io("remove", &self.note))?;
        }
        Ok(Removed { files: vec![self.note.clone()], bytes: bytes + note })
    }
}

/// How many bytes the files of a directory have, links not followed.
fn size_of(root: &Path) -> std::io::Result<u64> {
    let (mut bytes, mut rest) = (0, vec![root.to_owned()]);
    while let Some(directory) = rest.pop() {
        for entry in fs::read_dir(&directory)? {
            let entry = entry?;
            // Not of what a link leads to.
            let found = entry.metadata()?;
            if found.is_dir() {
                rest.push(entry.path());
            } else {
                bytes += found.len();
            }
        }
    }
    Ok(bytes)
}

/// Makes a directory that only its owner can look into, with everything above it.
pub(crate) fn make(path: &Path) -> std::io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Adds what was tried to what the system said.
pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> EngineError {
    let path = path.to_owned();
    move |source| EngineError::Store(StoreError::Io { action, path, source })
}
