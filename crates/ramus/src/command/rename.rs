//! `rename`: gives a session another title.

use clap::Args;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, style};

const EXAMPLES: &str = "\
Example:
  ramus rename last \"Fix the parser\"";

/// Give a session another title
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Rename {
    /// The session
    session: String,
    /// The title
    #[arg(allow_hyphen_values = true)]
    title: String,
}

impl Rename {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let written = invocation.engine.rename(&mut session, &self.title)?;
        invocation.finish(&mut session)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::written(&written))?;
        } else {
            let mut text = Text::new();
            text.plain("the title is now ").styled(style::BOLD, &session.title()).end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}
