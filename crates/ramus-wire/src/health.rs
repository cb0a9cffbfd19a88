//! What is told about the health of a session: the same report for `doctor` and `recover`.

use std::borrow::Cow;

use ramus_engine::{Action, DiskReport, EngineError, Examined, RecoveryReport, RecoveryStatus};
use ramus_model::{Finding, Severity};
use ramus_store::{Leftover, LeftoverKind};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::disk::DiskUse;
use crate::trouble::Trouble;
use crate::{object_of, path, words};

/// How a session is, and what was done about it.
#[derive(Serialize, ToSchema)]
pub struct HealthReport<'h> {
    #[schema(schema_with = words::conditions)]
    status: &'static str,
    session: &'h str,
    /// The file; null when the home has none.
    #[schema(required)]
    path: Option<Cow<'h, str>>,
    /// What was done.
    actions: Vec<HealthAction<'h>>,
    entries: usize,
    /// How many entries were read out of damage.
    salvaged: usize,
    /// How many lines could not be read.
    unreadable: usize,
    quarantined_bytes: u64,
    /// What is wrong.
    findings: Vec<HealthFinding<'h>>,
    /// How many more findings there are.
    more_findings: usize,
    /// What else people are told.
    remarks: &'h [String],
    /// The digest of the file before anything was done; null when nothing was.
    #[schema(required)]
    sha256_before: Option<&'h str>,
    /// The digest of the file afterwards; null when nothing was done.
    #[schema(required)]
    sha256_after: Option<&'h str>,
}

impl<'h> From<&'h RecoveryReport> for HealthReport<'h> {
    fn from(report: &'h RecoveryReport) -> Self {
        Self {
            status: report.status.name(),
            session: &report.session,
            path: report.path.as_deref().map(path),
            actions: report.actions.iter().map(HealthAction::from).collect(),
            entries: report.entries,
            salvaged: report.salvaged,
            unreadable: report.unreadable,
            quarantined_bytes: report.quarantined_bytes(),
            findings: report.findings.iter().map(HealthFinding::from).collect(),
            more_findings: report.more_findings,
            remarks: &report.remarks,
            sha256_before: report.sha256.as_ref().map(|hashes| hashes.0.as_str()),
            sha256_after: report.sha256.as_ref().map(|hashes| hashes.1.as_str()),
        }
    }
}

/// The report as an object.
pub fn report(report: &RecoveryReport) -> Map<String, Value> {
    object_of(&HealthReport::from(report))
}

/// A session that could not be read.
#[derive(Serialize, ToSchema)]
struct UnreadableReport<'h> {
    #[schema(schema_with = words::conditions)]
    status: &'static str,
    session: &'h str,
    /// Always null.
    #[schema(required)]
    path: Option<&'h str>,
    /// Always empty.
    actions: Vec<HealthAction<'h>>,
    entries: usize,
    salvaged: usize,
    unreadable: usize,
    quarantined_bytes: u64,
    /// Always empty.
    findings: Vec<HealthFinding<'h>>,
    error: Trouble<'h>,
}

/// A session that could not be read, in the same shape.
pub fn failure(session: &str, error: &EngineError) -> Map<String, Value> {
    object_of(&UnreadableReport {
        status: RecoveryStatus::Unreadable.name(),
        session,
        path: None,
        actions: Vec::new(),
        entries: 0,
        salvaged: 0,
        unreadable: 1,
        quarantined_bytes: 0,
        findings: Vec::new(),
        error: Trouble { kind: error.kind().name(), message: &error.to_string(), hint: error.hint().as_deref() },
    })
}

/// Something that is wrong.
#[derive(Serialize, ToSchema)]
struct HealthFinding<'h> {
    /// What it is, in a few words with dashes.
    kind: &'static str,
    #[schema(schema_with = words::severities)]
    severity: &'static str,
    /// The line, from 1.
    line: u64,
    /// Where that begins, in bytes.
    offset: u64,
    detail: &'h str,
    /// The session, where several are told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session: Option<&'h str>,
}

