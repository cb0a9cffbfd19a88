//! `boot`: seeds the root of a session, once.

use clap::Args;
use ramus_engine::Boot as Seed;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean};

const EXAMPLES: &str = "\
The root says what the session is, where it works, and a word of welcome. `ramus chat` does it with the first words; doing \
it again changes nothing and tells what the first time said. `ramus reset` clears it.

Example:
  ramus boot \"$(ramus new)\" --welcome 'Hello!'";

/// Seed the root of a session, once
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Boot {
    /// The session
    session: String,
    /// A word of welcome, for people
    #[arg(long, value_name = "TEXT")]
    welcome: Option<String>,
    /// A system message, for models
    #[arg(long, value_name = "TEXT")]
    system: Option<String>,
}

impl Boot {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let seed = json!({"welcome": self.welcome, "system": self.system});
                remote.act(&remote.id(&self.session)?, "boot", &seed)?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let seed = Seed { welcome: self.welcome.clone(), system: self.system.clone() };
                let late = || Refusal::invalid("something was said in the session before it could be seeded");
                let booted = invocation.engine.boot(&mut session, &seed)?.ok_or_else(late)?;
                invocation.finish(&mut session)?;
                ramus_wire::life::booted(&booted)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            invocation.screen.text(text.plain(&clean::one_line(answer.word("welcome"))).end())?;
        }
        Ok(Exit::Done)
    }
}
