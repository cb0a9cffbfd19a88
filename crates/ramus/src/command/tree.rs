//! `tree`: all branches of a session.

use clap::Args;
use ramus_engine::Session;
use ramus_model::{Lines as _, Scope, Seq};
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::preview::Preview;
use crate::render::{json, tree};
use crate::screen::Screen;

/// How much of an entry programs are shown.
const PREVIEW: usize = 120;

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
    let log = session.log();
    let lines = session.lines();
    let id = |seq: Seq| log.id(seq).to_owned();
    let ids = |seqs: &[Seq]| seqs.iter().map(|seq| id(*seq)).collect::<Vec<_>>();
    // Labels and pointer moves are in the raw log, but they never count as leaves.
    let leaves = if scope == Scope::All { session.tree(Scope::Visible).leaves } else { tree.leaves.clone() };
    let head = json!({"leaf": tree.leaf.map(id), "roots": ids(&tree.roots), "leaves": ids(&leaves)});
    let mut list = screen.json_list(json::members(head), "entries")?;
    for node in &tree.entries {
        let (Some(record), Some(place)) = (log.record(node.seq), log.place(node.seq)) else { continue };
        let preview = Preview::of_entry(&lines.line(place)?, record, PREVIEW);
        list.push(&json!({
            "id": id(node.seq),
            "parent": node.parent.map(id),
            "seq": node.seq.number(),
            "type": preview.type_name,
            "role": preview.role,
            "preview": preview.text,
            "label": log.facts().label(log.id(node.seq)),
            "on_path": node.on_path,
        }))?;
    }
    list.end()
}