impl<'h> From<&'h Finding> for HealthFinding<'h> {
    fn from(finding: &'h Finding) -> Self {
        let severity = if finding.kind.severity() == Severity::Damage { "damage" } else { "notice" };
        Self {
            kind: finding.kind.name(),
            severity,
            line: finding.line,
            offset: finding.offset,
            detail: &finding.detail,
            session: None,
        }
    }
}

/// Something that was done.
#[derive(Serialize, ToSchema)]
struct HealthAction<'h> {
    /// What it is, in a few words with dashes.
    kind: &'static str,
    detail: &'h str,
    quarantined_bytes: u64,
    /// The files that keep what was there.
    kept: Vec<Cow<'h, str>>,
    /// The session, where several are told of.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    session: Option<&'h str>,
}

impl<'h> From<&'h Action> for HealthAction<'h> {
    fn from(action: &'h Action) -> Self {
        Self {
            kind: action.kind.name(),
            detail: &action.detail,
            quarantined_bytes: action.quarantined,
            kept: action.kept.iter().map(|kept| path(kept)).collect(),
            session: None,
        }
    }
}

/// How one of several sessions is.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its description is used: sessions are told one by one")]
enum ExaminedSession<'h> {
    /// It could be read.
    Read(HealthReport<'h>),
    /// It could not.
    Unreadable(UnreadableReport<'h>),
}

fn one(examined: &Examined) -> Map<String, Value> {
    match &examined.outcome {
        Ok(found) => report(found),
        Err(error) => failure(&examined.session, error),
    }
}

/// How all sessions are: sums, and every session as if it had been examined alone.
#[derive(Serialize, ToSchema)]
pub struct HomeHealth<'h> {
    /// How the worst of them is.
    #[schema(schema_with = words::conditions)]
    status: &'static str,
    actions: Vec<HealthAction<'h>>,
    entries: u64,
    salvaged: u64,
    unreadable: u64,
    quarantined_bytes: u64,
    findings: Vec<HealthFinding<'h>>,
    /// What crashes left.
    leftovers: Vec<HomeLeftover<'h>>,
    #[schema(value_type = Vec<ExaminedSession>)]
    sessions: Vec<Map<String, Value>>,
    /// What the home takes, for whom it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    disk: Option<DiskUse<'h>>,
}

/// Something that a crash left.
#[derive(Serialize, ToSchema)]
struct HomeLeftover<'h> {
    #[schema(schema_with = words::leftovers)]
    kind: &'static str,
    path: Cow<'h, str>,
}

impl<'h> From<&'h Leftover> for HomeLeftover<'h> {
    fn from(leftover: &'h Leftover) -> Self {
        let kind = match leftover.kind {
            LeftoverKind::Unfinished => "unfinished",
            LeftoverKind::Lock => "lock",
            LeftoverKind::Import => "import",
        };
        Self { kind, path: path(&leftover.path) }
    }
}

/// The sums over all sessions, and every session as if it had been examined alone.
pub fn many(
    examined: &[Examined],
    leftovers: &[Leftover],
    worst: RecoveryStatus,
    disk: Option<&DiskReport>,
) -> Map<String, Value> {
    let sessions: Vec<Map<String, Value>> = examined.iter().map(one).collect();
    let sum = |name: &str| sessions.iter().filter_map(|session| session.get(name)?.as_u64()).sum::<u64>();
    let read = || examined.iter().filter_map(|one| one.outcome.as_ref().ok());
    // What is told of all sessions together says which one it is about.
    let actions = read().flat_map(|report| {
        let named = |action| HealthAction { session: Some(&report.session), ..HealthAction::from(action) };
        report.actions.iter().map(named)
    });
    let findings = read().flat_map(|report| {
        let named = |finding| HealthFinding { session: Some(&report.session), ..HealthFinding::from(finding) };
        report.findings.iter().map(named)
    });
    object_of(&HomeHealth {
        status: worst.name(),
        actions: actions.collect(),
        entries: sum("entries"),
        salvaged: sum("salvaged"),
        unreadable: sum("unreadable"),
        quarantined_bytes: sum("quarantined_bytes"),
        findings: findings.collect(),
        leftovers: leftovers.iter().map(HomeLeftover::from).collect(),
        sessions,
        disk: disk.map(DiskUse::from),
    })
}
