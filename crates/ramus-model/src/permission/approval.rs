//! Approvals: what a person said yes to, and how far it reaches. An approval is bound to the bytes that were shown, or to a
//! pattern that the person chose; anything else is a new question.

use serde::{Deserialize, Serialize};

use super::decide::Question;
use super::wildcard::covers;

/// How long an approval holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// For the one call that was asked about. Whoever keeps approvals drops it with that call.
    Once,
    /// For the session.
    Session,
    /// For all sessions of the project.
    Project,
}

/// What an approval covers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Covered {
    /// These bytes and no others, as they were shown.
    Exact(String),
    /// Every subject that the pattern matches.
    Pattern(String),
}

/// Something a person said yes to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// How long it holds.
    pub scope: Scope,
    /// The permission it was given for; no wildcards.
    pub permission: String,
    /// What it covers.
    pub covered: Covered,
}

impl Approval {
    /// Says whether this approval answers a question as far as one subject goes. A question with a doubt is answered only by
    /// its own bytes: a pattern cannot speak of what nobody understood.
    pub(super) fn answers(&self, question: &Question, subject: &str) -> bool {
        self.permission == question.permission
            && match &self.covered {
                Covered::Exact(bytes) => *bytes == question.exact,
                Covered::Pattern(pattern) => question.doubt.is_none() && covers(pattern, subject),
            }
    }

    /// Says whether it is kept beyond the call it was given for.
    pub fn is_stored(&self) -> bool {
        self.scope != Scope::Once
    }
}
