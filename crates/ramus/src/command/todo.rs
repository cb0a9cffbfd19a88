//! `todo`: shows and changes what is to be done in a session.

use std::io::Read as _;

use clap::{Args, Subcommand};
use ramus_engine::TodoChange;
use ramus_model::SessionId;
use ramus_model::todo::{Status, Task, waits_for};
use serde_json::{Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, clean, style};

const EXAMPLES: &str = "\
The list belongs to the path: a branch has its own, and going back brings the old one back. Models keep it too, with the \
tool of the same name. A task may wait for others (--blocked-by) or be a part of one (--parent); nothing can wait for \
itself. `set` reads a JSON array of tasks {\"text\", \"status\", \"id\", \"blocked_by\", \"parent\"} from its argument, or from \
stdin when that is `-`.

Examples:
  ramus todo last
  ramus todo last add \"write the tests\" --blocked-by 1
  ramus todo last done 1 2
  ramus todo last set '[{\"text\": \"start over\"}]'";

/// Show or change what is to be done in a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Todo {
    /// The session, or an entry of it whose list is shown
    #[arg(value_name = "SESSION")]
    session: String,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List it
    List,
    /// Add a task at the end
    Add {
        /// What is to be done
        #[arg(allow_hyphen_values = true)]
        text: String,
        /// A task that must be over first
        #[arg(long, value_name = "TASK")]
        blocked_by: Vec<String>,
        /// The task it is a part of
        #[arg(long, value_name = "TASK")]
        parent: Option<String>,
        /// What it is called; a number when nobody says
        #[arg(long)]
        id: Option<String>,
    },
    /// These are being done
    Start {
        /// The tasks
        #[arg(required = true, value_name = "TASK")]
        tasks: Vec<String>,
    },
    /// These are done
    Done {
        /// The tasks
        #[arg(required = true, value_name = "TASK")]
        tasks: Vec<String>,
    },
    /// These are to be done again
    Reopen {
        /// The tasks
        #[arg(required = true, value_name = "TASK")]
        tasks: Vec<String>,
    },
    /// These are not to be done after all
    Cancel {
        /// The tasks
        #[arg(required = true, value_name = "TASK")]
        tasks: Vec<String>,
    },
    /// Take these off the list
    Remove {
        /// The tasks
        #[arg(required = true, value_name = "TASK")]
        tasks: Vec<String>,
    },
    /// Put another list in its place
    Set {
        /// A JSON array, or `-` for stdin
        #[arg(value_name = "JSON")]
        tasks: String,
    },
    /// Empty it
    Clear,
}

impl Todo {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let change = self.action.as_ref().map(change).transpose()?.flatten();
        let (id, tasks) = match invocation.remote() {
            Some(remote) => self.ask(&remote, change.as_ref())?,
            None => self.answer(invocation, change.as_ref())?,
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::todo::list(&id, &tasks))?;
        } else {
            invocation.screen.text(&to_text(&tasks))?;
        }
        Ok(Exit::Done)
    }
}

impl Todo {
    fn answer(
        &self,
        invocation: &mut Invocation<'_>,
        change: Option<&TodoChange>,
    ) -> anyhow::Result<(SessionId, Vec<Task>)> {
        let (mut session, entry) = invocation.session_and_entry(&self.session)?;
        let tasks = match change {
            None => session.todos(entry.or(session.log().leaf()))?,
            Some(_) if entry.is_some() => return Err(old_list().into()),
            Some(change) => {
                let tasks = invocation.engine.change_todos(&mut session, change)?;
                invocation.finish(&mut session)?;
                tasks
            }
        };
        Ok((session.id().clone(), tasks))
    }

