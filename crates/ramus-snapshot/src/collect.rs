//! Collecting: what no snapshot that counts needs is removed, and what is left is packed well.
//!
//! Nothing goes while somebody else changes the vault. Which snapshots count is the caller's to say; whoever takes one
//! names it somewhere only after that, so a snapshot that is not named counts while its taker may still have it open.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_pack::Bundle;
use gix_pack::data::entry::Header;

use crate::about::SnapshotInfo;
use crate::difference::Names;
use crate::error::SnapshotError;
use crate::journal;
use crate::known::Known;
use crate::pack::Finished;
use crate::repack::repack;
use crate::store::{SnapshotId, Snapshots};
use crate::tree;
use crate::vault::Vault;

/// What a vault takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many files with objects there are.
    pub packs: u64,
    /// How many bytes they have, with what is known of the directory.
    pub bytes: u64,
    /// How many objects are in them.
    pub objects: u64,
    /// How many of these are snapshots.
    pub snapshots: u64,
}

/// What a collection did, or would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// What the vault took before.
    pub before: Usage,
    /// What it takes now.
    pub after: Usage,
    /// The snapshots that are gone, oldest first.
    pub gone: Vec<SnapshotInfo>,
}

/// What is done with the packs of a vault.
#[derive(Default)]
struct Sorted {
    /// Packs that are written anew.
    stale: Vec<Arc<Bundle>>,
    /// What of them is wanted.
    fresh: Vec<Finished>,
}

impl Snapshots {
    /// Removes what is in no snapshot of `keep`, and in none that was taken within `young`. Names that are not there are
    /// no concern. Without `young` a snapshot goes that somebody is about to name.
    pub fn collect(&mut self, keep: &[SnapshotId], young: Duration) -> Result<Collected, SnapshotError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let youngest = i64::try_from(now.saturating_sub(young).as_secs()).unwrap_or(i64::MAX);
        self.vault().collect(|one| one.created > youngest || keep.contains(&one.id), false)
    }

    /// Says what the store takes.
    pub fn usage(&self) -> Result<Usage, SnapshotError> {
        self.vault().usage()
    }
}

impl Vault {
    /// Removes what is in no snapshot that is kept. With `dry_run`, says exactly what that would come to.
    ///
    /// A snapshot stands for itself: those before it go if they are not kept too.
    pub fn collect(&self, is_kept: impl Fn(&SnapshotInfo) -> bool, dry_run: bool) -> Result<Collected, SnapshotError> {
        let _lock = self.begin()?;
        let before = self.usage()?;
        let (kept, gone): (Vec<_>, Vec<_>) = self.snapshots()?.into_iter().partition(is_kept);
        let is_bare = kept.is_empty() || self.directory().is_some_and(|directory| !directory.is_dir());
        let live = self.live(&kept, is_bare)?;
        let sorted = self.sort(&live)?;
        // What is known of the directory would keep it alive.
        let known = if is_bare { Known::files(self.path()).to_vec() } else { Vec::new() };
        let after = if dry_run {
            let count = gone.len() as u64;
            foresee(Usage { snapshots: before.snapshots - count, ..before }, &sorted, &known)
        } else {
            self.replace(sorted, &known)?;
            self.usage()?
        };
        Ok(Collected { before, after, gone })
    }

