//! What is known of a source from reading it before: one that shares an id with another session is read twice, to compare
//! and to act on it.

use std::collections::{HashMap, HashSet};

use ramus_model::SessionId;

/// What is known of a source from reading it before.
#[derive(Debug, Default)]
pub(super) struct Passes {
    /// What it turned out to be to the sessions that it shares an id with and that were not read from it.
    pub(super) verdicts: HashMap<SessionId, Verdict>,
    /// The sessions of it that are dealt with.
    pub(super) done: HashSet<SessionId>,
}

impl Passes {
    /// Says whether something was compared and not dealt with.
    pub(super) fn are_due(&self) -> bool {
        self.verdicts.keys().any(|id| !self.done.contains(id))
    }
}

/// What a source is to a session that was read from elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is being compared.
    Open,
    /// A copy.
    Copy,
    /// Another session with the same id.
    Other,
}
