//! What is to be done in a session: lists of other agents into ours, which hangs at the end of the path, and back.

use ramus_model::json::{Raw, Shape};
use ramus_model::todo::{Status, Task, checked};
use serde_json::{Value, json};

use crate::compose::Composer;
use crate::emit::{Emitter, New};
use crate::error::Error;
use crate::step::{Step, What};

/// The longest list and the longest text that ours may have.
const MOST: usize = 500;
const LONGEST: usize = 4_000;

/// Gives a list of another agent, as the last entry of the path. The record that has it is kept elsewhere.
///
/// The entry is called after the one that it hangs from: when a source grew, what is new hangs where it hung there, and the
/// list comes behind it under another name.
pub(crate) fn give(emitter: &mut Emitter<'_>, list: Raw<'_>) -> Result<(), Error> {
    let Some(last) = emitter.last().cloned() else { return Ok(()) };
    let listed = list.items().count();
    let tasks: Vec<Task> = list.items().filter_map(task).take(MOST).collect();
    let held = tasks.len();
    let Ok(tasks) = checked(unlike(tasks)) else { return Ok(()) };
    if held < listed {
        emitter.lose(None, "tasks that say nothing, or are too many for a list; they are kept")?;
    }
    if tasks.is_empty() {
        return Ok(());
    }
    let mut composer = Composer::default();
    composer.text("customType", "ramus.todo");
    composer.json("data", &json!({"op": "import", "tasks": tasks}));
    let id = format!("{last}.todo");
    let (members, _) = composer.finish();
    emitter.entry(&New { kind: "custom", id: &id, members: &members, ..New::default() }).map(drop)
}

fn task(raw: Raw<'_>) -> Option<Task> {
    let object = raw.object()?;
    let text = object.text("content").filter(|text| !text.trim().is_empty())?;
    let status = match object.text("status").as_deref() {
        Some("in_progress") => Status::InProgress,
        Some("completed" | "done") => Status::Completed,
        Some("cancelled" | "canceled") => Status::Cancelled,
        _ => Status::Pending,
    };
    let id = object.text("id").filter(|id| id.len() <= 64).unwrap_or_default().into_owned();
    let text = text.trim();
    let end = text.floor_char_boundary(LONGEST);
    Some(Task { id, text: text.get(..end).unwrap_or_default().to_owned(), status, ..Task::default() })
}

/// Takes away names that two tasks have. They get numbers.
fn unlike(mut tasks: Vec<Task>) -> Vec<Task> {
    let mut known = hashbrown::HashSet::new();
    for task in &mut tasks {
        if !known.insert(task.id.clone()) {
            task.id.clear();
        }
    }
    tasks
}

/// The list that an entry holds; none when it holds none.
pub(crate) fn of_step(step: &Step<'_>) -> Option<Vec<Task>> {
    let tasks = match &step.what {
        What::Other(kind) if kind == "ramus.todo" => step.raw.field("data")?.field("tasks")?,
        What::Result(result) if result.name == "todo" => step.raw.field("message")?.field("details")?.field("tasks")?,
        _ => return None,
    };
    if tasks.shape() != Shape::Array {
        return None;
    }
    checked(serde_json::from_slice(tasks.bytes()).ok()?).ok()
}

/// A list as opencode and the directories of its design spell it. Of what a task waits for they know nothing.
pub(crate) fn spelled(tasks: &[Task]) -> Value {
    let spelled = |task: &Task| json!({"id": task.id, "content": task.text, "status": task.status});
    tasks.iter().map(spelled).collect()
}
