//! Rules and approvals.

use ramus_engine::Granted;
use ramus_model::permission::{Covered, Layer, Rule};
use serde_json::{Value, json};

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
