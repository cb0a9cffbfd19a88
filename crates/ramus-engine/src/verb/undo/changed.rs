//! What an operation changed, as its entries tell.

use std::collections::BTreeSet;

use ramus_model::json::Raw;
use ramus_model::operation::Operation;
use ramus_model::{Body, Kind, Marker, Seq, is_inert};
use serde_json::{Value, json};

use crate::error::EngineError;
use crate::session::Session;
use crate::workspace::Note;

/// What an operation changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Changed {
    /// Keys of the metadata.
    pub(super) meta: BTreeSet<String>,
    /// Entries that were named.
    pub(super) labels: BTreeSet<String>,
    pub(super) has_title: bool,
    /// Segments that were replaced or restored, as their records say.
    pub(super) segments: Vec<Value>,
    /// Entries of which it wrote a later version.
    pub(super) versions: BTreeSet<String>,
    /// Whether it wrote to the tree or moved the leaf.
    pub(super) moves_leaf: bool,
    pub(super) has_files: bool,
    /// What was shared.
    pub(super) shares: BTreeSet<String>,
    /// Whether something that was shared was taken back.
    pub(super) ends_share: bool,
}

impl Changed {
    pub(super) fn by(session: &Session, operation: &Operation) -> Result<Self, EngineError> {
        let mut changed = Self::default();
        for seq in &operation.entries {
            changed.take(session, *seq)?;
        }
        Ok(changed)
    }

    fn take(&mut self, session: &Session, seq: Seq) -> Result<(), EngineError> {
        let log = session.log();
        let (Some(record), Some(place)) = (log.record(seq), log.stored_place(seq)) else { return Ok(()) };
        let line = session.line_at(place)?;
        let Some(raw) = Raw::parse(&line) else { return Ok(()) };
        let text = |name| raw.field(name).and_then(Raw::text).map(|text| text.into_owned());
        if !log.is_original(seq) {
            self.versions.extend(text("id"));
            return Ok(());
        }
        let is_share = record.kind == Kind::Custom && text("customType").as_deref() == Some("ramus.share");
        if let Some(data) = raw.field("data").filter(|_| is_share) {
            match data.field("op").and_then(Raw::text).as_deref() {
                Some("share") => self.shares.extend(data.field("id").and_then(Raw::text).map(|id| id.into_owned())),
                _ => self.ends_share = true,
            }
        }
        match (record.kind, record.marker) {
            (Kind::Label, _) => self.labels.extend(text("targetId")),
            (Kind::SessionInfo | Kind::TitleChange, _) => self.has_title = true,
            (Kind::Custom, Marker::Meta) => {
                let set = raw.field("data").and_then(|data| data.field("set"));
                self.meta.extend(set.into_iter().flat_map(Raw::fields).map(|(key, _)| key.into_owned()));
            }
            (Kind::Custom, Marker::Segment) => {
                let data = raw.field("data").and_then(|data| serde_json::from_slice(data.bytes()).ok());
                self.segments.extend(data);
            }
            (kind, marker) => self.moves_leaf |= !is_inert(kind, marker) || marker == Marker::Leaf,
        }
        self.has_files |= Note::read(&line).is_some_and(|note| !note.steps.is_empty());
        Ok(())
    }
}

/// The record that takes back what the record of a segment did.
pub(super) fn reversed(record: &Value) -> Body {
    let member = |name: &str| record.get(name).cloned();
    let is_empty = |value: &Value| value.as_array().is_none_or(Vec::is_empty);
    let replacement = member("replacement").unwrap_or_default();
    // What replaced a segment at first was not there before, so the record does not say that it was restored.
    let replaced = member("restored").filter(|ids| !is_empty(ids)).unwrap_or_else(|| json!([replacement]));
    Body::ramus(
        "segment",
        json!({
            "replacement": replacement, "replaced": replaced,
            "restored": member("replaced").unwrap_or_else(|| json!([])),
            "reparented": member("reparented").unwrap_or_else(|| json!([])),
        }),
    )
}

/// An entry as it is stored: its body, and when it was written.
pub(super) fn stored(session: &Session, seq: Seq) -> Result<(Body, String), EngineError> {
    let line = session.line(seq)?;
    let raw = Raw::parse(&line);
    let damaged =
        || EngineError::Corrupt(format!("entry {} is damaged and cannot be written again", session.entry_id(seq)));
    let timestamp = raw.and_then(|raw| raw.field("timestamp")).and_then(Raw::text).unwrap_or_default().into_owned();
    Ok((raw.and_then(Body::of_record).ok_or_else(damaged)?, timestamp))
}
