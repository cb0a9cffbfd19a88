//! What programs are told: sessions, messages and entries as JSON objects.

use ramus_engine::{Forked, Session, SessionInfo, View, Written};
use ramus_model::{EntryId, Origin};
use ramus_store::Residence;
use serde_json::{Map, Value, json};

/// Takes the members of a `json!` object.
pub(crate) fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// A session as lists show it. What this version does not keep track of is null, zero or empty.
pub(crate) fn session(info: &SessionInfo) -> Map<String, Value> {
    let usage = &info.usage;
    members(json!({
        "id": info.id.as_str(),
        "path": info.path,
        "title": info.title,
        "cwd": info.cwd,
        "moved_to": info.moved_to,
        "state": state(info.residence),
        "messages": info.messages,
        "entries": info.entries,
        "created": info.created,
        "updated": info.updated,
        "compacting": false,
        "archived_at": info.archived_at,
        "archived": info.archived_at.is_some(),
        "owner": info.owner,
        "project": info.project.as_ref().map(|project| project.name()),
        "provider": info.provider,
        "model": info.model,
        "engine_version": info.engine_version,
        "parent": info.lineage.parent.as_ref().map(|id| id.as_str()),
        "forked_from": forked_from(info.lineage.forked_from.as_ref()),
        "context_tokens": info.last_prompt_tokens + info.last_completion_tokens,
        "last_prompt_tokens": info.last_prompt_tokens,
        "last_completion_tokens": info.last_completion_tokens,
        "usage": {
            "input": usage.input,
            "output": usage.output,
            "cache_read": usage.cache_read,
            "cache_write": usage.cache_write,
        },
        "cost_micros": usage.cost_micros,
        "summary": {"additions": 0, "deletions": 0, "files": 0},
        "share": null,
        "revert": null,
        "permission": [],
        "metadata": info.metadata,
        "tags": info.tags,
        "starred": info.starred,
        "status": info.status.name(),
        "damaged": info.damaged,
    }))
}

/// A session that was just made or changed.
pub(crate) fn brief_session(session: &Session) -> Map<String, Value> {
    members(json!({
        "id": session.id().as_str(),
        "path": session.location().path,
        "cwd": session.cwd(),
        "title": session.title(),
        "state": state(session.residence()),
        "forked_from": forked_from(session.lineage().forked_from.as_ref()),
    }))
}

/// What is told about a session that was just forked.
pub(crate) fn forked(fork: &Forked) -> Map<String, Value> {
    members(json!({
        "id": fork.id.as_str(),
        "path": fork.location.path,
        "cwd": fork.cwd,
        "title": fork.title,
        "state": state(fork.location.residence),
        "forked_from": forked_from(Some(&fork.origin)),
    }))
}

/// Where a session stands.
pub(crate) fn state(residence: Residence) -> &'static str {
    match residence {
        Residence::Draft => "draft",
        Residence::Published => "published",
        Residence::InPlace => "in-place",
        Residence::Memory => "ephemeral",
        Residence::Base => "base",
    }
}

fn forked_from(origin: Option<&Origin>) -> Value {
    origin.map_or(Value::Null, |origin| json!({"session": origin.session.as_str(), "entry": origin.entry.as_str()}))
}

/// One message of a conversation.
pub(crate) fn message(view: &View) -> Map<String, Value> {
    let parts: Vec<Value> = view.message.parts.iter().map(|part| part.to_json()).collect();
    members(json!({
        "id": view.id.as_str(),
        "seq": view.seq.number(),
        "parent": view.parent.as_ref().map(EntryId::as_str),
        "role": view.message.role_name,
        "text": view.message.text(),
        "parts": parts,
        "tokens": view.tokens,
        "timestamp": view.timestamp,
        "label": view.label,
    }))
}

/// An entry that was just written.
pub(crate) fn written(written: &Written) -> Map<String, Value> {
    members(json!({
        "id": written.id.as_str(),
        "seq": written.seq.number(),
        "parent": written.parent.as_ref().map(EntryId::as_str),
    }))
}
