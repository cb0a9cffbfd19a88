//! What a compaction summarises, as text for the model that writes the summary.

use ramus_model::Role;
use ramus_model::budget::{Plan, Weighed, What};
use ramus_model::json::Raw;
use ramus_model::message::{Message, Part};

use crate::error::EngineError;
use crate::session::Session;

/// How much of the arguments of a call and of a result is told.
const ARGUMENTS: usize = 200;
const RESULT: usize = 2000;

/// A conversation as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    /// What came before the turn that the cut falls into.
    pub history: String,
    /// The beginning of that turn, if the cut falls into one.
    pub turn: Option<String>,
}

pub(super) fn of(session: &Session, path: &[Weighed], plan: &Plan) -> Result<Transcript, EngineError> {
    let told = |range| session.told(path.get(range).unwrap_or_default());
    Ok(Transcript { history: told(plan.history.clone())?, turn: plan.turn.clone().map(told).transpose()? })
}

impl Session {
    fn told(&self, entries: &[Weighed]) -> Result<String, EngineError> {
        let mut text = String::new();
        for entry in entries.iter().filter(|entry| !matches!(entry.what, What::Other | What::Compaction)) {
            let line = self.line(entry.seq)?;
            if let Some(message) = Raw::parse(&line).and_then(Message::of_entry) {
                tell(&message, &mut text);
            }
        }
        Ok(text)
    }
}

fn tell(message: &Message, text: &mut String) {
    let speaker = match message.role {
        Role::User | Role::Custom | Role::BashExecution => "User",
        Role::Assistant => "Assistant",
        Role::ToolResult => "Tool result",
        Role::System => "System",
        Role::Other => "Note",
    };
    for part in &message.parts {
        let said = match part {
            Part::Text(said) if message.role == Role::ToolResult => cut(said, RESULT),
            Part::Text(said) => said.clone(),
            Part::ToolCall { name, arguments, .. } => format!("[calls {name} {}]", cut(arguments, ARGUMENTS)),
            Part::Image { .. } => "[an image]".to_owned(),
            Part::Thinking(_) | Part::Unknown(..) => continue,
        };
        if !said.trim().is_empty() {
            text.push_str(&format!("[{speaker}]: {said}\n\n"));
        }
    }
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => {
            let rest = text.chars().count() - most;
            format!("{}… [{rest} more characters]", text.get(..end).unwrap_or_default())
        }
        None => text.to_owned(),
    }
}
