//! What the entries of a path weigh, and which of them belong together.

use hashbrown::HashMap;

use crate::context::{body, first_kept};
use crate::id::Seq;
use crate::json::Raw;
use crate::kind::{Kind, Role};
use crate::log::{Lines, Log};
use crate::message::{Message, Part};
use crate::tokens::{self, Counter};

/// What an entry of a path is to a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Starts a turn: a person, a command a person ran, an extension that speaks, a summary of a path that was left.
    Start,
    /// An answer.
    Answer,
    /// The result of a tool, which stays with its call.
    Result,
    /// Another message of the context.
    Message,
    /// A compaction.
    Compaction,
    /// Nothing that a model is sent.
    Other,
}

/// An entry of a path and how many tokens it is estimated to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// The entry.
    pub seq: Seq,
    /// What it is.
    pub what: What,
    /// Its tokens.
    pub tokens: u64,
    /// For a result, the place of the answer that asked for it.
    pub call: Option<usize>,
}

/// Weighs the entries of a path.
pub fn weigh<L: Lines + ?Sized>(
    log: &Log,
    path: &[Seq],
    lines: &L,
    counter: &dyn Counter,
) -> Result<Vec<Weighed>, L::Error> {
    let mut weighed = Vec::with_capacity(path.len());
    let mut open = HashMap::new();
    for (at, seq) in path.iter().enumerate() {
        let what = log.record(*seq).map_or(What::Other, |record| what(record.kind, record.role));
        let mut entry = Weighed { seq: *seq, what, tokens: 0, call: None };
        if !matches!(what, What::Other | What::Compaction) {
            let line = body(log, *seq, lines)?;
            if let Some(message) = Raw::parse(&line).and_then(Message::of_entry) {
                entry.tokens = tokens::count(&message, counter);
                entry.call = message.result.as_ref().and_then(|result| open.remove(&result.call));
                open.extend(message.calls().filter_map(Part::call_id).map(|id| (id.to_owned(), at)));
            }
        }
        weighed.push(entry);
    }
    Ok(weighed)
}

/// Returns where on a path the next compaction starts: at what the last one kept, and never before a reset.
pub fn start<L: Lines + ?Sized>(
    log: &Log,
    path: &[Seq],
    compacted_by: Option<Seq>,
    lines: &L,
) -> Result<usize, L::Error> {
    let is_reset = |seq: &Seq| log.record(*seq).is_some_and(|record| record.kind == Kind::ResetBoundary);
    let after_reset = path.iter().rposition(is_reset).map_or(0, |at| at + 1);
    let Some(last) = compacted_by else { return Ok(after_reset) };
    let line = body(log, last, lines)?;
    let kept = Raw::parse(&line).and_then(|compaction| first_kept(log, compaction));
    let place = |seq: Option<Seq>| path.iter().position(|known| Some(*known) == seq);
    let last = place(Some(last));
    // What a compaction keeps stands in front of it; anything else it names is nothing.
    let kept = place(kept).filter(|kept| last.is_some_and(|last| *kept < last));
    Ok(kept.or_else(|| last.map(|at| at + 1)).unwrap_or_default().max(after_reset))
}

fn what(kind: Kind, role: Role) -> What {
    match (kind, role) {
        (Kind::Message, Role::User | Role::BashExecution) | (Kind::CustomMessage | Kind::BranchSummary, _) => {
            What::Start
        }
        (Kind::Message, Role::Assistant) => What::Answer,
        (Kind::Message, Role::ToolResult) => What::Result,
        (Kind::Message, _) => What::Message,
        (Kind::Compaction, _) => What::Compaction,
        _ => What::Other,
    }
}
