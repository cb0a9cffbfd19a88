//! `purge`: erases an entry and everything below it, for good.

use clap::Args;
use ramus_engine::{Purge as How, PurgeScope, Purged};

use super::confirm;
use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, quantity, style};

const EXAMPLES: &str = "\
Everything else keeps what is said on branches that were left; this erases it. The entry goes, with everything below it, \
its labels, copies of old bytes of the file, and pictures and long texts that nothing else refers to. Titles, tags and \
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
        let (mut session, entry) = invocation.entry(&self.target)?;
        let scope = if self.branch { PurgeScope::Branch } else { PurgeScope::Subtree };
        if !self.dry_run && !self.yes {
            let planned = invocation.engine.purge(&mut session, entry, How { scope, dry_run: true })?;
            let entries = quantity::count(planned.entries.len(), "entry", "entries");
            confirm::ask(invocation, &format!("Erase {entries} for good?"), "purging")?;
        }
        let purged = invocation.engine.purge(&mut session, entry, How { scope, dry_run: self.dry_run })?;
        let prompts = if self.history { purged.prompts.as_slice() } else { &[] };
        // Last: what could not be erased keeps its prompts.
        let forgotten = invocation.engine.forget_prompts(prompts, self.dry_run)?;
        if !self.dry_run {
            invocation.finish(&mut session)?;
        }
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::life::purged(&purged, forgotten, self.dry_run))?;
        } else {
            self.tell(invocation, &purged)?;
        }
        Ok(Exit::Done)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, purged: &Purged) -> anyhow::Result<()> {
        let mut text = Text::new();
        for id in &purged.entries {
            text.styled(style::ID, &clean::one_line(id.as_str())).end();
        }
        invocation.screen.text(&text)?;
        text.clear();
        let entries = quantity::count(purged.entries.len(), "entry", "entries");
        let verb = if self.dry_run { "would erase" } else { "erased" };
        text.plain(&format!("{verb} {entries}, {}", quantity::size(purged.bytes))).end();
        for file in &purged.copies.files {
            let verb = if self.dry_run { "would remove" } else { "removed" };
            text.plain(&format!("{verb} {}", clean::one_line(&file.display().to_string()))).end();
        }
        for id in &purged.mentions {
            text.plain(&format!("{} stays and sums it up", clean::one_line(id.as_str()))).end();
        }
        invocation.screen.note(&text)
    }
}
