//! Bases: what the forks of a session need of it, kept when it is deleted.
//!
//! A base holds the stored lines that forks show, byte for byte and in order, and a gap for every run of lines that none
//! of them needs. Nothing a fork shows may change by it: every fork is read both ways and compared before the origin goes.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use ramus_model::json::Raw;
use ramus_model::{
    Base, Body, CURRENT_VERSION, Depth, EntryId, Header, Kind, Place, RamusHeader, Record, Seq, SessionId,
};
use ramus_store::{Location, StoreError};
use serde_json::{Value, json};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, Trunks, header_of, load};

/// What is kept of one origin.
pub(crate) struct Kept {
    pub(crate) session: SessionId,
    pub(crate) bytes: Vec<u8>,
}

/// What forks need of one origin, by its bytes.
#[derive(Default)]
struct Needs {
    /// Where the records they need start.
    records: BTreeSet<u64>,
    /// Up to where each of them reads the origin.
    ends: BTreeSet<u64>,
    /// Ids that several records bear: whoever comes later is numbered on.
    repeated: HashSet<String>,
}

impl Engine {
    /// Makes the base of `origin` for the sessions that stand on it.
    pub(crate) fn base_of(&self, origin: &Location, standing: &[Location]) -> Result<Kept, EngineError> {
        let mut needs = Needs::default();
        let known = [origin.clone()];
        let mut trunks = Trunks::new(&self.store, &known);
        for fork in trunks.in_order(standing)? {
            needs.add(&trunks.load(&fork)?, origin)?;
        }
        let origin = load(&self.store, origin.clone(), Depth::Envelope)?;
        needs.repeated.extend(repeated_ids(&origin)?);
        let bytes = Copy::of(&origin, &needs, self.timestamp())?.finish(&origin);
        Ok(Kept { session: origin.location().id.clone(), bytes })
    }

    /// Writes bases of `origins` and makes sure that every session that stands on them shows what it showed.
    pub(crate) fn keep_bases(
        &self,
        kept: &[Kept],
        origins: &[Location],
        standing: &[Location],
    ) -> Result<Vec<Location>, EngineError> {
        let mut written = Vec::new();
        for base in kept {
            written.push(self.store.put_base(&base.session, &base.bytes)?);
        }
        let (mut old, mut new) = (Trunks::new(&self.store, origins), Trunks::new(&self.store, &written));
        for fork in old.in_order(standing)? {
            let (before, after) = (old.load(&fork)?, new.load(&fork)?);
            let mut shared = || -> Result<bool, EngineError> {
                Ok(shows_the_same(&old.load_shared(&fork)?, &new.load_shared(&fork)?))
            };
            // A fork that says nothing of its own is what it shares.
            let has_own = before.log().own_len() > 0;
            if !shows_the_same(&before, &after) || has_own && !shared()? {
                for base in &written {
                    self.store.delete(base, false)?;
                }
                return Err(EngineError::Conflict(format!(
                    "session {} was forked from it and would change, because the log is damaged; nothing was deleted",
                    before.id()
                )));
            }
        }
        Ok(written)
    }
}

impl Needs {
    /// Adds what `fork` needs of the log at `origin`.
    fn add(&mut self, fork: &Session, origin: &Location) -> Result<(), EngineError> {
        let Some(level) = fork.sources.iter().position(|source| source.id == origin.id) else { return Ok(()) };
        let reader = level.checked_sub(1).and_then(|reader| fork.sources.get(reader));
        let header = reader.map(|reader| header_of(fork.store.as_ref(), reader)).transpose()?.flatten();
        if let Some(link) = header.and_then(|header| header.ramus.forked_from) {
            self.ends.insert(link.offset);
        }
        let log = fork.log();
        let needed = needed_records(fork)?;
        let places = log.seqs().filter(|seq| needed.contains(seq)).filter_map(|seq| log.stored_place(seq));
        self.records.extend(places.filter(|place| usize::from(place.source) == level).map(|place| place.offset));
        self.repeated.extend(repeated_ids(fork)?);
        Ok(())
    }
}

/// The records that decide what a session shows: its entries and what they hang from, their later versions, their labels,
/// and the segments that were replaced among them.
fn needed_records(session: &Session) -> Result<HashSet<Seq>, EngineError> {
    let log = session.log();
    let mut needed: HashSet<Seq> = HashSet::new();
    for seq in log.seqs().filter(|seq| log.belongs(*seq)) {
        needed.extend(log.ancestors(Some(seq)).take_while(|seq| !needed.contains(seq)).collect::<Vec<_>>());
    }
    // What the turns of the shared path changed in files hangs behind its answers.
    let shared: Vec<Seq> = log.seqs().filter(|seq| log.belongs(*seq) && !log.is_own(*seq)).collect();
    for seq in shared {
        needed.extend(session.kept_behind(seq)?);
    }
    let is_needed = |needed: &HashSet<Seq>, id: &str| log.seq_of(id).is_some_and(|seq| needed.contains(&seq));
    let mut concerned = Vec::new();
    for segment in log.facts().segments() {
        if segment
            .replaced
            .iter()
            .chain(&segment.restored)
            .chain([&segment.replacement])
            .any(|id| is_needed(&needed, id.as_str()))
        {
            concerned.push(segment.seq);
        }
    }
    for seq in log.seqs().filter(|seq| !needed.contains(seq)) {
        let is_label = log.record(seq).is_some_and(|record| record.kind == Kind::Label);
        let names = if !log.is_original(seq) {
            "id"
        } else if is_label {
            "targetId"
        } else {
            continue;
        };
        if stored_text(session, seq, names)?.is_some_and(|id| is_needed(&needed, &id)) {
            concerned.push(seq);
        }
    }
    needed.extend(concerned);
    Ok(needed)
}

