//! Conversations: the trees that clients keep, each of them a session.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use ramus_engine::{
    CONVERSATION, Children, EngineError, ErrorKind, Filter, NewSession, Payload, Session, SessionInfo,
    check_conversation,
};
use ramus_model::json::Raw;
use ramus_model::{SessionId, time};
use ramus_wire::okc::{ConversationDeleted, ConversationPage, ConversationPlace, OneConversation};
use ramus_wire::removal::DeletedSession;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use utoipa::IntoParams;

use super::client::CLIENT;
use super::standing::{Sight, cleared, standing};
use super::{Client, Whose};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::{App, moved};
use crate::document::Refusals;
use crate::error::{ApiError, Kind};
use crate::input::{Asked, Expected, Named, Verbatim};

/// How many conversations a page holds when nobody says, and at most.
const PAGE: usize = 100;
const MOST: usize = 1000;

/// The longest id of a conversation, in characters.
const LONGEST_ID: usize = 64;

/// How the sessions begin that are named here, so that no client can take the name of another's.
const RESERVED: [&str; 2] = ["client-", "conversation-"];

/// What counts in a conversation that is saved. Whatever else is in it is kept and not looked at.
const UNDERSTOOD: [&str; 7] = ["id", "title", "createdAt", "updatedAt", "messages", "branches", "workspace"];

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
    responses((status = 200, description = "The conversations, whole, and how many there are", body = ConversationPage), Refusals))]
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
        let mut sight = Sight::new(app, &owner, &client);
        let mut told = Vec::new();
        for info in page {
            match app.session(&owner, info.id.as_str()) {
                Ok(session) => told.push(sight.described(session, info)?.bytes()),
                // Deleted since.
                Err(error) if error.kind() == Kind::Engine(ErrorKind::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(spelled("conversations", &[&b"["[..], &told.join(&b','), b"]"].concat(), &format!(",\"total\":{total}")))
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
    responses((status = 200, description = "The conversation", body = OneConversation), Refusals))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| told(app, &owner, &client, open(app, &owner, &client, &id)?)).await
}

/// Saves a conversation under the id that it has.
#[utoipa::path(post, path = "/api/conversations", tag = "workbench",
    request_body(content = Object, description = "The conversation: id, title, messages, branches, workspace, and whatever else"),
    params(Whose, ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The conversation as it is now", body = OneConversation),
        (status = 201, description = "It is new", body = OneConversation), Refusals))]
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    expected: Expected,
    sent: Verbatim,
) -> Result<Answer, ApiError> {
    let payload = Payload { members: sent.members(&UNDERSTOOD)?, spelled: sent.0 };
    let id = payload.members.get("id").and_then(Value::as_str).map(str::trim).filter(|id| !id.is_empty());
    let id = id.ok_or_else(|| ApiError::invalid("a conversation has an `id`"))?.to_owned();
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| save(app, &owner, &client, &id, payload, expected)).await
}

/// Saves a conversation: messages that are new are appended, those that are missing are hidden, nothing is erased.
#[utoipa::path(put, path = "/api/conversations/{id}", tag = "workbench",
    request_body(content = Object, description = "The conversation: title, messages, branches, workspace, and whatever else"),
    params(("id" = String, Path, description = "The conversation"), Whose,
        ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The conversation as it is now", body = OneConversation),
        (status = 201, description = "It is new", body = OneConversation), Refusals))]
pub(crate) async fn replace(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
    expected: Expected,
    mut sent: Verbatim,
) -> Result<Answer, ApiError> {
    let named = Value::from(id.trim()).to_string();
    if let Some(named) = Raw::parse(named.as_bytes()) {
        sent.0.put("id", named);
    }
    let payload = Payload { members: sent.members(&UNDERSTOOD)?, spelled: sent.0 };
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| save(app, &owner, &client, id.trim(), payload, expected)).await
}

/// Deletes a conversation for good, with the workspace and the deployments that were made for it.
#[utoipa::path(delete, path = "/api/conversations/{id}", tag = "workbench",
    params(("id" = String, Path, description = "The conversation"), Whose,
        ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "What was removed", body = ConversationDeleted), Refusals))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(id): Named<String>,
    expected: Expected,
) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| {
        let session = open(app, &owner, &client, &id)?;
        check(&session, expected)?;
        let workspace = session.workspace();
        let deployments = super::assets::kept(&session);
        app.shelf.close(session.id());
        let deleted = app.engine.delete(&session, Children::Orphan, false);
        // Somebody may have opened it meanwhile.
        app.shelf.close(session.id());
        let deleted = deleted?;
        let own = deleted.workspaces.iter().find(|left| left.kept_for.is_empty()).map(|left| left.path.clone());
        let workspace = match own {
            Some(path) => ConversationPlace {
                removed: true,
                path: Some(path.to_string_lossy().into_owned()),
                deployments_removed: Some(deployments),
                error: None,
            },
            // What goes wrong with files is told, and does not bring the conversation back.
            None => cleared(app, &owner, &client, &workspace),
        };
        let session = DeletedSession::of(&deleted, 0, false);
        Answer::of(&ConversationDeleted { session, deleted: true, id, workspace })
    })
    .await
}

