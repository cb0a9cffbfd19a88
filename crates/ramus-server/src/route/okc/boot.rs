//! What the session of a client is, and its root.

use std::borrow::Cow;
use std::sync::Arc;

use axum::extract::State;
use ramus_engine::{EngineError, Session, WELCOME};
use ramus_model::Role;
use ramus_wire::okc::{self as shape, BootReply, BootThings, ClientPlace, ClientSession, Nodes};

use super::{Client, Whose};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Body, Nothing};

/// How many nodes of the history are told along.
pub(super) const RECENT: usize = 25;

/// How many snapshots are told along.
pub(super) const SNAPSHOTS: usize = 10;

/// Describes the session of a client: its history, its workspace, and what is kept of that.
#[utoipa::path(get, path = "/api/session/info", tag = "workbench", params(Whose),
    responses((status = 200, description = "The session; without one, what there would be", body = shape::ClientSession), Refusals))]
pub(crate) async fn info(State(app): State<Arc<App>>, owner: Owner, client: Client) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.look_beside(&whose, &name, move |app| {
        let Some(mut session) = app.client_session(&owner, &client)? else {
            return Answer::of(&nothing(&client));
        };
        let state = app.workspace_state(&mut session, SNAPSHOTS)?;
        let told = ClientSession { workspace_state: Some(state), ..describe(&session, &client)? };
        Ok(Answer::of(&told)?.at(session.log().len() as u64))
    })
    .await
}

/// Tells the word of welcome of a session that was seeded, and what the session is. Nothing is changed: `POST`, and the first
/// chat, seed it.
#[utoipa::path(get, path = "/api/session/boot", tag = "workbench", params(Whose),
    responses((status = 200, description = "The word of welcome, and the session", body = shape::BootReply), Refusals))]
pub(crate) async fn look(State(app): State<Arc<App>>, owner: Owner, client: Client) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.look_beside(&whose, &name, move |app| {
        if let Some(session) = app.client_session(&owner, &client)? {
            return booted(app, session, &client);
        }
        let told = BootReply {
            reply: WELCOME,
            booted: false,
            things: None,
            vm: nothing(&client),
            workspace_state: shape::no_workspace(),
        };
        Answer::of(&told)
    })
    .await
}

/// Seeds the session of a client: its root, a word of welcome, and a workspace. Doing it again changes nothing.
#[utoipa::path(post, path = "/api/session/boot", tag = "workbench", request_body = Nothing, params(Whose),
    responses((status = 200, description = "The word of welcome, and the session", body = shape::BootReply), Refusals))]
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
    let workspace_state = app.workspace_state(&mut session, SNAPSHOTS)?;
    let told = BootReply {
        reply: welcome.as_deref().unwrap_or(WELCOME),
        booted: welcome.is_some(),
        things: Some(BootThings::titled(session.title())),
        vm: describe(&session, client)?,
        workspace_state,
    };
    Ok(Answer::of(&told)?.at(session.log().len() as u64))
}

/// Describes a session without looking at files.
pub(super) fn describe<'s>(session: &'s Session, client: &'s Client) -> Result<ClientSession<'s>, EngineError> {
    let nodes = Nodes::of(session)?;
    let log = session.log();
    let is_system = |seq: &ramus_model::Seq| log.record(*seq).is_some_and(|record| record.role == Role::System);
    let system = log.path(log.leaf()).into_iter().find(is_system);
    let system = system.map(|seq| session.message(seq)).transpose()?.flatten().map(|message| message.text());
    let workspace = session.workspace();
    let namespace = || Some(Cow::Owned(session.namespace()));
    Ok(ClientSession {
        client_id: client.name(),
        session: Some(session.id().as_str()),
        session_id: namespace(),
        booted: session.welcome()?.is_some(),
        system_prompt: system,
        history_length: nodes.length(),
        history_namespace: namespace(),
        history: nodes.recent(RECENT)?,
        workspace: ClientPlace {
            id: namespace(),
            mount: workspace.mount,
            internal_root: workspace.root,
            cwd: Some(session.cwd()),
        },
        workspace_state: None,
    })
}

/// What is told of a session that was not made yet.
pub(super) fn nothing(client: &Client) -> ClientSession<'_> {
    ClientSession {
        client_id: client.name(),
        session: None,
        session_id: None,
        booted: false,
        system_prompt: None,
        history_length: 0,
        history_namespace: None,
        history: Vec::new(),
        workspace: ClientPlace::default(),
        workspace_state: Some(shape::no_workspace()),
    }
}
