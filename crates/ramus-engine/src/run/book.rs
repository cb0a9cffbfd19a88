//! The entries that only record what a turn did, for whoever goes on with it, or how a session began.
//!
//! The invariant: a person never has to know of them. Views leave them out, and what is said of one is said of what it
//! follows.

use ramus_model::json::Raw;
use ramus_model::{Kind, Seq};

use super::store::STARTED;
use crate::session::Session;
use crate::workspace::TURN;

/// Says whether an entry only records that something was done which its neighbours show.
pub fn keeps_book(session: &Session, seq: Seq) -> bool {
    let log = session.log();
    let custom = log.record(seq).filter(|record| record.kind == Kind::Custom).and_then(|_| log.place(seq));
    let Some(Ok(line)) = custom.map(|place| session.line_at(place)) else { return false };
    let name = Raw::parse(&line).and_then(|entry| entry.field("customType")?.text());
    name.is_some_and(|name| name == STARTED || name == "ramus.boot" || name.strip_prefix("ramus.") == Some(TURN))
}

/// Returns the entry itself, or the nearest one above that is more than bookkeeping.
pub(crate) fn told(session: &Session, seq: Seq) -> Seq {
    let log = session.log();
    let above = std::iter::successors(Some(seq), |&at| log.record(at)?.parent());
    above.take(log.len()).find(|&at| !keeps_book(session, at)).unwrap_or(seq)
}