    fn replace(&self, sorted: Sorted, known: &[PathBuf]) -> Result<(), SnapshotError> {
        for known in known {
            match fs::remove_file(known) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(SnapshotError::io("remove", known)(error));
                }
                _ => {}
            }
        }
        self.objects().add(sorted.fresh)?;
        self.objects().remove(&sorted.stale)
    }

    /// Says what the vault takes.
    pub fn usage(&self) -> Result<Usage, SnapshotError> {
        let mut usage = Usage::default();
        let mut all = Names::new();
        for pack in self.objects().packs() {
            usage.packs += 1;
            usage.objects += u64::from(pack.index.num_objects());
            all.extend(commits(&pack)?);
        }
        usage.snapshots = all.len() as u64;
        usage.bytes = self.bytes().map_err(SnapshotError::io("measure", self.path()))?;
        Ok(usage)
    }

    fn bytes(&self) -> io::Result<u64> {
        let mut bytes = 0;
        for directory in [self.path().to_owned(), self.path().join("objects").join("pack")] {
            for entry in fs::read_dir(directory)? {
                let metadata = entry?.metadata()?;
                bytes += if metadata.is_file() { metadata.len() } else { 0 };
            }
        }
        Ok(bytes)
    }

    /// Tells packs that are good as they are from those that must be written anew.
    fn sort(&self, live: &Names) -> Result<Sorted, SnapshotError> {
        let mut placed = Names::new();
        let mut stale: Vec<Arc<Bundle>> = Vec::new();
        for pack in &self.objects().packs() {
            let names: Vec<ObjectId> = pack.index.iter().map(|entry| entry.oid).collect();
            // A pack is good as it is when all of it is needed and nothing of it is elsewhere.
            let is_good = is_large(pack) && names.iter().all(|id| live.contains(id) && !placed.contains(id));
            if is_good {
                placed.extend(names);
            } else {
                stale.push(Arc::clone(pack));
            }
        }
        if stale.is_empty() || stale.len() == 1 && stale.iter().all(|pack| is_whole(pack, live)) {
            return Ok(Sorted::default());
        }
        let fresh = repack(&stale, |id| live.contains(id) && !placed.contains(id))?;
        Ok(Sorted { stale, fresh })
    }

    /// Names everything that is needed.
    fn live(&self, kept: &[SnapshotInfo], is_bare: bool) -> Result<Names, SnapshotError> {
        let mut live = Names::new();
        let mut open: Vec<ObjectId> = Vec::new();
        for one in kept {
            if live.insert(one.id.0) {
                open.push(self.directory_of(one.id)?);
                live.extend(self.name_beside(one.id)?);
            }
        }
        // The directory as it was last seen is what the next snapshot starts from.
        open.extend(self.known().root.filter(|_| !is_bare));
        while let Some(directory) = open.pop() {
            if !live.insert(directory) {
                continue;
            }
            for (kind, id) in tree::read(self.objects(), &directory)?.into_values() {
                match kind {
                    EntryKind::Tree => open.push(id),
                    _ => drop(live.insert(id)),
                }
            }
        }
        // A restore that was interrupted is still to be ended.
        let journal = self.path().join("restore");
        let steps = journal::read(&journal).map_err(SnapshotError::io("read", &journal))?;
        live.extend(steps.into_iter().flatten().filter_map(|step| Some(step.new?.id)));
        Ok(live)
    }
}

/// What a vault would take after a collection that nobody made.
fn foresee(mut usage: Usage, sorted: &Sorted, known: &[PathBuf]) -> Usage {
    let Sorted { stale, fresh } = sorted;
    for pack in fresh {
        usage.packs += 1;
        usage.objects += pack.objects;
        usage.bytes += pack.size();
    }
    // One that comes out the same has the same name, and counts once.
    for pack in stale {
        usage.packs -= 1;
        usage.objects -= u64::from(pack.index.num_objects());
        usage.bytes -= size_of(pack);
    }
    usage.bytes -= known.iter().filter_map(|known| known.metadata().ok()).map(|found| found.len()).sum::<u64>();
    usage
}

fn is_whole(pack: &Bundle, live: &Names) -> bool {
    pack.index.iter().all(|entry| live.contains(&entry.oid))
}

/// Says whether a pack is large enough to stay as it is.
fn is_large(pack: &Bundle) -> bool {
    pack.pack.data_len() >= 16 << 20
}

/// How many bytes a pack has, with its index.
fn size_of(pack: &Bundle) -> u64 {
    let index = pack.index.path().metadata().map_or(0, |found| found.len());
    pack.pack.data_len() as u64 + index
}

/// Lists the snapshots in a pack.
pub(crate) fn commits(pack: &Bundle) -> Result<Vec<ObjectId>, SnapshotError> {
    let mut found = Vec::new();
    for entry in pack.index.iter() {
        let header = pack.pack.entry(entry.pack_offset);
        let header =
            header.map_err(|cause| SnapshotError::Damaged { reason: format!("object {}: {cause}", entry.oid) })?;
        if header.header == Header::Commit {
            found.push(entry.oid);
        }
    }
    Ok(found)
}
