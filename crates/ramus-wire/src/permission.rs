//! Rules and approvals.

use ramus_engine::settings::Agent;
use ramus_engine::{Granted, Session};
use ramus_model::permission::{Covered, Layer, Permissions, Rule};
use serde_json::{Map, Value, json};

use crate::members;

/// What an agent may do in a session: its rules, how many are built in, and what was approved.
pub fn in_force(
    session: &Session,
    agent: &Agent,
    permissions: &Permissions,
    built_in: usize,
    approvals: &[Granted],
) -> Map<String, Value> {
    members(json!({
        "session": session.id().as_str(),
        "agent": agent.name,
        "read_only": agent.is_read_only(),
        "rules": permissions.rules().map(|(layer, given)| rule(layer, given)).collect::<Vec<_>>(),
        "built_in": built_in,
        "approvals": approvals.iter().map(approval).collect::<Vec<_>>(),
    }))
}

/// A rule, and where it comes from.
pub fn rule(layer: Layer, rule: &Rule) -> Value {
    json!({
        "layer": layer.to_string(), "permission": rule.permission, "pattern": rule.pattern,
        "action": rule.action.to_string(),
    })
}

/// Something a person said yes to.
pub fn approval(granted: &Granted) -> Value {
    let (exact, pattern) = match &granted.approval.covered {
        Covered::Exact(bytes) => (Some(bytes), None),
        Covered::Pattern(pattern) => (None, Some(pattern)),
    };
    json!({
        "id": granted.id, "permission": granted.approval.permission, "exact": exact, "pattern": pattern,
        "scope": granted.approval.scope, "time": granted.time, "session": granted.session,
        "project": granted.project.root,
    })
}
