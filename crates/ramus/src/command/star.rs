//! `star` and `unstar`: marks a session, and takes the mark away.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json};

const EXAMPLES: &str = "\
Lists show a star in front of its title.

Example:
  ramus star last";

/// Star a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Star {
    /// The session
    session: String,
}

/// Take the star of a session away
#[derive(Debug, Args)]
pub(crate) struct Unstar {
    /// The session
    session: String,
}

impl Star {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        set_starred(invocation, &self.session, true)
    }
}

impl Unstar {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        set_starred(invocation, &self.session, false)
    }
}

fn set_starred(invocation: &mut Invocation<'_>, session: &str, starred: bool) -> anyhow::Result<Exit> {
    let id = match invocation.remote() {
        Some(remote) => {
            let id = remote.id(session)?;
            remote.change(&id, &json!({"starred": starred}))?;
            id
        }
        None => {
            let mut session = invocation.session(session)?;
            invocation.engine.set_starred(&mut session, starred)?;
            invocation.finish(&mut session)?;
            session.id().to_string()
        }
    };
    if invocation.screen.wants_json() {
        let answer = json!({"session": id, "starred": starred});
        invocation.screen.json(json::members(answer))?;
    } else {
        let mut text = Text::new();
        text.plain(if starred { "the session is starred" } else { "the session is not starred" }).end();
        invocation.screen.note(&text)?;
    }
    Ok(Exit::Done)
}
