//! What a purge erases and what becomes of the rest.
//!
//! Everything below an entry goes, with all its versions and with what it stands for. Titles, tags and other facts of the
//! whole session may have been written while the conversation was there: they stay, and hang from what is left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ramus_model::json::Raw;
use ramus_model::{Body, EntryId, Kind, Marker, Record, Seq, is_inert};

use super::PurgeScope;
use super::titles::Titles;
use crate::error::EngineError;
use crate::session::Session;

/// What becomes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes.
    Erased,
    /// It stays, and hangs from what is left.
    Hung,
}

/// What a purge does.
pub(super) struct Plan {
    /// The records that change, in the order of the file.
    pub(super) fates: BTreeMap<Seq, Fate>,
    /// The entries of the conversation among those that go.
    pub(super) entries: Vec<Seq>,
    /// Entries that stay and tell of what goes.
    pub(super) mentions: Vec<Seq>,
    /// What is left above.
    pub(super) parent: Option<EntryId>,
    /// What repeats what goes, in the name of the session.
    pub(super) titles: Titles,
    /// Where the conversation goes on.
    pub(super) leaf: Option<EntryId>,
}

impl Plan {
    pub(super) fn of(session: &Session, target: Seq, scope: PurgeScope) -> Result<Self, EngineError> {
        let children = children(session);
        let top = match scope {
            PurgeScope::Subtree => target,
            PurgeScope::Branch => branch_of(session, &children, target),
        };
        let doomed = doomed(session, &children, top)?;
        let parent = session.before(top).map(|seq| session.entry_id(seq));
        let leaf = match session.log().leaf() {
            Some(leaf) if doomed.contains(&leaf) => parent.clone(),
            leaf => leaf.map(|leaf| session.entry_id(leaf)),
        };
        let log = session.log();
        let is_entry = |seq: &&Seq| log.record(**seq).is_some_and(Record::is_visible);
        let entries = doomed.iter().filter(is_entry).copied().collect();
        let mut plan =
            Self { fates: BTreeMap::new(), entries, mentions: Vec::new(), titles: Titles::default(), parent, leaf };
        for seq in log.seqs().filter(|seq| log.stored_place(*seq).is_some_and(|place| place.source == 0)) {
            plan.decide(session, &doomed, seq)?;
        }
        plan.titles = Titles::of(session, &doomed)?;
        plan.fates.extend(plan.titles.entries.iter().map(|seq| (*seq, Fate::Erased)));
        Ok(plan)
    }

    /// Iterates over the records that go.
    pub(super) fn erased(&self) -> impl Iterator<Item = Seq> {
        self.fates.iter().filter(|(_, fate)| **fate == Fate::Erased).map(|(seq, _)| *seq)
    }

    fn decide(&mut self, session: &Session, doomed: &BTreeSet<Seq>, seq: Seq) -> Result<(), EngineError> {
        let log = session.log();
        let (Some(record), Some(place)) = (log.record(seq), log.stored_place(seq)) else { return Ok(()) };
        let goes = doomed.contains(&seq);
        if goes && !is_inert(record.kind, record.marker) {
            self.fates.insert(seq, Fate::Erased);
            return Ok(());
        }
        let names_doomed = |id: &str| log.seq_of(id).is_some_and(|seq| doomed.contains(&seq));
        let line = session.line_at(place)?;
        let Some(raw) = Raw::parse(&line) else { return Ok(()) };
        let names = |raw: Option<Raw<'_>>, member: &str| {
            raw.and_then(|raw| raw.field(member)).and_then(Raw::text).is_some_and(|id| names_doomed(&id))
        };
        let data = raw.field("data");
        let tells = match (record.kind, record.marker) {
            (Kind::Label, _) => names(Some(raw), "targetId"),
            (Kind::Custom, Marker::Leaf) => goes || names(data, "target") || names(data, "left"),
            (Kind::Custom, Marker::Segment) => names(data, "replacement"),
            // What another agent noted of what goes.
            (Kind::Custom, Marker::Session) => goes && raw.field("customType").is_some_and(is_origin),
            (Kind::BranchSummary, _) if !goes => {
                if names(raw.field("details"), "leftEntryId") {
                    self.mentions.push(seq);
                }
                return Ok(());
            }
            _ => false,
        };
        if tells {
            self.fates.insert(seq, Fate::Erased);
        } else if goes {
            self.fates.insert(seq, Fate::Hung);
        }
        Ok(())
    }
}

fn is_origin(custom_type: Raw<'_>) -> bool {
    custom_type.text().as_deref() == Some("ramus.origin")
}

/// What hangs from each entry, inert entries included.
fn children(session: &Session) -> HashMap<Seq, Vec<Seq>> {
    let log = session.log();
    let mut children: HashMap<Seq, Vec<Seq>> = HashMap::new();
    for seq in log.seqs().filter(|seq| log.is_original(*seq) && log.belongs(*seq)) {
        if let Some(parent) = log.record(seq).and_then(Record::parent) {
            children.entry(parent).or_default().push(seq);
        }
    }
    children
}

/// The first entry of the branch that an entry is on.
fn branch_of(session: &Session, children: &HashMap<Seq, Vec<Seq>>, target: Seq) -> Seq {
    let log = session.log();
    let is_visible = |seq: &&Seq| log.record(**seq).is_some_and(Record::is_visible);
    let mut top = target;
    while let Some(above) = session.before(top) {
        let is_own = log.stored_place(above).is_some_and(|place| place.source == 0);
        if !is_own || children.get(&above).into_iter().flatten().filter(is_visible).count() > 1 {
            break;
        }
        top = above;
    }
    top
}

/// Everything below an entry, and every version of it; of what replaced a segment, also the segment.
fn doomed(session: &Session, children: &HashMap<Seq, Vec<Seq>>, top: Seq) -> Result<BTreeSet<Seq>, EngineError> {
    let log = session.log();
    let mut replaced: HashMap<Seq, Vec<Seq>> = HashMap::new();
    for segment in log.facts().segments() {
        let seqs = |ids: &[EntryId]| ids.iter().filter_map(|id| log.seq_of(id.as_str())).collect::<Vec<_>>();
        if let Some(replacement) = log.seq_of(segment.replacement.as_str()) {
            replaced.entry(replacement).or_default().extend(seqs(&segment.replaced));
        }
    }
    let (mut doomed, mut rest) = (BTreeSet::new(), vec![top]);
    while let Some(seq) = rest.pop() {
        if doomed.insert(seq) {
            rest.extend(children.get(&seq).into_iter().flatten());
            rest.extend(replaced.get(&seq).into_iter().flatten());
        }
    }
    for seq in log.seqs().filter(|seq| !log.is_original(*seq)) {
        let Some(place) = log.stored_place(seq) else { continue };
        let line = session.line_at(place)?;
        let id = Raw::parse(&line).and_then(|raw| raw.field("id")).and_then(Raw::text);
        if id.and_then(|id| log.seq_of(&id)).is_some_and(|original| doomed.contains(&original)) {
            doomed.insert(seq);
        }
    }
    Ok(doomed)
}

/// The line of an entry that hangs from another one now.
pub(super) fn hung(line: &[u8], parent: Option<&EntryId>) -> Option<Vec<u8>> {
    let raw = Raw::parse(line)?;
    let text = |name| raw.field(name).and_then(Raw::text);
    let mut line = Body::of_record(raw)?.to_line(&EntryId::from(&*text("id")?), parent, &text("timestamp")?);
    line.pop();
    Some(line)
}
