//! Conversations: the trees that clients keep, each of them a session.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{
    CONVERSATION, Children, EngineError, ErrorKind, Filter, NewSession, Session, SessionInfo, check_conversation,
};
use ramus_model::{SessionId, time};
use ramus_wire::okc as shape;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use super::client::CLIENT;
use super::standing::{cleared, standing};
use super::{Client, Whose};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::{App, moved};
use crate::document::{Refusals, Shape};
use crate::error::{ApiError, Kind};
use crate::input::{Asked, Body, Expected, Named};

/// How many conversations a page holds when nobody says, and at most.
const PAGE: usize = 100;
const MOST: usize = 1000;

/// The longest id of a conversation, in characters.
const LONGEST_ID: usize = 64;

/// Which conversations are listed.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Range {
    /// At most so many; 100 when nobody says.
    limit: Option<usize>,
    /// Behind so many.
    offset: usize,
}

/// Lists the conversations of a client, the one that was saved or gone on with last first.
#[utoipa::path(get, path = "/api/conversations", tag = "workbench", params(Whose, Range),
    responses((status = 200, description = "The conversations, whole, and how many there are", body = Shape), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(range): Asked<Range>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let filter = Filter { owner: Some(owner.name().to_owned()), drafts: true, ..Filter::default() };
        let mut all = app.engine.list(&filter)?.sessions;
        all.retain(|info| info.lineage.parent.is_none() && client.has(&info.metadata));
        all.sort_by_cached_key(|info| (std::cmp::Reverse(updated(info)), info.id.to_string()));
        let total = all.len();
        let page = all.into_iter().skip(range.offset).take(range.limit.unwrap_or(PAGE).min(MOST));
        let mut told = Vec::new();
        for info in page {
            match app.session(&owner, info.id.as_str()) {
                Ok(session) => told.push(shape::conversation(&session, &info)?),
                // Deleted since.
                Err(error) if error.kind() == Kind::Engine(ErrorKind::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Answer::json(json!({"conversations": told, "total": total})))
    })
    .await
}

/// When a conversation was last saved, or something was last said in it.
fn updated(info: &SessionInfo) -> i64 {
    let saved = info.metadata.get(CONVERSATION).and_then(|saved| saved.get("updated")).and_then(Value::as_str);
    saved.and_then(time::parse).unwrap_or_default().max(info.updated_millis)
}

/// Shows a conversation.
#[utoipa::path(get, path = "/api/conversations/{id}", tag = "workbench",
    params(("id" = String, Path, description = "The conversation"), Whose),
    responses((status = 200, description = "The conversation", body = Shape), Refusals))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| told(&open(app, &owner, &client, &id)?)).await
}

/// Saves a conversation under the id that it has.
#[utoipa::path(post, path = "/api/conversations", tag = "workbench",
    request_body(content = Object, description = "The conversation: id, title, messages, branches, workspace, and whatever else"),
    params(Whose, ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The conversation as it is now", body = Shape),
        (status = 201, description = "It is new", body = Shape), Refusals))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    expected: Expected,
    Body(payload): Body<Map<String, Value>>,
) -> Result<Answer, ApiError> {
    let id = payload.get("id").and_then(Value::as_str).map(str::trim).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ApiError::invalid("a conversation has an `id`"))?.to_owned();
    app.work(move |app| save(app, &owner, &client, &id, payload, expected)).await
}

/// Saves a conversation: messages that are new are appended, those that are missing are hidden, nothing is erased.
#[utoipa::path(put, path = "/api/conversations/{id}", tag = "workbench",
    request_body(content = Object, description = "The conversation: title, messages, branches, workspace, and whatever else"),
    params(("id" = String, Path, description = "The conversation"), Whose,
        ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The conversation as it is now", body = Shape),
        (status = 201, description = "It is new", body = Shape), Refusals))]
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
    expected: Expected,
    Body(mut payload): Body<Map<String, Value>>,
) -> Result<Answer, ApiError> {
    payload.insert("id".into(), id.trim().into());
    app.work(move |app| save(app, &owner, &client, id.trim(), payload, expected)).await
}

