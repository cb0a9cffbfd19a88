//! A context as people read it: the state in force, then every message with its size.

use ramus_model::context::State;

use super::glyphs;
use super::{Text, quantity, style};

/// One message of a context.
pub(crate) struct Row {
    pub(crate) speaker: String,
    pub(crate) style: anstyle::Style,
    pub(crate) tokens: u64,
    pub(crate) preview: String,
}

/// Writes what holds at the end of the path.
pub(crate) fn state(text: &mut Text, state: &State) {
    let separator = glyphs::of_terminal().separator;
    let mut facts: Vec<String> = Vec::new();
    for (role, model) in &state.models {
        facts.push(if role == "default" { format!("model {model}") } else { format!("{role} model {model}") });
    }
    if state.models.is_empty() {
        facts.push("no model".into());
    }
    facts.push(format!("thinking {}", state.thinking_level));
    facts.push(format!("mode {}", state.mode));
    if !state.rules.is_empty() {
        facts.push(format!("rules {}", state.rules.join(", ")));
    }
    text.styled(style::DIM, &facts.join(separator)).end();
}

/// Writes the messages, numbered.
pub(crate) fn rows(text: &mut Text, rows: &[Row], width: usize) {
    let number_width = rows.len().to_string().len();
    let widest = rows.iter().map(|row| row.tokens).max().unwrap_or_default();
    let tokens_width = quantity::grouped(widest).len();
    let speaker_width = rows.iter().map(|row| row.speaker.chars().count()).max().unwrap_or_default().min(16);
    for (at, row) in rows.iter().enumerate() {
        text.right(style::DIM, &(at + 1).to_string(), number_width).plain("  ");
        text.padded(row.style, &row.speaker, speaker_width).plain("  ");
        text.right(style::DIM, &quantity::grouped(row.tokens), tokens_width).plain("  ");
        text.cut(style::NONE, &row.preview, width).end();
    }
}
