//! `relocate`: sessions follow a directory that was moved, each by the verb `move`.
//!
//! Nothing else remembers that it happened, so it can be done again after an interruption: what has moved is no longer
//! below the old directory, and what is there has not moved yet.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ramus_model::{Depth, SessionId};
use ramus_store::{Location, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{find, load};
use crate::verb::info::{SessionInfo, SessionStatus};
use crate::verb::list::Filter;

/// What relocating did, or would do.
#[derive(Debug, Default)]
pub struct Relocated {
    /// The sessions that moved.
    pub moved: Vec<Relocation>,
    /// The sessions that did not, and why.
    pub refused: Vec<(Relocation, EngineError)>,
    /// Files that could not be read, and why: nobody knows where they belong.
    pub unreadable: Vec<(String, String)>,
    /// How many terminals were last in a directory that moved.
    pub terminals: usize,
}

/// A session on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// The session.
    pub session: SessionId,
    /// Its title.
    pub title: String,
    /// The directory it belonged to.
    pub from: String,
    /// The directory it belongs to then.
    pub to: String,
}

impl Engine {
    /// Moves every session of `old` and of the directories below it to the same place below `new`. A session that is
    /// being run, or that fails, is named and left where it is. With `dry_run`, says what would be done.
    pub fn relocate(&self, old: &str, new: &str, dry_run: bool) -> Result<Relocated, EngineError> {
        check(old, new)?;
        let everything = Filter { drafts: true, archived: true, ..Filter::default() };
        let listing = self.list(&everything)?;
        let mut relocated = Relocated { unreadable: listing.unreadable, ..Relocated::default() };
        let mut planned = Vec::new();
        for info in &listing.sessions {
            let to = replaced(&info.cwd, old, new);
            // An earlier run may have been interrupted between the entry and the file.
            let may_be_unsettled = Path::new(&info.cwd).starts_with(new);
            if let Some(to) = to.or_else(|| may_be_unsettled.then(|| info.cwd.clone())) {
                planned.push((info, relocation(info, to)));
            }
        }
        // What would be below the old directory again would move once more next time.
        if let Some((_, there)) = planned.iter().find(|(_, relocation)| replaced(&relocation.to, old, new).is_some()) {
            let reason = format!("{} would become {}, which is below {old} again", there.from, there.to);
            return Err(EngineError::Invalid(reason));
        }
        let homes = Locations::of(self.store.list()?);
        for (info, relocation) in planned {
            let is_there = relocation.from == relocation.to;
            let done = if is_there {
                self.settle_again(info, &homes, dry_run)
            } else {
                self.relocate_one(info, &homes, &relocation, dry_run)
            };
            match done {
                Ok(()) if is_there => {}
                Ok(()) => relocated.moved.push(relocation),
                Err(error) => relocated.refused.push((relocation, error)),
            }
        }
        relocated.terminals = self.store.move_breadcrumbs(&|cwd| replaced(cwd, old, new), dry_run)?;
        Ok(relocated)
    }

    fn relocate_one(
        &self,
        info: &SessionInfo,
        homes: &Locations,
        relocation: &Relocation,
        dry_run: bool,
    ) -> Result<(), EngineError> {
        if let SessionStatus::Running(runner) = info.status {
            return Err(StoreError::Running { session: info.id.to_string(), runner }.into());
        }
        if dry_run {
            return Ok(());
        }
        let mut session = match homes.of_session(info).map(|location| load(&self.store, location, Depth::Envelope)) {
            // Published or moved meanwhile, perhaps.
            None | Some(Err(EngineError::Store(StoreError::NotFound { .. }))) => {
                let gone = || EngineError::SessionNotFound(info.id.to_string());
                load(&self.store, find(self.store.as_ref(), &info.id)?.ok_or_else(gone)?, Depth::Envelope)?
            }
            Some(result) => result?,
        };
        if session.cwd() == relocation.from {
            self.move_to(&mut session, &relocation.to)?;
            self.end_turn(&mut session)?;
        }
        Ok(())
    }

    fn settle_again(&self, info: &SessionInfo, homes: &Locations, dry_run: bool) -> Result<(), EngineError> {
        let Some(location) = homes.of_session(info).filter(|_| !dry_run && info.residence == Residence::Published)
        else {
            return Ok(());
        };
        match self.store.settle(&location, &info.cwd) {
            // Whoever took it elsewhere knows better.
            Ok(_) | Err(StoreError::NotFound { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Where the logs are, looked up once for all: by their file, whose name need not be what it calls its session, and in homes
/// without files by their id.
struct Locations(HashMap<String, Location>);

impl Locations {
    fn of(all: Vec<Location>) -> Self {
        Self(all.into_iter().map(|at| (Self::key(at.path.as_deref(), &at.id), at)).collect())
    }

    fn key(path: Option<&Path>, id: &SessionId) -> String {
        path.map_or_else(|| id.to_string(), |path| path.to_string_lossy().into_owned())
    }

    fn of_session(&self, info: &SessionInfo) -> Option<Location> {
        self.0.get(&Self::key(info.path.as_deref(), &info.id)).cloned()
    }
}

fn relocation(info: &SessionInfo, to: String) -> Relocation {
    Relocation { session: info.id.clone(), title: info.title.clone(), from: info.cwd.clone(), to }
}

fn check(old: &str, new: &str) -> Result<(), EngineError> {
    let refuse = |reason: String| Err(EngineError::Invalid(reason));
    match [old, new].into_iter().find(|directory| !Path::new(directory).is_absolute()) {
        Some(relative) => refuse(format!("{relative:?} is not a whole path")),
        None if Path::new(old) == Path::new(new) => refuse(format!("{old} is where the sessions are already")),
        None if Path::new(new).starts_with(old) => {
            refuse(format!("{new} is below {old}: it could not be told which sessions have moved already"))
        }
        None => Ok(()),
    }
}

/// The same place below `new`, for a directory that is `old` or below it.
fn replaced(directory: &str, old: &str, new: &str) -> Option<String> {
    let place = Path::new(directory).strip_prefix(old).ok()?;
    let moved: PathBuf = Path::new(new).components().chain(place.components()).collect();
    moved.into_os_string().into_string().ok()
}
