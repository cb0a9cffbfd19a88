//! `move`: takes a session to another working directory.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json};

const EXAMPLES: &str = "\
Lists of the new directory show the session from now on. The files in the directories are not touched.

Example:
  ramus move last --cwd ../renamed-project";

/// Take a session to another working directory
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Move {
    /// The session
    session: String,
    /// The directory
    #[arg(long, value_name = "DIR")]
    cwd: PathBuf,
}

impl Move {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        let cwd = invocation.directory(&self.cwd)?;
        invocation.engine.move_to(&mut session, &cwd)?;
        invocation.finish(&mut session)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"session": json::brief_session(&session)})))?;
        } else {
            let mut text = Text::new();
            text.plain("the session belongs to ").plain(&cwd).plain(" now").end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}
