//! Deciding: from rules, approvals and what a call wants to whether it may. Every subject must be allowed for a call to be;
//! one that is denied denies it.

use std::fmt;

use super::approval::Approval;
use super::wildcard::{covers, touches};
use super::{Action, Layer, Permissions, Rule};

/// What a call wants to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Question {
    /// The permission it needs.
    pub permission: String,
    /// What is shown to a person and what an approval is bound to, byte for byte.
    pub exact: String,
    /// What rules are matched against: each command, each path. May hold marks for what is unknown.
    pub subjects: Vec<String>,
    /// Other readings of the same call. Only rules that deny count for them.
    pub shades: Vec<String>,
    /// Why it is not certain that the subjects are all there is. With a doubt the answer is `ask`
    /// at best, unless everything is allowed.
    pub doubt: Option<String>,
}

/// Whether a call may run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What happens to it.
    pub action: Action,
    /// What decided it.
    pub because: Because,
}

/// What decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// A rule.
    Rule(Layer, Rule),
    /// No rule matches.
    NoRule(String),
    /// It is not certain what the call would do.
    Doubt(String),
    /// A person said yes.
    Approved(Approval),
    /// The call has no subject, so nothing could have been allowed.
    NoSubject,
}

impl fmt::Display for Because {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rule(layer, rule) => write!(out, "rule of the {layer}: {rule}"),
            Self::NoRule(subject) => write!(out, "no rule matches {subject:?}"),
            Self::Doubt(reason) => write!(out, "it is not certain what this does: {reason}"),
            Self::Approved(_) => out.write_str("it was approved"),
            Self::NoSubject => out.write_str("it names nothing that could be allowed"),
        }
    }
}

/// What the rules say about one subject.
struct Judged<'a> {
    action: Action,
    rule: Option<(Layer, &'a Rule)>,
    /// Whether some rule denies it, even if a later one says otherwise.
    denied: bool,
}

/// Decides whether a call may run. `approvals` are all that hold for the session.
pub fn decide(permissions: &Permissions, approvals: &[Approval], question: &Question) -> Decision {
    let mut strictest = decide_alone(permissions, approvals, question);
    let mut above = permissions.parent();
    while let Some(parent) = above {
        let decision = decide_alone(parent, approvals, question);
        if decision.action > strictest.action {
            strictest = decision;
        }
        above = parent.parent();
    }
    strictest
}

/// Decides by the rules of one session, without its parent's.
fn decide_alone(permissions: &Permissions, approvals: &[Approval], question: &Question) -> Decision {
    for shade in question.shades.iter().chain([&question.exact]) {
        let judged = judge(permissions, &question.permission, shade);
        if let (Action::Deny, Some((layer, rule))) = (judged.action, judged.rule) {
            return Decision { action: Action::Deny, because: Because::Rule(layer, rule.clone()) };
        }
    }
    let mut texts = question.subjects.iter().chain(&question.shades).chain([&question.exact]);
    let denied = texts.any(|text| judge(permissions, &question.permission, text).denied);
    let lift = |subject: &str| approval_for(approvals, question, subject, denied);
    let mut strictest: Option<Decision> = None;
    for subject in &question.subjects {
        let decision = decide_subject(permissions, question, subject, lift);
        if strictest.as_ref().is_none_or(|known| decision.action > known.action) {
            strictest = Some(decision);
        }
    }
    match (strictest, &question.doubt) {
        (Some(decision), None) => decision,
        (Some(decision), Some(_)) if decision.action > Action::Allow => decision,
        (Some(Decision { because: Because::Approved(approval), .. }), Some(_)) => {
            Decision { action: Action::Allow, because: Because::Approved(approval) }
        }
        (Some(_) | None, Some(reason)) => {
            match (allows_all(permissions, &question.permission), lift(&question.exact)) {
                (Some((layer, rule)), _) => {
                    Decision { action: Action::Allow, because: Because::Rule(layer, rule.clone()) }
                }
                (None, Some(approval)) => {
                    Decision { action: Action::Allow, because: Because::Approved(approval.clone()) }
                }
                (None, None) => Decision { action: Action::Ask, because: Because::Doubt(reason.clone()) },
            }
        }
        (None, None) => Decision { action: Action::Ask, because: Because::NoSubject },
    }
}

/// Finds the rule that allows everything of a permission, if it has the last word. Whatever a doubtful command does, that is
/// allowed too; with any rule behind it that asks or denies, nobody knows whether the command is meant by that one.
fn allows_all<'a>(permissions: &'a Permissions, permission: &str) -> Option<(Layer, &'a Rule)> {
    let mut rules = permissions.rules().rev().filter(|(_, rule)| covers(&rule.permission, permission));
    rules
        .find(|(_, rule)| rule.action > Action::Allow || rule.pattern == "*")
        .filter(|(_, rule)| rule.action == Action::Allow)
}

fn decide_subject<'a>(
    permissions: &Permissions,
    question: &Question,
    subject: &str,
    lift: impl Fn(&str) -> Option<&'a Approval>,
) -> Decision {
    let judged = judge(permissions, &question.permission, subject);
    if judged.action == Action::Ask
        && let Some(approval) = lift(subject)
    {
        return Decision { action: Action::Allow, because: Because::Approved(approval.clone()) };
    }
    let because = match judged.rule {
        Some((layer, rule)) => Because::Rule(layer, rule.clone()),
        None => Because::NoRule(subject.to_owned()),
    };
    Decision { action: judged.action, because }
}

/// Finds the approval that answers a question. What some rule denies and a later rule asks about is answered for the one
/// call only: no approval that was stored reaches it.
fn approval_for<'a>(
    approvals: &'a [Approval],
    question: &Question,
    subject: &str,
    denied: bool,
) -> Option<&'a Approval> {
    approvals.iter().find(|approval| approval.answers(question, subject) && !(denied && approval.is_stored()))
}

/// Judges one subject: the last rule that matches whatever its marks stand for decides, unless a rule behind it that may match
/// is stricter.
fn judge<'a>(permissions: &'a Permissions, permission: &str, subject: &str) -> Judged<'a> {
    let mut judged = Judged { action: Action::Allow, rule: None, denied: false };
    let mut settled = false;
    for (layer, rule) in permissions.rules().rev() {
        if !covers(&rule.permission, permission) || !touches(&rule.pattern, subject) {
            continue;
        }
        judged.denied |= rule.action == Action::Deny;
        if settled {
            continue;
        }
        if judged.rule.is_none() || rule.action > judged.action {
            judged.action = rule.action;
            judged.rule = Some((layer, rule));
        }
        settled = covers(&rule.pattern, subject);
    }
    if !settled && judged.action < Action::Ask {
        judged.action = Action::Ask;
        judged.rule = None;
    }
    judged
}
