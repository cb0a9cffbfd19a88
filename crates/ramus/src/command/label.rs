//! `label`: names an entry.

use clap::Args;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, glyphs, json, style};

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
    name: Option<String>,
}

impl Label {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (mut session, entry) = invocation.entry(&self.entry)?;
        let written = invocation.engine.label(&mut session, entry, self.name.as_deref())?;
        invocation.finish(&mut session)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::written(&written))?;
            return Ok(Exit::Done);
        }
        let named = self.name.as_deref().and_then(|name| session.resolve(name).ok()).unwrap_or(entry);
        let mut text = Text::new();
        text.styled(style::ID, session.log().id(named));
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
