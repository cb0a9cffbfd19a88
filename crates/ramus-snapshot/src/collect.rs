//! Collecting: what no snapshot that counts needs is removed, and what is left is packed well.
//!
//! Whoever takes a snapshot names it somewhere only after that. So a snapshot that was taken a short while ago counts,
//! named or not; and nothing goes while somebody else changes the store.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gix_hash::ObjectId;
use gix_object::tree::EntryKind;
use gix_pack::Bundle;
use gix_pack::data::entry::Header;

use crate::difference::Names;
use crate::error::SnapshotError;
use crate::repack::repack;
use crate::store::{SnapshotId, Snapshots};
use crate::tree;

/// What a store takes.
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

/// What a collection did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collected {
    /// What the store took before.
    pub before: Usage,
    /// What it takes now.
    pub after: Usage,
}

impl Snapshots {
    /// Removes what is in no snapshot of `keep`, and in none that was taken within `young`. Names that are not there are
    /// no concern. Without `young` a snapshot goes that somebody is about to name.
    ///
    /// A snapshot stands for itself: those before it are kept if they are named too.
    pub fn collect(&mut self, keep: &[SnapshotId], young: Duration) -> Result<Collected, SnapshotError> {
        let _lock = self.begin()?;
        let before = self.usage()?;
        let live = self.live(keep, young)?;
        let mut placed = Names::new();
        let mut stale: Vec<Arc<Bundle>> = Vec::new();
        let packs = self.objects().packs();
        for pack in &packs {
            let names: Vec<ObjectId> = pack.index.iter().map(|entry| entry.oid).collect();
            // A pack is good as it is when all of it is needed and nothing of it is elsewhere.
            let is_good = is_large(pack) && names.iter().all(|id| live.contains(id) && !placed.contains(id));
            if is_good {
                placed.extend(names);
            } else {
                stale.push(Arc::clone(pack));
            }
        }
        if !(stale.len() == 1 && stale.iter().all(|pack| is_whole(pack, &live))) {
            self.objects().add(repack(&stale, |id| live.contains(id) && !placed.contains(id))?)?;
            self.objects().remove(&stale)?;
        }
        Ok(Collected { before, after: self.usage()? })
    }

    /// Says what the store takes.
    pub fn usage(&self) -> Result<Usage, SnapshotError> {
        let mut usage = Usage::default();
        for pack in self.objects().packs() {
            usage.packs += 1;
            usage.objects += u64::from(pack.index.num_objects());
            usage.snapshots += commits(&pack)?.len() as u64;
        }
        usage.bytes = self.bytes().map_err(SnapshotError::io("measure", self.store_path()))?;
        Ok(usage)
    }

    fn bytes(&self) -> std::io::Result<u64> {
        let mut bytes = 0;
        for directory in [self.store_path().to_owned(), self.store_path().join("objects").join("pack")] {
            for entry in std::fs::read_dir(directory)? {
                let metadata = entry?.metadata()?;
                bytes += if metadata.is_file() { metadata.len() } else { 0 };
            }
        }
        Ok(bytes)
    }

    /// Names everything that is needed.
    fn live(&self, keep: &[SnapshotId], young: Duration) -> Result<Names, SnapshotError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let youngest = i64::try_from(now.saturating_sub(young).as_secs()).unwrap_or(i64::MAX);
        let mut live = Names::new();
        let mut open: Vec<ObjectId> = Vec::new();
        let mut roots: Vec<SnapshotId> = keep.iter().filter(|id| self.objects().has(&id.0)).copied().collect();
        for pack in self.objects().packs() {
            for id in commits(&pack)? {
                if self.info(SnapshotId(id))?.created > youngest {
                    roots.push(SnapshotId(id));
                }
            }
        }
        for root in roots {
            if live.insert(root.0) {
                open.push(self.directory_of(root)?);
            }
        }
        // The directory as it was last seen is what the next snapshot starts from.
        open.extend(self.known().root);
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
        Ok(live)
    }
}

fn is_whole(pack: &Bundle, live: &Names) -> bool {
    pack.index.iter().all(|entry| live.contains(&entry.oid))
}

/// Says whether a pack is large enough to stay as it is.
fn is_large(pack: &Bundle) -> bool {
    pack.pack.data_len() >= 16 << 20
}

/// Lists the snapshots in a pack.
fn commits(pack: &Bundle) -> Result<Vec<ObjectId>, SnapshotError> {
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
