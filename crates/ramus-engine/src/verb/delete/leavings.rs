//! What a deleted session leaves besides its files: blobs that only it refers to, snapshots that only it names, and
//! workspaces that were made for it.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;

use ramus_model::blob::References;
use ramus_model::{BlobHash, SessionId};
use ramus_snapshot::{SnapshotId, Vault};
use ramus_store::{Location, Removed};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::verb::base::Kept as KeptBytes;
use crate::verb::list::Filter;
use crate::workspace::{Kept, Named, ids, look_outside};

/// A workspace that was made for a session that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceLeft {
    /// Where it is, or was.
    pub path: PathBuf,
    /// The sessions that work in it; it goes when there is none.
    pub kept_for: Vec<SessionId>,
}

/// What logs that go refer to, or seem to.
pub(super) struct Leavings {
    blobs: BTreeSet<BlobHash>,
    snapshots: HashSet<SnapshotId>,
}

/// What of it went, or would go.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cleared {
    pub(super) blobs: u64,
    pub(super) snapshots: u64,
    pub(super) snapshots_left: u64,
    /// How many bytes are free now.
    pub(super) bytes: u64,
}

impl Engine {
    /// Finds what logs that go refer to.
    pub(super) fn leavings_of(&self, going: &[&Location]) -> Result<Leavings, EngineError> {
        let (mut references, mut named) = (References::default(), Named::any());
        for location in going {
            self.store.read(location, 0, &mut |chunk| {
                references.feed(chunk);
                named.feed(chunk);
            })?;
            references.end();
            named.feed(&[]);
        }
        Ok(Leavings { blobs: references.found().clone(), snapshots: named.into_found() })
    }

    /// Says what of it nothing else would need, once the logs are gone and what forks need of them is written.
    pub(super) fn foresee_leavings(
        &self,
        leavings: Leavings,
        going: &[&Location],
        bases: &[KeptBytes],
    ) -> Result<Cleared, EngineError> {
        let mut cleared = Cleared::default();
        if leavings.is_empty() {
            return Ok(cleared);
        }
        let vaults = self.vaults_with(&leavings.snapshots)?;
        let mut references = References::default();
        let mut named = Named::among(ids(&vaults));
        let mut take = |chunk: &[u8]| {
            references.feed_or_end(chunk);
            named.feed(chunk);
        };
        self.store.look_through(going, &mut take)?;
        for base in bases {
            take(&base.bytes);
            take(&[]);
        }
        for hash in leavings.blobs.iter().filter(|hash| !references.contains(**hash)) {
            if let Some(size) = self.store.blobs().map(|blobs| blobs.blob_size(*hash)).transpose()?.flatten() {
                cleared.blobs += 1;
                cleared.bytes += size;
            }
        }
        for kept in &vaults {
            self.clear_vault(kept, &leavings.snapshots, &mut named, &mut cleared, true)?;
        }
        Ok(cleared)
    }

    /// Removes of it what nothing needs any more. What cannot be removed now is for `gc`.
    pub(super) fn clear_leavings(&self, leavings: Leavings) -> Result<Cleared, EngineError> {
        let mut cleared = Cleared::default();
        if let Some(blobs) = self.store.blobs().filter(|_| !leavings.blobs.is_empty()) {
            let gone = blobs.erase(&leavings.blobs)?;
            cleared.blobs = gone.count;
            cleared.bytes = gone.bytes;
        }
        for kept in self.vaults_with(&leavings.snapshots)? {
            let mut named = Named::among(HashSet::new());
            self.clear_vault(&kept, &leavings.snapshots, &mut named, &mut cleared, false)?;
        }
        Ok(cleared)
    }

    /// Removes the snapshots of a vault that nothing names. Whoever is about to name one has the vault open.
    fn clear_vault(
        &self,
        kept: &Kept,
        theirs: &HashSet<SnapshotId>,
        named: &mut Named,
        cleared: &mut Cleared,
        dry_run: bool,
    ) -> Result<(), EngineError> {
        let concerned = || kept.snapshots.iter().filter(|one| theirs.contains(&one.id));
        if !kept.vault.claim()? {
            cleared.snapshots_left += concerned().count() as u64;
            return Ok(());
        }
        if !dry_run {
            *named = self.named(kept.vault.snapshots()?.into_iter().map(|one| one.id).collect())?;
        }
        if look_outside(kept.vault.path(), named).is_err() {
            cleared.snapshots_left += concerned().count() as u64;
            return Ok(());
        }
        let collected = kept.vault.collect(|one| named.contains(one.id), dry_run)?;
        cleared.snapshots += collected.gone.iter().filter(|one| theirs.contains(&one.id)).count() as u64;
        cleared.bytes += collected.before.bytes.saturating_sub(collected.after.bytes);
        Ok(())
    }

    /// Opens the vaults that hold some of these snapshots. One that is damaged is for `gc` to report.
    fn vaults_with(&self, some: &HashSet<SnapshotId>) -> Result<Vec<Kept>, EngineError> {
        let mut found = Vec::new();
        let Some(home) = self.snapshots.as_ref().filter(|_| !some.is_empty()) else { return Ok(found) };
        for path in Vault::list(home)? {
            let Ok(vault) = Vault::open(&path) else { continue };
            if some.iter().any(|id| vault.has(*id)) {
                found.push(Kept { snapshots: vault.snapshots()?, vault });
            }
        }
        Ok(found)
    }

    /// Removes the workspaces that were made for sessions that go, unless another session works there.
    pub(super) fn remove_workspaces(
        &self,
        going: &[&Location],
        removed: &mut Removed,
        dry_run: bool,
    ) -> Result<Vec<WorkspaceLeft>, EngineError> {
        let mut left = Vec::new();
        for owned in self.owned_workspaces(going)? {
            let everything = Filter { drafts: true, archived: true, ..Filter::default() };
            let others = self.list(&everything)?.sessions.into_iter();
            let others = others.filter(|info| going.iter().all(|location| location.id != info.id));
            let kept_for: Vec<SessionId> =
                others.filter(|info| owned.is_around(info.cwd.as_ref())).map(|info| info.id).collect();
            if kept_for.is_empty() {
                removed.take_in(owned.remove(dry_run)?);
            }
            left.push(WorkspaceLeft { path: owned.root, kept_for });
        }
        Ok(left)
    }
}

impl Leavings {
    fn is_empty(&self) -> bool {
        self.blobs.is_empty() && self.snapshots.is_empty()
    }
}
