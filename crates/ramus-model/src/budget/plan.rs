//! Planning a compaction: which entries of a path are summarised, and from which one on they are kept.
//!
//! The cut is never before the result of a tool, and never between a call and a result that came late, so calls and results
//! stay together. When it falls into a turn, the part
//! of the turn before it is summarised apart: what is kept would not be understood without it.

use std::ops::Range;

use super::weigh::{Weighed, What};

/// How much of a path is kept as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// The newest messages with about so many tokens.
    Tokens(u64),
    /// So many of the newest messages.
    Messages(usize),
}

/// What a compaction does with a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The first entry that is kept.
    pub first_kept: usize,
    /// The entries that are summarised.
    pub history: Range<usize>,
    /// The start of the turn that the cut falls into, which is summarised apart.
    pub turn: Option<Range<usize>>,
}

impl Plan {
    /// Returns everything that is summarised.
    pub fn summarised(&self) -> Range<usize> {
        self.history.start..self.first_kept
    }
}

/// Plans a compaction of the entries from `start` on. None when nothing would be summarised.
pub fn plan(path: &[Weighed], start: usize, keep: Keep) -> Option<Plan> {
    if path.last().is_none_or(|last| last.what == What::Compaction) {
        return None;
    }
    let message = cut(path, start, keep)?;
    // Changes of model and the like belong to the message they precede.
    let others = path.get(start..message)?.iter().rev().take_while(|entry| entry.what == What::Other).count();
    let cut = message - others;
    let turn_start = match path.get(message)?.what {
        What::Start => None,
        _ => path.get(start..cut)?.iter().rposition(|entry| entry.what == What::Start).map(|at| start + at),
    };
    let plan =
        Plan { first_kept: cut, history: start..turn_start.unwrap_or(cut), turn: turn_start.map(|from| from..cut) };
    let has_messages = |range: Range<usize>| {
        path.get(range).unwrap_or_default().iter().any(|entry| !matches!(entry.what, What::Other | What::Compaction))
    };
    has_messages(plan.summarised()).then_some(plan)
}

/// Finds the first message that is kept.
fn cut(path: &[Weighed], start: usize, keep: Keep) -> Option<usize> {
    let is_message = |what: What| !matches!(what, What::Other | What::Compaction);
    let waiting = waiting(path);
    let may_cut = |at: &usize| {
        path.get(*at).is_some_and(|entry| matches!(entry.what, What::Start | What::Answer | What::Message))
            && waiting.get(*at) == Some(&0)
    };
    let first = (start..path.len()).find(may_cut)?;
    let mut reached = None;
    let (mut tokens, mut messages) = (0_u64, 0_usize);
    for (at, entry) in path.iter().enumerate().skip(start).rev().filter(|(_, entry)| is_message(entry.what)) {
        tokens = tokens.saturating_add(entry.tokens);
        messages += 1;
        let is_enough = match keep {
            Keep::Tokens(keep) => tokens >= keep,
            Keep::Messages(keep) => messages >= keep,
        };
        if is_enough {
            reached = Some(at);
            break;
        }
    }
    match reached {
        None => Some(first),
        Some(at) => (at..path.len()).find(may_cut).or_else(|| (start..at).rev().find(may_cut)),
    }
}

/// How many calls that came before each entry still wait for a result that comes at it or behind it.
fn waiting(path: &[Weighed]) -> Vec<i64> {
    let mut changes = vec![0_i64; path.len() + 2];
    for (at, call) in path.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.call?))) {
        for (at, change) in [(call + 1, 1), (at + 1, -1)] {
            if let Some(place) = changes.get_mut(at) {
                *place += change;
            }
        }
    }
    let mut open = 0;
    changes.iter_mut().for_each(|change| {
        open += *change;
        *change = open;
    });
    changes
}
