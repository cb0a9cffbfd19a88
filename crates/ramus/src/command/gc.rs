//! `gc`: removes blobs that nothing refers to and snapshots that nothing names.

use clap::Args;
use ramus_wire::collection;
use serde_json::{Map, Value, json};

use super::confirm;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, disk, quantity, style};

const EXAMPLES: &str = "\
Pictures and long texts are kept beside the sessions, once, however many sessions refer to them. Those that no session, \
draft, backup or quarantined file refers to for a day go to blobs/.trash, and after two weeks there for good; what is \
referred to again comes back. Snapshots that nothing names and that are older than an hour go at once, also of directories \
that are gone; those of a directory where a turn runs are left for the next time. When any file of the home cannot be \
read, nothing is removed. On a terminal you are asked; everywhere else --yes is needed.

Examples:
  ramus gc --dry-run
  ramus gc --yes --json | jq .trashed.bytes";

/// Remove pictures, long texts and snapshots that nothing needs
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Gc {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Gc {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if !self.dry_run && !self.yes {
            confirm::ask(invocation, "Remove what nothing refers to any more?", "collecting")?;
        }
        let answer = match invocation.remote() {
            Some(remote) => remote.post(&["gc"], &json!({"dry_run": self.dry_run}))?,
            None => {
                let collected = invocation.engine.gc(self.dry_run)?;
                let swept = invocation.engine.gc_snapshots(self.dry_run)?;
                collection::collected(&collected, &swept, &invocation.engine.disk()?, self.dry_run)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let mut text = self.to_text(&answer);
        let directories = answer.get("snapshots").map(|snapshots| snapshots.items("directories")).unwrap_or_default();
        directories.iter().for_each(|one| self.tell(&mut text, one));
        if let Some(report) = answer.get("disk").filter(|_| self.dry_run) {
            disk::tell(&mut text, report);
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }

    fn to_text(&self, answer: &Map<String, Value>) -> Text {
        let say = |done: &'static str, would: &'static str| if self.dry_run { would } else { done };
        let lines = [
            ("removed", "blob", "blobs", say("removed for good", "would be removed for good")),
            ("trashed", "blob", "blobs", say("put in blobs/.trash", "would be put in blobs/.trash")),
            ("restored", "blob", "blobs", say("taken back from the trash", "would be taken back from the trash")),
            ("leftovers", "unfinished file", "unfinished files", say("removed", "would be removed")),
            ("kept", "blob", "blobs", say("kept", "would be kept")),
        ];
        let mut text = Text::new();
        let mut is_any = false;
        for (name, one, many, what) in lines {
            let Some(tally) = answer.get(name) else { continue };
            let count = tally.count(if name == "leftovers" { "files" } else { "blobs" });
            is_any |= count > 0 || tally.number("bytes") > 0;
            if count > 0 {
                let count = quantity::count(count, one, many);
                text.plain(&format!("{count}, {}, {what}", quantity::size(tally.number("bytes")))).end();
            }
        }
        if !is_any {
            text.plain("there are no blobs").end();
        }
        text
    }

    fn tell(&self, text: &mut Text, swept: &Value) {
        let name = clean::one_line(swept.maybe("directory").unwrap_or(swept.word("path")));
        if let Some(reason) = swept.maybe("left") {
            text.plain(&format!("the snapshots of {name} are left: {reason}")).end();
            return;
        }
        let gone = swept.items("removed");
        if gone.is_empty() {
            return;
        }
        let verb = if self.dry_run { "would be removed" } else { "removed" };
        let count = quantity::count(gone.len(), "snapshot", "snapshots");
        text.plain(&format!("{count} of {name}, {}, {verb}", quantity::size(swept.number("bytes")))).end();
        for gone in gone {
            text.plain("  ").styled(style::ID, gone.word("id")).plain("  ");
            text.styled(style::DIM, &clean::one_line(gone.word("label"))).end();
        }
    }
}
