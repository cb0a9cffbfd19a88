//! Session scope: labels, titles, metadata and replaced segments. The last one in the log wins, whatever its branch.

use hashbrown::HashMap;
use serde_json::{Map, Value};

use crate::id::{EntryId, Seq};
use crate::json::Raw;
use crate::kind::{Kind, Marker};
use crate::time;

/// What holds for the whole session.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub(super) labels: HashMap<EntryId, String>,
    pub(super) title: Option<(String, Option<i64>)>,
    pub(super) meta: Map<String, Value>,
    pub(super) segments: Vec<Segment>,
}

/// A segment that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The entry that replaces it.
    pub replacement: EntryId,
    /// The entries it replaces, from first to last.
    pub replaced: Vec<EntryId>,
    /// Entries that were replaced before and count again.
    pub restored: Vec<EntryId>,
    /// The entries outside that now hang from the replacement.
    pub reparented: Vec<EntryId>,
    /// Where it is recorded.
    pub seq: Seq,
}

impl Facts {
    /// Returns the label of an entry.
    pub fn label(&self, id: &str) -> Option<&str> {
        // Most sessions have no labels: do not build a key for nothing.
        if self.labels.is_empty() {
            return None;
        }
        self.labels.get(&EntryId::from(id)).map(String::as_str)
    }

    /// Finds the entries with this label.
    pub fn labelled<'a>(&'a self, label: &'a str) -> impl Iterator<Item = &'a EntryId> {
        self.labels.iter().filter(move |(_, name)| *name == label).map(|(id, _)| id)
    }

    /// Returns the title given in the log and when, header and title slot not considered.
    pub fn title(&self) -> Option<(&str, Option<i64>)> {
        self.title.as_ref().map(|(title, time)| (title.as_str(), *time))
    }

    /// Returns the metadata: every `ramus.meta` merged in log order, `null` removing a key.
    pub fn meta(&self) -> &Map<String, Value> {
        &self.meta
    }

    /// Returns the replaced segments in log order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// What a fork takes over from its origin: what belongs to entries, not what belongs to the session.
    pub(super) fn shared(self) -> Self {
        Self { labels: self.labels, segments: self.segments, ..Self::default() }
    }

    /// Takes in a session-scope entry. Says whether its body was what its kind requires.
    pub(super) fn absorb(&mut self, seq: Seq, kind: Kind, marker: Marker, line: Raw<'_>) -> bool {
        match (kind, marker) {
            (Kind::Label, _) => self.absorb_label(line),
            (Kind::SessionInfo, _) => self.absorb_title(line.field("name"), line),
            (Kind::TitleChange, _) => self.absorb_title(line.field("title"), line),
            (Kind::Custom, Marker::Meta) => self.absorb_meta(line),
            (Kind::Custom, Marker::Segment) => self.absorb_segment(seq, line),
            _ => true,
        }
    }

    fn absorb_label(&mut self, line: Raw<'_>) -> bool {
        let Some(target) = line.field("targetId").and_then(Raw::text) else { return false };
        let target = EntryId::from(&*target);
        match line.field("label").and_then(Raw::text) {
            Some(label) if !label.is_empty() => drop(self.labels.insert(target, label.into_owned())),
            _ => drop(self.labels.remove(&target)),
        }
        true
    }

    fn absorb_title(&mut self, title: Option<Raw<'_>>, line: Raw<'_>) -> bool {
        let Some(title) = title.and_then(Raw::text) else { return false };
        let title = title.trim();
        let when = line.field("timestamp").and_then(Raw::text).and_then(|text| time::parse(&text));
        self.title = (!title.is_empty()).then(|| (title.to_owned(), when));
        true
    }

    fn absorb_meta(&mut self, line: Raw<'_>) -> bool {
        let Some(set) = line.field("data").and_then(|data| data.field("set")) else { return false };
        let Ok(Value::Object(set)) = serde_json::from_slice(set.bytes()) else { return false };
        for (key, value) in set {
            if value.is_null() {
                self.meta.shift_remove(&key);
            } else {
                self.meta.insert(key, value);
            }
        }
        true
    }

    fn absorb_segment(&mut self, seq: Seq, line: Raw<'_>) -> bool {
        let Some(data) = line.field("data") else { return false };
        let ids = |name| -> Vec<EntryId> {
            let items = data.field(name).into_iter().flat_map(Raw::items);
            items.filter_map(Raw::text).map(|id| EntryId::from(&*id)).collect()
        };
        let Some(replacement) = data.field("replacement").and_then(Raw::text) else { return false };
        self.segments.push(Segment {
            replacement: EntryId::from(&*replacement),
            replaced: ids("replaced"),
            restored: ids("restored"),
            reparented: ids("reparented"),
            seq,
        });
        true
    }
}
