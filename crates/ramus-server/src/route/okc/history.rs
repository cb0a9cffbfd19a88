//! The history of a client's session: its nodes, and starting over.

use std::sync::Arc;

use axum::extract::State;
use ramus_wire::okc::{self as shape, ClearedDeployments, ClearedHistory, ClearedPlace, HistoryPage, Nodes};
use serde::Deserialize;
use utoipa::IntoParams;

use super::boot::{RECENT, describe, nothing};
use super::{Client, Whose, assets};
use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Named};

/// The most nodes that are told at a time.
const MOST: usize = 10_000;

/// How much of the history is told.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(default)]
#[into_params(parameter_in = Query)]
pub(crate) struct Last {
    /// At most so many, the newest ones; 25 when nobody says.
    limit: Option<usize>,
}

/// Lists the last nodes of the path.
#[utoipa::path(get, path = "/api/session/history", tag = "workbench", params(Whose, Last),
    responses((status = 200, description = "The nodes, oldest first, and how many there are", body = shape::HistoryPage), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Asked(last): Asked<Last>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let Some(session) = app.client_session(&owner, &client)? else {
            return Answer::of(&HistoryPage { history: Vec::new(), history_length: 0 });
        };
        let nodes = Nodes::of(&session)?;
        let history = nodes.recent(last.limit.unwrap_or(RECENT).min(MOST))?;
        let answer = Answer::of(&HistoryPage { history, history_length: nodes.length() })?;
        Ok(answer.at(session.log().len() as u64))
    })
    .await
}

/// Describes one node: what was said, what a tool was given and gave back, what hangs from it, and where it was made.
#[utoipa::path(get, path = "/api/session/history/{entry}", tag = "workbench",
    params(("entry" = String, Path, description = "The node: its number, or the id of its entry"), Whose),
    responses((status = 200, description = "The node", body = shape::HistoryNode), Refusals))]
pub(crate) async fn node(
    State(app): State<Arc<App>>,
    owner: Owner,
    client: Client,
    Named(entry): Named<String>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let missing = || ApiError::not_found("History entry not found");
        let session = app.client_session(&owner, &client)?.ok_or_else(missing)?;
        let nodes = Nodes::of(&session)?;
        let seq = nodes.find(&entry).ok_or_else(missing)?;
        let mut node = nodes.whole(seq)?.ok_or_else(missing)?;
        // Only what a tool made has data of its own.
        if let Some(made) = node.get_mut("data") {
            *made = assets::addressed(made.take(), &client);
        }
        Ok(Answer::object(node).at(session.log().len() as u64))
    })
    .await
}

/// Erases the history for good, and the workspace. The next chat starts anew, with another name for its nodes.
#[utoipa::path(delete, path = "/api/session/history", tag = "workbench", params(Whose),
    responses((status = 200, description = "What was erased", body = shape::ClearedHistory), Refusals))]
pub(crate) async fn delete(State(app): State<Arc<App>>, owner: Owner, client: Client) -> Result<Answer, ApiError> {
    let (whose, name) = (owner.clone(), client.clone());
    app.work_alone(&whose, &name, move |app| {
        let Some(mut session) = app.client_session(&owner, &client)? else {
            let workspace = ClearedPlace { removed: false, path: None, internal_root: None, deployments: None };
            let vm = nothing(&client);
            return Answer::of(&ClearedHistory { history_cleared: true, cleared_messages: 0, workspace, vm });
        };
        app.shelf.close(session.id());
        let deployments = assets::kept(&session);
        let reset = app.engine.reset(&mut session, false)?;
        let removed = app.engine.remove_workspace(&session)?;
        let position = app.finish(&mut session)?;
        let path = removed.as_ref().map(|path| path.to_string_lossy().into_owned());
        let deployments = if removed.is_some() { deployments } else { Vec::new() };
        let workspace = ClearedPlace {
            removed: removed.is_some(),
            path: Some(path.clone()),
            internal_root: Some(path),
            deployments: Some(ClearedDeployments { removed: deployments }),
        };
        let vm = describe(&session, &client)?;
        let told = ClearedHistory { history_cleared: true, cleared_messages: reset.messages, workspace, vm };
        Ok(Answer::of(&told)?.at(position))
    })
    .await
}
