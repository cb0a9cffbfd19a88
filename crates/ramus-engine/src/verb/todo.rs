//! `todo`: what is to be done, as an entry of the path. A branch has its own list, and going back brings the old one back.
//!
//! The list that counts is the last one on the path, whoever wrote it: a person through this verb, or a model with the tool
//! of the same name.

use ramus_model::json::Raw;
use ramus_model::todo::{self, Status, Task};
use ramus_model::{Body, Kind, Role, Seq};
use serde::Deserialize;
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::operation::Doing;
use crate::session::Session;
use crate::verb::create::new_entry_id;
use crate::verb::replace_segment::close_tail;

/// The kind of entry that holds a list.
pub(crate) const TODO: &str = "todo";

/// A change of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoChange {
    /// This comes to the end of the list.
    Add(Task),
    /// These are so far now.
    Mark(Vec<String>, Status),
    /// These go, and nothing waits for them any more.
    Remove(Vec<String>),
    /// This is the list.
    Set(Vec<Task>),
}

impl Engine {
    /// Changes the list of the path to the leaf and returns it. Nothing is written when it stays the same.
    pub fn change_todos(&self, session: &mut Session, change: &TodoChange) -> Result<Vec<Task>, EngineError> {
        let old = session.todos(session.log().leaf())?;
        if changed(&old, change)? == old {
            return Ok(old);
        }
        let tasks = self.rewriting(session, |engine, session| {
            let old = session.todos(session.log().leaf())?;
            let tasks = changed(&old, change)?;
            let body = Doing::one(TODO, engine).to(session).mark(Body::ramus(TODO, json!({"tasks": tasks})));
            let id = new_entry_id(|id| session.log().seq_of(id).is_some());
            let mut bytes = close_tail(session);
            bytes.extend(body.to_line(&id, session.leaf().as_ref(), &engine.timestamp()));
            Ok((bytes, tasks))
        })?;
        self.publish_if_answered(session);
        Ok(tasks)
    }
}

fn changed(old: &[Task], change: &TodoChange) -> Result<Vec<Task>, EngineError> {
    let mut tasks = old.to_vec();
    let named = match change {
        TodoChange::Mark(ids, _) | TodoChange::Remove(ids) => ids.as_slice(),
        TodoChange::Add(_) | TodoChange::Set(_) => &[],
    };
    if let Some(unknown) = named.iter().find(|id| tasks.iter().all(|task| task.id != **id)) {
        return Err(EngineError::TodoNotFound(unknown.clone()));
    }
    match change {
        TodoChange::Add(task) => tasks.push(task.clone()),
        TodoChange::Mark(ids, status) => {
            tasks.iter_mut().filter(|task| ids.contains(&task.id)).for_each(|task| task.status = *status);
        }
        TodoChange::Remove(ids) => {
            tasks.retain(|task| !ids.contains(&task.id));
            for task in &mut tasks {
                task.blocked_by.retain(|id| !ids.contains(id));
                task.parent.take_if(|parent| ids.contains(parent));
            }
        }
        TodoChange::Set(list) => tasks.clone_from(list),
    }
    todo::checked(tasks).map_err(|error| EngineError::Invalid(error.to_string()))
}

/// Tasks as an entry or the result of a call holds them.
#[derive(Deserialize)]
struct Held {
    tasks: Vec<Task>,
}

impl Session {
    /// Returns the list that counts at an entry.
    pub fn todos(&self, leaf: Option<Seq>) -> Result<Vec<Task>, EngineError> {
        let log = self.log();
        for seq in log.ancestors(leaf) {
            let Some(record) = log.record(seq) else { continue };
            let may_hold = match record.kind {
                Kind::Custom => true,
                Kind::Message => record.role == Role::ToolResult,
                _ => false,
            };
            if let Some(tasks) = may_hold.then(|| self.line(seq)).transpose()?.and_then(|line| tasks_of(&line)) {
                return Ok(tasks);
            }
        }
        Ok(Vec::new())
    }
}

/// The list that a line holds; none when it holds none. A list that cannot be worked off counts for nothing.
pub(crate) fn tasks_of(line: &[u8]) -> Option<Vec<Task>> {
    let raw = Raw::parse(line)?;
    let is = |raw: Raw<'_>, name: &str, text: &str| raw.field(name).and_then(Raw::text).is_some_and(|is| is == text);
    let held = match raw.field("message") {
        Some(message) if is(message, "toolName", TODO) => message.field("details")?,
        Some(_) => return None,
        None if is(raw, "customType", "ramus.todo") => raw.field("data")?,
        None => return None,
    };
    let held: Held = serde_json::from_slice(held.bytes()).ok()?;
    todo::checked(held.tasks).ok()
}
