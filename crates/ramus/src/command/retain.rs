//! `retain`: removes sessions that nobody wants any more, by the rules of the settings.

use clap::Args;
use ramus_engine::Retention;
use serde_json::{Map, Value, json};

use super::confirm;
use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Answer as _, Text, clean, quantity, style};

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
        let ask = self.asker(invocation)?;
        if !self.dry_run && !self.yes {
            let planned = ask(invocation, true)?;
            self.list(invocation, &planned, true)?;
            let sessions = quantity::count(planned.items("sessions").len(), "session", "sessions");
            confirm::ask(invocation, &format!("Remove {sessions} for good?"), "removing")?;
        }
        let answer = ask(invocation, self.dry_run)?;
        let is_whole = answer.items("failed").is_empty();
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else {
            self.list(invocation, &answer, self.dry_run)?;
        }
        Ok(if is_whole { Exit::Done } else { Exit::Partial })
    }

    /// Returns what removes sessions, or only says which.
    fn asker(&self, invocation: &Invocation<'_>) -> anyhow::Result<Asker> {
        if let Some(remote) = invocation.remote() {
            return Ok(Box::new(move |_, dry_run| remote.post(&["retain"], &json!({"dry_run": dry_run}))));
        }
        let rules = Retention::of(invocation.home.settings())?;
        if !rules.is_any() {
            let hint = "`ramus config set retention_drafts 7d` is one; `ramus retain --help` names all";
            return Err(Refusal::invalid("no rule says what may go").hint(hint).into());
        }
        Ok(Box::new(move |invocation, dry_run| {
            Ok(ramus_wire::life::retained(&invocation.engine.retain(&rules, dry_run)?, dry_run))
        }))
    }

    fn list(&self, invocation: &mut Invocation<'_>, answer: &Map<String, Value>, would: bool) -> anyhow::Result<()> {
        let mut text = Text::new();
        for going in answer.items("sessions") {
            text.styled(style::ID, going.word("id")).spaces(2).plain(&clean::one_line(going.word("title")));
            let size = quantity::size(going.number("bytes"));
            text.styled(style::DIM, &format!("  {}  {size}", going.word("rule"))).end();
        }
        for file in answer.words("quarantine") {
            text.plain(&clean::one_line(file)).end();
        }
        for stays in answer.items("failed") {
            let why = clean::one_line(stays.word("error"));
            text.styled(style::ID, stays.word("id")).plain(&format!("  stays: {why}")).end();
        }
        let verb = if would { "would go" } else { "went" };
        let sessions = quantity::count(answer.items("sessions").len(), "session", "sessions");
        text.plain(&format!("{sessions} {verb}, {} exempt", answer.number("exempt"))).end();
        invocation.screen.text(&text)
    }
}

/// Removes sessions, or only says which.
type Asker = Box<dyn Fn(&Invocation<'_>, bool) -> anyhow::Result<Map<String, Value>>>;
