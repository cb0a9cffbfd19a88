//! `archive`, `unarchive`: a session out of the way of lists, and back.

use clap::Args;
use serde_json::json;

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
        set_archived(invocation, &self.session, true)
    }
}

impl Unarchive {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        set_archived(invocation, &self.session, false)
    }
}

fn set_archived(invocation: &mut Invocation<'_>, session: &str, archived: bool) -> anyhow::Result<Exit> {
    let answer = match invocation.remote() {
        Some(remote) => {
            let route = if archived { "archive" } else { "unarchive" };
            remote.act(&remote.id(session)?, route, &json!({}))?
        }
        None => {
            let mut session = invocation.session(session)?;
            match archived {
                true => invocation.engine.archive(&mut session)?,
                false => invocation.engine.unarchive(&mut session)?,
            }
            invocation.finish(&mut session)?;
            let info = invocation.engine.describe(&session, &invocation.cwd)?;
            json::members(json!({"session": json::session(&info, &invocation.prices()?)}))
        }
    };
    if invocation.screen.wants_json() {
        invocation.screen.json(answer)?;
    } else {
        let mut text = Text::new();
        let words = if archived { "the session is archived" } else { "the session is listed again" };
        invocation.screen.note(text.plain(words).end())?;
    }
    Ok(Exit::Done)
}
