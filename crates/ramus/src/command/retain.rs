//! `retain`: removes sessions that nobody wants any more, by the rules of the settings.

use clap::Args;
use ramus_engine::{Retained, Retention};

use super::confirm;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, clean, quantity, style};

const EXAMPLES: &str = "\
The rules are settings: retention_drafts, retention_archived, retention_sessions, retention_quarantine (ages: 12h, 30d, 8w) \
and retention_bytes (500MB, 2GB). Without a rule nothing goes, and nothing ever goes by itself. Starred, tagged and running \
sessions stay. What goes is listed. On a terminal you are asked; everywhere else --yes is needed. `ramus gc` removes the \
pictures and long texts that nothing refers to afterwards.

Examples:
  ramus config set retention_drafts 7d
  ramus retain --dry-run
  ramus retain --yes";

/// Remove old sessions by the rules of the settings
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Retain {
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Retain {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let rules = Retention::of(invocation.home.settings())?;
        if !rules.is_any() {
            let hint = "`ramus config set retention_drafts 7d` is one; `ramus retain --help` names all";
            return Err(Refusal::invalid("no rule says what may go").hint(hint).into());
        }
        if !self.dry_run && !self.yes {
            let planned = invocation.engine.retain(&rules, true)?;
            self.list(invocation, &planned, true)?;
            let sessions = quantity::count(planned.sessions.len(), "session", "sessions");
            confirm::ask(invocation, &format!("Remove {sessions} for good?"), "removing")?;
        }
        let retained = invocation.engine.retain(&rules, self.dry_run)?;
        if invocation.screen.wants_json() {
            invocation.screen.json(ramus_wire::life::retained(&retained, self.dry_run))?;
        } else {
            self.list(invocation, &retained, self.dry_run)?;
        }
        Ok(if retained.failed.is_empty() { Exit::Done } else { Exit::Partial })
    }

    fn list(&self, invocation: &mut Invocation<'_>, retained: &Retained, would: bool) -> anyhow::Result<()> {
        let mut text = Text::new();
        for going in &retained.sessions {
            text.styled(style::ID, going.session.as_str()).spaces(2).plain(&clean::one_line(&going.title));
            text.styled(style::DIM, &format!("  {}  {}", going.rule, quantity::size(going.bytes))).end();
        }
        for file in &retained.quarantine.files {
            text.plain(&clean::one_line(&file.display().to_string())).end();
        }
        for (session, why) in &retained.failed {
            text.styled(style::ID, session.as_str()).plain(&format!("  stays: {}", clean::one_line(why))).end();
        }
        let verb = if would { "would go" } else { "went" };
        let sessions = quantity::count(retained.sessions.len(), "session", "sessions");
        text.plain(&format!("{sessions} {verb}, {} exempt", retained.exempt)).end();
        invocation.screen.text(&text)
    }
}
