//! A conversation as a client saved it, with what it left out filled in, and what was said since.

use std::collections::HashMap;

use ramus_engine::{EngineError, SaidMessage, Session, SessionInfo};
use ramus_model::EntryId;
use serde_json::{Map, Value, json};

/// Describes a conversation. What a client saved is told as it was; messages are told anew when the session has gone on.
pub fn conversation(session: &Session, info: &SessionInfo) -> Result<Map<String, Value>, EngineError> {
    let saved = session.conversation()?;
    let path = session.said_on_path()?;
    let leaf = path.last().map(|said| session.entry_id(said.seq));
    let mut told = saved.as_ref().map(|saved| saved.payload.clone()).unwrap_or_default();
    let is_current = saved.as_ref().is_some_and(|saved| saved.leaf == leaf) && told.contains_key("messages");
    if !is_current {
        let order = saved.as_ref().and_then(|saved| saved.order.as_deref());
        let is_hidden = |id: &EntryId| saved.as_ref().is_some_and(|saved| saved.hidden.contains(id));
        let shown = path.into_iter().map(|said| (session.entry_id(said.seq), said));
        told.insert("messages".into(), messages(shown.filter(|(id, _)| !is_hidden(id)).collect(), order).into());
    }
    // An id that cannot be one of ours is only in the payload.
    told.entry("id").or_insert_with(|| info.id.as_str().into());
    told.insert("title".into(), info.title.as_str().into());
    let (created, updated) = match &saved {
        Some(saved) => (saved.created.as_str(), saved.updated.as_str()),
        None => (info.created.as_str(), info.updated.as_str()),
    };
    told.insert("createdAt".into(), created.into());
    told.insert("updatedAt".into(), updated.into());
    told.entry("branches").or_insert_with(|| json!({}));
    fill_in(&mut told, info);
    Ok(told)
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
        json!({
            "id": said.id, "role": said.role, "content": said.text, "timestamp": said.timestamp, "pending": false,
        })
    };
    shown.into_iter().map(told).collect()
}

/// Adds what is known about the workspace and was not sent. What the home sees itself counts before what was reported.
fn fill_in(told: &mut Map<String, Value>, info: &SessionInfo) {
    let mut workspace = told.remove("workspace").and_then(object).unwrap_or_default();
    let mut paths = workspace.remove("paths").and_then(object).unwrap_or_default();
    let known = [("internal_root", &info.workspace.root), ("mount", &info.workspace.mount)];
    for (name, value) in known.into_iter().chain([("session_id", &info.workspace.session)]) {
        if let Some(value) = value {
            paths.entry(name).or_insert_with(|| value.as_str().into());
        }
    }
    let mut git = workspace.remove("git").and_then(object).unwrap_or_default();
    if let Some(commit) = &info.git.commit {
        git.insert("commit".into(), commit.as_str().into());
    }
    if let Some(dirty) = info.git.dirty {
        git.insert("is_dirty".into(), dirty.into());
    }
    if !paths.is_empty() {
        workspace.insert("paths".into(), paths.into());
    }
    if !git.is_empty() {
        workspace.insert("git".into(), git.into());
    }
    if !workspace.is_empty() {
        told.insert("workspace".into(), workspace.into());
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    if let Value::Object(object) = value { Some(object) } else { None }
}