    /// Asks a server.
    fn ask(&self, remote: &Remote, change: Option<&TodoChange>) -> anyhow::Result<(SessionId, Vec<Task>)> {
        let (id, entry) = remote.target(&self.session)?;
        let answer = match change {
            None => remote.answer(remote.get(&["sessions", &id, "todos"]).maybe("entry", entry))?,
            Some(_) if entry.is_some() => return Err(old_list().into()),
            Some(change) => remote.act(&id, "todos", &spelled(change))?,
        };
        let task = |told: &Value| {
            // What it waits for follows from the others.
            let mut members = ramus_wire::members(told.clone());
            members.shift_remove("waits_for");
            serde_json::from_value(members.into())
        };
        let tasks = answer.items("todos").iter().map(task).collect::<Result<_, _>>();
        let wrong = |error| Refusal::unavailable(format!("the server's list is not understood: {error}"));
        Ok((SessionId::from(id.as_str()), tasks.map_err(wrong)?))
    }
}

/// A change as a server is told.
fn spelled(change: &TodoChange) -> Value {
    match change {
        TodoChange::Set(tasks) => json!({"set": tasks}),
        TodoChange::Add(task) => json!({"add": task}),
        TodoChange::Remove(tasks) => json!({"remove": tasks}),
        TodoChange::Mark(tasks, Status::InProgress) => json!({"start": tasks}),
        TodoChange::Mark(tasks, Status::Completed) => json!({"done": tasks}),
        TodoChange::Mark(tasks, Status::Pending) => json!({"reopen": tasks}),
        TodoChange::Mark(tasks, Status::Cancelled) => json!({"cancel": tasks}),
    }
}

fn old_list() -> Refusal {
    Refusal::usage("a list is changed where the session goes on; an old one can only be shown")
}

/// What is to be changed; none when the list is only shown.
fn change(action: &Action) -> anyhow::Result<Option<TodoChange>> {
    Ok(Some(match action {
        Action::List => return Ok(None),
        Action::Add { text, blocked_by, parent, id } => TodoChange::Add(Task {
            id: id.clone().unwrap_or_default(),
            text: text.clone(),
            status: Status::Pending,
            blocked_by: blocked_by.clone(),
            parent: parent.clone(),
        }),
        Action::Start { tasks } => TodoChange::Mark(tasks.clone(), Status::InProgress),
        Action::Done { tasks } => TodoChange::Mark(tasks.clone(), Status::Completed),
        Action::Reopen { tasks } => TodoChange::Mark(tasks.clone(), Status::Pending),
        Action::Cancel { tasks } => TodoChange::Mark(tasks.clone(), Status::Cancelled),
        Action::Remove { tasks } => TodoChange::Remove(tasks.clone()),
        Action::Set { tasks } => TodoChange::Set(read(tasks)?),
        Action::Clear => TodoChange::Set(Vec::new()),
    }))
}

fn read(argument: &str) -> anyhow::Result<Vec<Task>> {
    let mut text = argument.to_owned();
    if argument == "-" {
        text.clear();
        std::io::stdin().lock().read_to_string(&mut text)?;
    }
    let wrong = |error| Refusal::usage(format!("this is no list of tasks: {error}"));
    Ok(serde_json::from_str(&text).map_err(wrong)?)
}

fn to_text(tasks: &[Task]) -> Text {
    let mut text = Text::new();
    for task in tasks {
        let mark = match task.status {
            Status::Pending => "[ ]",
            Status::InProgress => "[>]",
            Status::Completed => "[x]",
            Status::Cancelled => "[-]",
        };
        text.plain(mark).plain(" ").styled(style::ID, &clean::one_line(&task.id)).spaces(2);
        text.plain(&clean::one_line(&task.text));
        let waits = waits_for(tasks, task);
        if !waits.is_empty() && !task.status.is_over() {
            text.styled(style::DIM, &format!("  waits for {}", clean::one_line(&waits.join(", "))));
        }
        if let Some(parent) = &task.parent {
            text.styled(style::DIM, &format!("  part of {}", clean::one_line(parent)));
        }
        text.end();
    }
    if tasks.is_empty() {
        text.styled(style::DIM, "nothing is to be done").end();
    }
    text
}
