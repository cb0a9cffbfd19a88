//! The table of ids: one arena of bytes, one hash table of positions, no allocation per entry.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::id::Seq;

/// Ids longer than this are treated as missing: nothing that writes this format makes them.
pub(super) const MAX_ID: usize = 512;

#[derive(Default)]
pub(super) struct IdTable {
    arena: Vec<u8>,
    table: HashTable<Slot>,
    hasher: DefaultHashBuilder,
}

#[derive(Clone, Copy)]
struct Slot {
    at: u32,
    len: u16,
    seq: Seq,
}

impl fmt::Debug for IdTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IdTable({} ids)", self.table.len())
    }
}

impl IdTable {
    pub(super) fn text(&self, at: u32, len: u16) -> &str {
        let start = at as usize;
        let bytes = self.arena.get(start..start + usize::from(len)).unwrap_or_default();
        std::str::from_utf8(bytes).unwrap_or_default()
    }

    pub(super) fn find(&self, id: &[u8]) -> Option<Seq> {
        let hash = self.hasher.hash_one(id);
        self.table.find(hash, |slot| bytes(&self.arena, *slot) == id).map(|slot| slot.seq)
    }

    /// Adds an id that is not in the table yet and returns where its text is.
    pub(super) fn insert(&mut self, id: &[u8], seq: Seq) -> (u32, u16) {
        let at = u32::try_from(self.arena.len()).unwrap_or(u32::MAX);
        let len = u16::try_from(id.len()).unwrap_or(u16::MAX);
        self.arena.extend_from_slice(id);
        let (arena, hasher) = (&self.arena, &self.hasher);
        self.table
            .insert_unique(hasher.hash_one(id), Slot { at, len, seq }, |slot| hasher.hash_one(bytes(arena, *slot)));
        (at, len)
    }
}

fn bytes(arena: &[u8], slot: Slot) -> &[u8] {
    let start = slot.at as usize;
    arena.get(start..start + usize::from(slot.len)).unwrap_or_default()
}
