//! Entries that were just written.

use ramus_engine::Written;
use ramus_model::EntryId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::object_of;

/// An entry that was just written.
#[derive(Serialize, ToSchema)]
pub struct WrittenEntry<'w> {
    id: &'w str,
    /// Its position in the log.
    seq: u32,
    #[schema(required)]
    parent: Option<&'w str>,
}

impl<'w> From<&'w Written> for WrittenEntry<'w> {
    fn from(written: &'w Written) -> Self {
        Self {
            id: written.id.as_str(),
            seq: written.seq.number(),
            parent: written.parent.as_ref().map(EntryId::as_str),
        }
    }
}

/// An entry that was just written.
pub fn written(written: &Written) -> Map<String, Value> {
    object_of(&WrittenEntry::from(written))
}

/// Entries that were just written.
#[derive(Serialize, ToSchema)]
pub struct AppendedEntries<'w> {
    entries: Vec<WrittenEntry<'w>>,
    /// Whether someone was faster, so that they are a branch.
    is_sibling: bool,
    /// The position of the last of them.
    #[schema(required)]
    position: Option<u32>,
}

/// Entries that were just written.
pub fn appended(written: &[Written], is_sibling: bool) -> Map<String, Value> {
    object_of(&AppendedEntries {
        entries: written.iter().map(WrittenEntry::from).collect(),
        is_sibling,
        position: written.last().map(|last| last.seq.number()),
    })
}

/// An entry that names another one, and which that is.
#[derive(Serialize, ToSchema)]
pub struct LabelEntry<'w> {
    #[serde(flatten)]
    written: WrittenEntry<'w>,
    /// The entry that is named.
    entry: &'w str,
}

/// An entry that names another one, and which that is.
pub fn labelled(written: &Written, entry: &str) -> Map<String, Value> {
    object_of(&LabelEntry { written: written.into(), entry })
}
