//! Importing a bundle: all of its sessions or none.

use std::io::BufRead;

use ramus_engine::{ImportOptions, Imported};

use super::Import;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, quantity, style};

impl Import {
    pub(super) fn bundle(&self, invocation: &mut Invocation<'_>, input: Box<dyn BufRead>) -> anyhow::Result<Exit> {
        if self.watch {
            return Err(Refusal::usage("a bundle does not grow: --watch is for the sessions of other agents").into());
        }
        let options = ImportOptions { dry_run: self.dry_run, as_new: self.as_new };
        let imported = invocation.engine.import_bundle(input, options)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::import::imported(&imported, self.dry_run))?;
        } else {
            self.tell(invocation, &imported)?;
        }
        Ok(Exit::Done)
    }

    fn tell(&self, invocation: &mut Invocation<'_>, imported: &Imported) -> anyhow::Result<()> {
        let mut text = Text::new();
        for session in &imported.imported {
            text.styled(style::ID, session.id.as_str()).spaces(2);
            let what = if session.extended { "extended" } else { "imported" };
            let entries = quantity::count(session.entries, "entry", "entries");
            let branches = quantity::count(session.branches, "branch", "branches");
            text.plain(&format!("{what}  {entries}, {branches}")).end();
        }
        for (id, reason) in &imported.skipped {
            text.styled(style::ID, id.as_str()).spaces(2).styled(style::DIM, &format!("skipped: {reason}")).end();
        }
        if imported.snapshots > 0 {
            let came = quantity::count(imported.snapshots, "snapshot", "snapshots");
            text.plain(&format!("{came} of files came along")).end();
        }
        invocation.screen.text(&text)?;
        if self.dry_run {
            let mut text = Text::new();
            invocation.screen.note(text.plain("nothing was imported: this was a dry run").end())?;
        }
        Ok(())
    }
}
