//! `say`: appends one text message.

use clap::{Args, ValueEnum};
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json};

const EXAMPLES: &str = "\
Examples:
  ramus say last \"What does the parser do with an empty line?\"
  ramus say 0190 \"It skips it.\" --role assistant";

/// Append one text message to the leaf and print its id
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Say {
    /// The session
    session: String,
    /// What is said
    #[arg(allow_hyphen_values = true)]
    text: String,
    /// Who says it
    #[arg(long, value_enum, default_value_t)]
    role: Role,
}

/// Who can say something.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Role {
    #[default]
    User,
    Assistant,
    System,
}

impl Say {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let role = match self.role {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::System => "system",
        };
        let answer = match invocation.remote() {
            Some(remote) => {
                remote.act(&remote.id(&self.session)?, "messages", &json!({"role": role, "text": self.text}))?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let say =
                    ramus_engine::Say { role: role.into(), text: self.text.clone(), ..ramus_engine::Say::default() };
                let written = invocation.engine.say(&mut session, say)?;
                invocation.finish(&mut session)?;
                json::written(&written)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            invocation.screen.text(text.plain(answer.word("id")).end())?;
        }
        Ok(Exit::Done)
    }
}
