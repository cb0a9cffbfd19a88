//! A summary that needs no model. It says what is certain: what was asked, how much was said, what the last one said.

use std::collections::BTreeMap;

use ramus_model::Role;
use ramus_model::budget::{Plan, Weighed, What};
use ramus_model::json::Raw;
use ramus_model::message::Message;

use crate::error::EngineError;
use crate::session::Session;

/// How many of the requests are quoted: the first and the last ones.
const QUOTED: usize = 12;

/// How much of each.
const LENGTH: usize = 200;

pub(super) fn summary(
    session: &Session,
    path: &[Weighed],
    plan: &Plan,
    previous: Option<&str>,
) -> Result<String, EngineError> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut asked = Vec::new();
    for entry in path.get(plan.summarised()).unwrap_or_default() {
        if matches!(entry.what, What::Other | What::Compaction) {
            continue;
        }
        let line = session.line(entry.seq)?;
        let Some(message) = Raw::parse(&line).and_then(Message::of_entry) else { continue };
        *counts.entry(name(message.role)).or_default() += 1;
        if message.role == Role::User {
            asked.push(shortened(&message.text()));
        }
    }
    let total: usize = counts.values().sum();
    let counted: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let mut text = String::new();
    if let Some(previous) = previous {
        text.push_str(previous.trim_end());
        text.push_str("\n\n");
    }
    text.push_str(&format!("{total} earlier messages were left out ({}).", counted.join(", ")));
    let left_out = asked.len().saturating_sub(QUOTED);
    if left_out > 0 {
        asked.drain(QUOTED / 2..QUOTED / 2 + left_out);
    }
    asked.retain(|line| !line.is_empty());
    if !asked.is_empty() {
        text.push_str("\n\nWhat was asked:\n");
        text.push_str(&asked.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n"));
    }
    Ok(text)
}

fn name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::ToolResult => "tool result",
        Role::System => "system",
        Role::Custom | Role::BashExecution | Role::Other => "other",
    }
}

/// The first line of a text, cut.
fn shortened(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
