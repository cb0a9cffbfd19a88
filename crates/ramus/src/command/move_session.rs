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
        let (answer, cwd) = match invocation.remote() {
            Some(remote) => {
                let cwd = invocation.directory(&self.cwd)?;
                let id = remote.id(&self.session)?;
                let mut answer = remote.change(&id, &json!({"cwd": cwd}))?;
                let session = answer.shift_remove("session").map(json::members).unwrap_or_default();
                (json::members(json!({"session": json::brief(&session)})), cwd)
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let cwd = invocation.directory(&self.cwd)?;
                invocation.engine.move_to(&mut session, &cwd)?;
                invocation.finish(&mut session)?;
                (json::members(json!({"session": json::brief_session(&session)})), cwd)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            text.plain("the session belongs to ").plain(&cwd).plain(" now").end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}
