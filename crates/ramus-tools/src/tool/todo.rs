//! `todo`: the list of what is to be done. The list is the result of the last call on the path, so a branch has its own.

use ramus_model::request::ToolDefinition;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::outcome::Outcome;

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What.
    pub text: String,
    /// How far it is.
    pub status: Status,
}

/// Keeps the list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Todo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    tasks: Vec<Task>,
}

impl Tool for Todo {
    fn definition(&self) -> ToolDefinition {
        let task = json!({
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
            },
            "required": ["text", "status"],
            "additionalProperties": false,
        });
        let properties = json!({"tasks": {"type": "array", "items": task, "description": "The whole list, in order"}});
        define(
            "todo",
            "Replaces the list of what is to be done. Use it for work of several steps.",
            properties,
            &["tasks"],
        )
    }

    fn plan(&self, value: &Value) -> Result<Plan, Refusal> {
        let Arguments { tasks } = arguments(value)?;
        Ok(Plan::blocking(about("todo", "list", value), Effect::Looks, move |_| {
            let open = tasks.iter().filter(|task| task.status != Status::Completed).count();
            let text = format!("{} tasks, {open} open.", tasks.len());
            Outcome::text(text).with_details(json!({"tasks": tasks}))
        }))
    }
}
