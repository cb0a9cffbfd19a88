//! Directories as differences: what is copied from another directory, and what is new. The format is git's.

use std::ops::Range;

use gix_hash::ObjectId;
use hashbrown::{HashMap, HashSet};

use crate::pack::HASH;

/// The most that one instruction inserts.
const INSERT: usize = 0x7f;

/// The most that one instruction copies.
const COPY: usize = 0xff_ffff;

/// How many directories are kept to be differed from, in bytes.
const WINDOW: usize = 16 << 20;

/// A difference to a difference, and so on, is read in as many steps.
const DEEPEST: usize = 24;

/// Of a large directory, one entry in so many is looked at to find a similar one.
const SAMPLE: u64 = 8;
const LARGE: usize = 128;

/// A directory that others can be written as a difference to.
struct Base {
    bytes: Vec<u8>,
    offset: u32,
    depth: usize,
}

/// Finds, for one directory after the other, an earlier one that it differs little from.
#[derive(Default)]
pub(crate) struct Similar {
    bases: Vec<Base>,
    size: usize,
    /// The last directory that an entry was seen in.
    seen: HashMap<u64, usize>,
}

impl Similar {
    /// Returns the difference to a similar directory and where that one is, if it is much shorter.
    pub(crate) fn difference(&self, bytes: &[u8]) -> Option<(u32, usize, Vec<u8>)> {
        let mut votes: HashMap<usize, usize> = HashMap::new();
        for hash in samples(bytes) {
            if let Some(number) = self.seen.get(&hash) {
                *votes.entry(*number).or_default() += 1;
            }
        }
        let (number, _) = votes.into_iter().max_by_key(|(number, votes)| (*votes, *number))?;
        let base = self.bases.get(number).filter(|base| base.depth < DEEPEST)?;
        let difference = difference(&base.bytes, bytes);
        (difference.len() < bytes.len() / 2).then_some((base.offset, base.depth + 1, difference))
    }

    /// Takes in a directory that was written.
    pub(crate) fn push(&mut self, bytes: Vec<u8>, offset: u32, depth: usize) {
        if self.size + bytes.len() > WINDOW {
            *self = Self::default();
        }
        self.size += bytes.len();
        let number = self.bases.len();
        self.seen.extend(samples(&bytes).map(|hash| (hash, number)));
        self.bases.push(Base { bytes, offset, depth });
    }
}

/// Hashes of entries, the same ones whatever stands around them.
fn samples(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let entries = entries(bytes);
    let is_large = entries.len() > LARGE;
    let hash = |range: Range<usize>| {
        // An entry ends with a hash already; its name must count too.
        let entry = bytes.get(range).unwrap_or_default();
        let tail = entry.last_chunk::<8>().map_or(0, |tail| u64::from_le_bytes(*tail));
        tail ^ u64::from(crc32fast::hash(entry))
    };
    entries.into_iter().map(hash).filter(move |hash| !is_large || hash % SAMPLE == 0)
}

/// Where each entry is: mode, name, a zero, a hash.
fn entries(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(zero) = bytes.get(start..).and_then(|rest| rest.iter().position(|byte| *byte == 0)) {
        let end = start + zero + 1 + HASH.len_in_bytes();
        if end > bytes.len() {
            break;
        }
        found.push(start..end);
        start = end;
    }
    found
}

/// Writes one directory as a difference to another.
fn difference(base: &[u8], bytes: &[u8]) -> Vec<u8> {
    let mut places: HashMap<&[u8], usize> = HashMap::new();
    for range in entries(base) {
        places.insert(base.get(range.clone()).unwrap_or_default(), range.start);
    }
    let mut out = Vec::new();
    write_size(&mut out, base.len());
    write_size(&mut out, bytes.len());
    let (mut copied, mut inserted) = (0..0, 0..0);
    for range in entries(bytes) {
        let entry = bytes.get(range.clone()).unwrap_or_default();
        match places.get(entry) {
            Some(place) if *place == copied.end && !copied.is_empty() => copied.end += entry.len(),
            Some(place) => {
                flush(&mut out, &mut copied, &mut inserted, bytes);
                copied = *place..*place + entry.len();
            }
            None => {
                if !copied.is_empty() {
                    flush(&mut out, &mut copied, &mut inserted, bytes);
                }
                inserted = if inserted.is_empty() { range } else { inserted.start..range.end };
            }
        }
    }
    flush(&mut out, &mut copied, &mut inserted, bytes);
    out
}

/// Writes the instructions that are pending: what is inserted comes before what is copied.
fn flush(out: &mut Vec<u8>, copied: &mut Range<usize>, inserted: &mut Range<usize>, bytes: &[u8]) {
    for chunk in bytes.get(std::mem::take(inserted)).unwrap_or_default().chunks(INSERT) {
        out.push(chunk.len() as u8);
        out.extend_from_slice(chunk);
    }
    let mut rest = std::mem::take(copied);
    while !rest.is_empty() {
        let size = rest.len().min(COPY);
        let at = out.len();
        out.push(0);
        let digits = rest.start.to_le_bytes().into_iter().take(4).chain(size.to_le_bytes().into_iter().take(3));
        let mut instruction = 0x80;
        for (bit, digit) in digits.enumerate().filter(|(_, digit)| *digit != 0) {
            instruction |= 1 << bit;
            out.push(digit);
        }
        if let Some(slot) = out.get_mut(at) {
            *slot = instruction;
        }
        rest.start += size;
    }
}

/// Seven bits at a time, lowest first.
fn write_size(out: &mut Vec<u8>, mut size: usize) {
    while size > 0x7f {
        out.push(0x80 | (size & 0x7f) as u8);
        size >>= 7;
    }
    out.push(size as u8);
}

/// Names of objects.
pub(crate) type Names = HashSet<ObjectId>;
