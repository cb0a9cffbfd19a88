//! The table of ids: one arena of bytes, one hash table of positions, no allocation per entry.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};

use crate::id::Seq;

/// Ids longer than this are treated as missing: nothing that writes this format makes them.
pub(super) const MAX_ID: usize = 512;

#[derive(Clone, Default)]
pub(super) struct IdTable {
    /// How many seqs come before the first one that is held.
    elided: usize,
    arena: Vec<u8>,
    /// Where the id of each seq ends in the arena.
    ends: Vec<u32>,
    table: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

/// Small, so that the table of a long session stays in the cache; the hash is kept so that growing need not look at ids.
#[derive(Clone, Copy)]
struct Slot {
    seq: Seq,
    hash: u32,
}

impl fmt::Debug for IdTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdTable({} ids)", self.table.len())
    }
}

impl IdTable {
    /// Makes a table whose first id is that of the seq behind `elided` others.
    pub(super) fn after(elided: usize) -> Self {
        Self { elided, ..Self::default() }
    }

    /// Makes room for so many more ids.
    pub(super) fn reserve(&mut self, ids: usize) {
        self.arena.reserve(ids * 8);
        self.ends.reserve(ids);
        self.table.reserve(ids, |slot| spread(slot.hash));
    }

    pub(super) fn bytes(&self, seq: Seq) -> &[u8] {
        bytes(&self.arena, &self.ends, seq, self.elided)
    }

    pub(super) fn text(&self, seq: Seq) -> &str {
        std::str::from_utf8(self.bytes(seq)).unwrap_or_default()
    }

    pub(super) fn find(&self, id: &[u8]) -> Option<Seq> {
        let hash = self.hash(id);
        let found = self.table.find(spread(hash), |slot| slot.hash == hash && self.bytes(slot.seq) == id);
        found.map(|slot| slot.seq)
    }

    /// Adds the id of the next seq; says whether it was free. Every seq needs an id, so the caller tries until one is.
    pub(super) fn insert(&mut self, id: &[u8], seq: Seq) -> bool {
        let hash = self.hash(id);
        let Self { elided, arena, ends, table, .. } = self;
        let same = |slot: &Slot| slot.hash == hash && bytes(arena, ends, slot.seq, *elided) == id;
        let Entry::Vacant(vacant) = table.entry(spread(hash), same, |slot| spread(slot.hash)) else {
            return false;
        };
        vacant.insert(Slot { seq, hash });
        arena.extend_from_slice(id);
        ends.push(u32::try_from(arena.len()).unwrap_or(u32::MAX));
        true
    }

    fn hash(&self, id: &[u8]) -> u32 {
        self.hasher.hash_one(id) as u32
    }
}

/// The table takes its buckets from the low bits and its tags from the high ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

fn bytes<'a>(arena: &'a [u8], ends: &[u32], seq: Seq, elided: usize) -> &'a [u8] {
    let Some(index) = seq.index().checked_sub(elided) else { return &[] };
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or_default();
    let end = ends.get(index).copied().unwrap_or(start);
    arena.get(start as usize..end as usize).unwrap_or_default()
}
