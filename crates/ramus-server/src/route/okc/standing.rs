//! What is known about the workspace that a conversation was made in: what the home sees itself, or else what was reported.

use ramus_engine::{GitState, Session, Standing, Workspace};
use ramus_wire::okc as shape;
use serde_json::{Map, Value, json};

use super::{Client, assets};
use crate::access::Owner;
use crate::app::App;
use crate::error::ApiError;

/// What a payload says about a workspace.
struct Reported {
    workspace: Workspace,
    git: GitState,
}

impl Reported {
    fn of(payload: &Map<String, Value>) -> Option<Self> {
        let workspace = payload.get("workspace").and_then(Value::as_object)?;
        let part = |name: &str| workspace.get(name).and_then(Value::as_object);
        let text = |part: Option<&Map<String, Value>>, names: &[&str]| {
            let named = names.iter().find_map(|name| part?.get(*name)?.as_str());
            named.map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (paths, git) = (part("paths"), part("git"));
        Some(Self {
            workspace: Workspace {
                root: text(paths, &["internal_root", "internalRoot"]),
                mount: text(paths, &["mount"]),
                session: text(paths, &["session_id", "sessionId"]),
            },
            git: GitState {
                commit: text(git, &["commit", "head"]),
                dirty: git.and_then(|git| flag(git.get("is_dirty")?)),
            },
        })
    }
}

/// Reads whether something is so, however it is spelled.
fn flag(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

/// Says what to note about the workspace of a conversation.
pub(super) fn standing(
    app: &App,
    owner: &Owner,
    client: &Client,
    session: &Session,
    payload: &Map<String, Value>,
) -> Result<Standing, ApiError> {
    let Some(reported) = Reported::of(payload) else { return Ok(Standing::default()) };
    let live = app.client_session(owner, client)?;
    if live.as_ref().is_some_and(|live| live.id() == session.id()) {
        // It knows its own workspace.
        return Ok(Standing::default());
    }
    let git = match live.filter(|live| is_made_in(live, &reported)) {
        Some(mut live) if app.engine.has_workspace(&live) => {
            let (info, all) = app.look_at_workspace(&mut live)?;
            let commit = shape::current(&all).map(|one| one.commit.to_string());
            GitState { commit, dirty: info.is_dirty }
        }
        _ => reported.git,
    };
    Ok(Standing { workspace: Some(reported.workspace), git: Some(git) })
}

/// Says whether a conversation was made in the workspace that a client's session has now.
fn is_made_in(live: &Session, reported: &Reported) -> bool {
    reported.workspace.session.as_deref() == Some(live.namespace().as_str())
        && reported.workspace.root == live.workspace().root
}

/// Removes the workspace that a conversation was made in, if it is the one that its client has; says what became of it.
pub(super) fn cleared(app: &App, owner: &Owner, client: &Client, payload: &Map<String, Value>) -> Value {
    let Some(reported) = Reported::of(payload) else { return json!({"removed": false}) };
    let path = reported.workspace.root.clone();
    if path.is_none() {
        return json!({"removed": false});
    }
    let removed = app.client_session(owner, client).and_then(|live| match live {
        Some(live) if is_made_in(&live, &reported) && app.engine.has_workspace(&live) => {
            let deployments = assets::kept(&live);
            Ok(app.engine.remove_workspace(&live)?.map(|root| (root, deployments)))
        }
        _ => Ok(None),
    });
    match removed {
        Ok(Some((root, deployments))) => json!({"removed": true, "path": root, "deployments_removed": deployments}),
        Ok(None) => json!({"removed": false, "path": path, "error": "it is not the workspace of this client"}),
        Err(error) => json!({"removed": false, "path": path, "error": error.to_string()}),
    }
}