/// The session that a conversation is kept in. An id that cannot be one of ours, or could be that of somebody's session here,
/// is told by its hash.
fn session_id(id: &str) -> Result<SessionId, ApiError> {
    if id.is_empty() || id.chars().count() > LONGEST_ID || id.chars().any(char::is_control) {
        let message = format!("the id of a conversation has 1 to {LONGEST_ID} characters, none of them invisible");
        return Err(ApiError::invalid(message));
    }
    let is_tame = id.len() <= LONGEST_ID && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if is_tame && !is_reserved(id) {
        return Ok(SessionId::from(id));
    }
    let mut name = hex::encode(Sha256::digest(id.as_bytes()));
    name.truncate(32);
    Ok(SessionId::new(format!("conversation-{name}")))
}

fn is_reserved(id: &str) -> bool {
    let begins = |with: &&str| id.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    RESERVED.iter().any(begins)
}

/// Opens a conversation of a client. One of another client is not there.
fn open(app: &App, owner: &Owner, client: &Client, id: &str) -> Result<Session, ApiError> {
    let missing = || ApiError::not_found("Conversation not found");
    let id = id.trim();
    let kept = session_id(id).map_err(|_| missing())?;
    // Lists call a session that no conversation was saved in by its own name.
    let named = is_reserved(id).then(|| SessionId::from(id));
    for id in named.iter().chain([&kept]) {
        match app.session(owner, id.as_str()) {
            Ok(session) if client.has_session(&session) => return Ok(session),
            Err(error) if error.kind() != Kind::Engine(ErrorKind::NotFound) => return Err(error),
            _ => {}
        }
    }
    Err(missing())
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
    payload: Payload,
    expected: Expected,
) -> Result<Answer, ApiError> {
    // Nothing is made for what cannot be saved.
    check_conversation(&payload.members)?;
    let (mut session, is_new) = open_or_make(app, owner, client, id, expected)?;
    let standing = standing(app, owner, client, &session, &payload.members)?;
    app.engine.save_conversation(&mut session, &payload, &standing)?;
    app.finish(&mut session)?;
    let answer = told(app, owner, client, session)?;
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
            Ok(mut session) => {
                session.expect(expected.0);
                return check(&session, expected).map(|()| (session, false));
            }
            Err(error) if error.kind() != Kind::Engine(ErrorKind::NotFound) => return Err(error),
            Err(_) => {}
        }
        let new =
            NewSession { cwd: app.directory.clone(), owner: Some(owner.name().to_owned()), ..NewSession::default() };
        let metadata = Map::from_iter([(CLIENT.to_owned(), Value::from(client.name()))]);
        if expected.is_something() && !app.engine.is_taken(&known)? {
            let missing = || ApiError::new(Kind::Precondition, "there is no such conversation");
            return Err(expected.0.map_or_else(missing, |expected| moved(0, expected)));
        }
        match app.engine.create_called(&known, new, metadata) {
            // Somebody else's, or another request was faster.
            Err(EngineError::Conflict(_)) => {}
            made => return Ok((made?, true)),
        }
    }
    Err(ApiError::conflict("a conversation of this id cannot be saved here"))
}

fn told(app: &App, owner: &Owner, client: &Client, session: Session) -> Result<Answer, ApiError> {
    let (info, position) = (session.info()?, session.log().len() as u64);
    let described = Sight::new(app, owner, client).described(session, info)?;
    Ok(spelled("conversation", &described.bytes(), "").at(position))
}

/// An answer with one member that is spelled already, and what follows it.
fn spelled(name: &str, value: &[u8], rest: &str) -> Answer {
    // What another program wrote into a log may be no Unicode.
    let value = String::from_utf8_lossy(value);
    Answer::bytes(format!("{{\"schema_version\":{},\"{name}\":{value}{rest}}}", ramus_wire::SCHEMA_VERSION))
}
