//! `reset-leaf`: starts over with a new root in the same session.

use clap::Args;
use serde_json::json;

use super::branch::tell_leaf;
use crate::failure::Exit;
use crate::invocation::Invocation;

const EXAMPLES: &str = "\
What was said so far stays a branch; `ramus branch` goes back to it.

Example:
  ramus reset-leaf last";

/// Start over: the next entry becomes a new root
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ResetLeaf {
    /// The session
    session: String,
}

impl ResetLeaf {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        match invocation.remote() {
            Some(remote) => {
                remote.act(&remote.id(&self.session)?, "branch", &json!({"entry": null}))?;
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                invocation.engine.reset_leaf(&mut session)?;
                invocation.finish(&mut session)?;
            }
        }
        tell_leaf(invocation, None)?;
        Ok(Exit::Done)
    }
}
