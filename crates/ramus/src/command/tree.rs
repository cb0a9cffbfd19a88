//! `tree`: all branches of a session.

use clap::Args;
use ramus_engine::Session;
use ramus_model::Scope;
use ramus_wire::tree as shape;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{glyphs, tree};
use crate::screen::Screen;

const EXAMPLES: &str = "\
Runs of entries are drawn flat; only branch points indent. The branch with the leaf comes first. Long runs are folded to \
their turns: prompts, final answers, and whatever has a label.

  @  the leaf            ●  on the path to it      ○  on another branch
  ~  a compaction        ⚑  a label                ⋮  entries that are folded

Examples:
  ramus tree last
  ramus tree ~/.pi/agent/sessions/--home-ada-project--/2026-02-16.jsonl
  ramus tree 0190 --all";

/// Show all branches of a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Tree {
    /// The session
    session: String,
    /// Show the raw log: nothing folded, and labels, pointer moves, metadata and replaced entries too
    #[arg(long)]
    all: bool,
}

impl Tree {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if let Some(remote) = invocation.remote().filter(|_| invocation.screen.wants_json()) {
            let id = remote.id(&self.session)?;
            let answer = remote.answer(remote.get(&["sessions", &id, "tree"]).flag("all", self.all))?;
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let session = invocation.session(&self.session)?;
        let scope = if self.all { Scope::All } else { Scope::Visible };
        if invocation.screen.wants_json() {
            print_json(invocation.screen, &session, scope)?;
        } else {
            tree::draw(invocation.screen, &session, scope)?;
        }
        // Reading may have shown what opening did not.
        invocation.mention_damage(session.log(), &self.session)?;
        Ok(Exit::Done)
    }
}

/// Prints the answer entry by entry: a long session need not fit in memory twice.
fn print_json(screen: &mut Screen, session: &Session, scope: Scope) -> anyhow::Result<()> {
    let tree = session.tree(scope);
    let mut list = screen.json_list(shape::head(session, &tree, scope), "entries")?;
    for entry in shape::entries(session, &tree, &glyphs::of_terminal().signs()) {
        list.push(&entry?)?;
    }
    list.end()
}
