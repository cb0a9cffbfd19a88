//! Context: what a model is sent, as a pure function of a path.
//!
//! [`build`] decides which entries are in the context and in which order, and derives the state along the path. It reads
//! only the few bodies that decide (compactions, changes, edits); messages are named, not decoded, so its cost is a walk
//! over the path. [`render`] writes the version 3 dialect, byte for byte what was stored; [`provider`] makes what a
//! provider accepts.

pub mod provider;
pub mod render;
mod state;
mod window;

use hashbrown::HashMap;

pub use state::State;
pub use window::{Start, in_window, window_start};

use crate::id::Seq;
use crate::json::Raw;
use crate::kind::{Kind, Role};
use crate::log::{Lines, Log};

/// One message of the context and the entry it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// A message entry.
    Message(Seq),
    /// A message entry whose content another entry replaced.
    Edited {
        /// The message.
        message: Seq,
        /// The entry with the new content.
        edit: Seq,
    },
    /// A custom message entry.
    CustomMessage(Seq),
    /// A summary of a path that was left.
    BranchSummary(Seq),
    /// The system message that a compaction kept.
    CompactionSystem(Seq),
    /// The summary of a compaction.
    CompactionSummary(Seq),
}

impl Item {
    /// Returns the entry the item comes from.
    pub fn seq(self) -> Seq {
        match self {
            Self::Message(seq)
            | Self::Edited { message: seq, .. }
            | Self::CustomMessage(seq)
            | Self::BranchSummary(seq)
            | Self::CompactionSystem(seq)
            | Self::CompactionSummary(seq) => seq,
        }
    }
}

/// What a model is sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// The messages in order.
    pub items: Vec<Item>,
    /// Models, thinking level, mode and rules.
    pub state: State,
    /// The compaction that stands for older entries.
    pub compacted_by: Option<Seq>,
}

/// Builds the context of the path that ends at `leaf`; no leaf, no context.
pub fn build<L: Lines + ?Sized>(log: &Log, leaf: Option<Seq>, lines: &L) -> Result<Context, L::Error> {
    let path = log.path(leaf);
    let survey = Survey::of(log, &path);
    let state = state::derive(log, State::default(), &survey.changes, &path, lines)?;
    let mut context = Context { state, ..Context::default() };
    let selection = select(log, &path, &survey, lines, &mut context)?;
    fill(log, selection, &survey, lines, &mut context)?;
    Ok(context)
}

/// Puts the selected entries into a context.
fn fill<L: Lines + ?Sized>(
    log: &Log,
    selection: Vec<Seq>,
    survey: &Survey,
    lines: &L,
    context: &mut Context,
) -> Result<(), L::Error> {
    let edits = read_edits(log, &selection, survey, lines)?;
    context.items.reserve(selection.len());
    for seq in selection {
        let Some(record) = log.record(seq) else { continue };
        let item = match record.kind {
            Kind::Message => match edits.get(&seq) {
                None => Item::Message(seq),
                Some(Edit { seq: edit, removes: false }) => Item::Edited { message: seq, edit: *edit },
                Some(Edit { removes: true, .. }) => continue,
            },
            Kind::CustomMessage => Item::CustomMessage(seq),
            Kind::BranchSummary if has_summary(log, seq, lines)? => Item::BranchSummary(seq),
            _ => continue,
        };
        context.items.push(item);
    }
    Ok(())
}

/// The entries of a path that decide something, by their position on it.
#[derive(Default)]
struct Survey {
    compaction: Option<usize>,
    reset: Option<usize>,
    has_edits: bool,
    /// Entries that change the state, and assistant messages.
    changes: Vec<Seq>,
}

impl Survey {
    fn of(log: &Log, path: &[Seq]) -> Self {
        let mut survey = Self::default();
        let mut last_assistant = None;
        for (at, seq) in path.iter().enumerate() {
            let Some(record) = log.record(*seq) else { continue };
            match record.kind {
                Kind::Message if record.role == Role::Assistant => last_assistant = Some(*seq),
                Kind::Compaction => survey.compaction = Some(at),
                Kind::ResetBoundary => survey.reset = Some(at),
                Kind::ContextEdit => survey.has_edits = true,
                Kind::ModelChange | Kind::ThinkingLevelChange | Kind::ModeChange | Kind::TtsrInjection => {
                    // Of the assistants between two changes only the last can decide the model.
                    survey.changes.extend(last_assistant.take());
                    survey.changes.push(*seq);
                }
                _ => {}
            }
        }
        survey.changes.extend(last_assistant);
        survey
    }
}

