//! Packs: files in git's own format in which objects are kept, written once and whole.
//!
//! A pack is built in memory and handed out as two files. Content and snapshots depend on nothing, so that any of them is
//! read with one look and can be copied from pack to pack as it is. Directories may be written as a difference to another
//! one of the same pack.

use gix_hash::{Kind as Hash, ObjectId};
use gix_object::Kind;
use gix_zlib::stream::deflate::{Compress, FlushCompress};
use gix_zlib::{Compression, Status};

use crate::error::SnapshotError;

/// What objects are named by.
pub(crate) const HASH: Hash = Hash::Sha1;

/// Fast: most of what is kept is never read again.
const LEVEL: i32 = 1;

const SIGNATURE: &[u8; 4] = b"PACK";
const INDEX_SIGNATURE: [u8; 4] = [0xff, b't', b'O', b'c'];
const VERSION: u32 = 2;

/// A pack that is being made.
pub(crate) struct Pack {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    compress: Compress,
}

struct Entry {
    id: ObjectId,
    checksum: u32,
    offset: u32,
}

/// A pack and its index, ready to be written.
pub(crate) struct Finished {
    /// What both files are called, without extension.
    pub(crate) name: String,
    pub(crate) pack: Vec<u8>,
    pub(crate) index: Vec<u8>,
    /// How many objects are in it.
    pub(crate) objects: u64,
}

impl Finished {
    /// How many bytes both files have.
    pub(crate) fn size(&self) -> u64 {
        (self.pack.len() + self.index.len()) as u64
    }
}

impl Default for Pack {
    fn default() -> Self {
        let mut bytes = Vec::with_capacity(64 << 10);
        bytes.extend_from_slice(SIGNATURE);
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        // How many there are is filled in at the end.
        bytes.extend_from_slice(&[0; 4]);
        let compress = Compress::new(Compression::new(LEVEL).unwrap_or_default());
        Self { bytes, entries: Vec::new(), compress }
    }
}

impl Pack {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how many bytes it has so far.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Adds an object that is not in it.
    pub(crate) fn add(&mut self, kind: Kind, id: ObjectId, data: &[u8]) -> Result<(), SnapshotError> {
        let offset = self.offset()?;
        write_header(&mut self.bytes, number(kind), data.len() as u64);
        self.deflate(data)?;
        self.enter(id, offset);
        Ok(())
    }

    /// Adds an object as it is written in another pack, where it depends on nothing.
    pub(crate) fn copy(&mut self, id: ObjectId, written: &[u8]) -> Result<(), SnapshotError> {
        let offset = self.offset()?;
        self.bytes.extend_from_slice(written);
        self.enter(id, offset);
        Ok(())
    }

    /// Adds an object as a difference to the one at an earlier offset.
    pub(crate) fn add_difference(&mut self, id: ObjectId, base: u32, difference: &[u8]) -> Result<(), SnapshotError> {
        let offset = self.offset()?;
        write_header(&mut self.bytes, DIFFERENCE, difference.len() as u64);
        write_distance(&mut self.bytes, offset.saturating_sub(base));
        self.deflate(difference)?;
        self.enter(id, offset);
        Ok(())
    }

    /// Returns where the next object will be.
    pub(crate) fn offset(&self) -> Result<u32, SnapshotError> {
        let offset = u32::try_from(self.bytes.len()).ok().filter(|offset| offset >> 31 == 0);
        offset.ok_or(SnapshotError::TooLarge { bytes: self.bytes.len() as u64 })
    }

    fn enter(&mut self, id: ObjectId, offset: u32) {
        let written = self.bytes.get(offset as usize..).unwrap_or_default();
        self.entries.push(Entry { id, checksum: crc32fast::hash(written), offset });
    }

