//! `evict`: messages are left out of what a model is sent.

use clap::Args;
use ramus_engine::Evicted;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};

const EXAMPLES: &str = "\
Oldest first: whole turns before the current one, then calls with all their results, then single messages. System messages, \
your last message and the last answer stay. Everything stays in the session, and `ramus branch SESSION@-` undoes it. When \
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
        let mut session = invocation.session(&self.session)?;
        let evicted = invocation.engine.evict(&mut session, self.tokens, self.dry_run)?;
        if !self.dry_run {
            invocation.finish(&mut session)?;
        }
        if invocation.screen.wants_json() {
            let ids: Vec<&str> = evicted.entries.iter().map(|id| id.as_str()).collect();
            invocation.screen.json(json::members(json!({
                "evicted": ids,
                "freed": evicted.freed,
                "needed": evicted.needed,
                "enough": evicted.is_enough(),
                "dry_run": self.dry_run,
            })))?;
        } else {
            invocation.screen.text(&self.to_text(&evicted))?;
        }
        Ok(if evicted.is_enough() { Exit::Done } else { Exit::Partial })
    }

    fn to_text(&self, evicted: &Evicted) -> Text {
        let count = quantity::count(evicted.entries.len(), "message", "messages");
        let verb = if self.dry_run { "would be left out" } else { "left out" };
        let mut text = Text::new();
        text.plain(&format!("{count} {verb}, about {} tokens", evicted.freed)).end();
        if !evicted.is_enough() {
            text.plain(&format!("{} were needed: nothing else can be left out", evicted.needed)).end();
        }
        text
    }
}
