//! What the session of a client is, and its root.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{EngineError, Session, WELCOME};
use ramus_model::Role;
use ramus_wire::okc::Nodes;
use serde_json::{Map, Value, json};

use super::live::no_workspace;
use super::{Client, Whose};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::{Refusals, Shape};
use crate::error::ApiError;
use crate::input::{Body, Nothing};

/// How many nodes of the history are told along.
pub(super) const RECENT: usize = 25;

/// How many snapshots are told along.
pub(super) const SNAPSHOTS: usize = 10;

/// Describes the session of a client: its history, its workspace, and what is kept of that.
#[utoipa::path(get, path = "/api/session/info", tag = "workbench", params(Whose),
    responses((status = 200, description = "The session; without one, what there would be", body = Shape), Refusals))]
pub(crate) async fn info(State(app): State<Arc<App>>, owner: Owner, client: Client) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.look_beside(&whose, &name, move |app| {
        let Some(mut session) = app.client_session(&owner, &client)? else {
            return Ok(Answer::object(nothing(&client)));
        };
        let mut told = describe(&session, &client)?;
        told.insert("workspace_state".into(), app.workspace_state(&mut session, SNAPSHOTS)?.into());
        Ok(Answer::object(told).at(session.log().len() as u64))
    })
    .await
}

/// Tells the word of welcome of a session that was seeded, and what the session is. Nothing is changed: `POST`, and the first
/// chat, seed it.
#[utoipa::path(get, path = "/api/session/boot", tag = "workbench", params(Whose),
    responses((status = 200, description = "The word of welcome, and the session", body = Shape), Refusals))]
pub(crate) async fn look(State(app): State<Arc<App>>, owner: Owner, client: Client) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.look_beside(&whose, &name, move |app| {
        if let Some(session) = app.client_session(&owner, &client)? {
            return booted(app, session, &client);
        }
        let vm = nothing(&client);
        let state = vm.get("workspace_state").cloned().unwrap_or_default();
        Ok(Answer::json(json!({"reply": WELCOME, "booted": false, "vm": vm, "workspace_state": state})))
    })
    .await
}

/// Seeds the session of a client: its root, a word of welcome, and a workspace. Doing it again changes nothing.
#[utoipa::path(post, path = "/api/session/boot", tag = "workbench", request_body = Nothing, params(Whose),
    responses((status = 200, description = "The word of welcome, and the session", body = Shape), Refusals))]
pub(crate) async fn boot(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Body(Nothing {}): Body<Nothing>,
) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| booted(app, app.start_client_session(&owner, &client)?, &client)).await
}

fn booted(app: &App, mut session: Session, client: &Client) -> Result<Answer, ApiError> {
    let welcome = session.welcome()?;
    let told = json!({
        "reply": welcome.as_deref().unwrap_or(WELCOME),
        "booted": welcome.is_some(),
        "meta": {"summary": session.title()},
        "web_preview": null,
        "ppt_slides": [],
        "artifacts": [],
        "vm": describe(&session, client)?,
        "workspace_state": app.workspace_state(&mut session, SNAPSHOTS)?,
    });
    Ok(Answer::json(told).at(session.log().len() as u64))
}

/// Describes a session without looking at files.
pub(super) fn describe(session: &Session, client: &Client) -> Result<Map<String, Value>, EngineError> {
    let nodes = Nodes::of(session)?;
    let log = session.log();
    let is_system = |seq: &ramus_model::Seq| log.record(*seq).is_some_and(|record| record.role == Role::System);
    let system = log.path(log.leaf()).into_iter().find(is_system);
    let system = system.map(|seq| session.message(seq)).transpose()?.flatten().map(|message| message.text());
    let workspace = session.workspace();
    let history = nodes.recent(RECENT)?;
    Ok(ramus_wire::members(json!({
        "client_id": client.name(),
        "session": session.id().as_str(),
        "session_id": session.namespace(),
        "booted": session.welcome()?.is_some(),
        "system_prompt": system,
        "history_length": nodes.length(),
        "history_namespace": session.namespace(),
        "history": history,
        "workspace": {
            "id": session.namespace(), "mount": workspace.mount, "internal_root": workspace.root, "cwd": session.cwd(),
        },
    })))
}

/// What is told of a session that was not made yet.
pub(super) fn nothing(client: &Client) -> Map<String, Value> {
    ramus_wire::members(json!({
        "client_id": client.name(), "session": null, "session_id": null, "booted": false, "system_prompt": null,
        "history_length": 0, "history_namespace": null, "history": [],
        "workspace": {"id": null, "mount": null, "internal_root": null, "cwd": null},
        "workspace_state": no_workspace(),
    }))
}
