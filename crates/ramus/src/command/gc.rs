//! `gc`: removes blobs that nothing refers to and snapshots that nothing names.

use clap::Args;
use ramus_engine::Swept;
use ramus_store::{Collected, Tally};
use ramus_wire::collection;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, disk, quantity, style};

const EXAMPLES: &str = "\
Pictures and long texts are kept beside the sessions, once, however many sessions refer to them. Those that no session, \
draft, backup or quarantined file refers to for a day go to blobs/.trash, and after two weeks there for good; what is \
referred to again comes back. Snapshots that nothing names and that are older than an hour go at once, also of directories \
that are gone; those of a directory where a turn runs are left for the next time. When any file of the home cannot be \
read, nothing is removed.

Examples:
  ramus gc --dry-run
  ramus gc --json | jq .trashed.bytes";

/// Remove pictures, long texts and snapshots that nothing needs
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
        let swept = invocation.engine.gc_snapshots(self.dry_run)?;
        let report = invocation.engine.disk()?;
        if invocation.screen.wants_json() {
            invocation.screen.json(collection::collected(&collected, &swept, &report, self.dry_run))?;
        } else {
            let mut text = self.to_text(&collected);
            for one in &swept {
                self.tell(&mut text, one);
            }
            if self.dry_run {
                disk::tell(&mut text, &report);
            }
            invocation.screen.text(&text)?;
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

    fn tell(&self, text: &mut Text, swept: &Swept) {
        let name = swept.directory.as_ref().unwrap_or(&swept.path).to_string_lossy().into_owned();
        let name = clean::one_line(&name);
        match &swept.outcome {
            Ok(collected) if collected.gone.is_empty() => {}
            Ok(collected) => {
                let verb = if self.dry_run { "would be removed" } else { "removed" };
                let count = quantity::count(collected.gone.len(), "snapshot", "snapshots");
                let size = quantity::size(collected.before.bytes.saturating_sub(collected.after.bytes));
                text.plain(&format!("{count} of {name}, {size}, {verb}")).end();
                for gone in &collected.gone {
                    text.plain("  ").styled(style::ID, &collection::short(gone)).plain("  ");
                    text.styled(style::DIM, &clean::one_line(&gone.label)).end();
                }
            }
            Err(reason) => {
                text.plain(&format!("the snapshots of {name} are left: {reason}")).end();
            }
        }
    }
}