/// Deletes a conversation for good, with the workspace and the deployments that were made for it.
#[utoipa::path(delete, path = "/api/conversations/{id}", tag = "workbench",
    params(("id" = String, Path, description = "The conversation"), Whose,
        ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was removed", body = Shape), Refusals))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
    expected: Expected,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let _place = app.places.hold(&owner, &client);
        let session = open(app, &owner, &client, &id)?;
        check(&session, expected)?;
        let payload = session.conversation()?.map(|saved| saved.payload).unwrap_or_default();
        let deployments = super::assets::kept(&session);
        app.shelf.close(session.id());
        let deleted = app.engine.delete(&session, Children::Orphan, false)?;
        let own = deleted.workspaces.iter().find(|left| left.kept_for.is_empty()).map(|left| left.path.clone());
        let workspace = match own {
            Some(path) => json!({"removed": true, "path": path, "deployments_removed": deployments}),
            // What goes wrong with files is told, and does not bring the conversation back.
            None => cleared(app, &owner, &client, &payload),
        };
        let mut answer = ramus_wire::removal::deleted(&deleted, 0, false);
        answer.extend(ramus_wire::members(json!({"deleted": true, "id": id, "workspace": workspace})));
        Ok(Answer::object(answer))
    })
    .await
}

/// The session that a conversation is kept in. An id that cannot be one of ours is told by its hash.
fn session_id(id: &str) -> Result<SessionId, ApiError> {
    if id.is_empty() || id.chars().count() > LONGEST_ID || id.chars().any(char::is_control) {
        let message = format!("the id of a conversation has 1 to {LONGEST_ID} characters, none of them invisible");
        return Err(ApiError::invalid(message));
    }
    let is_tame = id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_tame {
        return Ok(SessionId::from(id));
    }
    let mut name = hex::encode(Sha256::digest(id.as_bytes()));
    name.truncate(32);
    Ok(SessionId::new(format!("conversation-{name}")))
}

/// Opens a conversation of a client. One of another client is not there.
fn open(app: &App, owner: &Owner, client: &Client, id: &str) -> Result<Session, ApiError> {
    let missing = || ApiError::not_found("Conversation not found");
    let id = session_id(id.trim()).map_err(|_| missing())?;
    let session = app.session(owner, id.as_str()).map_err(|error| match error.kind() {
        Kind::Engine(ErrorKind::NotFound) => missing(),
        _ => error,
    })?;
    if client.has_session(&session) { Ok(session) } else { Err(missing()) }
}

fn check(session: &Session, expected: Expected) -> Result<(), ApiError> {
    let found = session.log().len() as u64;
    match expected.0 {
        Some(expected) if expected != found => Err(moved(found, expected)),
        _ => Ok(()),
    }
}

fn save(
    app: &App,
    owner: &Owner,
    client: &Client,
    id: &str,
    payload: Map<String, Value>,
    expected: Expected,
) -> Result<Answer, ApiError> {
    // Nothing is made for what cannot be saved.
    check_conversation(&payload)?;
    let _place = app.places.hold(owner, client);
    let (mut session, is_new) = open_or_make(app, owner, client, id, expected)?;
    let standing = standing(app, owner, client, &session, &payload)?;
    app.engine.save_conversation(&mut session, &payload, &standing)?;
    app.finish(&mut session)?;
    let answer = told(&session)?;
    Ok(if is_new { answer.status(StatusCode::CREATED) } else { answer })
}

fn open_or_make(
    app: &App,
    owner: &Owner,
    client: &Client,
    id: &str,
    expected: Expected,
) -> Result<(Session, bool), ApiError> {
    let known = session_id(id)?;
    for _ in 0..2 {
        match open(app, owner, client, id) {
            Ok(session) => return check(&session, expected).map(|()| (session, false)),
            Err(error) if error.kind() != Kind::Engine(ErrorKind::NotFound) => return Err(error),
            Err(_) => {}
        }
        let new = NewSession {
            cwd: app.directory.clone(),
            owner: (owner.name() != "default").then(|| owner.name().to_owned()),
            ..NewSession::default()
        };
        let metadata = Map::from_iter([(CLIENT.to_owned(), Value::from(client.name()))]);
        if let Some(expected) = expected.0
            && !app.engine.is_taken(&known)?
        {
            return Err(moved(0, expected));
        }
        match app.engine.create_called(&known, new, metadata) {
            // Somebody else's, or another request was faster.
            Err(EngineError::Conflict(_)) => {}
            made => return Ok((made?, true)),
        }
    }
    Err(ApiError::conflict("a conversation of this id cannot be saved here"))
}

fn told(session: &Session) -> Result<Answer, ApiError> {
    let told = shape::conversation(session, &session.info()?)?;
    Ok(Answer::json(json!({"conversation": told})).at(session.log().len() as u64))
}
