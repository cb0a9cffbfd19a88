//! What the session of a client is, and its root.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::{HistoryNode, WebPreview, WorkspaceState};

/// The session of a client; mostly null before there is one.
#[derive(Serialize, ToSchema)]
pub struct ClientSession<'c> {
    /// The client.
    pub client_id: &'c str,
    /// The session.
    #[schema(required)]
    pub session: Option<&'c str>,
    /// What its nodes are named after.
    #[schema(required)]
    pub session_id: Option<Cow<'c, str>>,
    /// Whether it was seeded.
    pub booted: bool,
    /// What models are told first.
    #[schema(required)]
    pub system_prompt: Option<String>,
    /// How many nodes the path has.
    pub history_length: usize,
    /// What its nodes are named after.
    #[schema(required)]
    pub history_namespace: Option<Cow<'c, str>>,
    /// The last nodes of the path, oldest first.
    #[schema(value_type = Vec<HistoryNode>)]
    pub history: Vec<Map<String, Value>>,
    /// Where it works.
    pub workspace: ClientPlace<'c>,
    /// Its workspace, where that is not told beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = WorkspaceState, required = false)]
    pub workspace_state: Option<Map<String, Value>>,
}

/// Where a session of a client works.
#[derive(Default, Serialize, ToSchema)]
pub struct ClientPlace<'c> {
    /// What it is called.
    #[schema(required)]
    pub id: Option<Cow<'c, str>>,
    /// Where the session sees it.
    #[schema(required)]
    pub mount: Option<String>,
    /// Where it is.
    #[schema(required)]
    pub internal_root: Option<String>,
    /// The directory of the session.
    #[schema(required)]
    pub cwd: Option<&'c str>,
}

/// The word of welcome, and the session.
#[derive(Serialize, ToSchema)]
pub struct BootReply<'c> {
    /// The word of welcome.
    pub reply: &'c str,
    /// Whether the session was seeded.
    pub booted: bool,
    /// What is told as chats tell it, once there is a session.
    #[serde(flatten)]
    #[schema(value_type = BootThings, required)]
    pub things: Option<BootThings>,
    /// The session.
    pub vm: ClientSession<'c>,
    /// The workspace.
    #[schema(value_type = WorkspaceState)]
    pub workspace_state: Map<String, Value>,
}

/// What a word of welcome tells as chats do.
#[derive(Serialize, ToSchema)]
pub struct BootThings {
    /// What is known of the session.
    #[schema(required = false)]
    pub meta: BootMeta,
    /// Always null.
    #[schema(value_type = Option<WebPreview>, required = false)]
    pub web_preview: (),
    /// Always empty.
    #[schema(value_type = Vec<Value>, required = false)]
    pub ppt_slides: [(); 0],
    /// Always empty.
    #[schema(value_type = Vec<Value>, required = false)]
    pub artifacts: [(); 0],
}

/// What is known of a session that was seeded.
#[derive(Serialize, ToSchema)]
pub struct BootMeta {
    /// The title.
    pub summary: String,
}

impl BootThings {
    /// What is told of a session of this title.
    pub fn titled(title: String) -> Self {
        Self { meta: BootMeta { summary: title }, web_preview: (), ppt_slides: [], artifacts: [] }
    }
}

/// The last nodes of a path.
#[derive(Serialize, ToSchema)]
pub struct HistoryPage {
    /// Oldest first.
    #[schema(value_type = Vec<HistoryNode>)]
    pub history: Vec<Map<String, Value>>,
    /// How many the path has.
    pub history_length: usize,
}

/// A history that was erased.
#[derive(Serialize, ToSchema)]
pub struct ClearedHistory<'c> {
    /// Always true.
    pub history_cleared: bool,
    /// How many messages it had.
    pub cleared_messages: usize,
    /// What became of the workspace.
    pub workspace: ClearedPlace,
    /// The session as it is now.
    pub vm: ClientSession<'c>,
}

/// What became of a workspace.
#[derive(Serialize, ToSchema)]
pub struct ClearedPlace {
    /// Whether it was removed.
    pub removed: bool,
    /// Where it was; told when there was a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    pub path: Option<Option<String>>,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, required = false)]
    pub internal_root: Option<Option<String>>,
    /// What was deployed there; told when there was a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub deployments: Option<ClearedDeployments>,
}

/// What was deployed in a workspace that was removed.
#[derive(Serialize, ToSchema)]
pub struct ClearedDeployments {
    /// What went with it.
    pub removed: Vec<String>,
}
