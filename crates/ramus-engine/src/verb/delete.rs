//! `delete`: the session's own file goes, after a look at who depends on it.

use ramus_model::SessionId;
use ramus_store::{Location, Removed, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, header_of};

/// What becomes of the sessions that a deleted one spawned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// They stay.
    #[default]
    Orphan,
    /// They go too, and theirs.
    Cascade,
}

/// What deleting a session removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deleted {
    /// The session.
    pub session: SessionId,
    /// The files and bytes, those of children included when they went.
    pub removed: Removed,
    /// The sessions it spawned, and theirs.
    pub children: Vec<SessionId>,
}

/// What the header of a log says about where it comes from.
struct Kin {
    location: Location,
    parent: Option<SessionId>,
    origin: Option<SessionId>,
}

impl Engine {
    /// Deletes a session for good. With `dry_run`, says what would go. Refuses while forks stand on what would go.
    pub fn delete(&self, session: &Session, children: Children, dry_run: bool) -> Result<Deleted, EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; ramus deletes only sessions of its own home";
            return Err(EngineError::Invalid(reason.into()));
        }
        let kin = self.kin()?;
        let spawned = descendants(&kin, session.id());
        let mut going = vec![session.location()];
        if children == Children::Cascade {
            going.extend(spawned.iter().map(|kin| &kin.location));
        }
        refuse_while_forked(&kin, &going)?;
        let mut removed = Removed::default();
        // Children first: when something fails half-way, what is left still has its parent.
        for location in going.into_iter().rev() {
            let part = self.store.delete(location, dry_run)?;
            removed.files.extend(part.files);
            removed.bytes += part.bytes;
        }
        let children = spawned.iter().map(|kin| kin.location.id.clone()).collect();
        Ok(Deleted { session: session.id().clone(), removed, children })
    }

    fn kin(&self) -> Result<Vec<Kin>, EngineError> {
        let mut kin = Vec::new();
        for location in self.store.list()? {
            let header = match header_of(self.store.as_ref(), &location) {
                // Deleted while we were looking.
                Err(EngineError::Store(StoreError::NotFound { .. })) => continue,
                // What cannot be read now may be a fork: whoever takes its origin away takes its entries.
                header => header?,
            };
            let Some(header) = header else { continue };
            let origin = header.ramus.forked_from.map(|fork| fork.origin.session);
            kin.push(Kin { location, parent: header.ramus.parent, origin });
        }
        Ok(kin)
    }
}

/// The sessions that `id` spawned, and theirs, nearest first.
fn descendants<'k>(kin: &'k [Kin], id: &SessionId) -> Vec<&'k Kin> {
    let mut found: Vec<&Kin> = kin.iter().filter(|kin| kin.parent.as_ref() == Some(id)).collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|kin| kin.location.id.clone()) {
        // A circle of parents in hostile headers must not go round for ever.
        let known: Vec<SessionId> = found.iter().map(|kin| kin.location.id.clone()).collect();
        let is_new = |kin: &&Kin| kin.location.id != *id && !known.contains(&kin.location.id);
        found.extend(kin.iter().filter(|kin| kin.parent.as_ref() == Some(&parent)).filter(is_new));
        next += 1;
    }
    found
}

fn refuse_while_forked(kin: &[Kin], going: &[&Location]) -> Result<(), EngineError> {
    let goes = |id: &SessionId| going.iter().any(|location| location.id == *id);
    let stands = |kin: &&Kin| kin.origin.as_ref().is_some_and(goes) && !goes(&kin.location.id);
    let forks: Vec<&str> = kin.iter().filter(stands).map(|kin| kin.location.id.as_str()).collect();
    if forks.is_empty() {
        return Ok(());
    }
    Err(EngineError::Conflict(format!(
        "{} session(s) were forked from it and still read its entries: {}; delete them first",
        forks.len(),
        forks.join(", ")
    )))
}
