//! `evict`: messages are left out of what a model is sent.

use clap::Args;
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity};

const EXAMPLES: &str = "\
Oldest first: whole turns before the current one, then calls with all their results, then single messages. System messages, \
your last message and the last answer stay. Everything stays in the session, and `ramus undo SESSION` undoes it. When \
less can be left out than is needed, what can be is, and the exit code is 5.

Example:
  ramus evict last --tokens 4000 --dry-run";

/// Leave the oldest messages out of what a model is sent
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Evict {
    /// The session
    session: String,
    /// How many tokens must become free
    #[arg(long, value_name = "N")]
    tokens: u64,
    /// Say what would be left out, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl Evict {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let how = json!({"tokens": self.tokens, "dry_run": self.dry_run});
                remote.act(&remote.id(&self.session)?, "evict", &how)?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let evicted = invocation.engine.evict(&mut session, self.tokens, self.dry_run)?;
                if !self.dry_run {
                    invocation.finish(&mut session)?;
                }
                ramus_wire::room::evicted(&evicted, self.dry_run)
            }
        };
        let is_enough = answer.says("enough");
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            invocation.screen.text(&self.to_text(&answer))?;
        }
        Ok(if is_enough { Exit::Done } else { Exit::Partial })
    }

    fn to_text(&self, evicted: &Map<String, Value>) -> Text {
        let count = quantity::count(evicted.items("evicted").len(), "message", "messages");
        let verb = if self.dry_run { "would be left out" } else { "left out" };
        let mut text = Text::new();
        text.plain(&format!("{count} {verb}, about {} tokens", evicted.number("freed"))).end();
        if !evicted.says("enough") {
            text.plain(&format!("{} were needed: nothing else can be left out", evicted.number("needed"))).end();
        }
        text
    }
}
