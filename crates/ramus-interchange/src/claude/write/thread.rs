//! Where lines hang. Claude Code hangs the result of each call from the line of the call, and the lines of one answer from each
//! other, whatever stands between them; here an answer and its results are one path.

use super::Writer;
use crate::step::{Step, What};

/// How far a line is looked for: no answer has more lines and results.
const FARTHEST: usize = 4096;

/// What an entry is to an answer that came in pieces.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Thread {
    /// A piece of the message with this id.
    Piece(String),
    /// The result of a call.
    Result,
    /// A record that is no part of the conversation.
    Beside,
    Other,
}

impl Thread {
    pub(super) fn of(step: &Step<'_>) -> Self {
        match &step.what {
            What::Answer(answer) => Self::Piece(answer.response.as_deref().unwrap_or_default().to_owned()),
            What::Result(_) => Self::Result,
            What::Records => Self::Beside,
            _ => Self::Other,
        }
    }
}

impl Writer<'_> {
    /// Says whether a line may go on hanging where it hung: from any line of the entry that its own hangs from. A piece of an
    /// answer, and a result of one, may hang from any piece or result of the same answer that is before it on the path.
    pub(super) fn hangs_well(&self, step: &Step<'_>, uuid: &str) -> bool {
        let mut message = None;
        let is_thread = match Thread::of(step) {
            Thread::Piece(piece) => !message.insert(piece).is_empty(),
            Thread::Result => true,
            Thread::Beside | Thread::Other => false,
        };
        let reached = if is_thread { self.reached(uuid) } else { None };
        let (mut is_first, mut is_met) = (true, false);
        let mut parent = step.parent.as_deref();
        for _ in 0..FARTHEST {
            let Some((id, written)) = parent.and_then(|id| Some((id, self.written.get(id)?))) else { return false };
            parent = written.parent.as_deref();
            if written.uuids.is_empty() {
                continue;
            }
            let is_here = written.uuids.iter().any(|known| known == uuid);
            if is_here && is_first {
                return true;
            }
            is_first = false;
            is_met |= is_here || reached == Some(id);
            match &written.part {
                Thread::Result | Thread::Beside if is_thread => {}
                Thread::Piece(piece) if is_thread && message.get_or_insert_with(|| piece.clone()) == piece => {
                    if is_met || piece.is_empty() {
                        return is_met;
                    }
                }
                _ => return false,
            }
        }
        false
    }

    /// Says whether a line hung from one that was missing already: the gap stays where it is.
    pub(super) fn is_gone(&self, step: &Step<'_>, uuid: &str) -> bool {
        step.parent.as_deref().and_then(|parent| self.missing.get(parent)).is_some_and(|missing| missing == uuid)
    }

    /// The entry that a line hangs beside, when the line is no part of the conversation.
    fn reached<'a>(&'a self, uuid: &'a str) -> Option<&'a str> {
        let mut at = uuid;
        for _ in 0..FARTHEST {
            match self.written.get(at).filter(|written| written.part == Thread::Beside) {
                Some(written) => at = written.parent.as_deref()?,
                None => return (at != uuid).then_some(at),
            }
        }
        None
    }

    /// The line that a new line must hang from so that it hangs where its entry does.
    pub(super) fn hangs_from(&self, step: &Step<'_>) -> Option<&str> {
        let mut parent = step.parent.as_deref();
        while let Some(written) = parent.and_then(|parent| self.written.get(parent)) {
            if let Some(uuid) = written.uuids.last() {
                return Some(uuid);
            }
            parent = written.parent.as_deref();
        }
        None
    }
}
