//! `rename`: gives a session another title.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json, style};

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
        let (answer, title) = match invocation.remote() {
            Some(remote) => {
                let answer = remote.change(&remote.id(&self.session)?, &json!({"title": self.title}))?;
                let title = answer.get("session").map(|session| session.word("title")).unwrap_or_default().to_owned();
                (answer.items("written").first().cloned().map(json::members).unwrap_or_default(), title)
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let written = invocation.engine.rename(&mut session, &self.title)?;
                invocation.finish(&mut session)?;
                (json::written(&written), session.title())
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            text.plain("the title is now ").styled(style::BOLD, &title).end();
            invocation.screen.note(&text)?;
        }
        Ok(Exit::Done)
    }
}
