//! Checkpoints: what must be known besides the rows to have a log without reading it, and where its context starts.
//!
//! A checkpoint describes the log up to a byte. What lies behind is read as always, so a checkpoint is never too old, only
//! more or less useful. Nothing here is truth: a checkpoint that does not fit its log is thrown away.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::facts::Facts;
use super::ids::IdTable;
use super::read::Reading;
use super::rows::{ROW, Sums};
use super::{ForkPoint, Log, Place, Record, Segment};
use crate::context::State;
use crate::header::{CURRENT_VERSION, Header};
use crate::id::{EntryId, Seq};
use crate::json::Raw;
use crate::kind::{Kind, Marker, Role};
use crate::line::Splitter;

/// Changes with the meaning of anything a sidecar holds; sidecars of another format are not read.
const FORMAT: u32 = 2;

/// A log up to a byte, rows excluded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    format: u32,
    /// Which incarnation of the log it describes, in words of the store.
    pub incarnation: String,
    /// How many rows it counts on.
    pub rows: u64,
    /// The checksum of all of them.
    pub rows_crc: u32,
    /// Up to which byte of the log they go.
    pub end: u64,
    /// Whether the disk had confirmed the log up to there. Otherwise a power cut may have taken some of it back.
    pub confirmed: bool,
    header: String,
    /// In a fork, how many records come from its origin, and which it continues from.
    fork: Option<(u32, Option<u32>)>,
    facts: SavedFacts,
    /// Records that later ones superseded: the record, the later one, and what it is now.
    superseded: Vec<Superseded>,
    /// Where the context of the leaf starts, when most of the log lies before it.
    pub window: Option<WindowStart>,
}

/// Where the context of the leaf starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowStart {
    /// How many rows come before it.
    pub first: u64,
    /// The checksum of the rows from there on.
    pub rows_crc: u32,
    /// The last entry of the path that comes before it.
    tip: Option<u32>,
    /// The state of the path up to there.
    state: State,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SavedFacts {
    labels: Vec<(String, String)>,
    title: Option<(String, Option<i64>)>,
    meta: Map<String, Value>,
    segments: Vec<SavedSegment>,
}

/// Where a segment is recorded, its replacement, and what was replaced, restored and hung elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedSegment(u32, String, Vec<String>, Vec<String>, Vec<String>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Superseded(u32, u32, Option<u32>, u8, u8, u8);

impl WindowStart {
    /// Describes a start before which there are `first` rows.
    pub fn new(first: u64, rows_crc: u32, tip: Option<Seq>, state: State) -> Self {
        Self { first, rows_crc, tip: tip.map(Seq::number), state }
    }

    /// The same start when more rows follow.
    pub fn extended(mut self, rows: &[u8]) -> Self {
        let mut hasher = crc32fast::Hasher::new_with_initial(self.rows_crc);
        hasher.update(rows);
        self.rows_crc = hasher.finalize();
        self
    }

    /// Returns the last entry of the path that comes before the window.
    pub fn tip(&self) -> Option<Seq> {
        self.tip.and_then(Seq::new)
    }

    /// Returns the state of the path before the window.
    pub fn state(&self) -> &State {
        &self.state
    }
}

impl Checkpoint {
    /// Reads a checkpoint of the present format.
    pub fn read(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok().filter(|checkpoint: &Self| checkpoint.format == FORMAT)
    }

    /// Writes the checkpoint as one line.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns the header as it is stored.
    pub fn header(&self) -> &str {
        &self.header
    }

    /// Says whether the log it describes is a fork.
    pub fn is_fork(&self) -> bool {
        self.fork.is_some()
    }
}

impl Log {
    /// Says whether rows can stand for this log: one record per line, lines side by side, nothing to report.
    pub fn is_orderly(&self) -> bool {
        let header = self.header.as_ref().is_some_and(|header| header.version == CURRENT_VERSION && !header.synthetic);
        header
            && self.title_slot.is_none()
            && self.findings.is_empty()
            && self.pending.is_empty()
            && !self.is_legacy()
            && self.sums.as_ref().is_some_and(|sums| !sums.is_scattered() && sums.next() == self.end())
    }

