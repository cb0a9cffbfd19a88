//! Todos: what is to be done, in order, and what must come first.
//!
//! The invariant: a list that was checked has an id for every task, each once, refers only to tasks that are in it, and
//! nothing waits for itself, however long the way round.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

/// How many tasks a list can have, and how long the text of one can be, in bytes.
const MOST: usize = 500;
const LONGEST: usize = 4_000;

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    #[default]
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
    /// Not to be done after all.
    Cancelled,
}

impl Status {
    /// Says whether nothing is left to do.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

/// Something to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What it is called in its list; empty to have a number given.
    #[serde(default)]
    pub id: String,
    /// What.
    pub text: String,
    /// How far it is.
    #[serde(default)]
    pub status: Status,
    /// Tasks that must be over before it can begin.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<String>,
    /// The task it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// Why something cannot be a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TodoError {
    /// There are too many tasks, or a text is too long or empty.
    #[error("{0}")]
    Size(String),
    /// An id stands twice.
    #[error("two tasks are called {0:?}")]
    Twice(String),
    /// A task that is referred to is not there.
    #[error("there is no task {0:?}")]
    Unknown(String),
    /// Tasks wait for each other.
    #[error("task {0:?} would wait for itself")]
    Circle(String),
}

/// Gives every task an id and makes sure that the list can be worked off.
pub fn checked(mut tasks: Vec<Task>) -> Result<Vec<Task>, TodoError> {
    if tasks.len() > MOST {
        return Err(TodoError::Size(format!("a list can have at most {MOST} tasks, not {}", tasks.len())));
    }
    let mut known: HashSet<String> = HashSet::new();
    for task in &mut tasks {
        task.text = task.text.trim().to_owned();
        if task.text.is_empty() || task.text.len() > LONGEST {
            return Err(TodoError::Size(format!("a task is told in 1 to {LONGEST} bytes")));
        }
        if !task.id.is_empty() && !known.insert(task.id.clone()) {
            return Err(TodoError::Twice(task.id.clone()));
        }
    }
    let mut number = 0_usize;
    for task in tasks.iter_mut().filter(|task| task.id.is_empty()) {
        while task.id.is_empty() || !known.insert(task.id.clone()) {
            number += 1;
            task.id = number.to_string();
        }
    }
    if let Some(unknown) = tasks.iter().flat_map(references).find(|id| !known.contains(*id)) {
        return Err(TodoError::Unknown(unknown.clone()));
    }
    match circle(&tasks, |task| task.blocked_by.iter().collect())
        .or_else(|| circle(&tasks, |task| task.parent.iter().collect()))
    {
        Some(task) => Err(TodoError::Circle(task)),
        None => Ok(tasks),
    }
}

fn references(task: &Task) -> impl Iterator<Item = &String> {
    task.blocked_by.iter().chain(&task.parent)
}

/// Finds a task that is behind itself. Tasks that wait for nothing are taken away until none is left or all wait.
fn circle<'t>(tasks: &'t [Task], before: impl Fn(&'t Task) -> Vec<&'t String>) -> Option<String> {
    let mut waits: HashMap<&str, HashSet<&str>> = HashMap::new();
    let mut behind: HashMap<&str, Vec<&str>> = HashMap::new();
    for task in tasks {
        let first: HashSet<&str> = before(task).into_iter().map(String::as_str).collect();
        first.iter().for_each(|id| behind.entry(*id).or_default().push(&task.id));
        waits.insert(&task.id, first);
    }
    let mut free: Vec<&str> = waits.iter().filter(|(_, first)| first.is_empty()).map(|(id, _)| *id).collect();
    while let Some(id) = free.pop() {
        waits.remove(id);
        for next in behind.remove(id).unwrap_or_default() {
            if let Some(first) = waits.get_mut(next)
                && first.remove(id)
                && first.is_empty()
            {
                free.push(next);
            }
        }
    }
    tasks.iter().find(|task| waits.contains_key(task.id.as_str())).map(|task| task.id.clone())
}

/// Returns the tasks that a task still waits for.
pub fn waits_for<'t>(tasks: &'t [Task], task: &Task) -> Vec<&'t str> {
    let is_open = |other: &&Task| task.blocked_by.contains(&other.id) && !other.status.is_over();
    tasks.iter().filter(is_open).map(|other| other.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(id: &str, blocked_by: &[&str]) -> Task {
        let blocked_by = blocked_by.iter().map(|id| (*id).to_owned()).collect();
        Task { id: id.into(), text: format!("do {id}"), blocked_by, ..Task::default() }
    }

    #[test]
    fn every_task_gets_a_number_that_nobody_has() {
        let tasks = checked(vec![task("", &[]), task("1", &[]), task("", &["1"])]).unwrap_or_default();
        assert_eq!(tasks.iter().map(|task| task.id.as_str()).collect::<Vec<_>>(), ["2", "1", "3"]);
    }

    #[test]
    fn what_cannot_be_worked_off_is_refused() {
        assert_eq!(checked(vec![task("a", &["a"])]), Err(TodoError::Circle("a".into())));
        let round = vec![task("x", &[]), task("a", &["c"]), task("b", &["a", "x"]), task("c", &["b"])];
        assert_eq!(checked(round), Err(TodoError::Circle("a".into())));
        let parents = vec![
            Task { parent: Some("b".into()), ..task("a", &[]) },
            Task { parent: Some("a".into()), ..task("b", &[]) },
        ];
        assert_eq!(checked(parents), Err(TodoError::Circle("a".into())));
        assert_eq!(checked(vec![task("a", &["z"])]), Err(TodoError::Unknown("z".into())));
        assert_eq!(checked(vec![task("a", &[]), task("a", &[])]), Err(TodoError::Twice("a".into())));
        assert!(checked(vec![Task { text: " ".into(), ..task("a", &[]) }]).is_err());
        assert!(checked(vec![task("a", &[]), task("b", &["a"]), task("c", &["a", "b"])]).is_ok());
    }

    #[test]
    fn a_task_waits_for_what_is_not_over() {
        let done = Task { status: Status::Completed, ..task("a", &[]) };
        let tasks = vec![done, task("b", &[]), task("c", &["a", "b"])];
        assert_eq!(tasks.last().map(|last| waits_for(&tasks, last)), Some(vec!["b"]));
    }
}
