//! What a source gave while it was shorter, and gives no more. Records that were the last of a file stand alone until the lines
//! behind them show what they belong to; then they are kept there, and here no longer.

use std::collections::HashSet;

use ramus_interchange::MEMBER;
use ramus_model::blob::Restore;
use ramus_model::json::Raw;
use ramus_model::{Body, EntryId, Lines as _, Record, Seq};
use serde_json::json;

use super::Growing;
use crate::error::EngineError;

/// An entry that the source did not give this time.
struct Left {
    seq: Seq,
    /// The records it keeps, as they are spelled; none when it is not of this agent.
    records: Option<Vec<Vec<u8>>>,
    is_visible: bool,
}

impl Growing<'_> {
    /// Returns later versions, which keep nothing and do not show, of entries that the source gave once and outgrew.
    pub(super) fn outgrown(&self) -> Result<Vec<Vec<u8>>, EngineError> {
        let log = self.session.log();
        let from = log.header().and_then(|header| header.ramus.imported_from.as_ref());
        let Some(agent) = from.map(|from| from.agent.as_str()) else { return Ok(Vec::new()) };
        let mut left = Vec::new();
        for seq in log.seqs().filter(|seq| log.is_own(*seq) && log.is_original(*seq) && !self.is_given(*seq)) {
            let records = records(&self.session.line(seq)?, agent);
            let is_visible = log.record(seq).is_some_and(Record::is_visible);
            left.push(Left { seq, records, is_visible });
        }
        let mut gone = self.moved(&left, agent)?;
        gone.extend(self.told_otherwise(&left, &gone));
        let gone = left.iter().map(|left| left.seq).filter(|seq| gone.contains(seq));
        gone.map(|seq| self.emptied(seq, agent)).collect()
    }

    fn is_given(&self, seq: Seq) -> bool {
        self.seen.contains(self.session.log().id(seq))
    }

    /// Entries that only keep records, all of which entries of the source keep now.
    fn moved(&self, left: &[Left], agent: &str) -> Result<HashSet<Seq>, EngineError> {
        let keeping = |left: &&Left| !left.is_visible && left.records.as_ref().is_some_and(|kept| !kept.is_empty());
        let wanted: HashSet<&[u8]> = left.iter().filter(keeping).flat_map(kept).collect();
        if wanted.is_empty() {
            return Ok(HashSet::new());
        }
        let places: HashSet<u64> = wanted.iter().filter_map(|record| place(record)).collect();
        let (log, whole) = (self.session.log(), self.session.restored_lines(Restore::Everything));
        let mut found = HashSet::new();
        for seq in log.seqs().filter(|seq| log.is_original(*seq) && self.is_given(*seq)) {
            let stored = records(&self.session.line(seq)?, agent).unwrap_or_default();
            if !stored.iter().any(|record| place(record).is_some_and(|place| places.contains(&place))) {
                continue;
            }
            let Some(at) = log.place(seq) else { continue };
            found.extend(records(&whole.line(at)?, agent).unwrap_or_default());
        }
        let is_elsewhere = |left: &&Left| kept(left).all(|record| found.contains(record));
        Ok(left.iter().filter(keeping).filter(is_elsewhere).map(|left| left.seq).collect())
    }

    /// Entries that say what a record of another entry says, as it was told before the source told it itself: what calls
    /// gave, until a message brings it. Whatever a person hung from them stays, and they with it.
    fn told_otherwise(&self, left: &[Left], moved: &HashSet<Seq>) -> HashSet<Seq> {
        let log = self.session.log();
        let parent = |seq: Seq| log.record(seq).and_then(Record::parent);
        let mut leaned: HashSet<Seq> = HashSet::new();
        for Left { seq, records, is_visible } in left.iter().rev() {
            let is_spare = records.as_ref().is_some_and(Vec::is_empty) && !leaned.contains(seq);
            if *is_visible && !is_spare {
                leaned.extend(parent(*seq));
            }
        }
        let mut gone: HashSet<Seq> = HashSet::new();
        for Left { seq, records, is_visible } in left {
            let is_spare = *is_visible && records.as_ref().is_some_and(Vec::is_empty) && !leaned.contains(seq);
            let is_beneath = |parent: Seq| self.is_given(parent) || moved.contains(&parent) || gone.contains(&parent);
            if is_spare && parent(*seq).is_some_and(is_beneath) {
                gone.insert(*seq);
            }
        }
        gone
    }

    /// A later version of an entry that keeps nothing and does not show.
    fn emptied(&self, seq: Seq, agent: &str) -> Result<Vec<u8>, EngineError> {
        let log = self.session.log();
        let line = self.session.line(seq)?;
        let time = Raw::parse(&line).and_then(|raw| raw.field("timestamp")?.text());
        let parent = log.record(seq).and_then(Record::parent).map(|parent| self.session.entry_id(parent));
        let body = Body::ramus("origin", json!({"op": "import"}));
        let body = body.with(MEMBER, &json!({"agent": agent, "records": []})).superseding();
        Ok(body.to_line(&EntryId::from(log.id(seq)), parent.as_ref(), &time.unwrap_or_default()))
    }
}

fn kept(left: &Left) -> impl Iterator<Item = &[u8]> {
    left.records.iter().flatten().map(Vec::as_slice)
}

/// The records that an entry keeps of an agent, as they are spelled; none when it keeps nothing of it.
fn records(line: &[u8], agent: &str) -> Option<Vec<Vec<u8>>> {
    let origin = Raw::parse(line)?.field(MEMBER)?.object()?;
    if origin.text("agent")? != agent {
        return None;
    }
    Some(origin.field("records")?.items().map(|record| record.bytes().to_vec()).collect())
}

/// Where a record stood in its source.
fn place(record: &[u8]) -> Option<u64> {
    Raw::parse(record)?.field("line")?.unsigned()
}
