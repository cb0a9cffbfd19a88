//! `import`: sessions of a bundle, all of them or none.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ramus_engine::{ImportOptions, Imported};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, quantity, style};

const EXAMPLES: &str = "\
Reads what `ramus export` wrote. Sessions and entries keep their ids. A session that is here already is left alone, one that the \
bundle continues becomes longer; one that went another way is a conflict, and then nothing is imported. What comes in allows \
nothing here: rules of an imported session only ask and deny.

Examples:
  ramus import session.json
  ramus import session.json --dry-run
  ramus import session.json --as-new
  ssh build ramus export last | ramus import -";

/// Take in the sessions of a bundle that `ramus export` wrote
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Import {
    /// The bundle; `-` is stdin
    #[arg(value_name = "FILE")]
    path: PathBuf,
    /// Say only what would happen
    #[arg(long)]
    dry_run: bool,
    /// Give every session a new id, whatever is here
    #[arg(long)]
    as_new: bool,
}

impl Import {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let input: Box<dyn BufRead> = if self.path == Path::new("-") {
            Box::new(BufReader::new(std::io::stdin()))
        } else {
            let file = File::open(&self.path);
            let file = match file {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(Refusal::not_found(format!("there is no file {}", self.path.display())).into());
                }
                file => file.with_context(|| format!("cannot read {}", self.path.display()))?,
            };
            Box::new(BufReader::with_capacity(1 << 18, file))
        };
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
        invocation.screen.text(&text)?;
        if self.dry_run {
            let mut text = Text::new();
            invocation.screen.note(text.plain("nothing was imported: this was a dry run").end())?;
        }
        Ok(())
    }
}
