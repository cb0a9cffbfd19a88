//! `delete`: the session's own file goes, after a look at who depends on it. What forks need of it is kept in a base.

use std::collections::{HashMap, HashSet};

use ramus_model::SessionId;
use ramus_store::{Hold, Location, Removed, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, header_of};
use crate::verb::base::{Kept, remove_base};

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
    /// How many blobs nothing else refers to. They stay until `gc` collects them.
    pub blobs: u64,
    /// The sessions it spawned, and theirs.
    pub children: Vec<SessionId>,
    /// What was kept because forks read it.
    pub kept: Vec<KeptBase>,
}

/// What forks need of a deleted session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptBase {
    /// The session that was deleted.
    pub session: SessionId,
    /// How many bytes are kept.
    pub bytes: u64,
    /// The sessions that read them.
    pub forks: Vec<SessionId>,
}

/// What the header of a log says about where it comes from.
struct Kin {
    location: Location,
    parent: Option<SessionId>,
}

/// Everyone who might depend on a session that goes.
struct Family {
    kin: Vec<Kin>,
    bases: Vec<Location>,
    /// Which session each session or base was forked from.
    origins: HashMap<SessionId, SessionId>,
    /// Sessions whose header cannot be read: a repair may put it back, so they stand on whatever they mention.
    illegible: Vec<Location>,
}

impl Engine {
    /// Deletes a session for good. With `dry_run`, says what would go. What forks need of it is kept for them, and goes
    /// with the last of them.
    pub fn delete(&self, session: &Session, children: Children, dry_run: bool) -> Result<Deleted, EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; ramus deletes only sessions of its own home";
            return Err(EngineError::Invalid(reason.into()));
        }
        let _forks = self.store.hold_forks(Hold::Exclusive)?;
        let family = self.family()?;
        let spawned = descendants(&family.kin, session.id());
        let mut going = vec![session.location()];
        if children == Children::Cascade {
            going.extend(spawned.iter().map(|kin| &kin.location));
        }
        self.check_illegible(&family, &going)?;
        let kept = self.keep_for_forks(&family, &going, dry_run)?;
        let blobs = self.blobs_only_of(&going)?;
        let mut removed = Removed::default();
        // Children first: when something fails half-way, what is left still has its parent.
        for location in going.iter().rev() {
            if !dry_run {
                // A link must not outlive what it shows.
                self.revoke_shares_of(location.id.as_str())?;
            }
            take_in(&mut removed, self.store.delete(location, dry_run)?);
            take_in(&mut removed, self.store.sweep_breadcrumbs(location, dry_run)?);
        }
        for base in self.unneeded_bases(&family, &going) {
            take_in(&mut removed, remove_base(self, base, dry_run)?);
        }
        let children = spawned.iter().map(|kin| kin.location.id.clone()).collect();
        Ok(Deleted { session: session.id().clone(), removed, blobs, children, kept })
    }

    /// Writes a base for each session that goes and that others stand on.
    fn keep_for_forks(
        &self,
        family: &Family,
        going: &[&Location],
        dry_run: bool,
    ) -> Result<Vec<KeptBase>, EngineError> {
        let mut bases: Vec<Kept> = Vec::new();
        let mut told = Vec::new();
        let mut standing: Vec<Location> = Vec::new();
        for origin in going {
            let forks: Vec<Location> =
                family.staying(going).filter(|fork| family.stands_on(&fork.id, &origin.id)).cloned().collect();
            if forks.is_empty() {
                continue;
            }
            let base = self.base_of(origin, &forks)?;
            let bytes = base.bytes.len() as u64;
            let ids = forks.iter().map(|fork| fork.id.clone()).collect();
            told.push(KeptBase { session: origin.id.clone(), bytes, forks: ids });
            bases.push(base);
            standing.extend(forks);
        }
        if !dry_run && !bases.is_empty() {
            standing.dedup();
            self.keep_bases(&bases, &standing)?;
        }
        Ok(told)
    }

    fn family(&self) -> Result<Family, EngineError> {
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
            family.kin.push(Kin { location, parent: header.ramus.parent });
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

    /// Nothing goes that a damaged session may have been forked from: what it needs of it cannot be told.
    fn check_illegible(&self, family: &Family, going: &[&Location]) -> Result<(), EngineError> {
        let stays = |other: &&Location| going.iter().all(|location| location.id != other.id);
        for other in family.illegible.iter().filter(stays) {
            if going.iter().any(|location| self.may_mention(other, &location.id)) {
                return Err(EngineError::Conflict(format!(
                    "the header of session {} cannot be read and it may have been forked from this one; repair it or \
                     delete it first; nothing was deleted",
                    other.id
                )));
            }
        }
        Ok(())
    }

    /// The bases that nobody reads once those that go are gone.
    fn unneeded_bases<'f>(&self, family: &'f Family, going: &[&Location]) -> Vec<&'f Location> {
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
    fn staying<'f>(&'f self, going: &'f [&Location]) -> impl Iterator<Item = &'f Location> {
        let goes = |id: &SessionId| going.iter().any(|location| location.id == *id);
        self.kin.iter().map(|kin| &kin.location).filter(move |location| !goes(&location.id))
    }

    /// The sessions that `id` was forked from, nearest first. Hostile headers may name each other in a circle.
    fn ancestry<'f>(&'f self, id: &'f SessionId) -> Vec<&'f SessionId> {
        let mut seen = HashSet::from([id]);
        let up = std::iter::successors(self.origins.get(id), |id| self.origins.get(id));
        up.take_while(|id| seen.insert(id)).collect()
    }

    fn stands_on(&self, fork: &SessionId, origin: &SessionId) -> bool {
        self.ancestry(fork).contains(&origin)
    }
}

fn take_in(removed: &mut Removed, part: Removed) {
    removed.files.extend(part.files);
    removed.bytes += part.bytes;
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
