//! `compare`: two ways a conversation went, of one session or of two: where they part, what was said on each side, what
//! each cost, and how the files differ.

use std::collections::HashMap;
use std::path::Path;

use ramus_model::message::Usage;
use ramus_model::{EntryId, Kind, Record, Seq, SessionId};
use ramus_snapshot::{FileDiff, SnapshotId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::messages::View;
use crate::workspace::{Note, short};

/// How many messages of each side are brought side by side; longer sides are told one after the other.
const ALIGNED: usize = 1_000;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// The session.
    pub session: SessionId,
    /// Where the side ends.
    pub leaf: Option<EntryId>,
    /// How many messages it has behind where the sides part.
    pub messages: usize,
    /// What its answers used there.
    pub usage: Usage,
    /// What they cost, as far as they say.
    pub cost_micros: Option<u64>,
    /// The newest snapshot of the files on its path.
    pub snapshot: Option<String>,
}

/// What stands side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// On the left.
    pub left: Option<View>,
    /// On the right.
    pub right: Option<View>,
    /// Whether both say the same.
    pub is_same: bool,
}

/// How two ways differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The last entry that both have.
    pub ancestor: Option<EntryId>,
    /// How many messages both have.
    pub shared: usize,
    /// The one.
    pub left: Side,
    /// The other.
    pub right: Side,
    /// What was said behind where they part.
    pub pairs: Vec<Pair>,
    /// How the files differ; none when snapshots do not tell.
    pub files: Option<Vec<FileDiff>>,
}

impl Engine {
    /// Compares the paths to two entries. Forks share the ids of what they were forked from.
    pub fn compare(
        &self,
        left: (&mut Session, Option<Seq>),
        right: (&Session, Option<Seq>),
    ) -> Result<Comparison, EngineError> {
        let (here, there) = (shown(left.0, left.1), shown(right.0, right.1));
        let is_shared = |(one, other): &(&Seq, &Seq)| left.0.log().id(**one) == right.0.log().id(**other);
        let shared = here.iter().zip(&there).take_while(is_shared).count();
        let ancestor = shared.checked_sub(1).and_then(|at| here.get(at)).map(|seq| left.0.entry_id(*seq));
        let views = |session: &Session, path: &[Seq]| -> Result<Vec<View>, EngineError> {
            let rest = path.get(shared..).unwrap_or_default().iter();
            let found = rest.filter(|seq| session.log().record(**seq).is_some_and(says));
            let views = found.map(|seq| session.view(*seq, None)).collect::<Result<Vec<_>, _>>()?;
            Ok(views.into_iter().flatten().collect())
        };
        let (one, other) = (views(left.0, &here)?, views(right.0, &there)?);
        let said = here.iter().take(shared).filter(|seq| left.0.log().record(**seq).is_some_and(says)).count();
        let (before, after) = (newest(left.0, left.1)?, newest(right.0, right.1)?);
        let sides = (side(left.0, left.1, &one, before), side(right.0, right.1, &other, after));
        let files = match before.zip(after) {
            Some((before, after)) => self.files_between(left.0, before, after)?,
            None => None,
        };
        Ok(Comparison { ancestor, shared: said, left: sides.0, right: sides.1, pairs: align(one, other), files })
    }

    /// How two snapshots differ; none when they are not of one directory.
    fn files_between(
        &self,
        session: &mut Session,
        before: SnapshotId,
        after: SnapshotId,
    ) -> Result<Option<Vec<FileDiff>>, EngineError> {
        // What a directory that is gone held is kept under a name that only the directory tells.
        if self.snapshots.is_none() || !Path::new(session.cwd()).is_dir() {
            return Ok(None);
        }
        let store = self.snapshot_store(session)?;
        if !store.has(before) || !store.has(after) {
            return Ok(None);
        }
        Ok(Some(store.diff(before, after, &[])?))
    }
}

/// The entries of a path that are part of the conversation.
fn shown(session: &Session, leaf: Option<Seq>) -> Vec<Seq> {
    let log = session.log();
    log.path(leaf).into_iter().filter(|seq| log.record(*seq).is_some_and(Record::is_visible)).collect()
}

