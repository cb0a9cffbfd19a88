//! A session's log in memory: the envelope of every entry, and the facts that hold for the whole session.
//!
//! A log is built by feeding it bytes, in order, in chunks of any size. It keeps no bodies: whoever wants one asks a
//! [`Lines`] for the bytes at a [`Place`]. Reading never fails: what is damaged becomes a [`Finding`], what parses is
//! shown. Every record, once read, keeps its `seq` and its id for good.

mod checkpoint;
mod enter;
mod facts;
mod gap;
mod ids;
mod link;
mod read;
mod rows;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use hashbrown::HashMap;

pub use checkpoint::{Checkpoint, WindowStart};
pub use facts::{Facts, Segment};
pub use read::Tail;
pub use rows::{ROW, any_id, last_line, sum_at};

use crate::finding::{Finding, FindingKind, Severity};
use crate::header::{Header, TitleSlot};
use crate::id::{EntryId, Seq};
use crate::kind::{Kind, Marker, Role, is_inert};
use crate::line::Splitter;
use ids::IdTable;

/// How many findings are kept.
const MAX_FINDINGS: usize = 10_000;

/// How much of each line a reading checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Depth {
    /// The envelope, and the whole line where something looks odd. Fast.
    #[default]
    Envelope,
    /// Every byte, and the shape of every body.
    Whole,
}

/// Where the bytes of a record are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Which log: 0 for this session's own, and up for the logs it was forked from.
    pub source: u16,
    /// How many bytes.
    pub len: u32,
    /// The offset of the first byte.
    pub offset: u64,
}

/// Gives access to the bytes of records.
pub trait Lines {
    /// Why bytes could not be had.
    type Error;

    /// Returns the bytes at `place`.
    fn line(&self, place: Place) -> Result<Cow<'_, [u8]>, Self::Error>;
}

/// A log that is wholly in memory.
impl Lines for [u8] {
    type Error = std::convert::Infallible;

    fn line(&self, place: Place) -> Result<Cow<'_, [u8]>, Self::Error> {
        let start = usize::try_from(place.offset).unwrap_or(usize::MAX);
        let end = start.saturating_add(place.len as usize);
        Ok(Cow::Borrowed(self.get(start..end).unwrap_or_default()))
    }
}

/// One entry as the tree sees it.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    place: Place,
    parent: Option<Seq>,
    /// The kind of the entry.
    pub kind: Kind,
    /// The role, when the entry is a message.
    pub role: Role,
    /// Which of the ramus kinds it is.
    pub marker: Marker,
    status: Status,
}

/// What the reading made of a record beyond its envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Ordinary,
    /// A later version of an earlier record, which shows instead of it.
    Superseder,
    /// Part of a segment that was replaced.
    Replaced,
}

impl Record {
    /// Returns the entry this one hangs from.
    pub fn parent(&self) -> Option<Seq> {
        self.parent
    }

    /// Says whether the entry is part of the conversation tree. Inert entries (pointer moves, metadata, labels) are in
    /// the log and never a leaf; replaced and superseding records are history.
    pub fn is_visible(&self) -> bool {
        !self.is_inert() && self.status == Status::Ordinary
    }

    fn is_inert(&self) -> bool {
        is_inert(self.kind, self.marker)
    }
}

/// The envelopes and session-wide facts of one log. A copy costs what its entries cost, and no reading.
#[derive(Clone, Debug, Default)]
pub struct Log {
    depth: Depth,
    header: Option<Header>,
    header_place: Option<Place>,
    title_slot: Option<TitleSlot>,
    /// How many records come before the ones that are held, in a window on the end of a log.
    elided: usize,
    records: Vec<Record>,
    ids: IdTable,
    facts: Facts,
    findings: Vec<Finding>,
    /// Findings that were not kept because there are too many.
    more_findings: usize,
    /// Records whose parent has not been read.
    pending: HashMap<Seq, link::Pending>,
    /// The latest version of records that were superseded.
    superseded: HashMap<Seq, Seq>,
    reading: read::Reading,
    splitter: Splitter,
    fork: Option<ForkPoint>,
    /// Whether bytes that were read again were not the ones that were written.
    seen_changed: Seen,
    /// What a sidecar needs to know about the bytes, when one is kept.
    sums: Option<rows::Sums>,
    /// In a fork, the shared entries it shows: the path to the entry it was forked from, sorted.
    shared_path: Vec<Seq>,
}