/// The ids that more than one record bears.
fn repeated_ids(session: &Session) -> Result<Vec<String>, EngineError> {
    let mut repeated = Vec::new();
    for seq in session.log().seqs().filter(|seq| session.log().id(*seq).contains('~')) {
        repeated.extend(stored_text(session, seq, "id")?);
    }
    Ok(repeated)
}

fn stored_text(session: &Session, seq: Seq, name: &str) -> Result<Option<String>, EngineError> {
    let Some(place) = session.log().stored_place(seq) else { return Ok(None) };
    let line = session.line_at(place)?;
    Ok(Raw::parse(&line).and_then(|raw| raw.field(name)).and_then(Raw::text).map(|text| text.into_owned()))
}

/// A base in the making.
struct Copy {
    lines: Vec<u8>,
    left_out: usize,
    /// For each end of a fork, how much of `lines` it reads.
    ends: BTreeMap<u64, usize>,
    timestamp: String,
}

impl Copy {
    fn of(origin: &Session, needs: &Needs, timestamp: String) -> Result<Self, EngineError> {
        let mut copy = Self { lines: Vec::new(), left_out: 0, ends: BTreeMap::new(), timestamp };
        let mut ends = needs.ends.iter().copied().peekable();
        let log = origin.log();
        let own = log.seqs().filter_map(|seq| Some((seq, log.stored_place(seq)?)));
        for (seq, place) in own.filter(|(_, place)| place.source == 0) {
            while let Some(end) = ends.next_if(|end| place.offset + u64::from(place.len) > *end) {
                copy.end(end);
            }
            if ends.peek().is_none() {
                break;
            }
            copy.take(origin, needs, seq, place)?;
        }
        ends.for_each(|end| copy.end(end));
        Ok(copy)
    }

    fn take(&mut self, origin: &Session, needs: &Needs, seq: Seq, place: Place) -> Result<(), EngineError> {
        if needs.records.contains(&place.offset) {
            self.close_gap();
            self.lines.extend(origin.line_at(place)?);
            self.lines.push(b'\n');
            return Ok(());
        }
        let may_repeat = !needs.repeated.is_empty();
        let id = if may_repeat { stored_text(origin, seq, "id")? } else { None };
        match id.filter(|id| needs.repeated.contains(id)) {
            Some(id) => {
                self.close_gap();
                self.write_gap(json!({"records": 1, "id": id}));
            }
            None => self.left_out += 1,
        }
        Ok(())
    }

    fn close_gap(&mut self) {
        let records = std::mem::take(&mut self.left_out);
        if records > 0 {
            self.write_gap(json!({ "records": records }));
        }
    }

    fn write_gap(&mut self, data: Value) {
        let line = Body::ramus("gap", data).to_line(&EntryId::from("gap"), None, &self.timestamp);
        self.lines.extend(line);
    }

    fn end(&mut self, end: u64) {
        self.close_gap();
        self.ends.insert(end, self.lines.len());
    }

    /// Puts the header in front. It says where the lines end that each fork reads, which depends on its own length.
    fn finish(self, origin: &Session) -> Vec<u8> {
        let original = origin.log().header();
        let header = |length: usize| {
            let offsets = self.ends.iter().map(|(origin, end)| (*origin, (length + end) as u64)).collect();
            let forked_from = original.and_then(|header| header.ramus.forked_from.clone());
            Header {
                id: origin.location().id.clone(),
                version: CURRENT_VERSION,
                timestamp: self.timestamp.clone(),
                cwd: String::new(),
                title: None,
                parent_session: None,
                ramus: RamusHeader { forked_from, base: Some(Base { offsets }), ..RamusHeader::default() },
                synthetic: false,
            }
            .to_line()
        };
        // A longer header has larger numbers, which can make it longer by a digit each, and that ends soon.
        let mut line = header(0);
        while line.len() != header(line.len()).len() {
            line = header(line.len());
        }
        let mut bytes = header(line.len());
        bytes.extend(self.lines);
        bytes
    }
}

/// Says whether two readings of a session show the same: the same entries with the same ids in the same places.
fn shows_the_same(before: &Session, after: &Session) -> bool {
    let (one, other) = (before.log(), after.log());
    let describe = |session: &Session, seq: Seq| {
        let log = session.log();
        let record = log.record(seq).map(|record| (record.kind, record.role, record.marker, record.parent()));
        let is_visible = log.record(seq).is_some_and(Record::is_visible);
        let bytes = log.place(seq).map(|place| place.len);
        let label = log.facts().label(log.id(seq)).map(str::to_owned);
        (log.id(seq).to_owned(), record, is_visible, bytes, label)
    };
    let same = |seq: Seq| {
        one.belongs(seq) == other.belongs(seq) && (!one.belongs(seq) || describe(before, seq) == describe(after, seq))
    };
    one.len() == other.len() && one.leaf() == other.leaf() && one.seqs().all(same)
}

/// Removes bases; one that is gone already is as good.
pub(crate) fn remove_base(
    engine: &Engine,
    base: &Location,
    dry_run: bool,
) -> Result<ramus_store::Removed, EngineError> {
    match engine.store.delete(base, dry_run) {
        Err(StoreError::NotFound { .. }) => Ok(ramus_store::Removed::default()),
        result => Ok(result?),
    }
}
