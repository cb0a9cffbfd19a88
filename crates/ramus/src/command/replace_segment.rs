//! `replace-segment`: one entry in the place of several.

use clap::Args;
use serde_json::json;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, quantity, style};
use crate::target;

const EXAMPLES: &str = "\
The entries from FIRST down to LAST are replaced on every branch, and whatever hung from any of them hangs from the \
replacement. The old lines stay in the log: `ramus tree --all` shows them.

Example:
  ramus replace-segment last a1b2 c3d4 --text \"Set up the project and fixed the build\"";

/// Replace a stretch of entries by one that summarises them
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct ReplaceSegment {
    /// The session
    session: String,
    /// The first entry to replace
    #[arg(value_parser = target::entry)]
    first: String,
    /// The last one, below the first
    #[arg(value_parser = target::entry)]
    last: String,
    /// What stands in their place
    #[arg(long, value_name = "SUMMARY", allow_hyphen_values = true)]
    text: String,
}

impl ReplaceSegment {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let segment = json!({"first": self.first, "last": self.last, "text": self.text});
                remote.act(&remote.id(&self.session)?, "replace-segment", &segment)?
            }
            None => {
                let mut session = invocation.session(&self.session)?;
                let (first, last) = (session.resolve(&self.first)?, session.resolve(&self.last)?);
                let replaced = invocation.engine.replace_segment(&mut session, first, last, &self.text)?;
                invocation.finish(&mut session)?;
                ramus_wire::room::replaced(&replaced, &session)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let replacement = answer.word("replacement");
        let mut text = Text::new();
        text.plain(replacement).end();
        invocation.screen.text(&text)?;
        text.clear();
        let count = quantity::count(answer.items("replaced").len(), "entry", "entries");
        let moved = quantity::count(answer.items("reparented").len(), "entry hangs", "entries hang");
        text.plain(&format!("replaced {count}; {moved} from ")).styled(style::ID, replacement);
        invocation.screen.note(text.plain(" now").end())?;
        Ok(Exit::Done)
    }
}
