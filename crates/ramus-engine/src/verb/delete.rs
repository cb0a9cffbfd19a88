//! `delete`: the session goes with everything that only it needs, after a look at who depends on it. What forks need of it
//! is kept in a base.
//!
//! The invariant: nothing goes that another session shows, and nothing outside of what this home made.

mod leavings;

use ramus_model::SessionId;
use ramus_store::{Hold, Location, Removed, Residence, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::base::{Kept, remove_base};
use crate::verb::family::{Family, Kin, descendants};
pub use leavings::WorkspaceLeft;

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
    /// The files, those of children included when they went, and all bytes that are free now.
    pub removed: Removed,
    /// How many blobs went that nothing else refers to.
    pub blobs: u64,
    /// How many of its snapshots went that nothing else names.
    pub snapshots: u64,
    /// How many of them stay until `gc` collects them, because somebody works in their directory.
    pub snapshots_left: u64,
    /// The workspaces that were made for it.
    pub workspaces: Vec<WorkspaceLeft>,
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

impl Engine {
    /// Deletes a session for good, with what only it needs: blobs, snapshots, the workspace that was made for it. With
    /// `dry_run`, says what would go. What forks need of it is kept for them, and goes with the last of them.
    pub fn delete(&self, session: &Session, children: Children, dry_run: bool) -> Result<Deleted, EngineError> {
        if session.residence() == Residence::InPlace {
            let reason = "the file belongs to another program; ramus deletes only sessions of its own home";
            return Err(EngineError::Invalid(reason.into()));
        }
        let _forks = self.store.hold_forks(Hold::Exclusive)?;
        let family = self.family()?;
        // Whoever is served sees what is theirs: sessions of others are neither told nor touched.
        let counts = |kin: &Kin| !self.is_confined || kin.owner() == session.owner();
        let spawned = descendants(&family.kin, session.id(), counts);
        let mut going = vec![session.location()];
        if children == Children::Cascade {
            going.extend(spawned.iter().map(|kin| &kin.location));
        }
        self.check_idle(&going)?;
        self.check_illegible(&family, &going)?;
        let (bases, kept) = self.keep_for_forks(&family, &going, dry_run)?;
        let unneeded = self.unneeded_bases(&family, &going);
        let logs: Vec<&Location> = going.iter().copied().chain(unneeded.iter().copied()).collect();
        let leavings = self.leavings_of(&logs)?;
        let mut removed = Removed::default();
        let workspaces = self.remove_workspaces(&going, &mut removed, dry_run)?;
        // Children first: when something fails half-way, what is left still has its parent.
        for location in going.iter().rev() {
            if !dry_run {
                // A link must not outlive what it shows.
                self.revoke_shares_of(location.id.as_str())?;
            }
            removed.take_in(self.store.delete(location, dry_run)?);
            removed.take_in(self.store.sweep_breadcrumbs(location, dry_run)?);
        }
        for base in unneeded {
            removed.take_in(remove_base(self, base, dry_run)?);
        }
        going.iter().filter(|_| !dry_run).for_each(|location| self.bus.wrote(&location.id, 0));
        let rest = match dry_run {
            true => self.foresee_leavings(leavings, &logs, &bases)?,
            false => self.clear_leavings(leavings)?,
        };
        removed.bytes += rest.bytes;
        Ok(Deleted {
            session: session.id().clone(),
            removed,
            blobs: rest.blobs,
            snapshots: rest.snapshots,
            snapshots_left: rest.snapshots_left,
            workspaces,
            children: spawned.iter().map(|kin| kin.location.id.clone()).collect(),
            kept,
        })
    }

    /// Nothing goes while somebody runs a turn in it.
    fn check_idle(&self, going: &[&Location]) -> Result<(), EngineError> {
        for location in going {
            if let Some(runner) = self.store.runner(location)? {
                return Err(StoreError::Running { session: location.id.to_string(), runner }.into());
            }
        }
        Ok(())
    }

    /// Writes a base for each session that goes and that others stand on.
    fn keep_for_forks(
        &self,
        family: &Family,
        going: &[&Location],
        dry_run: bool,
    ) -> Result<(Vec<Kept>, Vec<KeptBase>), EngineError> {
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
            let origins: Vec<Location> = going.iter().map(|location| (*location).clone()).collect();
            self.keep_bases(&bases, &origins, &standing)?;
        }
        Ok((bases, told))
    }
}