    fn deflate(&mut self, mut data: &[u8]) -> Result<(), SnapshotError> {
        self.compress.reset();
        loop {
            let end = self.bytes.len();
            // What cannot be compressed grows by a few bytes per block.
            self.bytes.resize(end + data.len() + data.len() / 1000 + 64, 0);
            let (before_in, before_out) = (self.compress.total_in(), self.compress.total_out());
            let room = self.bytes.get_mut(end..).unwrap_or_default();
            let status = self.compress.compress(data, room, FlushCompress::Finish);
            let status = status.map_err(|cause| SnapshotError::Compress { reason: cause.to_string() })?;
            let count = |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
            self.bytes.truncate(end.saturating_add(count(self.compress.total_out(), before_out)));
            data = data.get(count(self.compress.total_in(), before_in)..).unwrap_or_default();
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    /// Ends it.
    pub(crate) fn finish(mut self) -> Result<Finished, SnapshotError> {
        let count = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        if let Some(slot) = self.bytes.get_mut(8..12) {
            slot.copy_from_slice(&count.to_be_bytes());
        }
        let checksum = checksum(&self.bytes)?;
        self.bytes.extend_from_slice(checksum.as_slice());
        self.entries.sort_unstable_by_key(|entry| entry.id);
        let index = index(&self.entries, &checksum)?;
        Ok(Finished { name: format!("pack-{checksum}"), pack: self.bytes, index, objects: u64::from(count) })
    }
}

/// Where each object is, by its name.
fn index(entries: &[Entry], pack: &ObjectId) -> Result<Vec<u8>, SnapshotError> {
    let mut bytes = Vec::with_capacity(8 + 1024 + entries.len() * 28 + 40);
    bytes.extend_from_slice(&INDEX_SIGNATURE);
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    let mut counts = [0_u32; 256];
    for entry in entries {
        if let Some(count) = counts.get_mut(usize::from(entry.id.first_byte())) {
            *count += 1;
        }
    }
    let mut sum = 0_u32;
    for count in counts {
        sum += count;
        bytes.extend_from_slice(&sum.to_be_bytes());
    }
    entries.iter().for_each(|entry| bytes.extend_from_slice(entry.id.as_slice()));
    entries.iter().for_each(|entry| bytes.extend_from_slice(&entry.checksum.to_be_bytes()));
    entries.iter().for_each(|entry| bytes.extend_from_slice(&entry.offset.to_be_bytes()));
    bytes.extend_from_slice(pack.as_slice());
    let own = checksum(&bytes)?;
    bytes.extend_from_slice(own.as_slice());
    Ok(bytes)
}

fn checksum(bytes: &[u8]) -> Result<ObjectId, SnapshotError> {
    let mut hasher = gix_hash::hasher(HASH);
    hasher.update(bytes);
    hasher.try_finalize().map_err(|cause| SnapshotError::Hash { reason: cause.to_string() })
}

/// What marks a difference to an object at an offset.
const DIFFERENCE: u8 = 6;

fn number(kind: Kind) -> u8 {
    match kind {
        Kind::Commit => 1,
        Kind::Tree => 2,
        Kind::Blob => 3,
        Kind::Tag => 4,
    }
}

/// The kind in three bits, the size in seven at a time, lowest first.
fn write_header(bytes: &mut Vec<u8>, kind: u8, mut size: u64) {
    let mut byte = kind << 4 | (size & 0x0f) as u8;
    size >>= 4;
    while size > 0 {
        bytes.push(byte | 0x80);
        byte = (size & 0x7f) as u8;
        size >>= 7;
    }
    bytes.push(byte);
}

/// How far back a base is: seven bits at a time, highest first, each but the last one less than it stands for.
fn write_distance(bytes: &mut Vec<u8>, mut distance: u32) {
    let mut digits = vec![(distance & 0x7f) as u8];
    distance >>= 7;
    while distance > 0 {
        distance -= 1;
        digits.push(0x80 | (distance & 0x7f) as u8);
        distance >>= 7;
    }
    bytes.extend(digits.iter().rev());
}
