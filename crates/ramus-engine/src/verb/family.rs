//! Everyone who might depend on a session: those that it spawned, and those that were forked from it. What destroys entries
//! asks first.

use std::collections::{HashMap, HashSet};

use ramus_model::SessionId;
use ramus_store::{Location, StoreError};

use crate::engine::{DEFAULT_OWNER, Engine};
use crate::error::EngineError;
use crate::session::header_of;

/// What the header of a log says about where it comes from.
pub(crate) struct Kin {
    pub(crate) location: Location,
    pub(crate) parent: Option<SessionId>,
    /// Whose it is; none for the default owner.
    owner: Option<String>,
}

/// Everyone who might depend on a session that goes.
pub(crate) struct Family {
    pub(crate) kin: Vec<Kin>,
    pub(crate) bases: Vec<Location>,
    /// Which session each session or base was forked from.
    origins: HashMap<SessionId, SessionId>,
    /// Sessions whose header cannot be read: a repair may put it back, so they stand on whatever they mention.
    illegible: Vec<Location>,
}

impl Engine {
    pub(crate) fn family(&self) -> Result<Family, EngineError> {
        let mut family = Family { kin: Vec::new(), bases: Vec::new(), origins: HashMap::new(), illegible: Vec::new() };
        for mut location in self.store.bases()? {
            let Some(header) = self.header_of_kin(&location)? else { continue };
            location.id = header.id.clone();
            // Nobody would find it by that id, so nobody reads it for that session.
            if self.store.find_base(&location.id)?.as_ref() != Some(&location) {
                continue;
            }
            family.origins.extend(header.ramus.forked_from.map(|fork| (header.id, fork.origin.session)));
            family.bases.push(location);
        }
        // A session that is there wins over its base.
        for location in self.store.list()? {
            let Some(header) = self.header_of_kin(&location)? else {
                family.illegible.push(location);
                continue;
            };
            family.origins.remove(&location.id);
            family.origins.extend(header.ramus.forked_from.map(|fork| (location.id.clone(), fork.origin.session)));
            family.kin.push(Kin { location, parent: header.ramus.parent, owner: header.ramus.owner });
        }
        Ok(family)
    }

    /// The header of a session or base; none when it is gone or has none. Trouble with reading must not make a fork lose
    /// what it stands on.
    fn header_of_kin(&self, at: &Location) -> Result<Option<ramus_model::Header>, EngineError> {
        match header_of(self.store.as_ref(), at) {
            Err(EngineError::Store(StoreError::NotFound { .. })) => Ok(None),
            header => header,
        }
    }

    /// Finds the sessions that read the log of another one, through others too.
    pub(crate) fn forks_of(&self, origin: &Location) -> Result<Vec<Location>, EngineError> {
        let family = self.family()?;
        self.check_illegible(&family, &[origin])?;
        let stands = |fork: &&Location| family.stands_on(&fork.id, &origin.id);
        Ok(family.staying(&[origin]).filter(stands).cloned().collect())
    }

    /// Nothing goes that a damaged session may have been forked from: what it needs of it cannot be told.
    pub(crate) fn check_illegible(&self, family: &Family, going: &[&Location]) -> Result<(), EngineError> {
        let stays = |other: &&Location| going.iter().all(|location| location.id != other.id);
        for other in family.illegible.iter().filter(stays) {
            if going.iter().any(|location| self.may_mention(other, &location.id)) {
                return Err(EngineError::Conflict(format!(
                    "the header of session {} cannot be read and it may have been forked from this one; repair it or \
                     delete it first; nothing was changed",
                    other.id
                )));
            }
        }
        Ok(())
    }

    /// The bases that nobody reads once those that go are gone.
    pub(crate) fn unneeded_bases<'f>(&self, family: &'f Family, going: &[&Location]) -> Vec<&'f Location> {
        let goes = |id: &SessionId| going.iter().any(|location| location.id == *id);
        let illegible: Vec<&Location> = family.illegible.iter().filter(|other| !goes(&other.id)).collect();
        let is_mentioned = |id: &SessionId| illegible.iter().any(|other| self.may_mention(other, id));
        let mentioned: Vec<&SessionId> =
            family.bases.iter().map(|base| &base.id).filter(|id| is_mentioned(id)).collect();
        let mut needed: HashSet<&SessionId> =
            family.staying(going).flat_map(|fork| family.ancestry(&fork.id)).collect();
        needed.extend(mentioned.iter().flat_map(|id| family.ancestry(id)));
        needed.extend(mentioned);
        let stays: HashSet<&SessionId> = family.staying(going).map(|location| &location.id).collect();
        family.bases.iter().filter(|base| !needed.contains(&base.id) || stays.contains(&base.id)).collect()
    }
}

impl Family {
    pub(crate) fn staying<'f>(&'f self, going: &'f [&Location]) -> impl Iterator<Item = &'f Location> {
        let goes = |id: &SessionId| going.iter().any(|location| location.id == *id);
        self.kin.iter().map(|kin| &kin.location).filter(move |location| !goes(&location.id))
    }

    /// The sessions that `id` was forked from, nearest first. Hostile headers may name each other in a circle.
    fn ancestry<'f>(&'f self, id: &'f SessionId) -> Vec<&'f SessionId> {
        let mut seen = HashSet::from([id]);
        let up = std::iter::successors(self.origins.get(id), |id| self.origins.get(id));
        up.take_while(|id| seen.insert(id)).collect()
    }

    pub(crate) fn stands_on(&self, fork: &SessionId, origin: &SessionId) -> bool {
        self.ancestry(fork).contains(&origin)
    }
}

impl Kin {
    pub(crate) fn owner(&self) -> &str {
        self.owner.as_deref().unwrap_or(DEFAULT_OWNER)
    }
}

/// The sessions that `id` spawned, and theirs, nearest first; those that do not count are passed over with all of theirs.
pub(crate) fn descendants<'k>(kin: &'k [Kin], id: &SessionId, counts: impl Fn(&Kin) -> bool) -> Vec<&'k Kin> {
    let kin: Vec<&Kin> = kin.iter().filter(|kin| counts(kin)).collect();
    let mut found: Vec<&Kin> = kin.iter().filter(|kin| kin.parent.as_ref() == Some(id)).copied().collect();
    let mut next = 0;
    while let Some(parent) = found.get(next).map(|kin| kin.location.id.clone()) {
        // A circle of parents in hostile headers must not go round for ever.
        let known: Vec<SessionId> = found.iter().map(|kin| kin.location.id.clone()).collect();
        let is_new = |kin: &&Kin| kin.location.id != *id && !known.contains(&kin.location.id);
        found.extend(kin.iter().copied().filter(|kin| kin.parent.as_ref() == Some(&parent)).filter(is_new));
        next += 1;
    }
    found
}

/// Names sessions in a message.
pub(crate) fn named(sessions: &[Location]) -> String {
    sessions.iter().map(|location| location.id.as_str()).collect::<Vec<_>>().join(", ")
}
