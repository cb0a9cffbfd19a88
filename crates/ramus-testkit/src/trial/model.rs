//! What a caller was told is stored. It follows acknowledgements only, never the disk.

use std::collections::BTreeMap;

use ramus_model::json::Raw;

/// One entry of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Its line; none when the engine made it and nobody else knows its bytes.
    pub line: Option<Vec<u8>>,
}

impl Entry {
    /// Says whether what was read is this entry.
    pub fn is(&self, read: &Self) -> bool {
        self.id == read.id && (self.line.is_none() || self.line == read.line || self.is_upgraded_to(read))
    }

    /// An upgrade gives an entry of version 1 its id and leaves the rest alone.
    fn is_upgraded_to(&self, read: &Self) -> bool {
        let field = |entry: &Self, name: &str| {
            let raw = Raw::parse(entry.line.as_deref()?)?;
            raw.field(name).map(|value| value.bytes().to_vec())
        };
        field(self, "id").is_none() && field(self, "message").is_some_and(|body| field(read, "message") == Some(body))
    }
}

/// The sessions of a home as its user knows them.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The entries of each session, those of its origin included.
    pub sessions: BTreeMap<String, Vec<Entry>>,
    /// Bytes that must stay in some file as long as their session is there.
    pub precious: Vec<(String, Vec<u8>)>,
}

impl Model {
    /// Returns the sessions that another model knows differently.
    pub fn changed(&self, other: &Self) -> Vec<String> {
        let ids = self.sessions.keys().chain(other.sessions.keys());
        let mut changed: Vec<String> =
            ids.filter(|id| self.sessions.get(*id) != other.sessions.get(*id)).cloned().collect();
        changed.dedup();
        changed
    }
}

/// Says why a reading is neither `before`, nor `after`, nor one of the states an append passes through on its way.
pub(super) fn judge(read: &[Entry], before: &[Entry], after: &[Entry]) -> Result<(), String> {
    let same = |read: &[Entry], wanted: &[Entry]| {
        read.len() == wanted.len() && read.iter().zip(wanted).all(|(read, wanted)| wanted.is(read))
    };
    let on_the_way = (before.len()..=after.len()).any(|kept| after.get(..kept).is_some_and(|kept| same(read, kept)));
    if same(read, before) || on_the_way {
        return Ok(());
    }
    let ids = |entries: &[Entry]| entries.iter().map(|entry| entry.id.clone()).collect::<Vec<_>>().join(" ");
    Err(format!("has [{}], acknowledged [{}], attempted [{}]", ids(read), ids(before), ids(after)))
}
