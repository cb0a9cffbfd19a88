//! `artifacts`: what tools made in a session.

use clap::Args;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, style};

const EXAMPLES: &str = "\
Deployments, slides and other things that tools made on the path, newest first. What was made again at the same address is \
listed once.

Example:
  ramus artifacts last --json | jq -r '.artifacts[].url'";

/// List what tools made in a session
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Artifacts {
    /// The session, and the entry up to which to look
    #[arg(value_name = "SESSION[@ENTRY]")]
    target: String,
}

impl Artifacts {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let answer = match invocation.remote() {
            Some(remote) => {
                let (id, entry) = remote.target(&self.target)?;
                remote.answer(remote.get(&["sessions", &id, "artifacts"]).maybe("entry", entry))?
            }
            None => {
                let (session, entry) = invocation.session_and_entry(&self.target)?;
                let artifacts = session.artifacts(entry.or(session.log().leaf()))?;
                ramus_wire::artifact::list(session.id(), &artifacts)
            }
        };
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
            return Ok(Exit::Done);
        }
        let artifacts = answer.items("artifacts");
        let mut text = Text::new();
        for one in artifacts {
            text.styled(style::BOLD, &clean::one_line(one.maybe("name").unwrap_or("artefact"))).spaces(2);
            text.plain(&clean::one_line(one.word("url"))).spaces(2);
            text.styled(style::DIM, &clean::one_line(one.word("tool"))).end();
        }
        if artifacts.is_empty() {
            text.styled(style::DIM, "nothing was made").end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}