fn says(record: &Record) -> bool {
    matches!(record.kind, Kind::Message | Kind::CustomMessage | Kind::BranchSummary | Kind::Compaction)
}

/// The newest snapshot on the path to an entry.
fn newest(session: &Session, leaf: Option<Seq>) -> Result<Option<SnapshotId>, EngineError> {
    let log = session.log();
    let behind = leaf.map(|leaf| session.notes_behind(leaf)).transpose()?.unwrap_or_default();
    let last = behind.last().map(|(seq, _)| *seq).or(leaf);
    for seq in log.ancestors(last).filter(|seq| log.record(*seq).is_some_and(|record| record.kind == Kind::Custom)) {
        let Some(note) = Note::read(&session.line(seq)?) else { continue };
        let found = note.commit.or(note.steps.last().map(|(_, after)| *after)).or(note.latest);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn side(session: &Session, leaf: Option<Seq>, views: &[View], snapshot: Option<SnapshotId>) -> Side {
    let mut usage = Usage::default();
    let mut cost = None;
    for used in views.iter().filter_map(|view| view.message.answer.as_ref()?.usage) {
        usage.input += used.input;
        usage.output += used.output;
        usage.cache_read += used.cache_read;
        usage.cache_write += used.cache_write;
        cost = used.cost_micros.map(|micros| cost.unwrap_or(0) + micros).or(cost);
    }
    Side {
        session: session.id().clone(),
        leaf: leaf.map(|leaf| session.entry_id(leaf)),
        messages: views.len(),
        usage,
        cost_micros: cost,
        snapshot: snapshot.map(short),
    }
}

/// Brings what both sides say side by side: as many equal messages as possible, in order.
fn align(left: Vec<View>, right: Vec<View>) -> Vec<Pair> {
    let key = |view: &View| (view.message.role_name.clone(), view.message.text());
    let (ours, theirs): (Vec<_>, Vec<_>) = (left.iter().map(key).collect(), right.iter().map(key).collect());
    let is_short = left.len() <= ALIGNED && right.len() <= ALIGNED;
    let mut equal = if is_short { common(&ours, &theirs) } else { HashMap::new() };
    let mut pairs = Vec::new();
    let mut rest = right.into_iter().enumerate().peekable();
    for (at, view) in left.into_iter().enumerate() {
        match equal.remove(&at) {
            Some(to) => {
                while let Some((_, other)) = rest.next_if(|(at, _)| *at < to) {
                    pairs.push(Pair { left: None, right: Some(other), is_same: false });
                }
                let right = rest.next().map(|(_, other)| other);
                pairs.push(Pair { left: Some(view), right, is_same: true });
            }
            None => pairs.push(Pair { left: Some(view), right: None, is_same: false }),
        }
    }
    pairs.extend(rest.map(|(_, other)| Pair { left: None, right: Some(other), is_same: false }));
    pairs
}

/// The longest common subsequence, as positions on the left with those on the right.
fn common<T: PartialEq>(left: &[T], right: &[T]) -> HashMap<usize, usize> {
    let width = right.len() + 1;
    let mut longest = vec![0_u32; (left.len() + 1) * width];
    let at = |longest: &[u32], row: usize, column: usize| longest.get(row * width + column).copied().unwrap_or(0);
    for (row, one) in left.iter().enumerate().rev() {
        for (column, other) in right.iter().enumerate().rev() {
            let best = if one == other {
                at(&longest, row + 1, column + 1) + 1
            } else {
                at(&longest, row + 1, column).max(at(&longest, row, column + 1))
            };
            if let Some(cell) = longest.get_mut(row * width + column) {
                *cell = best;
            }
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, HashMap::new());
    while let (Some(one), Some(other)) = (left.get(row), right.get(column)) {
        if one == other {
            pairs.insert(row, column);
            (row, column) = (row + 1, column + 1);
        } else if at(&longest, row + 1, column) >= at(&longest, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}
