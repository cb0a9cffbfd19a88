//! Rules and approvals.

use ramus_engine::settings::Agent;
use ramus_engine::{Granted, Session};
use ramus_model::permission::{Covered, Layer, Permissions, Rule, Scope};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, words};

/// What an agent may do in a session.
#[derive(Serialize, ToSchema)]
pub struct PermissionsInForce<'p> {
    session: &'p str,
    agent: &'p str,
    /// Whether it may only look.
    read_only: bool,
    /// In the order they are read.
    rules: Vec<PermissionRule<'p>>,
    /// How many rules are built in.
    built_in: usize,
    approvals: Vec<KnownApproval<'p>>,
}

/// What an agent may do in a session: its rules, how many are built in, and what was approved.
pub fn in_force(
    session: &Session,
    agent: &Agent,
    permissions: &Permissions,
    built_in: usize,
    approvals: &[Granted],
) -> Map<String, Value> {
    object_of(&PermissionsInForce {
        session: session.id().as_str(),
        agent: &agent.name,
        read_only: agent.is_read_only(),
        rules: permissions.rules().map(|(layer, given)| PermissionRule::of(layer, given)).collect(),
        built_in,
        approvals: approvals.iter().map(KnownApproval::from).collect(),
    })
}

/// A rule, and where it comes from.
#[derive(Serialize, ToSchema)]
struct PermissionRule<'p> {
    #[schema(schema_with = words::layers)]
    layer: String,
    permission: &'p str,
    pattern: &'p str,
    #[schema(schema_with = words::verdicts)]
    action: String,
}

impl<'p> PermissionRule<'p> {
    fn of(layer: Layer, rule: &'p Rule) -> Self {
        Self {
            layer: layer.to_string(),
            permission: &rule.permission,
            pattern: &rule.pattern,
            action: rule.action.to_string(),
        }
    }
}

/// Something a person said yes to.
#[derive(Serialize, ToSchema)]
struct KnownApproval<'p> {
    id: &'p str,
    permission: &'p str,
    /// What it covers and nothing else, as it was shown; null when it covers a pattern.
    #[schema(required)]
    exact: Option<&'p str>,
    /// What it covers all that matches of; null when it covers one thing.
    #[schema(required)]
    pattern: Option<&'p str>,
    #[schema(schema_with = words::scopes)]
    scope: Scope,
    time: &'p str,
    session: &'p str,
    /// The directory of the project.
    project: &'p str,
}

impl<'p> From<&'p Granted> for KnownApproval<'p> {
    fn from(granted: &'p Granted) -> Self {
        let (exact, pattern) = match &granted.approval.covered {
            Covered::Exact(bytes) => (Some(bytes.as_str()), None),
            Covered::Pattern(pattern) => (None, Some(pattern.as_str())),
        };
        Self {
            id: &granted.id,
            permission: &granted.approval.permission,
            exact,
            pattern,
            scope: granted.approval.scope,
            time: &granted.time,
            session: &granted.session,
            project: &granted.project.root,
        }
    }
}

/// An approval that was taken back.
#[derive(Serialize, ToSchema)]
pub struct RevokedApproval<'p> {
    /// What held until now.
    revoked: KnownApproval<'p>,
}

/// An approval that was taken back.
pub fn revoked(granted: &Granted) -> Map<String, Value> {
    object_of(&RevokedApproval { revoked: granted.into() })
}
