//! Permission: what a model may do without asking, what it must ask for, and what it may never do.
//!
//! A [`Rule`] says what happens to the calls it matches. Rules come in layers: the agent's, the user's, the project's, the
//! session's. They are read in that order and the last one that matches decides, so a session may relax what a user wrote.
//! What no rule matches is asked. Two things no order of rules can undo: an approval that was stored never lifts what some
//! rule denies, and a child never may what its parent may not ([`Permissions::child_of`]).
//!
//! A rule names a permission (`bash`, `edit`, `write`, `read`, `task`, the name of an MCP tool) and a pattern for
//! the subjects of a call: commands, paths, addresses. In both, `*` stands for any text, `?` for one character, and a pattern
//! that ends in ` *` also matches without it, so that `git push *` speaks of `git push` too. Nothing else is special, and
//! letters match in their own case only.

mod approval;
mod decide;
mod rules;
mod wildcard;

pub use approval::{Approval, Covered, Scope};
pub use decide::{Because, Decision, Question, decide};
pub use rules::{RuleError, rules_from_json, rules_to_json};
pub use wildcard::{ANY, WORD, covers, touches};

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// What happens to a call. The later, the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl fmt::Display for Action {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// What happens to the calls that a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The permission it speaks of; may hold wildcards.
    pub permission: String,
    /// The subjects it speaks of; may hold wildcards.
    pub pattern: String,
    /// What happens to them.
    pub action: Action,
}

impl Rule {
    /// Makes a rule.
    pub fn new(permission: impl Into<String>, pattern: impl Into<String>, action: Action) -> Self {
        Self { permission: permission.into(), pattern: pattern.into(), action }
    }
}

/// Text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no permission")]
pub struct NoRule(String);

impl NoRule {
    /// What a rule looks like.
    pub const HINT: &str = "say NAME=allow, NAME=ask or NAME=deny, for example edit=allow or \"bash:cargo *=allow\"";
}

impl FromStr for Rule {
    type Err = NoRule;

    /// Reads `NAME=ACTION`, or `NAME:PATTERN=ACTION`, as people write rules; `all` is every name.
    fn from_str(text: &str) -> Result<Self, NoRule> {
        let wrong = || NoRule(text.to_owned());
        let (what, action) = text.rsplit_once('=').ok_or_else(wrong)?;
        let action = match action {
            "allow" => Action::Allow,
            "ask" => Action::Ask,
            "deny" => Action::Deny,
            _ => return Err(wrong()),
        };
        let (name, pattern) = what.split_once(':').unwrap_or((what, "*"));
        if name.is_empty() {
            return Err(wrong());
        }
        Ok(Self::new(if name == "all" { "*" } else { name }, pattern, action))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.action, self.permission, self.pattern)
    }
}

/// Who wrote a rule. Later layers are read after earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// The agent's definition, which includes what is built in.
    Agent,
    /// The user's settings.
    User,
    /// The project's settings, once they are trusted.
    Project,
    /// The session.
    Session,
}

impl fmt::Display for Layer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Agent => "agent",
            Self::User => "user",
            Self::Project => "project",
            Self::Session => "session",
        })
    }
}

/// The rules of a session, by layer, and those of its parent, which bind it too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    rules: Vec<(Layer, Rule)>,
    parent: Option<Arc<Permissions>>,
}

impl Permissions {
    /// Makes permissions without a rule: everything is asked.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the rules of a layer, behind those that the layer has.
    #[must_use]
    pub fn with(mut self, layer: Layer, rules: impl IntoIterator<Item = Rule>) -> Self {
        self.rules.extend(rules.into_iter().map(|rule| (layer, rule)));
        self.rules.sort_by_key(|(layer, _)| *layer);
        self
    }

    /// Binds these permissions to those of a parent: each call is judged by both, and the stricter judgement counts.
    #[must_use]
    pub fn child_of(mut self, parent: &Self) -> Self {
        let mut all = vec![std::mem::take(&mut self.rules)];
        let mut above = self.parent.take();
        while let Some(next) = above {
            all.push(next.rules.clone());
            above = next.parent.clone();
        }
        let mut bound = parent.clone();
        while let Some(rules) = all.pop() {
            bound = Self { rules, parent: Some(Arc::new(bound)) };
        }
        bound
    }

    /// Returns the rules in the order they are read, without those of the parent.
    pub fn rules(&self) -> impl DoubleEndedIterator<Item = (Layer, &Rule)> {
        self.rules.iter().map(|(layer, rule)| (*layer, rule))
    }

    /// Returns the permissions of the parent, when there is one.
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_deref()
    }
}

impl Drop for Permissions {
    /// Lets go of a long line of parents one by one, not one inside the other.
    fn drop(&mut self) {
        let mut above = self.parent.take();
        while let Some(mut next) = above.and_then(Arc::into_inner) {
            above = next.parent.take();
        }
    }
}
