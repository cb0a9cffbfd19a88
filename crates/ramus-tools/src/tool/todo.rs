//! `todo`: the list of what is to be done. The list is the result of the last call on the path, so a branch has its own.

use ramus_model::request::ToolDefinition;
use ramus_model::todo::{Task, checked};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Effect, Plan, Refusal, Tool, about, arguments, define};
use crate::outcome::Outcome;

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
                "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "cancelled"]},
                "id": {"type": "string", "description": "A name; a number is given when there is none"},
                "blocked_by": {"type": "array", "items": {"type": "string"}, "description": "What must be over first"},
                "parent": {"type": "string", "description": "The task it is a part of"},
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
        let tasks = checked(tasks).map_err(|error| Refusal::Arguments(error.to_string()))?;
        Ok(Plan::blocking(about("todo", "list", value), Effect::Looks, move |_| {
            let open = tasks.iter().filter(|task| !task.status.is_over()).count();
            let text = format!("{} tasks, {open} open.", tasks.len());
            Outcome::text(text).with_details(json!({"tasks": tasks}))
        }))
    }
}
