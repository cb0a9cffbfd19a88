//! `purge`: erases an entry and everything below it, for good.

use clap::Args;
use ramus_engine::{Purge as How, PurgeScope};
use serde_json::{Map, Value, json};

use super::{confirm, share};
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

const EXAMPLES: &str = "\
Everything else keeps what is said on branches that were left; this erases it. The entry goes, with everything below it, \
its labels, copies of old bytes of the file, and pictures and long texts that nothing else refers to. Shares that may show some of it are taken back. Titles, tags and \
metadata stay. With --branch, the whole branch goes that the entry is on, from where it parts from the others. What a fork \
shows is not erased. On a terminal you are asked; everywhere else --yes is needed. It cannot be undone.

Examples:
  ramus purge last@#12 --dry-run
  ramus purge last@3f2a --branch --yes";

/// Erase an entry and everything below it, for good
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Purge {
    /// The session, and the entry
    #[arg(value_name = "SESSION@ENTRY")]
    target: String,
    /// Erase the whole branch that the entry is on
    #[arg(long)]
    branch: bool,
    /// Say what would be erased, and erase nothing
    #[arg(long)]
    dry_run: bool,
    /// Forget what was asked there too
    #[arg(long)]
    history: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Purge {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let (session, entry) = remote.entry(&self.target)?;
                let ask = |dry_run: bool| {
                    let what = json!({
                        "entry": entry, "branch": self.branch, "history": self.history, "dry_run": dry_run,
                    });
                    remote.act(&session, "purge", &what)
                };
                if !self.dry_run && !self.yes {
                    let planned = ask(true)?;
                    let entries = planned.get("purged").map_or(0, |purged| purged.items("entries").len());
                    confirm(invocation, entries)?;
                }
                ask(self.dry_run)?
            }
            None => self.purge(invocation)?,
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            self.tell(invocation, &answer)?;
        }
        Ok(Exit::Done)
    }

    fn purge(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let (mut session, entry) = invocation.entry(&self.target)?;
        let scope = if self.branch { PurgeScope::Branch } else { PurgeScope::Subtree };
        if !self.dry_run && !self.yes {
            let planned = invocation.engine.purge(&mut session, entry, How { scope, dry_run: true })?;
            confirm(invocation, planned.entries.len())?;
        }
        let purged = invocation.engine.purge(&mut session, entry, How { scope, dry_run: self.dry_run })?;
        let prompts = if self.history { purged.prompts.as_slice() } else { &[] };
        // Last: what could not be erased keeps its prompts.
        let forgotten = invocation.engine.forget_prompts(prompts, self.dry_run)?;
        if !self.dry_run {
            invocation.finish(&mut session)?;
        }
        Ok(ramus_wire::life::purged(&purged, forgotten, self.dry_run))
    }

    fn tell(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>) -> anyhow::Result<()> {
        let nothing = Value::Null;
        let purged = answer.get("purged").unwrap_or(&nothing);
        let mut text = Text::new();
        for id in purged.words("entries") {
            text.styled(style::ID, &clean::one_line(id)).end();
        }
        invocation.screen.text(&text)?;
        text.clear();
        let entries = quantity::count(purged.items("entries").len(), "entry", "entries");
        let verb = if self.dry_run { "would erase" } else { "erased" };
        text.plain(&format!("{verb} {entries}, {}", quantity::size(purged.number("bytes")))).end();
        share::tell::taken_back(&mut text, purged, self.dry_run);
        for file in purged.words("copies") {
            let verb = if self.dry_run { "would remove" } else { "removed" };
            text.plain(&format!("{verb} {}", clean::one_line(file))).end();
        }
        for id in answer.words("mentions") {
            text.plain(&format!("{} stays and sums it up", clean::one_line(id))).end();
        }
        invocation.screen.note(&text)
    }
}

fn confirm(invocation: &mut Invocation<'_>, entries: usize) -> anyhow::Result<()> {
    let entries = quantity::count(entries, "entry", "entries");
    confirm::ask(invocation, &format!("Erase {entries} for good?"), "purging")
}