/// Something that whoever only looks may notice.
#[derive(Debug, Default)]
struct Seen(AtomicBool);

impl Seen {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Clone for Seen {
    fn clone(&self) -> Self {
        Self(AtomicBool::new(self.is_set()))
    }
}

/// Where the part of a fork that belongs to its origin ends.
#[derive(Clone, Copy, Debug)]
struct ForkPoint {
    /// How many records come from the origin.
    shared: usize,
    /// The entry the fork continues from.
    entry: Option<Seq>,
}

impl Log {
    /// Makes an empty log.
    pub fn new(depth: Depth) -> Self {
        Self { depth, ..Self::default() }
    }

    /// Makes room for the entries of so many bytes, so that a long log need not grow its tables again and again.
    pub fn expect(&mut self, bytes: u64) {
        let entries = usize::try_from(bytes / 1024).unwrap_or_default().min(1 << 20);
        self.records.reserve(entries);
        self.ids.reserve(entries);
    }

    /// Reads a whole log that is in memory.
    pub fn from_bytes(bytes: &[u8], depth: Depth) -> Self {
        let mut log = Self::new(depth);
        log.expect(bytes.len() as u64);
        log.feed(bytes);
        log.finish();
        log
    }

    /// Starts the log of a fork: everything in `origin` is shared, and `entry` is where the fork continues.
    pub fn forked(mut origin: Self, entry: &EntryId, depth: Depth) -> Self {
        for record in &mut origin.records {
            record.place.source += 1;
        }
        let shared = origin.records.len();
        let entry = origin.seq_of(entry.as_str());
        let mut log = Self {
            depth,
            fork: Some(ForkPoint { shared, entry }),
            records: origin.records,
            ids: origin.ids,
            facts: origin.facts.shared(),
            pending: origin.pending,
            superseded: origin.superseded,
            ..Self::default()
        };
        log.shared_path = log.shared_path();
        if entry.is_none() {
            log.note(FindingKind::MissingParent, "the entry this session was forked from is not in its origin".into());
        }
        log
    }

    /// Returns the header, when there is one.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// Returns where the header is.
    pub fn header_place(&self) -> Option<Place> {
        self.header_place
    }

    /// Gives a log without a header a made-up one, under which it can be shown but not written.
    pub fn set_synthetic_header(&mut self, id: &str) {
        if self.header.is_none() {
            self.header = Some(Header::synthetic(id));
        }
    }

    /// Returns the facts that hold for the whole session.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the title slot of omp 18, when the file has one.
    pub fn title_slot(&self) -> Option<&TitleSlot> {
        self.title_slot.as_ref()
    }

    /// Returns what the reading noticed.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Says whether the reading noticed damage.
    pub fn is_damaged(&self) -> bool {
        self.findings.iter().any(|finding| finding.kind.severity() == Severity::Damage) || self.seen_changed.is_set()
    }

    /// Says whether the reading showed that bytes are not the ones that were written.
    pub fn is_changed_outside(&self) -> bool {
        self.findings.iter().any(|finding| finding.kind == FindingKind::ChangedOutside) || self.seen_changed.is_set()
    }

    /// Returns how many entries there are, inert ones included.
    pub fn len(&self) -> usize {
        self.elided + self.records.len()
    }

    /// Says whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many records were found in damaged lines.
    pub fn salvaged(&self) -> usize {
        self.reading.salvaged()
    }

    /// Returns how many entries are this session's own, not shared with an origin.
    pub fn own_len(&self) -> usize {
        self.len() - self.shared_len()
    }

    fn shared_len(&self) -> usize {
        self.fork.map_or(0, |fork| fork.shared)
    }

    /// Returns the number of bytes that have been fed.
    pub fn end(&self) -> u64 {
        self.splitter.position()
    }

    /// Returns the record at `seq`.
    pub fn record(&self, seq: Seq) -> Option<&Record> {
        self.records.get(seq.index().checked_sub(self.elided)?)
    }

    fn record_mut(&mut self, seq: Seq) -> Option<&mut Record> {
        self.records.get_mut(seq.index().checked_sub(self.elided)?)
    }

