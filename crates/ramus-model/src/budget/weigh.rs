//! What the entries of a path weigh.

use crate::context::body;
use crate::id::Seq;
use crate::json::Raw;
use crate::kind::{Kind, Role};
use crate::log::{Lines, Log};
use crate::message::Message;
use crate::tokens;

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
    /// Its tokens, estimated at four characters each.
    pub tokens: u64,
}

/// Weighs the entries of a path.
pub fn weigh<L: Lines + ?Sized>(log: &Log, path: &[Seq], lines: &L) -> Result<Vec<Weighed>, L::Error> {
    let mut weighed = Vec::with_capacity(path.len());
    for seq in path {
        let what = log.record(*seq).map_or(What::Other, |record| what(record.kind, record.role));
        let tokens = match what {
            What::Other | What::Compaction => 0,
            _ => {
                let line = body(log, *seq, lines)?;
                Raw::parse(&line).and_then(Message::of_entry).map_or(0, |message| tokens::estimate(&message))
            }
        };
        weighed.push(Weighed { seq: *seq, what, tokens });
    }
    Ok(weighed)
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
