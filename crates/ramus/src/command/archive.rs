//! `archive`, `unarchive`: a session out of the way of lists, and back.

use clap::Args;
use ramus_engine::Session;
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json};

const EXAMPLES: &str = "\
An archived session stays as it is and can be gone on with; lists leave it out unless --archived is given. Its forks and \
the sessions it spawned are not touched.

Examples:
  ramus archive last
  ramus list --archived
  ramus unarchive 0190";

/// Put a session out of the way of lists
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Archive {
    /// The session
    session: String,
}

/// Bring an archived session back
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Unarchive {
    /// The session
    session: String,
}

impl Archive {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        invocation.engine.archive(&mut session)?;
        tell(invocation, &mut session, "the session is archived")
    }
}

impl Unarchive {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let mut session = invocation.session(&self.session)?;
        invocation.engine.unarchive(&mut session)?;
        tell(invocation, &mut session, "the session is listed again")
    }
}

fn tell(invocation: &mut Invocation<'_>, session: &mut Session, words: &str) -> anyhow::Result<Exit> {
    invocation.finish(session)?;
    if invocation.screen.wants_json() {
        let info = invocation.engine.describe(session, &invocation.cwd)?;
        let session = Value::Object(json::session(&info, &invocation.prices()?));
        invocation.screen.json(json::members(json!({"session": session})))?;
    } else {
        let mut text = Text::new();
        invocation.screen.note(text.plain(words).end())?;
    }
    Ok(Exit::Done)
}