    fn last_seq(&self) -> Option<Seq> {
        self.len().checked_sub(1).map(Seq::from_index)
    }

    /// Returns where the bytes of `seq` are: those of its latest version.
    pub fn place(&self, seq: Seq) -> Option<Place> {
        let latest = self.superseded.get(&seq).copied().unwrap_or(seq);
        self.record(latest).map(|record| record.place)
    }

    /// Returns where the bytes of exactly this record are, superseded or not.
    pub fn stored_place(&self, seq: Seq) -> Option<Place> {
        self.record(seq).map(|record| record.place)
    }

    /// Iterates over all entries in physical order.
    pub fn seqs(&self) -> impl DoubleEndedIterator<Item = Seq> + use<> {
        (self.elided..self.len()).map(Seq::from_index)
    }

    /// Iterates over the entries of this session's tree in physical order: in a fork, the shared path and its own.
    pub fn visible(&self) -> impl Iterator<Item = Seq> + '_ {
        self.seqs().filter(|seq| self.record(*seq).is_some_and(Record::is_visible) && self.belongs(*seq))
    }

    /// Says whether an entry was written in this session, and not in the one that it was forked from.
    pub fn is_own(&self, seq: Seq) -> bool {
        (self.shared_len()..self.len()).contains(&seq.index())
    }

    /// Says whether an entry is part of this session: in a fork, its own and the path it shares with its origin, not the
    /// origin's other branches.
    pub fn belongs(&self, seq: Seq) -> bool {
        seq.index() < self.len() && (seq.index() >= self.shared_len() || self.shared_path.binary_search(&seq).is_ok())
    }

    fn shared_path(&self) -> Vec<Seq> {
        let mut path: Vec<Seq> = match self.fork.and_then(|fork| fork.entry) {
            Some(entry) => self.ancestors(Some(entry)).collect(),
            None => Vec::new(),
        };
        path.sort_unstable();
        path
    }

    /// Returns the id of `seq`.
    pub fn id(&self, seq: Seq) -> &str {
        self.ids.text(seq)
    }

    /// Finds the entry with exactly this id.
    pub fn seq_of(&self, id: &str) -> Option<Seq> {
        self.ids.find(id.as_bytes())
    }

    /// Returns the entry the next append hangs from: the last physical entry, or, when that is inert, what it hangs from.
    pub fn leaf(&self) -> Option<Seq> {
        if let Some(fork) = self.fork.filter(|fork| self.len() == fork.shared) {
            return fork.entry;
        }
        self.ancestors(self.last_seq()).find(|seq| self.record(*seq).is_some_and(Record::is_visible))
    }

    /// Walks from `from` to its root.
    pub fn ancestors(&self, from: Option<Seq>) -> impl Iterator<Item = Seq> + '_ {
        std::iter::successors(from, |seq| self.record(*seq).and_then(Record::parent))
    }

    /// Returns the path from the root to `leaf`, inert entries included.
    pub fn path(&self, leaf: Option<Seq>) -> Vec<Seq> {
        let mut path: Vec<Seq> = self.ancestors(leaf).collect();
        path.reverse();
        path
    }

    /// Says whether a record stands for itself and not for a later version of another one.
    pub fn is_original(&self, seq: Seq) -> bool {
        self.record(seq).is_some_and(|record| record.status != Status::Superseder)
    }

    /// Records that bytes are not the ones that were written.
    pub fn note_changed(&mut self, line: u64, offset: u64) {
        let detail = "from here on the file is not what was written: something else changed it".into();
        self.find(Finding { kind: FindingKind::ChangedOutside, line, offset, detail });
    }

    /// Records that the log this one was forked from could not be read.
    pub fn note_missing_origin(&mut self, reason: String) {
        self.find(Finding { kind: FindingKind::MissingOrigin, line: 1, offset: 0, detail: reason });
    }

    /// Returns how many findings there were beyond those that were kept.
    pub fn more_findings(&self) -> usize {
        self.more_findings
    }

    fn note(&mut self, kind: FindingKind, detail: String) {
        let (line, offset) = self.reading.position();
        self.find(Finding { kind, line, offset, detail });
    }

    /// Keeps a finding, unless there are so many that keeping more would only cost memory.
    fn find(&mut self, finding: Finding) {
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(finding);
        } else {
            self.more_findings += 1;
        }
    }
}
