//! `artifacts`: what tools made in a session.

use clap::Args;
use serde_json::Value;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, clean, style};

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
        let (session, entry) = invocation.session_and_entry(&self.target)?;
        let artifacts = session.artifacts(entry.or(session.log().leaf()))?;
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::artifact::list(session.id(), &artifacts))?;
            return Ok(Exit::Done);
        }
        let mut text = Text::new();
        for one in &artifacts {
            let name = one.artifact.get("name").and_then(Value::as_str).unwrap_or("artefact");
            text.styled(style::BOLD, &clean::one_line(name)).spaces(2);
            text.plain(&clean::one_line(one.url().unwrap_or_default())).spaces(2);
            text.styled(style::DIM, &clean::one_line(&one.tool)).end();
        }
        if artifacts.is_empty() {
            text.styled(style::DIM, "nothing was made").end();
        }
        invocation.screen.text(&text)?;
        Ok(Exit::Done)
    }
}
