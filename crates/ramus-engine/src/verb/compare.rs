//! `compare`: two ways a conversation went, of one session or of two: where they part, what was said on each side, what
//! each cost, and how the files differ.

use std::collections::HashMap;
use std::path::Path;

use ramus_model::message::{Part, Usage};
use ramus_model::usage::{ModelName, UsageTotals};
use ramus_model::{EntryId, Kind, Record, Seq, SessionId};
use ramus_snapshot::{FileDiff, SnapshotId};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::Session;
use crate::verb::messages::View;
use crate::workspace::short;

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
    /// What they cost, as far as they say, and what the others used, by model.
    pub totals: UsageTotals,
    /// The title of the session.
    pub title: String,
    /// The last label behind where the sides part.
    pub label: Option<String>,
    /// The last prompt behind where they part.
    pub prompt: Option<String>,
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
        match self.glance_at_snapshots(session)? {
            Some(glance) if glance.has(before) && glance.has(after) => Ok(Some(glance.diff(before, after, &[])?)),
            _ => Ok(None),
        }
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
    for note in session.path_notes(leaf) {
        let (_, note) = note?;
        let found = note.commit.or(note.steps.last().map(|(_, after)| *after)).or(note.latest);
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn side(session: &Session, leaf: Option<Seq>, views: &[View], snapshot: Option<SnapshotId>) -> Side {
    let mut usage = Usage::default();
    let mut totals = UsageTotals::default();
    for (answer, used) in
        views.iter().filter_map(|view| view.message.answer.as_ref()).filter_map(|one| Some((one, one.usage?)))
    {
        totals.add(&ModelName::of(answer), &used);
        usage.input += used.input;
        usage.output += used.output;
        usage.cache_read += used.cache_read;
        usage.cache_write += used.cache_write;
    }
    Side {
        session: session.id().clone(),
        leaf: leaf.map(|leaf| session.entry_id(leaf)),
        messages: views.len(),
        usage,
        totals,
        title: session.title(),
        label: views.iter().rev().find_map(|view| view.label.clone()),
        prompt: views.iter().rev().find(|view| view.message.role_name == "user").map(|view| view.message.text()),
        snapshot: snapshot.map(short),
    }
}

/// Brings what both sides say side by side: as many equal messages as possible, in order, and what stands between them
/// beside what stands there on the other side.
fn align(left: Vec<View>, right: Vec<View>) -> Vec<Pair> {
    let (ours, theirs): (Vec<_>, Vec<_>) = (left.iter().map(Key::of).collect(), right.iter().map(Key::of).collect());
    let is_short = left.len() <= ALIGNED && right.len() <= ALIGNED;
    let mut anchors = if is_short { common(&ours, &theirs) } else { Vec::new() };
    anchors.push((left.len(), right.len()));
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    let (mut pairs, mut row, mut column) = (Vec::new(), 0, 0);
    for (to_row, to_column) in anchors {
        let gap = (left.by_ref().take(to_row - row).collect(), right.by_ref().take(to_column - column).collect());
        beside(gap, &mut pairs);
        let (one, other) = (left.next(), right.next());
        if one.is_some() || other.is_some() {
            pairs.push(Pair { left: one, right: other, is_same: true });
        }
        (row, column) = (to_row + 1, to_column + 1);
    }
    pairs
}

/// Sets messages beside those in whose place they stand: the next one of the same speaker.
fn beside((left, right): (Vec<View>, Vec<View>), pairs: &mut Vec<Pair>) {
    let speakers =
        |views: &[View]| -> Vec<String> { views.iter().map(|view| view.message.role_name.clone()).collect() };
    let (ours, theirs) = (speakers(&left), speakers(&right));
    let is_short = left.len() <= ALIGNED && right.len() <= ALIGNED;
    let matches = if is_short { common(&ours, &theirs) } else { in_step(&ours, &theirs) };
    let mut matches: HashMap<usize, usize> = matches.into_iter().collect();
    let mut rest = right.into_iter().enumerate().peekable();
    for (row, view) in left.into_iter().enumerate() {
        let column = matches.remove(&row);
        while let Some((_, other)) = column.and_then(|column| rest.next_if(|(at, _)| *at < column)) {
            pairs.push(Pair { left: None, right: Some(other), is_same: false });
        }
        let right = column.and_then(|_| rest.next()).map(|(_, other)| other);
        let is_same = right.as_ref().is_some_and(|right| Key::of(right) == Key::of(&view));
        pairs.push(Pair { left: Some(view), right, is_same });
    }
    pairs.extend(rest.map(|(_, other)| Pair { left: None, right: Some(other), is_same: false }));
}

/// Goes along two lists that are too long to find the best, as positions on the left and on the right.
fn in_step(left: &[String], right: &[String]) -> Vec<(usize, usize)> {
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (left.get(row), right.get(column)) {
        if one == other {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if left.get(row + 1) == Some(other) {
            row += 1;
        } else if right.get(column + 1) == Some(one) {
            column += 1;
        } else {
            (row, column) = (row + 1, column + 1);
        }
    }
    pairs
}

/// What makes two messages the same: who says it, what is said, shown and called. Not what was thought, nor how calls are named.
#[derive(PartialEq)]
struct Key {
    role: String,
    parts: Vec<Part>,
    is_error: bool,
}

impl Key {
    fn of(view: &View) -> Self {
        let part = |part: &Part| match part {
            Part::Thinking(_) => None,
            Part::ToolCall { name, arguments, .. } => {
                Some(Part::ToolCall { id: String::new(), name: name.clone(), arguments: arguments.clone() })
            }
            other => Some(other.clone()),
        };
        Self {
            role: view.message.role_name.clone(),
            parts: view.message.parts.iter().filter_map(part).collect(),
            is_error: view.message.result.as_ref().is_some_and(|result| result.is_error),
        }
    }
}

/// The longest common subsequence, as positions on the left with those on the right, in order.
fn common<T: PartialEq>(left: &[T], right: &[T]) -> Vec<(usize, usize)> {
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
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while let (Some(one), Some(other)) = (left.get(row), right.get(column)) {
        if one == other {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if at(&longest, row + 1, column) >= at(&longest, row, column + 1) {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}
