//! Where an entry hangs, and what it is called: parents that are there, or bridged; ids that are nobody else's.

use ramus_model::EntryId;
use ramus_model::json::quote;

use super::{Emitter, Hang, New, hash};
use crate::error::Error;

/// The longest id that an entry may have, with room for what tells copies apart.
const MAX_ID: usize = 96;

impl Emitter<'_> {
    /// Returns the parent that an entry gets.
    pub(crate) fn parent(&mut self, new: &New<'_>) -> Result<Option<EntryId>, Error> {
        match new.parent {
            Hang::Last => Ok(self.last.clone()),
            Hang::Root => Ok(None),
            Hang::Entry(entry) => Ok(Some(entry.clone())),
            // Nothing hangs from itself.
            Hang::From(id) if id == new.id && !self.knows(id) => {
                self.lose(None, "an entry hangs from itself; it is a root now")?;
                Ok(None)
            }
            Hang::From(id) => match self.entry_of(id) {
                Some(entry) => Ok(Some(entry)),
                None => self.bridge(id, new.timestamp, None).map(Some),
            },
        }
    }

    /// Stands in for records that are missing, so that what follows stays connected with what came before.
    pub(crate) fn bridge(&mut self, id: &str, time: Option<&str>, missing: Option<u64>) -> Result<EntryId, Error> {
        self.report.bridged += 1;
        let count = missing.map_or_else(|| "Some".to_owned(), |count| count.to_string());
        self.lose(None, "records are missing in the source; what follows them was connected with what came before")?;
        let mut members = br#""customType":"ramus.missing","data":{"op":"import","message":"#.to_vec();
        quote(&format!("{count} records are missing here"), &mut members);
        members.extend_from_slice(b",\"missing\":");
        quote(id, &mut members);
        members.push(b'}');
        self.give(&New { kind: "custom", id, timestamp: time, members: &members, ..New::default() })
    }

    /// The id an entry gets: the wanted one when an entry may have it and nobody has it, otherwise one derived from it.
    pub(super) fn unique(&mut self, wanted: &str) -> EntryId {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        let base = match (1..=MAX_ID).contains(&wanted.len()) && wanted.bytes().all(plain) {
            true => wanted.to_owned(),
            false => hash(wanted),
        };
        let mut id = base.clone();
        while self.known.contains_key(id.as_str()) {
            let copy = self.copies.entry(base.as_str().into()).or_insert(1);
            *copy += 1;
            id = format!("{base}.{copy}");
        }
        if id != wanted {
            // Nothing else may get it, even though the source calls it otherwise.
            self.known.insert(id.as_str().into(), None);
        }
        EntryId::new(id)
    }
}
