//! `import`: sessions of a bundle, or of other agents.

mod bundle;
mod foreign;
mod tell;

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use ramus_engine::foreign_front;
use ramus_interchange::Format;
use ramus_publish::bundle::OPENING;

use crate::agents;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use bundle::Source;

const EXAMPLES: &str = "\
Without a path it looks where other agents keep their sessions on this machine, says what it found, and imports what is new \
since the last time: Claude Code, Codex, Gemini CLI, opencode, pi, omp, goose, Opal, Shepherd and OKCVM, and the \
directories in ~/.opencode/session. Their files are only \
read; nothing of theirs is written, locked or touched. A session that grew grows here too. One that you continued here keeps what \
you did: what is new in the file becomes a branch beside it.

Sessions that an agent spawned are children of the session that did. A session that was forked is linked to the one it was \
forked from, also where the agent does not say so: both begin with the same answer, given at the same moment.

A path may be a file of one of these agents, a database of theirs, a directory of such files, or a bundle that `ramus export` \
wrote. What it is is told from what is in it. A bundle comes in as a whole or not at all: sessions that are here already are left \
alone, those that the bundle continues become longer, and one that went another way is a conflict.

What comes in allows nothing here: nothing in it runs, and rules of an imported session only ask and deny. A file that cannot be \
read is reported, the others are imported, and the exit code is 5.

Examples:
  ramus import
  ramus import --from claude --yes
  ramus import --watch --yes
  ramus import ~/backup/.claude/projects --dry-run
  ramus import chat.json --from shepherd
  ramus import session.json --as-new
  ssh build ramus export last | ramus import -";

/// Take in sessions of other agents, or of a bundle that `ramus export` wrote
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Import {
    /// A bundle, a file or database of another agent, or a directory of them; `-` is a bundle from stdin
    #[arg(value_name = "PATH")]
    path: Option<PathBuf>,
    /// Look only where this agent keeps its sessions, or at this path; with PATH, what is there is this agent's
    #[arg(long, value_name = "AGENT|PATH")]
    from: Option<String>,
    /// Say only what would happen
    #[arg(long)]
    dry_run: bool,
    /// Stay, and import what agents write as they write it
    #[arg(long, conflicts_with_all = ["dry_run", "as_new"])]
    watch: bool,
    /// Import what is found without asking
    #[arg(long)]
    yes: bool,
    /// Give every session of a bundle a new id, whatever is here
    #[arg(long, requires = "path")]
    as_new: bool,
}

impl Import {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let is_path = |from: &&str| {
            Format::from_name(from).is_none() && (from.contains(std::path::is_separator) || Path::new(from).exists())
        };
        let named = self.from.as_deref().filter(is_path).map(Path::new);
        let Some(path) = self.path.as_deref().or(named) else { return self.discovered(invocation) };
        let agent = self.from.as_deref().filter(|_| self.path.is_some());
        if let Some(agent) = agent.filter(|_| path.exists()) {
            let given = agents::named(agent, |format| format.is_read())?;
            return self.foreign(invocation, path, Some(given));
        }
        if path == Path::new("-") {
            return self.bundle(invocation, Source::Stream(Box::new(std::io::stdin())));
        }
        if path.is_dir() {
            return self.foreign(invocation, path, None);
        }
        let cannot = || format!("cannot read {}", path.display());
        let is_file = match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(Refusal::not_found(format!("there is no file {}", path.display())).into());
            }
            metadata => metadata.with_context(cannot)?.is_file(),
        };
        if !is_file {
            return self.bundle(invocation, Source::Stream(Box::new(File::open(path).with_context(cannot)?)));
        }
        // A file of another agent's is not opened as any other is: that would show.
        if foreign_front(path, OPENING.len()).with_context(cannot)? == OPENING {
            return self.bundle(invocation, Source::File(File::open(path).with_context(cannot)?));
        }
        self.foreign(invocation, path, None)
    }
}
