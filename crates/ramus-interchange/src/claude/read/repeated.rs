//! Lines that are there twice. Claude Code knows a line by its id, so one that says the same again is the same line.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashMap;
use ramus_model::json::Object;

use crate::record::Record;

/// What lines with an id said, as hashes.
#[derive(Default)]
pub(super) struct Seen {
    hasher: RandomState,
    lines: HashMap<u64, u64>,
}

impl Seen {
    /// Says whether a line says what an earlier one with its id said, in the same place.
    pub(super) fn is_repeated(&mut self, record: &Record<'_>, object: &Object<'_>, uuid: &str) -> bool {
        let said = object.field("message").map_or(&*record.bytes, |message| message.bytes());
        let said = self.hasher.hash_one((object.text("type"), object.text("parentUuid"), said));
        self.lines.insert(self.hasher.hash_one(uuid), said) == Some(said)
    }
}
