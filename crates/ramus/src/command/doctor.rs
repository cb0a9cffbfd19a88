//! `doctor`: reads every byte and says what is wrong. It changes nothing.

use clap::Args;
use ramus_engine::{Diagnosis, Examined};
use ramus_model::{Finding, Severity};
use serde_json::{Map, Value, json};

use crate::failure::{Exit, Refusal};
use crate::invocation::Invocation;
use crate::render::{Text, json, quantity, style};

const EXAMPLES: &str = "\
Exit code 0: nothing is wrong. Exit code 5: something is damaged; what can be read is still shown by all commands.

Examples:
  ramus doctor last
  ramus doctor ~/.pi/agent/sessions/--home-ada-project--/2026-02-16.jsonl
  ramus doctor --all --json | jq '.sessions[] | select(.status != \"clean\")'";

/// Look for damage in one session, or in all
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Doctor {
    /// The session; without one, all sessions of the home
    #[arg(conflicts_with = "all")]
    session: Option<String>,
    /// Examine all sessions of the home
    #[arg(long)]
    all: bool,
    /// Repair what can be repaired (not in this version)
    #[arg(long)]
    repair: bool,
}

/// How a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Status {
    Clean,
    Damaged,
    Unreadable,
}

impl Status {
    fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Damaged => "damaged",
            Self::Unreadable => "unreadable",
        }
    }

    fn of(outcome: &Result<Diagnosis, ramus_engine::EngineError>) -> Self {
        match outcome {
            Ok(diagnosis) if diagnosis.is_clean() => Self::Clean,
            Ok(_) => Self::Damaged,
            Err(_) => Self::Unreadable,
        }
    }
}

impl Doctor {
    pub(crate) fn run(&self, invocation: &mut Invocation<'_>) -> anyhow::Result<Exit> {
        if self.repair {
            let refusal = Refusal::unavailable("repairing is not available in this version");
            return Err(refusal.hint("without --repair, doctor says what is wrong and changes nothing").into());
        }
        let examined = match &self.session {
            Some(session) => {
                let diagnosis = invocation.engine.doctor(&invocation.session_name(session)?, &invocation.cwd)?;
                vec![Examined { session: diagnosis.session.clone(), outcome: Ok(diagnosis) }]
            }
            None => invocation.engine.doctor_all()?,
        };
        let worst = examined.iter().map(|examined| Status::of(&examined.outcome)).max().unwrap_or(Status::Clean);
        if invocation.screen.wants_json() {
            let report = match (&self.session, examined.as_slice()) {
                (Some(_), [only]) => one(only),
                _ => many(&examined, worst),
            };
            invocation.screen.json(report)?;
        } else {
            self.tell(invocation, &examined)?;
        }
        Ok(if worst == Status::Clean { Exit::Done } else { Exit::Partial })
    }

    fn tell(&self, invocation: &mut Invocation<'_>, examined: &[Examined]) -> anyhow::Result<()> {
        let mut text = Text::new();
        for examined in examined {
            let status = Status::of(&examined.outcome);
            let quiet = matches!(&examined.outcome, Ok(diagnosis) if diagnosis.findings.is_empty());
            if self.session.is_none() && quiet {
                continue;
            }
            let colour = if status == Status::Clean { style::LEAF } else { style::ERROR };
            text.styled(colour, status.name()).plain("  ").plain(&examined.session);
            match &examined.outcome {
                Ok(diagnosis) => {
                    text.styled(style::DIM, &format!("  {}", quantity::count(diagnosis.entries, "entry", "entries")))
                        .end();
                    diagnosis.findings.iter().for_each(|finding| tell_finding(&mut text, finding));
                    if diagnosis.more_findings > 0 {
                        let more = quantity::count(diagnosis.more_findings, "more finding", "more findings");
                        text.spaces(2).styled(style::DIM, &format!("and {more}")).end();
                    }
                }
                Err(error) => drop(text.plain("  ").plain(&error.to_string()).end()),
            }
        }
        if self.session.is_none() {
            let bad = examined.iter().filter(|examined| Status::of(&examined.outcome) != Status::Clean).count();
            let sessions = quantity::count(examined.len(), "session", "sessions");
            text.plain(&format!("{sessions} examined, {bad} damaged")).end();
        }
        invocation.screen.text(&text)
    }
}

fn tell_finding(text: &mut Text, finding: &Finding) {
    let colour = if finding.kind.severity() == Severity::Damage { style::WARNING } else { style::DIM };
    text.spaces(2).styled(style::DIM, &format!("line {}", finding.line)).plain("  ");
    text.styled(colour, finding.kind.name()).plain("  ").plain(&finding.detail).end();
}

fn one(examined: &Examined) -> Map<String, Value> {
    let status = Status::of(&examined.outcome).name();
    match &examined.outcome {
        Ok(diagnosis) => json::members(json!({
            "status": status,
            "session": diagnosis.session,
            "path": diagnosis.path,
            "actions": [],
            "entries": diagnosis.entries,
            "salvaged": diagnosis.salvaged,
            "unreadable": diagnosis.unreadable,
            "quarantined_bytes": 0,
            "findings": diagnosis.findings.iter().map(finding_json).collect::<Vec<_>>(),
            "more_findings": diagnosis.more_findings,
        })),
        Err(error) => json::members(json!({
            "status": status,
            "session": examined.session,
            "path": null,
            "actions": [],
            "entries": 0,
            "salvaged": 0,
            "unreadable": 1,
            "quarantined_bytes": 0,
            "findings": [],
            "error": {"kind": error.kind().name(), "message": error.to_string(), "hint": error.hint()},
        })),
    }
}

/// The sums over all sessions, and every session as if it had been examined alone.
fn many(examined: &[Examined], worst: Status) -> Map<String, Value> {
    let sessions: Vec<Map<String, Value>> = examined.iter().map(one).collect();
    let sum = |name: &str| sessions.iter().filter_map(|session| session.get(name)?.as_u64()).sum::<u64>();
    let mut findings = Vec::new();
    for examined in examined {
        for finding in examined.outcome.iter().flat_map(|diagnosis| &diagnosis.findings) {
            let mut finding = json::members(finding_json(finding));
            finding.insert("session".into(), examined.session.clone().into());
            findings.push(finding);
        }
    }
    json::members(json!({
        "status": worst.name(),
        "actions": [],
        "entries": sum("entries"),
        "salvaged": sum("salvaged"),
        "unreadable": sum("unreadable"),
        "quarantined_bytes": 0,
        "findings": findings,
        "sessions": sessions,
    }))
}

fn finding_json(finding: &Finding) -> Value {
    let severity = if finding.kind.severity() == Severity::Damage { "damage" } else { "notice" };
    json!({
        "kind": finding.kind.name(),
        "severity": severity,
        "line": finding.line,
        "offset": finding.offset,
        "detail": finding.detail,
    })
}
