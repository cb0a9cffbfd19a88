//! What is known about the workspace that a conversation was made in: what the home sees itself, or else what was reported.

use ramus_engine::{GitState, Session, SessionInfo, Standing, Workspace};
use ramus_model::json::Spelled;
use ramus_wire::okc::{self as shape, ConversationPlace};
use serde_json::{Map, Value};

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
    let reported = Reported::of(payload);
    // A payload that says nothing about it leaves it where it is known to be.
    let workspace = reported.as_ref().map_or_else(|| session.workspace(), |reported| reported.workspace.clone());
    let live = app.client_session(owner, client)?;
    if live.as_ref().is_some_and(|live| live.id() == session.id()) {
        // It knows its own workspace.
        return Ok(Standing::default());
    }
    let seen = match live.filter(|live| is_made_in(live, &workspace)) {
        Some(mut live) if app.engine.has_workspace(&live) => Some(seen(app, &mut live)?),
        _ => None,
    };
    let (workspace, git) = match reported {
        Some(reported) => (Some(workspace), seen.or(Some(reported.git))),
        None => (None, seen),
    };
    Ok(Standing { workspace, git })
}

/// Looks at the state that the workspace of a session is in.
fn seen(app: &App, live: &mut Session) -> Result<GitState, ApiError> {
    let (info, all) = app.look_at_workspace(live)?;
    let commit = shape::current(&all).map(|one| one.commit.to_string());
    Ok(GitState { commit, dirty: info.is_dirty })
}

/// What conversations are described with: what the home sees of the workspace that their client has now. It is looked at
/// when a conversation was made in it, and once for all of them.
pub(super) struct Sight<'a> {
    app: &'a App,
    owner: &'a Owner,
    client: &'a Client,
    live: Option<Option<Session>>,
    git: Option<Option<GitState>>,
}

impl<'a> Sight<'a> {
    pub(super) fn new(app: &'a App, owner: &'a Owner, client: &'a Client) -> Self {
        Self { app, owner, client, live: None, git: None }
    }

    /// Describes a conversation. One that has a workspace of its own says so as its session does: under the same name, and in
    /// the state that it is in.
    pub(super) fn described(&mut self, mut session: Session, mut info: SessionInfo) -> Result<Spelled, ApiError> {
        // Files that go while they are looked at are no reason not to tell the rest.
        let git = if self.app.engine.has_workspace(&session) {
            info.workspace.session = Some(session.namespace());
            seen(self.app, &mut session).ok()
        } else if info.workspace.root.is_some() {
            self.of_client(&info.workspace)?
        } else {
            None
        };
        if let Some(git) = git {
            info.git = git;
        }
        Ok(shape::conversation(&session, &info)?)
    }

    /// Returns the state of the workspace that the client has now, if it is this one.
    fn of_client(&mut self, workspace: &Workspace) -> Result<Option<GitState>, ApiError> {
        let live = match self.live.take() {
            Some(live) => live,
            None => self.app.client_session(self.owner, self.client)?,
        };
        let Some(live) = self.live.insert(live).as_mut() else { return Ok(None) };
        if !is_made_in(live, workspace) || !self.app.engine.has_workspace(live) {
            return Ok(None);
        }
        Ok(self.git.get_or_insert_with(|| seen(self.app, live).ok()).clone())
    }
}

/// Says whether a conversation was made in the workspace that a client's session has now.
fn is_made_in(live: &Session, workspace: &Workspace) -> bool {
    workspace.session.as_deref() == Some(live.namespace().as_str())
        && workspace.root.is_some()
        && workspace.root == live.workspace().root
}

/// Removes the workspace that a conversation was made in, if it is the one that its client has; says what became of it.
pub(super) fn cleared(app: &App, owner: &Owner, client: &Client, workspace: &Workspace) -> ConversationPlace {
    let Some(path) = &workspace.root else { return ConversationPlace::default() };
    let removed = app.client_session(owner, client).and_then(|live| match live {
        Some(live) if is_made_in(&live, workspace) && app.engine.has_workspace(&live) => {
            let deployments = assets::kept(&live);
            Ok(app.engine.remove_workspace(&live)?.map(|root| (root, deployments)))
        }
        _ => Ok(None),
    });
    match removed {
        Ok(Some((root, deployments))) => ConversationPlace {
            removed: true,
            path: Some(root.to_string_lossy().into_owned()),
            deployments_removed: Some(deployments),
            error: None,
        },
        Ok(None) => kept(path, "it is not the workspace of this client".into()),
        Err(error) => kept(path, error.to_string()),
    }
}

fn kept(path: &str, error: String) -> ConversationPlace {
    ConversationPlace { path: Some(path.to_owned()), error: Some(error), ..ConversationPlace::default() }
}
