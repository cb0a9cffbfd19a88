//! `fork`: a new session that starts from an entry of another one.

use clap::Args;
use ramus_engine::ForkOptions;
use serde_json::json;

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json};

const EXAMPLES: &str = "\
The new session has everything up to the entry and goes its own way from there. Nothing is copied from sessions of this \
home; a file of another program is copied.

Examples:
  ramus fork last
  ramus fork 0190@start --title \"Second attempt\"";

/// Start a new session from an entry of another one and print its id
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Fork {
    /// The entry to start from; the leaf when none is named
    #[arg(value_name = "SESSION[@ENTRY]")]
    origin: String,
    /// The title [default: that of the origin, marked as a fork]
    #[arg(long, allow_hyphen_values = true)]
    title: Option<String>,
}

impl Fork {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let (origin, entry) = invocation.session_and_entry(&self.origin)?;
        let entry = match entry {
            Some(entry) => entry,
            None => origin.log().leaf().ok_or_else(|| {
                Refusal::invalid("the session has no leaf to fork from").hint("name an entry: SESSION@ENTRY")
            })?,
        };
        let fork = invocation.engine.fork(&origin, entry, &ForkOptions { title: self.title.clone() })?;
        invocation.remember(&fork.location)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({"session": json::forked(&fork)})))?;
        } else {
            let mut text = Text::new();
            text.plain(fork.id.as_str()).end();
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }
}