/// Selects the entries that are sent, and puts what a compaction says in front of them.
fn select<L: Lines + ?Sized>(
    log: &Log,
    path: &[Seq],
    survey: &Survey,
    lines: &L,
    context: &mut Context,
) -> Result<Vec<Seq>, L::Error> {
    let after_reset = survey.reset.map_or(0, |at| at + 1);
    let Some(at) = survey.compaction.filter(|at| *at >= after_reset) else {
        return Ok(path.get(after_reset..).unwrap_or_default().to_vec());
    };
    let Some(&compaction) = path.get(at) else { return Ok(Vec::new()) };
    context.compacted_by = Some(compaction);
    let line = body(log, compaction, lines)?;
    let raw = Raw::parse(&line);
    let has_system = raw.and_then(|raw| raw.field("systemMessage")).is_some_and(|message| !message.is_null());
    if has_system {
        context.items.push(Item::CompactionSystem(compaction));
    }
    context.items.push(Item::CompactionSummary(compaction));
    let kept = match raw {
        Some(raw) if raw.field("preserveData").and_then(render::remote_history).is_none() => first_kept(log, raw),
        _ => None,
    };
    let mut selection = Vec::new();
    if let Some(from) = kept.and_then(|kept| path.get(..at)?.iter().position(|seq| *seq == kept)) {
        let is_system = |seq: &Seq| log.record(*seq).is_some_and(|record| record.role == Role::System);
        let kept = path.get(from..at).unwrap_or_default().iter().copied();
        selection.extend(kept.filter(|seq| !(has_system && is_system(seq))));
    }
    selection.extend_from_slice(path.get(at + 1..).unwrap_or_default());
    Ok(selection)
}

/// The entry a compaction keeps from: by id, or by index in a version 1 file.
pub(crate) fn first_kept(log: &Log, compaction: Raw<'_>) -> Option<Seq> {
    if let Some(id) = compaction.field("firstKeptEntryId").and_then(Raw::text) {
        return log.seq_of(&id);
    }
    let index = compaction.field("firstKeptEntryIndex").filter(|_| log.is_legacy()).and_then(Raw::unsigned)?;
    log.legacy_entry(index)
}

struct Edit {
    seq: Seq,
    removes: bool,
}

/// The latest edit of every message in the selection.
fn read_edits<L: Lines + ?Sized>(
    log: &Log,
    selection: &[Seq],
    survey: &Survey,
    lines: &L,
) -> Result<HashMap<Seq, Edit>, L::Error> {
    let mut edits = HashMap::new();
    if !survey.has_edits {
        return Ok(edits);
    }
    for &seq in selection {
        if log.record(seq).is_none_or(|record| record.kind != Kind::ContextEdit) {
            continue;
        }
        let line = body(log, seq, lines)?;
        let Some(raw) = Raw::parse(&line) else { continue };
        let Some(target) = raw.field("targetId").and_then(Raw::text).and_then(|id| log.seq_of(&id)) else { continue };
        let removes = raw.field("replacement").is_none_or(Raw::is_null);
        edits.insert(target, Edit { seq, removes });
    }
    Ok(edits)
}

fn has_summary<L: Lines + ?Sized>(log: &Log, seq: Seq, lines: &L) -> Result<bool, L::Error> {
    let line = body(log, seq, lines)?;
    let summary = Raw::parse(&line).and_then(|raw| raw.field("summary"));
    Ok(summary.and_then(Raw::text).is_some_and(|summary| !summary.is_empty()))
}

/// The bytes of an entry; empty when there is no such entry.
pub(crate) fn body<'l, L: Lines + ?Sized>(
    log: &Log,
    seq: Seq,
    lines: &'l L,
) -> Result<std::borrow::Cow<'l, [u8]>, L::Error> {
    match log.place(seq) {
        Some(place) => lines.line(place),
        None => Ok(std::borrow::Cow::Borrowed(&[])),
    }
}
