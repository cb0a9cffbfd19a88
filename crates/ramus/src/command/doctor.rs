//! `doctor`: reads every byte and says what is wrong. It changes nothing unless it is told to repair.

use clap::Args;
use ramus_engine::{Examined, RecoveryStatus, Treatment};
use ramus_store::{Leftover, LeftoverKind};
use ramus_wire::health;

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::render::{Text, disk, quantity, recovery, style};

const EXAMPLES: &str = "\
Without --repair no session is changed. With it, every byte that is taken out of a file is kept in the quarantine of the \
home, and a file that is replaced is kept beside the new one as .corrupt-HASH. Entries stay where they are. What cannot \
be repaired without guessing (duplicate ids, missing parents, circles, text that is not UTF-8) is reported and left.

Exit code 0: nothing is wrong, or not any more. Exit code 5: something is damaged; what can be read is still shown by all \
commands. For all sessions together, what the home takes on disk is told too.

Examples:
  ramus doctor last
  ramus doctor ~/.pi/agent/sessions/--home-ada-project--/2026-02-16.jsonl
  ramus doctor --repair last
  ramus doctor --all --json | jq '.sessions[] | select(.status != \"clean\")'";

/// Look for damage in one session, or in all, and repair it if asked to
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// The session; without one, all sessions of the home
    #[arg(conflicts_with = "all")]
    session: Option<String>,
    /// Examine all sessions of the home
    #[arg(long)]
    all: bool,
    /// Repair what can be repaired; nothing is lost by it
    #[arg(long)]
    repair: bool,
}

impl Doctor {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        let worst = match &self.session {
            Some(session) => {
                let name = invocation.session_name(session)?;
                self.examine_one(invocation, &name)?
            }
            None => self.examine_all(invocation)?,
        };
        Ok(if worst.is_sound() { Exit::Done } else { Exit::Partial })
    }

    fn examine_one(&self, invocation: &mut Invocation<'_>, name: &str) -> anyhow::Result<RecoveryStatus> {
        let engine = &invocation.engine;
        let report =
            if self.repair { engine.repair(name, &invocation.cwd)? } else { engine.doctor(name, &invocation.cwd)? };
        if invocation.screen.wants_json() {
            invocation.screen.json(health::report(&report))?;
        } else {
            let mut text = Text::new();
            recovery::tell(&mut text, &report);
            invocation.screen.text(&text)?;
        }
        Ok(report.status)
    }

    fn examine_all(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<RecoveryStatus> {
        let treatment = if self.repair { Treatment::Repair } else { Treatment::LookOnly };
        let examined = invocation.engine.doctor_all(treatment)?;
        let leftovers = invocation.engine.leftovers()?;
        let report = invocation.engine.disk()?;
        let worst = examined.iter().map(status).max().unwrap_or(RecoveryStatus::Clean);
        if invocation.screen.wants_json() {
            let mut answer = health::many(&examined, &leftovers, worst);
            answer.insert("disk".into(), ramus_wire::disk::report(&report));
            invocation.screen.json(answer)?;
        } else {
            invocation.screen.text(&tell_all(&examined, &leftovers))?;
            let mut text = Text::new();
            disk::tell(&mut text, &report);
            invocation.screen.note(&text)?;
        }
        Ok(worst)
    }
}

fn status(examined: &Examined) -> RecoveryStatus {
    examined.outcome.as_ref().map_or(RecoveryStatus::Unreadable, |report| report.status)
}

fn tell_all(examined: &[Examined], leftovers: &[Leftover]) -> Text {
    let mut text = Text::new();
    for examined in examined {
        match &examined.outcome {
            Ok(report) if report.findings.is_empty() && report.actions.is_empty() => {}
            Ok(report) => recovery::tell(&mut text, report),
            Err(error) => recovery::tell_failure(&mut text, &examined.session, error),
        }
    }
    let count = |wanted: fn(RecoveryStatus) -> bool| examined.iter().filter(|one| wanted(status(one))).count();
    let sessions = quantity::count(examined.len(), "session", "sessions");
    let repaired = match count(|status| status == RecoveryStatus::Repaired) {
        0 => String::new(),
        repaired => format!("{repaired} repaired, "),
    };
    text.plain(&format!("{sessions} examined, {repaired}{} damaged", count(|status| !status.is_sound()))).end();
    for (kind, one, more) in [
        (LeftoverKind::Unfinished, "unfinished file was", "unfinished files were"),
        (LeftoverKind::Lock, "lock file of a deleted session was", "lock files of deleted sessions were"),
        (
            LeftoverKind::Import,
            "session of an interrupted import had changed here and was set aside; it was",
            "sessions of an interrupted import had changed here and were set aside; they were",
        ),
    ] {
        let found: Vec<_> = leftovers.iter().filter(|leftover| leftover.kind == kind).collect();
        if let Some(first) = found.first() {
            let said = format!("{} left behind, such as ", quantity::count(found.len(), one, more));
            text.styled(style::DIM, &said).styled(style::DIM, &first.path.display().to_string()).end();
        }
    }
    text
}
