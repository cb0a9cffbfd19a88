//! What is to be done in a session.

use ramus_model::SessionId;
use ramus_model::todo::{Status, Task, waits_for};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{object_of, words};

/// What is to be done in a session.
#[derive(Serialize, ToSchema)]
pub struct TodoList<'t> {
    session: &'t str,
    todos: Vec<TodoTask<'t>>,
}

/// Something that is to be done.
#[derive(Serialize, ToSchema)]
struct TodoTask<'t> {
    id: &'t str,
    text: &'t str,
    #[schema(schema_with = words::progress)]
    status: Status,
    /// The tasks that come first.
    blocked_by: &'t [String],
    /// The task that it is a part of.
    #[schema(required)]
    parent: Option<&'t str>,
    /// Those of the tasks that come first that are not over.
    waits_for: Vec<&'t str>,
}

/// A list of tasks.
pub fn list(session: &SessionId, tasks: &[Task]) -> Map<String, Value> {
    let todos = tasks.iter().map(|one| task(tasks, one)).collect();
    object_of(&TodoList { session: session.as_str(), todos })
}

fn task<'t>(tasks: &'t [Task], task: &'t Task) -> TodoTask<'t> {
    TodoTask {
        id: &task.id,
        text: &task.text,
        status: task.status,
        blocked_by: &task.blocked_by,
        parent: task.parent.as_deref(),
        waits_for: waits_for(tasks, task),
    }
}
