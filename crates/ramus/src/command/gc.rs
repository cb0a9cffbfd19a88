//! `gc`: removes blobs that nothing refers to.

use clap::Args;
use ramus_store::{Collected, Tally};
use serde_json::{Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity};

const EXAMPLES: &str = "\
Pictures and long texts are kept beside the sessions, once, however many sessions refer to them. Those that no session, \
draft, backup or quarantined file refers to for a day go to blobs/.trash, and after two weeks there for good; what is \
referred to again comes back. When any file of the home cannot be read, nothing is removed.

Examples:
  ramus gc --dry-run
  ramus gc --json | jq .trashed.bytes";

/// Remove pictures and long texts that nothing refers to
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Gc {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
}

impl Gc {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let collected = invocation.engine.gc(self.dry_run)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(json::members(json!({
                "removed": blobs(collected.removed),
                "trashed": blobs(collected.trashed),
                "restored": blobs(collected.restored),
                "kept": blobs(collected.kept),
                "leftovers": {"files": collected.leftovers.count, "bytes": collected.leftovers.bytes},
                "dry_run": self.dry_run,
            })))?;
        } else {
            invocation.screen.text(&self.to_text(&collected))?;
        }
        Ok(Exit::Done)
    }

    fn to_text(&self, collected: &Collected) -> Text {
        let say = |done: &'static str, would: &'static str| if self.dry_run { would } else { done };
        let mut text = Text::new();
        let mut line = |tally: Tally, one: &str, many: &str, what: &str| {
            if tally.count > 0 {
                let count = quantity::count(usize::try_from(tally.count).unwrap_or(usize::MAX), one, many);
                text.plain(&format!("{count}, {}, {what}", quantity::size(tally.bytes))).end();
            }
        };
        line(collected.removed, "blob", "blobs", say("removed for good", "would be removed for good"));
        line(collected.trashed, "blob", "blobs", say("put in blobs/.trash", "would be put in blobs/.trash"));
        line(
            collected.restored,
            "blob",
            "blobs",
            say("taken back from the trash", "would be taken back from the trash"),
        );
        line(collected.leftovers, "unfinished file", "unfinished files", say("removed", "would be removed"));
        line(collected.kept, "blob", "blobs", say("kept", "would be kept"));
        if *collected == Collected::default() {
            text.plain("there are no blobs").end();
        }
        text
    }
}

fn blobs(tally: Tally) -> Value {
    json!({"blobs": tally.count, "bytes": tally.bytes})
}
