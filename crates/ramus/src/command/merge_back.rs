//! `merge-back`: what came of another branch is told here.

use clap::Args;
use ramus_engine::MergeBack as What;
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean};
use crate::target;

const EXAMPLES: &str = "\
What came of another branch, a fork or a child is appended to the session: the summary that --summary gives, the messages \
that --message names word for word, or, without either, what was asked there and answered last. The other one stays as it \
is. `ramus undo` takes it back.

Examples:
  ramus merge-back last 0190
  ramus merge-back last last@3f2a --summary 'The cache made it slower.'
  ramus merge-back last 0190 --message '#12' --message '#14' --dry-run";

/// Bring what came of another branch, fork or child here
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct MergeBack {
    /// The session it is told in
    #[arg(value_name = "SESSION")]
    into: String,
    /// Where it comes from: a session, or the end of a branch
    #[arg(value_name = "FROM[@ENTRY]")]
    from: String,
    /// Tell this
    #[arg(long, value_name = "TEXT", conflicts_with = "message")]
    summary: Option<String>,
    /// Tell this message word for word; may be given several times
    #[arg(long, value_name = "ENTRY", value_parser = target::entry)]
    message: Vec<String>,
    /// Say what would be told, and write nothing
    #[arg(long)]
    dry_run: bool,
}

impl MergeBack {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let (from, entry) = remote.target(&self.from)?;
                let what = json!({
                    "from": from, "entry": entry, "summary": self.summary, "messages": self.message,
                    "dry_run": self.dry_run,
                });
                remote.act(&remote.id(&self.into)?, "merge-back", &what)?
            }
            None => self.merge(invocation)?,
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            let mut text = Text::new();
            for line in answer.word("text").lines() {
                text.plain(&clean::one_line(line)).end();
            }
            invocation.screen.text(&text)?;
        }
        Ok(Exit::Done)
    }

    fn merge(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let mut into = invocation.session(&self.into)?;
        let (from, end) = invocation.session_and_entry(&self.from)?;
        let named = |name: &String| from.resolve(name);
        let what = match &self.summary {
            Some(summary) => What::Summary(summary.clone()),
            None if self.message.is_empty() => What::Plain,
            None => What::Messages(self.message.iter().map(named).collect::<Result<_, _>>()?),
        };
        let end = end.or(from.log().leaf());
        let merged = invocation.engine.merge_back(&mut into, (&from, end), &what, self.dry_run)?;
        if !self.dry_run {
            invocation.finish(&mut into)?;
        }
        Ok(ramus_wire::compare::merged(&merged, &into, self.dry_run))
    }
}
