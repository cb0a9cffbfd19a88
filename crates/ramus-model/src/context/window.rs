//! The context of the leaf in a window: where it starts, and how to build it without what lies before.

use super::{Context, State, Survey, body, fill, first_kept, select, state};
use crate::id::Seq;
use crate::json::Raw;
use crate::log::{Lines, Log, WindowStart};

/// Where the context of a path starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The first entry it needs.
    pub first: Seq,
    /// The last entry of the path before that.
    pub tip: Option<Seq>,
    /// The state up to there.
    pub state: State,
}

/// Says where the context of the leaf starts. None when it needs everything.
pub fn window_start<L: Lines + ?Sized>(log: &Log, lines: &L) -> Result<Option<Start>, L::Error> {
    let path = log.path(log.leaf());
    let survey = Survey::of(log, &path);
    let Some(at) = survey.compaction.max(survey.reset) else { return Ok(None) };
    let mut from = at;
    if survey.compaction == Some(at)
        && let Some(&compaction) = path.get(at)
    {
        let line = body(log, compaction, lines)?;
        let kept = Raw::parse(&line).and_then(|raw| first_kept(log, raw));
        from = kept.and_then(|kept| path.get(..at)?.iter().position(|seq| *seq == kept)).unwrap_or(at);
    }
    let Some(first) = path.get(from..).unwrap_or_default().iter().min().copied() else { return Ok(None) };
    let before: Vec<Seq> = path.iter().copied().filter(|seq| *seq < first).collect();
    // Entries that were hung elsewhere can make a path go back and forth; such a path is not cut.
    if path.get(..before.len()) != Some(&before) {
        return Ok(None);
    }
    let earlier = Survey::of(log, &before);
    let state = state::derive(log, State::default(), &earlier.changes, &before, lines)?;
    Ok(Some(Start { first, tip: before.last().copied(), state }))
}

/// Builds the context of the leaf of a window, and names the leaf. None when the window does not reach far enough.
pub fn in_window<L: Lines + ?Sized>(
    log: &Log,
    start: &WindowStart,
    lines: &L,
) -> Result<Option<(Option<Seq>, Context)>, L::Error> {
    let last = log.seqs().next_back();
    let leaf = log.leaf();
    // The leaf may be something that lies before the window, which looks like no leaf at all.
    if !log.stands_alone() || (leaf.is_none() && log.ancestors(last).any(|seq| log.is_elided(seq))) {
        return Ok(None);
    }
    let path = log.path(leaf);
    let outside = path.first().copied().filter(|seq| log.is_elided(*seq));
    if outside.is_some() && outside != start.tip() {
        return Ok(None);
    }
    let before = outside.map_or_else(State::default, |_| start.state().clone());
    let survey = Survey::of(log, &path);
    let state = state::derive(log, before, &survey.changes, &path, lines)?;
    let mut context = Context { state, ..Context::default() };
    let selection = select(log, &path, &survey, lines, &mut context)?;
    let kept_outside = match context.compacted_by {
        Some(compaction) if outside.is_some() => keeps_unknown(log, compaction, lines)?,
        _ => false,
    };
    if kept_outside || (outside.is_some() && selection.first() == outside.as_ref()) {
        return Ok(None);
    }
    fill(log, selection, &survey, lines, &mut context)?;
    Ok(Some((leaf, context)))
}

/// Says whether a compaction keeps from an entry that is not in the window.
fn keeps_unknown<L: Lines + ?Sized>(log: &Log, compaction: Seq, lines: &L) -> Result<bool, L::Error> {
    let line = body(log, compaction, lines)?;
    let Some(raw) = Raw::parse(&line) else { return Ok(false) };
    let names_one = raw.field("firstKeptEntryId").and_then(Raw::text).is_some_and(|id| !id.is_empty());
    Ok(names_one && first_kept(log, raw).is_none())
}
