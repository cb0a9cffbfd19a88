//! `follow`: the lines of a log as they are written.
//!
//! Every whole line is handed out exactly once, never a part of one. What is behind the last newline is read again the
//! next time, because its writer may still take it back.

use std::sync::Arc;

use ramus_model::Tail;
use ramus_store::{Incarnation, Location, LogStore, StoreError};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session::{Session, find};

/// What became of a log since the last look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// These whole lines were added, without their newlines; none when nothing happened.
    Lines(Vec<Vec<u8>>),
    /// The log was replaced or cut: it is read from its beginning again, with the next look.
    StartedOver,
    /// The session was deleted.
    Gone,
}

/// Reads a log on and on, through publication and moves.
pub struct Follower {
    store: Arc<dyn LogStore>,
    at: Location,
    incarnation: Incarnation,
    /// Behind the last newline that was handed out.
    offset: u64,
}

impl Engine {
    /// Follows the log of a session from its last `lines` own entries on.
    pub fn follow(&self, session: &Session, lines: usize) -> Result<Follower, EngineError> {
        let mut follower = Follower {
            store: Arc::clone(&self.store),
            at: session.location().clone(),
            incarnation: session.position().incarnation,
            offset: 0,
        };
        follower.offset = follower.start(session, lines)?;
        Ok(follower)
    }
}

impl Follower {
    /// Returns the lines that were added since the last call.
    pub fn next_lines(&mut self) -> Result<Followed, EngineError> {
        match self.look() {
            Err(StoreError::NotFound { .. }) => {}
            followed => return Ok(followed?),
        }
        // Published or moved, unless it is really gone.
        match find(self.store.as_ref(), &self.at.id)?.filter(|found| *found != self.at) {
            Some(found) => {
                self.at = found;
                Ok(self.look()?)
            }
            None => Ok(Followed::Gone),
        }
    }

    fn look(&mut self) -> Result<Followed, StoreError> {
        let mut bytes = Vec::new();
        let read = self.store.read(&self.at, self.offset, &mut |chunk| bytes.extend_from_slice(chunk))?;
        let is_other = std::mem::replace(&mut self.incarnation, read.incarnation) != read.incarnation;
        if is_other || !self.starts_line(self.offset)? {
            self.offset = 0;
            return Ok(Followed::StartedOver);
        }
        let mut lines = Vec::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let Some(whole) = line.strip_suffix(b"\n") else { break };
            self.offset += line.len() as u64;
            lines.push(whole.to_vec());
        }
        Ok(Followed::Lines(lines))
    }

    /// Says whether a line starts at `offset`: a log that was cut or changed before it has no newline there.
    fn starts_line(&self, offset: u64) -> Result<bool, StoreError> {
        match offset.checked_sub(1) {
            Some(before) => Ok(self.store.read_at(&self.at, before, 1)? == b"\n"),
            None => Ok(true),
        }
    }

    /// Where the last `lines` entries start; damaged lines that hold several are handed out whole.
    fn start(&self, session: &Session, lines: usize) -> Result<u64, StoreError> {
        let log = session.log();
        let end = match log.tail() {
            Tail::Ended => Some(log.end()),
            Tail::Torn { from } => Some(from),
            Tail::Unended => None,
        };
        let own = log.seqs().rev().filter_map(|seq| log.stored_place(seq)).filter(|place| place.source == 0);
        let starts = end.into_iter().chain(own.map(|place| place.offset));
        let mut start = 0;
        for (at, offset) in starts.enumerate() {
            if self.starts_line(offset)? {
                start = offset;
                if at >= lines {
                    break;
                }
            }
        }
        Ok(start)
    }
}
