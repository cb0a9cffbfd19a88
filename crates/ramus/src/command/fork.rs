//! `fork`: a new session that starts from an entry of another one.

use clap::Args;
use ramus_engine::ForkOptions;
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, json};

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
        let answer = match invocation.remote() {
            Some(remote) => {
                let (origin, entry) = remote.target(&self.origin)?;
                remote.act(&origin, "fork", &json!({"entry": entry, "title": self.title}))?
            }
            None => self.fork(invocation)?,
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            let id = answer.get("session").map(|session| session.word("id")).unwrap_or_default();
            invocation.screen.text(text.plain(id).end())?;
        }
        Ok(Exit::Done)
    }

    fn fork(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let (origin, entry) = invocation.session_and_entry(&self.origin)?;
        let entry = match entry {
            Some(entry) => entry,
            None => origin.log().leaf().ok_or_else(|| {
                Refusal::invalid("the session has no leaf to fork from").hint("name an entry: SESSION@ENTRY")
            })?,
        };
        let fork = invocation.engine.fork(&origin, entry, &ForkOptions { title: self.title.clone() })?;
        invocation.remember(&fork.location)?;
        Ok(json::members(json!({"session": json::forked(&fork)})))
    }
}
