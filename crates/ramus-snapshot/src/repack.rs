//! Repacking: objects of many packs into few, directories as differences to similar ones.
//!
//! The new packs are durable before the old ones go, so whoever is killed in between leaves an object twice, never not
//! at all.

use std::sync::Arc;

use gix_hash::ObjectId;
use gix_object::Kind;
use gix_pack::Bundle;
use gix_pack::data::entry::Header;

use crate::difference::{Names, Similar};
use crate::error::SnapshotError;
use crate::objects::{Objects, read_from};
use crate::pack::{Finished, Pack};

/// A pack is closed when it has so many bytes, which bounds the memory.
const PACK_SIZE: usize = 48 << 20;

/// So many packs of about the same size become one.
const MOST: usize = 16;

/// Packs are of about the same size when they are in the same step of this ladder; larger ones stay as they are.
const SIZES: [usize; 3] = [64 << 10, 1 << 20, 16 << 20];

impl Objects {
    /// Joins packs when there are many of about the same size: with every snapshot comes a small one.
    pub(crate) fn consolidate(&self) -> Result<(), SnapshotError> {
        let packs = self.packs();
        for most in SIZES {
            let least = most / MOST;
            let is_alike = |pack: &&Arc<Bundle>| {
                let size = pack.pack.data_len();
                size < most && (size >= least || most == SIZES.into_iter().min().unwrap_or_default())
            };
            let alike: Vec<Arc<Bundle>> = packs.iter().filter(is_alike).map(Arc::clone).collect();
            if alike.len() >= MOST {
                self.add(repack(&alike, |_| true)?)?;
                return self.remove(&alike);
            }
        }
        Ok(())
    }
}

/// Writes those objects of some packs that are wanted to new ones, each once.
pub(crate) fn repack(
    packs: &[Arc<Bundle>],
    mut is_wanted: impl FnMut(&ObjectId) -> bool,
) -> Result<Vec<Finished>, SnapshotError> {
    let mut repacking = Repacking::default();
    // Newest first: what is read most is then read with one look.
    let modified = |pack: &Arc<Bundle>| pack.index.path().metadata().and_then(|metadata| metadata.modified()).ok();
    let mut packs: Vec<&Arc<Bundle>> = packs.iter().collect();
    packs.sort_by_cached_key(|pack| std::cmp::Reverse(modified(pack)));
    for pack in packs {
        let mut entries: Vec<(u64, ObjectId)> = pack.index.iter().map(|entry| (entry.pack_offset, entry.oid)).collect();
        entries.sort_unstable();
        let ends = entries.iter().skip(1).map(|(offset, _)| *offset).chain([pack.pack.pack_end() as u64]);
        for ((offset, id), end) in entries.iter().zip(ends) {
            if is_wanted(id) && repacking.names.insert(*id) {
                repacking.object(pack, *id, *offset..end)?;
            }
        }
    }
    repacking.finish()
}

#[derive(Default)]
struct Repacking {
    pack: Pack,
    done: Vec<Finished>,
    similar: Similar,
    /// What is in the new packs.
    names: Names,
    buffer: Vec<u8>,
}

impl Repacking {
    fn object(&mut self, from: &Bundle, id: ObjectId, range: std::ops::Range<u64>) -> Result<(), SnapshotError> {
        let damaged = |reason: String| SnapshotError::Damaged { reason };
        let entry = from.pack.entry(range.start).map_err(|cause| damaged(format!("object {id}: {cause}")))?;
        if matches!(entry.header, Header::Blob | Header::Commit | Header::Tag) {
            let written = from.pack.entry_slice(range).ok_or_else(|| damaged(format!("object {id} is cut short")))?;
            self.pack.copy(id, written)?;
        } else {
            let kind = read_from(from, &id, &mut self.buffer)?;
            let kind = kind.ok_or_else(|| damaged(format!("object {id} is missing")))?;
            self.directory(kind, id)?;
        }
        if self.pack.len() > PACK_SIZE {
            self.done.push(std::mem::take(&mut self.pack).finish()?);
            self.similar = Similar::default();
        }
        Ok(())
    }

    fn directory(&mut self, kind: Kind, id: ObjectId) -> Result<(), SnapshotError> {
        let bytes = std::mem::take(&mut self.buffer);
        let offset = self.pack.offset()?;
        let depth = match self.similar.difference(&bytes).filter(|_| kind == Kind::Tree) {
            Some((base, depth, difference)) => {
                self.pack.add_difference(id, base, &difference)?;
                depth
            }
            None => {
                self.pack.add(kind, id, &bytes)?;
                0
            }
        };
        self.similar.push(bytes, offset, depth);
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<Finished>, SnapshotError> {
        if !self.pack.is_empty() {
            self.done.push(self.pack.finish()?);
        }
        Ok(self.done)
    }
}
