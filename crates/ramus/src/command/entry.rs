//! `entry`: the stored line of one entry.

use clap::Args;

use crate::failure::Exit;
use crate::invocation::Invocation;

const EXAMPLES: &str = "\
The line is printed byte for byte as it stands in the log. Only on a terminal, control characters are shown as JSON \
escapes.

Examples:
  ramus entry last@
  ramus entry 0190@#3 | jq .message.usage";

/// Print the stored line of an entry
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Entry {
    /// The entry
    #[arg(value_name = "SESSION@ENTRY")]
    entry: String,
}

impl Entry {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let line = match invocation.remote() {
            Some(remote) => {
                let (session, entry) = remote.entry(&self.entry)?;
                let request = remote.get(&["sessions", &session, "entries", &format!("@{entry}")]);
                remote.wait(request.bytes())?.to_vec()
            }
            None => {
                let (session, entry) = invocation.entry(&self.entry)?;
                session.line(entry)?
            }
        };
        invocation.screen.data(&line)?;
        invocation.screen.data(b"\n")?;
        Ok(Exit::Done)
    }
}
