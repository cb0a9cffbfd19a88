//! `gc`: removes blobs that nothing refers to any more, and snapshots that nothing names.
//!
//! The invariant: nothing goes that a file of the home mentions, whatever state the file is in; when one cannot be read,
//! nothing goes at all.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ramus_snapshot::{SnapshotError, SnapshotId, SnapshotInfo, Vault};
use ramus_store::{Collected, Collection};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::workspace::{Kept, Named, ids, look_outside};

/// How old a snapshot must be, in seconds: its entry may still be on the way.
const YOUNG: i64 = 60 * 60;

/// What became of the snapshots of one directory.
#[derive(Debug)]
pub struct Swept {
    /// The directory; none when that is not known.
    pub directory: Option<PathBuf>,
    /// Where its snapshots are kept.
    pub path: PathBuf,
    /// What was done, or why nothing was.
    pub outcome: Result<ramus_snapshot::Collected, Unswept>,
}

/// Why the snapshots of a directory were all left.
#[derive(Debug, thiserror::Error)]
pub enum Unswept {
    /// Somebody works there.
    #[error("a turn runs there, or a command that needs its snapshots")]
    InUse,
    /// A log of another program may name some of them.
    #[error("cannot tell which snapshots {} needs", log.display())]
    Unread {
        /// The log.
        log: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// They are damaged, or the file system refused.
    #[error(transparent)]
    Failed(#[from] SnapshotError),
}

impl Engine {
    /// Puts blobs that nothing refers to in the trash and removes what has been there for two weeks. With `dry_run`,
    /// counts only. No blob is removed when any file of the home cannot be read. Pages of shares that are over go too.
    pub fn gc(&self, dry_run: bool) -> Result<Collected, EngineError> {
        if !dry_run {
            self.sweep_shares()?;
        }
        let Some(blobs) = self.store.blobs() else { return Ok(Collected::default()) };
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(self.now()).unwrap_or_default());
        Ok(blobs.collect(Collection { now, dry_run })?)
    }

    /// Removes snapshots that nothing names and that are older than an hour, of directories that are gone too. With
    /// `dry_run`, says exactly what that would come to. Nothing is removed when any file of the home cannot be read.
    pub fn gc_snapshots(&self, dry_run: bool) -> Result<Vec<Swept>, EngineError> {
        let Some(home) = &self.snapshots else { return Ok(Vec::new()) };
        let mut swept = Vec::new();
        let mut open = Vec::new();
        for path in Vault::list(home)? {
            match Kept::open(&path) {
                Ok(kept) => open.push(kept),
                Err(error) => swept.push(Swept { directory: None, path, outcome: Err(error.into()) }),
            }
        }
        let youngest = self.now() / 1_000 - YOUNG;
        let named = self.named(ids(&open))?;
        let is_kept = |named: &Named, one: &SnapshotInfo| one.created > youngest || named.contains(one.id);
        let is_full = |kept: &Kept| kept.snapshots.iter().all(|one| is_kept(&named, one));
        let (full, sparse): (Vec<Kept>, Vec<Kept>) = open.into_iter().partition(is_full);
        for kept in full {
            let usage = kept.vault.usage();
            let outcome =
                usage.map(|usage| ramus_snapshot::Collected { before: usage, after: usage, gone: Vec::new() });
            swept.push(Swept::of(&kept.vault, outcome.map_err(Unswept::from)));
        }
        let mut claimed = Vec::new();
        for kept in sparse {
            match kept.vault.claim() {
                // Until now somebody may have come, taken one, and gone again.
                Ok(true) => claimed.push(Kept { snapshots: kept.vault.snapshots()?, ..kept }),
                Ok(false) => swept.push(Swept::of(&kept.vault, Err(Unswept::InUse))),
                Err(error) => swept.push(Swept::of(&kept.vault, Err(error.into()))),
            }
        }
        let mut named = self.named(ids(&claimed))?;
        for kept in claimed {
            let outcome = match look_outside(kept.vault.path(), &mut named) {
                Ok(()) => kept.vault.collect(|one| is_kept(&named, one), dry_run).map_err(Unswept::from),
                Err((log, source)) => Err(Unswept::Unread { log, source }),
            };
            swept.push(Swept::of(&kept.vault, outcome));
        }
        swept.sort_by(|left, right| (&left.directory, &left.path).cmp(&(&right.directory, &right.path)));
        Ok(swept)
    }

    /// Looks through the home for names of these snapshots.
    pub(crate) fn named(&self, wanted: HashSet<SnapshotId>) -> Result<Named, EngineError> {
        let is_empty = wanted.is_empty();
        let mut named = Named::among(wanted);
        if !is_empty {
            self.store.look_through(&[], &mut |chunk| named.feed(chunk))?;
        }
        Ok(named)
    }
}

impl Swept {
    fn of(vault: &Vault, outcome: Result<ramus_snapshot::Collected, Unswept>) -> Self {
        Self { directory: vault.directory(), path: vault.path().to_owned(), outcome }
    }
}
