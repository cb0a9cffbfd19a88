//! What is to be done in a session.

use ramus_model::SessionId;
use ramus_model::todo::{Task, waits_for};
use serde_json::{Map, Value, json};

use crate::members;

/// A list of tasks.
pub fn list(session: &SessionId, tasks: &[Task]) -> Map<String, Value> {
    let todos: Vec<Value> = tasks.iter().map(|one| task(tasks, one)).collect();
    members(json!({"session": session.as_str(), "todos": todos}))
}

fn task(tasks: &[Task], task: &Task) -> Value {
    json!({
        "id": task.id, "text": task.text, "status": task.status, "blocked_by": task.blocked_by,
        "parent": task.parent, "waits_for": waits_for(tasks, task),
    })
}
