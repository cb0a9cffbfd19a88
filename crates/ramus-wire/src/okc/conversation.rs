//! A conversation as a client saved it, with what it left out filled in, and what was said since.

use std::collections::HashMap;

use ramus_engine::{EngineError, SaidMessage, Session, SessionInfo};
use ramus_model::EntryId;
use ramus_model::json::{Raw, Spelled};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use crate::object_of;
use crate::removal::DeletedSession;

/// A page of conversations.
#[derive(ToSchema)]
pub struct ConversationPage {
    /// The one that was saved or gone on with last first.
    pub conversations: Vec<Conversation>,
    /// How many there are.
    pub total: usize,
}

/// A conversation, alone.
#[derive(ToSchema)]
pub struct OneConversation {
    /// What it is.
    pub conversation: Conversation,
}

/// A conversation, as its client saved it, with what it left out filled in. Whatever else was saved is in it too.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Conversation {
    /// What it is called by its client.
    pub id: String,
    /// The title.
    pub title: String,
    /// When it was made.
    pub created_at: String,
    /// When it was last saved, or something was last said in it.
    pub updated_at: String,
    /// The messages as they were saved, or those of the path when the session has gone on.
    pub messages: Vec<Value>,
    /// The branches as they were saved.
    pub branches: Value,
    /// The workspace as it was saved, with what the home sees of it.
    #[schema(required = false)]
    pub workspace: Value,
    /// Whatever else was saved.
    #[serde(flatten)]
    pub saved: Map<String, Value>,
}

/// A message of a session that has gone on.
#[derive(Serialize)]
struct ConversationMessage {
    id: String,
    role: String,
    content: String,
    timestamp: String,
    pending: bool,
}

/// A conversation that was deleted.
#[derive(Serialize, ToSchema)]
pub struct ConversationDeleted<'d> {
    /// What went of its session.
    #[serde(flatten)]
    pub session: DeletedSession<'d>,
    /// Always true.
    pub deleted: bool,
    /// What it was called by its client.
    pub id: String,
    /// What became of its workspace.
    pub workspace: ConversationPlace,
}

/// What became of the workspace of a conversation.
#[derive(Default, Serialize, ToSchema)]
pub struct ConversationPlace {
    /// Whether it was removed.
    pub removed: bool,
    /// Where it was, or is; left out when there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub path: Option<String>,
    /// What was deployed there, when it was removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub deployments_removed: Option<Vec<String>>,
    /// Why it was not removed, when there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
}

/// Describes a conversation. What a client saved is told as it was, spelled as it was; messages are told anew when the
/// session has gone on.
pub fn conversation(session: &Session, info: &SessionInfo) -> Result<Spelled, EngineError> {
    let saved = session.conversation()?;
    let path = session.said_on_path()?;
    let leaf = path.last().map(|said| session.entry_id(said.seq));
    let mut told = saved.as_ref().map(|saved| saved.payload.clone()).unwrap_or_default();
    let is_current = saved.as_ref().is_some_and(|saved| saved.leaf == leaf) && says(&told, "messages");
    if !is_current {
        let order = saved.as_ref().and_then(|saved| saved.order.as_deref());
        let is_hidden = |id: &EntryId| saved.as_ref().is_some_and(|saved| saved.hidden.contains(id));
        let shown = path.into_iter().map(|said| (session.entry_id(said.seq), said));
        put(&mut told, "messages", &messages(shown.filter(|(id, _)| !is_hidden(id)).collect(), order).into());
    }
    // An id that cannot be one of ours is only in the payload.
    put_missing(&mut told, "id", &info.id.as_str().into());
    // One that reads the same may be spelled in another way.
    if told.member("title").and_then(Raw::text).as_deref() != Some(info.title.as_str()) {
        put(&mut told, "title", &info.title.as_str().into());
    }
    let (created, updated) = match &saved {
        Some(saved) => (saved.created.as_str(), saved.updated.as_str()),
        None => (info.created.as_str(), info.updated.as_str()),
    };
    put(&mut told, "createdAt", &created.into());
    put(&mut told, "updatedAt", &updated.into());
    put_missing(&mut told, "branches", &json!({}));
    fill_in(&mut told, info);
    Ok(told)
}

fn put(object: &mut Spelled, name: &str, value: &Value) {
    if let Some(value) = Raw::parse(value.to_string().as_bytes()) {
        object.put(name, value);
    }
}

fn put_missing(object: &mut Spelled, name: &str, value: &Value) {
    if !says(object, name) {
        put(object, name, value);
    }
}

/// Says whether an object has something under a name. Null is nothing: whoever saves it leaves alone what there is.
fn says(object: &Spelled, name: &str) -> bool {
    object.member(name).is_some_and(|value| !value.is_null())
}

/// Tells messages as a client has them: first in its order, then what is not in it.
fn messages(shown: Vec<(EntryId, SaidMessage)>, order: Option<&[EntryId]>) -> Vec<Value> {
    let mut rank: HashMap<&EntryId, usize> = HashMap::new();
    for (at, id) in order.into_iter().flatten().enumerate() {
        rank.entry(id).or_insert(at);
    }
    let mut shown: Vec<(usize, SaidMessage)> =
        shown.into_iter().map(|(id, said)| (rank.get(&id).copied().unwrap_or(usize::MAX), said)).collect();
    shown.sort_by_key(|(rank, _)| *rank);
    let told = |(_, said): (usize, SaidMessage)| {
        let SaidMessage { id, role, text, timestamp, .. } = said;
        object_of(&ConversationMessage { id, role, content: text, timestamp, pending: false }).into()
    };
    shown.into_iter().map(told).collect()
}

/// Adds what is known about the workspace and was not sent. What the home sees itself counts before what was reported.
fn fill_in(told: &mut Spelled, info: &SessionInfo) {
    let mut workspace = object(told, "workspace");
    let mut paths = object(&workspace, "paths");
    let known = [("internal_root", &info.workspace.root), ("mount", &info.workspace.mount)];
    for (name, value) in known.into_iter().chain([("session_id", &info.workspace.session)]) {
        if let Some(value) = value {
            put_missing(&mut paths, name, &value.as_str().into());
        }
    }
    let mut git = object(&workspace, "git");
    if let Some(commit) = &info.git.commit {
        put(&mut git, "commit", &commit.as_str().into());
    }
    if let Some(dirty) = info.git.dirty {
        put(&mut git, "is_dirty", &dirty.into());
    }
    put_object(&mut workspace, "paths", &paths);
    put_object(&mut workspace, "git", &git);
    put_object(told, "workspace", &workspace);
}

/// Returns a member that is an object, or an empty one.
fn object(around: &Spelled, name: &str) -> Spelled {
    around.member(name).map(Spelled::of).unwrap_or_default()
}

/// Puts an object in its place, unless nothing is known that it could say.
fn put_object(around: &mut Spelled, name: &str, inner: &Spelled) {
    if !inner.is_empty()
        && let Some(inner) = Raw::parse(&inner.bytes())
    {
        around.put(name, inner);
    }
}