    /// Describes this log for a sidecar that holds the rows of all its records.
    pub fn checkpoint(
        &self,
        incarnation: String,
        rows_crc: u32,
        confirmed: bool,
        window: Option<WindowStart>,
    ) -> Checkpoint {
        let mut superseded: Vec<Superseded> =
            self.superseded.iter().filter_map(|pair| self.save_superseded(pair)).collect();
        superseded.sort_unstable_by_key(|superseded| superseded.0);
        Checkpoint {
            format: FORMAT,
            incarnation,
            rows: self.own_len() as u64,
            rows_crc,
            end: self.end(),
            confirmed,
            header: self.sums.as_ref().map(|sums| sums.header().to_owned()).unwrap_or_default(),
            fork: self.fork.map(|fork| (fork.shared as u32, fork.entry.map(Seq::number))),
            facts: SavedFacts::of(&self.facts),
            superseded,
            window,
        }
    }

    fn save_superseded(&self, (original, latest): (&Seq, &Seq)) -> Option<Superseded> {
        let record = self.record(*original)?;
        let parent = record.parent.map(Seq::number);
        let codes = (record.kind.code(), record.role.code(), record.marker.code());
        Some(Superseded(original.number(), latest.number(), parent, codes.0, codes.1, codes.2))
    }

    /// Continues an empty log, or the log of a fork that has only its origin's records, with the rows of a sidecar. None
    /// when they do not fit. More may be fed behind `checkpoint.end`.
    pub fn restored(self, checkpoint: &Checkpoint, rows: &[u8]) -> Option<Self> {
        let shared = checkpoint.fork.map_or(0, |(shared, _)| shared as usize);
        let whole = rows.len() as u64 == checkpoint.rows * ROW as u64 && shared == self.len();
        if !whole || crc32fast::hash(rows) != checkpoint.rows_crc {
            return None;
        }
        self.take_over(checkpoint, rows)
    }

    /// Like [`Log::restored`], for a fork that shares only the first `limit` bytes. None also when something behind them
    /// may have changed what was decided before.
    pub fn restored_until(self, checkpoint: &Checkpoint, rows: &[u8], limit: u64) -> Option<Self> {
        if crc32fast::hash(rows) != checkpoint.rows_crc {
            return None;
        }
        let (rows, behind) = rows.split_at_checked(super::rows::count_until(rows, limit) * ROW)?;
        if super::rows::any_decides(behind) {
            return None;
        }
        let end = match super::rows::last_line(rows) {
            Some((offset, len, _)) => offset + len as u64 + 1,
            None => checkpoint.header.len() as u64 + 1,
        };
        let count = (rows.len() / ROW) as u64;
        let last = self.len() as u64 + count;
        if checkpoint.superseded.iter().any(|superseded| superseded.2.is_some_and(|parent| u64::from(parent) > last)) {
            return None;
        }
        let until = Checkpoint { rows: count, rows_crc: crc32fast::hash(rows), end, ..checkpoint.clone() };
        self.restored(&until, rows)
    }

    /// Makes a window on the end of a log: only the records from `checkpoint.window` on, whose rows these are. Nothing
    /// before them can be looked up. None when they do not fit.
    pub fn window(checkpoint: &Checkpoint, rows: &[u8]) -> Option<Self> {
        let window = checkpoint.window.as_ref()?;
        let held = checkpoint.rows.checked_sub(window.first)?;
        if rows.len() as u64 != held * ROW as u64 || crc32fast::hash(rows) != window.rows_crc {
            return None;
        }
        let shared = checkpoint.fork.map_or(0, |(shared, _)| shared as usize);
        let elided = shared + usize::try_from(window.first).ok()?;
        let fork = checkpoint.fork.map(|(_, entry)| ForkPoint { shared, entry: entry.and_then(Seq::new) });
        Self { elided, ids: IdTable::after(elided), fork, ..Self::default() }.take_over(checkpoint, rows)
    }

