//! What is to be done in a session.

use std::sync::Arc;

use axum::extract::State;
use ramus_engine::TodoChange;
use ramus_model::todo::{Status, Task};
use ramus_wire::todo as shape;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::access::Owner;
use crate::answer::Answer;
use crate::app::App;
use crate::document::Refusals;
use crate::error::ApiError;
use crate::input::{Asked, Body, Expected, Named};

/// Whose list is shown.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields, default)]
#[into_params(parameter_in = Query)]
pub(crate) struct At {
    /// The entry whose list it is; the leaf when none is named.
    entry: Option<String>,
}

/// Lists what is to be done.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/todos", tag = "todos",
    params(("id" = String, Path, description = "The session"), At),
    responses((status = 200, description = "The tasks", body = shape::TodoList), Refusals))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    Asked(at): Asked<At>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let session = app.session(&owner, &id)?;
        let entry = at.entry.as_deref().map(|entry| session.resolve(entry)).transpose()?;
        let tasks = session.todos(entry.or(session.log().leaf()))?;
        Ok(Answer::object(shape::list(session.id(), &tasks)).at(session.log().len() as u64))
    })
    .await
}

/// What is changed about the list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[schema(as = TodoChange)]
pub(crate) enum Change {
    /// Another list in its place.
    #[schema(value_type = Vec<Object>)]
    Set(Vec<Task>),
    /// One more task at the end.
    #[schema(value_type = Object)]
    Add(Task),
    /// These are being done.
    Start(Vec<String>),
    /// These are done.
    Done(Vec<String>),
    /// These are to be done again.
    Reopen(Vec<String>),
    /// These are not to be done after all.
    Cancel(Vec<String>),
    /// Take these off the list.
    Remove(Vec<String>),
}

impl From<Change> for TodoChange {
    fn from(change: Change) -> Self {
        match change {
            Change::Set(tasks) => Self::Set(tasks),
            Change::Add(task) => Self::Add(task),
            Change::Start(tasks) => Self::Mark(tasks, Status::InProgress),
            Change::Done(tasks) => Self::Mark(tasks, Status::Completed),
            Change::Reopen(tasks) => Self::Mark(tasks, Status::Pending),
            Change::Cancel(tasks) => Self::Mark(tasks, Status::Cancelled),
            Change::Remove(tasks) => Self::Remove(tasks),
        }
    }
}

/// Changes what is to be done.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/todos", tag = "todos", request_body = Change,
    params(("id" = String, Path, description = "The session"), ("If-Match" = Option<String>, Header, description = "The expected position")),
    responses((status = 200, description = "The tasks as they are now", body = shape::TodoList), Refusals))]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    owner: Owner,
    Named(id): Named<String>,
    expected: Expected,
    Body(change): Body<Change>,
) -> Result<Answer, ApiError> {
    app.work(move |app| {
        let mut session = app.session_at(&owner, &id, expected)?;
        let tasks = app.engine.change_todos(&mut session, &change.into())?;
        let position = app.finish(&mut session)?;
        Ok(Answer::object(shape::list(session.id(), &tasks)).at(position))
    })
    .await
}
