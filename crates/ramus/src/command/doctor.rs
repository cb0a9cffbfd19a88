//! `doctor`: reads every byte and says what is wrong. It changes nothing unless it is told to repair.

use clap::Args;
use ramus_engine::{Examined, RecoveryStatus, Treatment};
use ramus_wire::health;
use serde_json::{Map, Value, json};

use crate::failure::Exit;
use crate::invocation::Invocation;
use crate::remote::Remote;
use crate::render::{Answer as _, Text, disk, quantity, recovery, style};

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
        let answer = match (&self.session, invocation.remote()) {
            (Some(session), Some(remote)) => self.ask(&remote, &["sessions", &remote.id(session)?, "doctor"])?,
            (None, Some(remote)) => self.ask(&remote, &["doctor"])?,
            (Some(session), None) => self.examine_one(invocation, session)?,
            (None, None) => self.examine_all(invocation)?,
        };
        let is_sound = recovery::is_sound(answer.word("status"));
        if invocation.screen.wants_json() {
            invocation.screen.json(answer)?;
        } else if self.session.is_some() {
            let mut text = Text::new();
            recovery::tell(&mut text, &answer);
            invocation.screen.text(&text)?;
        } else {
            invocation.screen.text(&tell_all(&answer))?;
            if let Some(report) = answer.get("disk") {
                let mut text = Text::new();
                disk::tell(&mut text, report);
                invocation.screen.note(&text)?;
            }
        }
        Ok(if is_sound { Exit::Done } else { Exit::Partial })
    }

    /// Asks a server.
    fn ask(&self, remote: &Remote, parts: &[&str]) -> anyhow::Result<Map<String, Value>> {
        if self.repair { remote.post(parts, &json!({})) } else { remote.answer(remote.get(parts)) }
    }

    fn examine_one(&self, invocation: &Invocation<'_>, session: &str) -> anyhow::Result<Map<String, Value>> {
        let (name, engine) = (invocation.session_name(session)?, &invocation.engine);
        let report =
            if self.repair { engine.repair(&name, &invocation.cwd)? } else { engine.doctor(&name, &invocation.cwd)? };
        Ok(health::report(&report))
    }

    fn examine_all(&self, invocation: &Invocation<'_>) -> anyhow::Result<Map<String, Value>> {
        let treatment = if self.repair { Treatment::Repair } else { Treatment::LookOnly };
        let examined = invocation.engine.doctor_all(treatment)?;
        let leftovers = invocation.engine.leftovers()?;
        let report = invocation.engine.disk()?;
        let worst = examined.iter().map(status).max().unwrap_or(RecoveryStatus::Clean);
        Ok(health::many(&examined, &leftovers, worst, Some(&report)))
    }
}

fn status(examined: &Examined) -> RecoveryStatus {
    examined.outcome.as_ref().map_or(RecoveryStatus::Unreadable, |report| report.status)
}

fn tell_all(answer: &Map<String, Value>) -> Text {
    let mut text = Text::new();
    let sessions = answer.items("sessions");
    for examined in sessions {
        let has_nothing = examined.items("findings").is_empty() && examined.items("actions").is_empty();
        if !has_nothing || examined.get("error").is_some() {
            recovery::tell(&mut text, examined);
        }
    }
    let count = |wanted: fn(&str) -> bool| sessions.iter().filter(|one| wanted(one.word("status"))).count();
    let examined = quantity::count(sessions.len(), "session", "sessions");
    let repaired = match count(|status| status == "repaired") {
        0 => String::new(),
        repaired => format!("{repaired} repaired, "),
    };
    let damaged = count(|status| !recovery::is_sound(status));
    text.plain(&format!("{examined} examined, {repaired}{damaged} damaged")).end();
    for (kind, one, more) in [
        ("unfinished", "unfinished file was", "unfinished files were"),
        ("lock", "lock file of a deleted session was", "lock files of deleted sessions were"),
        (
            "import",
            "session of an interrupted import had changed here and was set aside; it was",
            "sessions of an interrupted import had changed here and were set aside; they were",
        ),
    ] {
        let found: Vec<&Value> = answer.items("leftovers").iter().filter(|left| left.word("kind") == kind).collect();
        if let Some(first) = found.first() {
            let said = format!("{} left behind, such as ", quantity::count(found.len(), one, more));
            text.styled(style::DIM, &said).styled(style::DIM, first.word("path")).end();
        }
    }
    text
}