    fn take_over(mut self, checkpoint: &Checkpoint, rows: &[u8]) -> Option<Self> {
        let raw = Raw::parse(checkpoint.header.as_bytes())?;
        self.header = Some(Header::read(raw)?);
        self.header_place = Some(Place { source: 0, len: u32::try_from(checkpoint.header.len()).ok()?, offset: 0 });
        let own = usize::try_from(checkpoint.rows).ok()?;
        self.reading = Reading::after(own);
        self.splitter = Splitter::at(checkpoint.end);
        self.sums = Some(Sums::after(own, checkpoint.end, &checkpoint.header));
        self.facts = checkpoint.facts.restore()?;
        if !self.enter_rows(rows) {
            return None;
        }
        for superseded in &checkpoint.superseded {
            self.restore_superseded(superseded)?;
        }
        // A fork may stand on another origin now than when it was described, of which nothing is known but its length. What
        // hangs from something younger can lead in a circle there, and whoever walks a circle never arrives.
        if self.hangs_forward(rows, checkpoint) && !self.circles().is_empty() {
            return None;
        }
        Some(self)
    }

    /// Says whether something that was restored hangs from a younger record.
    fn hangs_forward(&self, rows: &[u8], checkpoint: &Checkpoint) -> bool {
        let first = self.len() - rows.len() / ROW;
        let is_forward = |seq: Seq| self.record(seq).and_then(Record::parent).is_some_and(|parent| parent >= seq);
        (first..self.len()).map(Seq::from_index).any(is_forward)
            || checkpoint.superseded.iter().filter_map(|superseded| Seq::new(superseded.0)).any(is_forward)
    }

    fn restore_superseded(&mut self, saved: &Superseded) -> Option<()> {
        let Superseded(original, latest, parent, kind, role, marker) = *saved;
        let (original, latest) = (Seq::new(original)?, Seq::new(latest)?);
        let codes = (Kind::from_code(kind)?, Role::from_code(role)?, Marker::from_code(marker)?);
        let len = self.len();
        let parent = parent.and_then(Seq::new).filter(|parent| parent.index() < len);
        // What lies before a window is nobody's business there.
        let Some(record) = self.record_mut(original) else { return (original.index() < len).then_some(()) };
        (record.kind, record.role, record.marker) = codes;
        record.parent = parent;
        self.superseded.insert(original, latest);
        Some(())
    }

    /// Says whether a window shows what the whole log would: nothing behind its start refers to what lies before it in a
    /// way that matters.
    pub fn stands_alone(&self) -> bool {
        self.pending.is_empty() && self.findings.is_empty() && !self.reading.reaches_outside
    }

    /// Says whether an entry lies before the window.
    pub fn is_elided(&self, seq: Seq) -> bool {
        seq.index() < self.elided
    }
}

impl SavedFacts {
    fn of(facts: &Facts) -> Self {
        let texts = |ids: &[EntryId]| ids.iter().map(ToString::to_string).collect();
        let mut labels: Vec<_> = facts.labels.iter().map(|(id, label)| (id.to_string(), label.clone())).collect();
        labels.sort_unstable();
        let segment = |segment: &Segment| {
            let Segment { replacement, replaced, restored, reparented, seq } = segment;
            SavedSegment(seq.number(), replacement.to_string(), texts(replaced), texts(restored), texts(reparented))
        };
        Self {
            labels,
            title: facts.title.clone(),
            meta: facts.meta.clone(),
            segments: facts.segments.iter().map(segment).collect(),
        }
    }

    fn restore(&self) -> Option<Facts> {
        let ids = |texts: &[String]| texts.iter().map(|text| EntryId::from(&**text)).collect();
        let mut segments = Vec::with_capacity(self.segments.len());
        for SavedSegment(seq, replacement, replaced, restored, reparented) in &self.segments {
            segments.push(Segment {
                replacement: EntryId::from(&**replacement),
                replaced: ids(replaced),
                restored: ids(restored),
                reparented: ids(reparented),
                seq: Seq::new(*seq)?,
            });
        }
        let labels: HashMap<_, _> =
            self.labels.iter().map(|(id, label)| (EntryId::from(&**id), label.clone())).collect();
        Some(Facts { labels, title: self.title.clone(), meta: self.meta.clone(), segments })
    }
}
