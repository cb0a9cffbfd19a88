//! `recover`: makes a session writable again and says what that took.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, recovery};

const EXAMPLES: &str = "\
After a crash, a full disk or an upgrade, the next write does the same on its way. This does it now: the torn end of the \
file goes to the quarantine, a file of an older version is upgraded with a backup, a lost header is put back.

Exit code 0: the session is sound. Exit code 5: it can be written to, but something in it is damaged; see \
`ramus doctor --repair`.

Examples:
  ramus recover last
  ramus recover 0199 --json | jq .actions";

/// Make a session writable again after a crash or an error
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Recover {
    /// The session
    session: String,
}

impl Recover {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => remote.act(&remote.id(&self.session)?, "recover", &json!({}))?,
            None => {
                let mut session = invocation.session(&self.session)?;
                ramus_wire::health::report(&invocation.engine.recover(&mut session)?)
            }
        };
        let is_sound = recovery::is_sound(answer.word("status"));
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            recovery::tell(&mut text, &answer);
            invocation.screen.text(&text)?;
        }
        Ok(if is_sound { Exit::Done } else { Exit::Partial })
    }
}
