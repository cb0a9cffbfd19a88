//! `label`: names an entry.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, glyphs, json, style};

const EXAMPLES: &str = "\
A label can be used wherever an entry is named.

Examples:
  ramus label last@ start
  ramus branch last@start
  ramus label last@start                            takes the label away";

/// Name an entry, or take its name away
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Label {
    /// The entry
    #[arg(value_name = "SESSION@ENTRY")]
    entry: String,
    /// The name; without one the label is cleared
    #[arg(allow_hyphen_values = true)]
    name: Option<String>,
}

impl Label {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let (session, entry) = remote.entry(&self.entry)?;
                remote.act(&session, "label", &json!({"entry": entry, "name": self.name}))?
            }
            None => {
                let (mut session, entry) = invocation.entry(&self.entry)?;
                let written = invocation.engine.label(&mut session, entry, self.name.as_deref())?;
                // A name that is given to the end of a turn is given to what was said last.
                let named = self.name.as_deref().and_then(|name| session.resolve(name).ok()).unwrap_or(entry);
                let named = session.entry_id(named);
                invocation.finish(&mut session)?;
                json::labelled(&written, named.as_str())
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        text.styled(style::ID, &clean::one_line(answer.word("entry")));
        match &self.name {
            Some(name) => {
                text.plain(" is now ").styled(style::LABEL, &format!("{} {name}", glyphs::of_terminal().label))
            }
            None => text.plain(" has no label now"),
        };
        text.end();
        invocation.screen.note(&text)?;
        Ok(Exit::Done)
    }
}
